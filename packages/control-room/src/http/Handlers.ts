/**
 * The workspace interface: one handler per endpoint. What they do stands in `Runs` and the repositories.
 */
import { Api } from "@signalbox/api/contract/Api"
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { checkPayload, limits, maxFilesPerItem, tooManyFiles } from "../Limits.ts"
import { Runs } from "../Runs.ts"
import { Database } from "../store/Database.ts"
import { Files } from "../store/Files.ts"
import { Processes } from "../store/Processes.ts"
import { ProcessRuns } from "../store/ProcessRuns.ts"
import { TaskPackages } from "../store/TaskPackages.ts"
import { Workers } from "../store/Workers.ts"
import { type StoredItem, WorkItems } from "../store/WorkItems.ts"
import { Workspaces } from "../store/Workspaces.ts"
import { answering, conflict, invalidRequest, notFound, orNotFound, tooLarge } from "./Failures.ts"
import { FileLinks } from "./FileLinks.ts"
import { Pagination } from "./Pagination.ts"
import { Views } from "./Views.ts"

const workspaces = HttpApiBuilder.group(
  Api,
  "workspaces",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Workspaces
    return handlers.handleAll({
      getWorkspace: ({ params }) => orNotFound("workspace", params.workspace_id, store.get(params.workspace_id))
    })
  })
)

const processes = HttpApiBuilder.group(
  Api,
  "processes",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Processes
    const packages = yield* TaskPackages
    const { page } = yield* Pagination
    const { transaction } = yield* Database
    const find = (params: Parameters<typeof findIn>[1]) => findIn(store, params)
    const taken = (name: string) =>
      conflict(`name: a process "${name}" exists already; choose another name or change that one`)
    return handlers.handleAll({
      getProcess: ({ params }) => Effect.map(find(params), (process) => process.view),
      listProcesses: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createProcess: Effect.fnUntraced(function* ({ params, payload }) {
        yield* checkDefinition(payload, packages, params.workspace_id)
        const created = yield* store.create(params.workspace_id, payload)
        return created === null ? yield* taken(payload.name) : created.view
      }, transaction),
      updateProcess: Effect.fnUntraced(function* ({ params, payload }) {
        yield* checkDefinition(payload, packages, params.workspace_id)
        const updated = yield* store.update(params.workspace_id, yield* find(params), payload)
        return updated === null ? yield* taken(payload.name) : updated.view
      }, transaction),
      getProcessDefinition: Effect.fnUntraced(function* ({ params }) {
        const { defaultWorkItem, steps, view } = yield* find(params)
        return {
          name: view.name,
          description: view.description,
          steps: steps.map(({ id: _, ...step }) => step),
          ...(defaultWorkItem === null || defaultWorkItem === undefined ? {} : { default_work_item: defaultWorkItem })
        }
      })
    })
  })
)

const findIn = (
  store: Processes["Service"],
  params: { readonly workspace_id: StoredItem["workspaceId"]; readonly process_id: string }
) => orNotFound("process", params.process_id, store.get(params.workspace_id, params.process_id))

const checkDefinition = Effect.fnUntraced(function* (
  { default_work_item, steps }: ProcessDefinition,
  packages: TaskPackages["Service"],
  workspace: WorkspaceId
) {
  if (default_work_item !== undefined) yield* checkPayload(default_work_item.payload, "default_work_item.payload")
  const names = new Set<string>()
  for (const [index, step] of steps.entries()) {
    if (names.has(step.name)) {
      return yield* invalidRequest(`steps.${index}.name: "${step.name}" is the name of another step; names are unique`)
    }
    names.add(step.name)
    const id = step.task.package_id
    if (id !== undefined && (yield* packages.get(workspace, id)) === null) {
      return yield* notFound(`task package (steps.${index}.task.package_id)`, id)
    }
  }
})

