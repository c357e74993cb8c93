/**
 * Work items as their workspace sees them.
 */
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, invalidRequest, refusals, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { checkPayload } from "../edge/PayloadSize.ts"
import { sendJson } from "../edge/ResponseHeaders.ts"
import { InputSchemas } from "../runs/InputSchemas.ts"
import { budget } from "../runs/schemas/Check.ts"
import { Runs } from "../runs/Runs.ts"
import { Database } from "../store/database/Database.ts"
import { Processes } from "../store/processes/Processes.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import type { StoredItem, StoredPageItem, StoredSummary } from "../store/items/StoredItem.ts"
import { type NewItem, WorkItems } from "../store/items/WorkItems.ts"
import type { create } from "@signalbox/api/contract/WorkItems"
import type { WorkItemId } from "@signalbox/api/contract/Ids"
import * as ItemFiles from "./ItemFiles.ts"
import { Masking } from "./Masking.ts"
import { summary, Views } from "./Views.ts"

type AskedOrder = Pick<HttpApiEndpoint.Payload<typeof create>["Type"], "due_at" | "priority" | "tags">

/** Milliseconds. */
const hour = 3_600_000

/** The order that a request asks for, as stored. */
const orderOf = ({ due_at, priority = 0, tags = [] }: AskedOrder) => ({
  priority,
  dueAt: due_at === undefined ? null : new Date(due_at).toISOString(),
  tags: [...new Set(tags)]
})

/** The refusal of items with references that open items have. */
const taken = (
  asked: ReadonlyArray<Pick<NewItem, "reference">>,
  made: ReadonlyArray<{ readonly id: WorkItemId; readonly created: boolean }>
) => {
  const index = made.findIndex(({ created }) => !created)
  return index === -1
    ? null
    : conflict(
        `reference: the open work item ${made[index]?.id} of this process has the reference "${asked[index]?.reference}"; complete it first, or join it with when_reference_exists`
      )
}

/** Whether two payloads are the same JSON, in whatever order of keys, numbers by their text. */
const isSame = (one: Schema.Json, other: Schema.Json): boolean => canonical(one) === canonical(other)

