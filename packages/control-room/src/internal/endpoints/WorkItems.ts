/**
 * Work items as their workspace sees them.
 */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Endpoints from "../edge/Endpoints.ts"
import { refusals, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { checkPayload } from "../edge/PayloadSize.ts"
import { InputSchemas } from "../runs/InputSchemas.ts"
import { Runs } from "../runs/Runs.ts"
import { Database } from "../store/Database.ts"
import { Processes } from "../store/Processes.ts"
import type { StoredItem, StoredSummary } from "../store/StoredItem.ts"
import { WorkItems } from "../store/WorkItems.ts"
import * as ItemFiles from "./ItemFiles.ts"
import { summary, Views, withData } from "./Views.ts"

const summaries = (items: ReadonlyArray<StoredSummary>) => Effect.succeed(items.map(summary))

export const layer = Endpoints.group(
  "workItems",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* WorkItems
    const processStore = yield* Processes
    const formFor = yield* ItemFiles.formFor
    const runs = yield* Runs
    const inputSchemas = yield* InputSchemas
    const { transaction } = yield* Database
    const views = yield* Views
    const { page, pageOfTexts } = yield* Pagination
    const find = (params: { readonly workspace_id: StoredItem["workspaceId"]; readonly work_item_id: string }) =>
      orNotFound("work item", params.work_item_id, store.get(params.workspace_id, params.work_item_id))
    return handlers.handleAll({
      getWorkItem: ({ params }) => Effect.flatMap(find(params), views.item),
      listWorkItems: ({ params, query, request }) => {
        const filter = {
          processId: query.process_id ?? null,
          processRunId: query.process_run_id ?? null,
          state: query.state ?? null
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
        const item = yield* transaction(
          Effect.gen(function* () {
            const process = yield* orNotFound("process", id, processStore.lock(params.workspace_id, id, "share"))
            yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(process, data, "payload"))
            return yield* store.create(params.workspace_id, id, json)
          })
        )
        return HttpServerResponse.text(withData(summary(item), json, []), { contentType: "application/json" })
      }),
      createWorkItems: Effect.fnUntraced(function* ({ params, payload: { payloads, process } }) {
        const texts = yield* Effect.forEach(payloads, (payload, index) => checkPayload(payload, `payloads.${index}`))
        const ids = yield* transaction(
          Effect.gen(function* () {
            const locked = processStore.lock(params.workspace_id, process.id, "share")
            const found = yield* orNotFound("process", process.id, locked)
            for (const [index, payload] of payloads.entries()) {
              yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(found, payload, `payloads.${index}`))
            }
            return yield* store.createMany(params.workspace_id, process.id, texts)
          })
        )
        return { work_items: ids.map((id) => ({ id })) }
      }),
      createWorkItemFile: Effect.fnUntraced(function* ({ params, payload }) {
        const item = yield* find(params)
        return { upload: yield* formFor(item, payload, "file_size") }
      }),
      updateWorkItemPayload: Effect.fnUntraced(function* ({ params, payload }) {
        const item = yield* find(params)
        const json = yield* checkPayload(payload.payload)
        // Only what waits in the queue is of the first step for sure; its process exists as long as it does.
        const process = item.state === "new" ? yield* processStore.get(item.workspaceId, item.processId) : null
        if (process !== null) {
          yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(process, payload.payload, "payload"))
        }
        if (!(yield* store.updatePayload(item.id, json))) return yield* ItemFiles.inUse(item)
        return { payload: payload.payload }
      }),
      batchWorkItems: ({ params, payload }) =>
        runs.batch(params.workspace_id, payload.batch_operation, payload.work_item_ids).pipe(
          refusals("INVALID_REQUEST", "NOT_FOUND", "CONFLICT"),
          Effect.map((passedOn) => ({ accepted: true, outputs_passed_on: passedOn }))
        )
    })
  })
)