const workItems = HttpApiBuilder.group(
  Api,
  "workItems",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* WorkItems
    const processStore = yield* Processes
    const files = yield* Files
    const links = yield* FileLinks
    const runs = yield* Runs
    const views = yield* Views
    const { page } = yield* Pagination
    const find = (params: { readonly workspace_id: StoredItem["workspaceId"]; readonly work_item_id: string }) =>
      orNotFound("work item", params.work_item_id, store.get(params.workspace_id, params.work_item_id))
    const inUse = (item: StoredItem) =>
      conflict(
        `the work item is ${item.state}: its payload and files change only while it is new, failed, or pending without a step run`
      )
    const changeable = (item: StoredItem) =>
      item.state === "new" || item.state === "failed" || (item.state === "pending" && item.stepRun === null)
    return handlers.handleAll({
      getWorkItem: ({ params }) => Effect.flatMap(find(params), views.item),
      listWorkItems: ({ params, query, request }) =>
        page(
          request,
          query,
          (from) =>
            store.list(
              params.workspace_id,
              {
                processId: query.process_id ?? null,
                processRunId: query.process_run_id ?? null,
                state: query.state ?? null
              },
              from
            ),
          (rows) => views.items(rows, query.include_data === true)
        ),
      createWorkItem: Effect.fnUntraced(function* ({ params, payload }) {
        yield* findIn(processStore, { workspace_id: params.workspace_id, process_id: payload.process.id })
        yield* checkPayload(payload.payload ?? null)
        const item = yield* store.create(params.workspace_id, payload.process.id, payload.payload ?? null)
        return yield* views.item(item)
      }),
      createWorkItemFile: Effect.fnUntraced(function* ({ params, payload }) {
        const item = yield* find(params)
        if (!changeable(item)) return yield* inUse(item)
        if (payload.file_size > limits.file) {
          return yield* tooLarge(`file_size: ${payload.file_size} bytes are more than the ${limits.file} allowed`)
        }
        if ((yield* files.countOthers(item.id, payload.file_name)) >= maxFilesPerItem)
          return yield* conflict(tooManyFiles)
        const owner = { workspace: params.workspace_id, id: item.id, stepRun: null }
        return { upload: yield* links.uploadForm(owner, payload) }
      }),
      updateWorkItemPayload: Effect.fnUntraced(function* ({ params, payload }) {
        const item = yield* find(params)
        yield* checkPayload(payload.payload)
        if (!(yield* store.updatePayload(item.id, payload.payload))) return yield* inUse(item)
        return { payload: payload.payload }
      }),
      batchWorkItems: ({ params, payload }) =>
        runs
          .batch(params.workspace_id, payload.batch_operation, payload.work_item_ids)
          .pipe(answering("INVALID_REQUEST", "NOT_FOUND", "CONFLICT"), Effect.as({ accepted: true }))
    })
  })
)

const processRuns = HttpApiBuilder.group(
  Api,
  "processRuns",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ProcessRuns
    const processStore = yield* Processes
    const runs = yield* Runs
    const { page } = yield* Pagination
    const find = (params: { readonly workspace_id: StoredItem["workspaceId"]; readonly process_run_id: string }) =>
      orNotFound("process run", params.process_run_id, store.get(params.workspace_id, params.process_run_id))
    return handlers.handleAll({
      getProcessRun: ({ params }) => find(params),
      listProcessRuns: ({ params, query, request }) =>
        page(
          request,
          query,
          (from) =>
            store.list(params.workspace_id, { processId: query.process_id ?? null, state: query.state ?? null }, from),
          Effect.succeed
        ),
      startProcessRun: Effect.fnUntraced(function* ({ params, payload }) {
        const process = yield* findIn(processStore, params)
        if (payload?.type === "with_payloads") {
          for (const [index, item] of payload.payloads.entries()) yield* checkPayload(item, `payloads.${index}`)
        }
        const id = yield* answering("CONFLICT")(runs.start(params.workspace_id, process, payload ?? {}))
        return id === null ? ({ started: false } as const) : ({ started: true, id } as const)
      }),
      stopProcessRun: Effect.fnUntraced(function* ({ params, payload }) {
        const run = yield* find(params)
        const accepted = yield* runs.stop(run.id, {
          asDone: payload.set_remaining_work_items_as_done,
          terminate: payload.terminate_ongoing_activity_runs,
          reason: payload.reason ?? "the run was stopped"
        })
        return { accepted }
      }),
      deleteProcessRun: Effect.fnUntraced(function* ({ params }) {
        const run = yield* find(params)
        yield* answering("CONFLICT")(runs.remove(run.id))
        return { id: run.id, deleted: true } as const
      })
    })
  })
)

const outputs = HttpApiBuilder.group(
  Api,
  "outputs",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* WorkItems
    const runStore = yield* ProcessRuns
    const views = yield* Views
    const { page } = yield* Pagination
    return handlers.handleAll({
      listOutputs: Effect.fnUntraced(function* ({ params, query, request }) {
        const id = query.process_run_id
        const run = yield* orNotFound("process run", id, runStore.get(params.workspace_id, id))
        return yield* page(request, query, (from) => store.listOutputs(run.id, from), views.outputs)
      })
    })
  })
)

const linkTokenMillis = 60 * 60 * 1000

const workers = HttpApiBuilder.group(
  Api,
  "workers",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Workers
    return handlers.handleAll({
      createWorkerLinkToken: Effect.fnUntraced(function* ({ payload }) {
        const { workspaceId } = yield* CurrentPrincipal
        const at = yield* Clock.currentTimeMillis
        const expires = payload?.expires_at === undefined ? at + linkTokenMillis : Date.parse(payload.expires_at)
        if (!(expires > at)) return yield* invalidRequest("expires_at: must be a time in the future")
        return yield* store.createLinkToken(workspaceId, new Date(expires).toISOString())
      })
    })
  })
)

export const layer = Layer.mergeAll(workspaces, processes, workItems, processRuns, outputs, workers)