const canonical = (json: Schema.Json): string =>
  JSON.stringify(json, (_, value: unknown) =>
    Predicate.isObject(value) && !ExactJson.isRaw(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value
  )

const changedSince = conflict(
  "previous_payload: the payload has changed since it was read; read the item again and repeat the change"
)

export const layer = Endpoints.group(
  "workItems",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* WorkItems
    const processStore = yield* Processes
    const formFor = yield* ItemFiles.formFor
    const runs = yield* Runs
    const inputSchemas = yield* InputSchemas
    const processRuns = yield* ProcessRuns
    const { millis, now, transaction } = yield* Database
    const views = yield* Views
    const masking = yield* Masking
    const { page, pageOfTexts } = yield* Pagination
    const summaries = (items: ReadonlyArray<StoredSummary>) =>
      Effect.map(now, (at) => items.map((item) => summary(item, at)))
    const find = (params: { readonly workspace_id: StoredItem["workspaceId"]; readonly work_item_id: string }) =>
      orNotFound("work item", params.work_item_id, store.get(params.workspace_id, params.work_item_id))
    const sent = (item: StoredPageItem) => Effect.flatMap(views.itemText(item), sendJson)
    return handlers.handleAll({
      getWorkItem: ({ params: { work_item_id, workspace_id } }) =>
        Effect.flatMap(orNotFound("work item", work_item_id, store.getWhole(workspace_id, work_item_id)), sent),
      listWorkItems: ({ params, query, request }) => {
        const filter = {
          processId: query.process_id ?? null,
          processRunId: query.process_run_id ?? null,
          state: query.state ?? null,
          stepId: query.step_id,
          reference: query.reference,
          tag: query.tag,
          due: query.due_state
        }
        if (query.step_id !== undefined && query.process_id === undefined && query.process_run_id === undefined) {
          return invalidRequest("step_id: step_id needs a process_id or a process_run_id")
        }
        const workspace = params.workspace_id
        return query.include_data === true
          ? pageOfTexts(request, query, (from) => store.listWhole(workspace, filter, from), views.items)
          : page(request, query, (from) => store.list(workspace, filter, from), summaries)
      },
      createWorkItem: Effect.fnUntraced(function* ({ params, payload }) {
        const id = payload.process.id
        const data = payload.payload ?? null
        const json = yield* checkPayload(data)
        const asked = { payload: json, order: orderOf(payload), reference: payload.reference ?? null }
        const item = yield* transaction(
          Effect.gen(function* () {
            const process = yield* orNotFound("process", id, processStore.lock(params.workspace_id, id, "share"))
            yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(process, data, "payload"))
            const { created, item } = yield* store.createOrFind(params.workspace_id, id, asked)
            const refusal = payload.when_reference_exists === "join" ? null : taken([asked], [{ id: item.id, created }])
            return refusal === null ? item : yield* refusal
          })
        )
        return yield* sent(item)
      }),
      createWorkItems: Effect.fnUntraced(function* ({ params, payload }) {
        const { payloads, process, references } = payload
        if (references !== undefined && references.length !== payloads.length) {
          return yield* invalidRequest(
            `references: has ${references.length} entries for ${payloads.length} payloads; send one for each, null for none`
          )
        }
        const order = orderOf(payload)
        const asked = yield* Effect.forEach(payloads, (data, index) =>
          Effect.map(checkPayload(data, `payloads.${index}`), (json) => ({
            payload: json,
            order,
            reference: references?.[index] ?? null
          }))
        )
        const made = yield* transaction(
          Effect.gen(function* () {
            const locked = processStore.lock(params.workspace_id, process.id, "share")
            const found = yield* orNotFound("process", process.id, locked)
            const left = budget()
            for (const [index, data] of payloads.entries()) {
              yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(found, data, `payloads.${index}`, left))
            }
            const all = yield* store.createMany(params.workspace_id, process.id, asked)
            const refusal = payload.when_reference_exists === "join" ? null : taken(asked, all)
            return refusal === null ? all : yield* refusal
          })
        )
        return { work_items: made.map(({ id }) => ({ id })) }
      }),
      createWorkItemFile: Effect.fnUntraced(function* ({ params, payload }) {
        const item = yield* find(params)
        return { upload: yield* formFor(item, payload, "file_size") }
      }),
      updateWorkItemPayload: Effect.fnUntraced(function* ({
        params,
        payload: { payload, previous_payload: previous }
      }) {
        const { work_item_id, workspace_id } = params
        return yield* transaction(
          Effect.gen(function* () {
            // Of an item under limits the run is locked before: it changes its lane. Else no other row is locked with it.
            const ofLane = yield* store.runOfLane(workspace_id, work_item_id)
            const run = ofLane === null ? null : yield* processRuns.lock(ofLane)
            const item = yield* orNotFound("work item", work_item_id, store.lock(workspace_id, work_item_id))
            const kept = yield* masking.kept(item.processId, payload, item.payload, "payload")
            const json = yield* checkPayload(kept)
            // The input schema describes items of the first step; those of later steps are outputs. Null: it was deleted.
            const process = item.step === 0 ? yield* processStore.get(item.workspaceId, item.processId) : null
            if (process !== null) {
              yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(process, kept, "payload"))
            }
            if (previous !== undefined) {
              const [one, other] = yield* Effect.forEach([previous, item.payload], (json) =>
                masking.json(item.processId, json)
              )
              if (!isSame(one?.json ?? null, other?.json ?? null)) return yield* changedSince
            }
            if (!(yield* store.updatePayload(item.id, json))) return yield* ItemFiles.inUse(item)
            if (run !== null && item.state === "pending") yield* runs.enterAgain(run, item.id)
            const { json: shown, masked } = yield* masking.json(item.processId, kept)
            return { payload: shown, masked }
          })
        )
      }),
      revealWorkItem: Effect.fnUntraced(function* ({ params, payload: { pointers } }) {
        const item = yield* find(params)
        const values = yield* masking.reveal(item.processId, item.payload, pointers)
        return { values }
      }),
      getThroughput: Effect.fnUntraced(function* ({ params, query: { hours = 24 } }) {
        const current = Math.floor((yield* millis) / hour) * hour
        const times = Array.from({ length: hours + 1 }, (_, n) => current - (hours - 1 - n) * hour)
        const counts = yield* store.createdBetween(params.workspace_id, times)
        return {
          data: counts.map(({ done, failed, in_progress, new: waiting, pending }, n) => ({
            from: new Date(times[n] ?? current).toISOString(),
            done,
            failed,
            open: waiting + pending + in_progress
          }))
        }
      }),
      batchWorkItems: ({ params, payload }) =>
        runs.batch(params.workspace_id, payload.batch_operation, payload.work_item_ids).pipe(
          refusals("INVALID_REQUEST", "NOT_FOUND", "CONFLICT"),
          Effect.map((passedOn) => ({ accepted: true, outputs_passed_on: passedOn }))
        )
    })
  })
)
