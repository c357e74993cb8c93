/**
 * The workspace interface: one handler per endpoint. What they do stands in `Runs` and the repositories.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { checkPayload, limits, maxFilesPerItem, tooManyFiles } from "../Limits.ts"
import { Runs } from "../runs/Runs.ts"
import { Database } from "../store/Database.ts"
import { Files } from "../store/Files.ts"
import { Outputs } from "../store/Outputs.ts"
import { Processes } from "../store/Processes.ts"
import { ProcessRuns } from "../store/ProcessRuns.ts"
import { TaskPackages } from "../store/TaskPackages.ts"
import type { StoredItem, StoredSummary } from "../store/StoredItem.ts"
import { WorkItems } from "../store/WorkItems.ts"
import { WorkerGroups } from "../store/WorkerGroups.ts"
import * as Endpoints from "./Endpoints.ts"
import { answering, conflict, invalidRequest, notFound, orNotFound, tooLarge } from "./Failures.ts"
import { FileLinks } from "../transfers/FileLinks.ts"
import { Pagination } from "./Pagination.ts"
import { summary, Views, whole } from "../endpoints/Views.ts"

const processes = Endpoints.group(
  "processes",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Processes
    const groups = yield* WorkerGroups
    const packages = yield* TaskPackages
    const runs = yield* Runs
    const { transaction } = yield* Database
    const { page } = yield* Pagination
    /** Writes a definition once the worker groups that it names are known to be there, in the transaction around it. */
    const written = <A, E>(workspace: WorkspaceId, { steps }: ProcessDefinition, write: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        const known = yield* groups.lock(workspace, [...new Set(steps.flatMap((step) => step.worker_group?.id ?? []))])
        for (const [index, { worker_group }] of steps.entries()) {
          if (worker_group !== undefined && worker_group !== null && !known.has(worker_group.id)) {
            return yield* notFound("worker group", worker_group.id, `steps.${index}.worker_group.id`)
          }
        }
        return yield* write
      })
    const find = (params: Parameters<typeof findIn>[1]) => findIn(store, params)
    const taken = (name: string) =>
      conflict(`name: a process "${name}" exists already; choose another name or change that one`)
    return handlers.handleAll({
      getProcess: ({ params }) => Effect.map(find(params), (process) => process.view),
      listProcesses: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createProcess: Effect.fnUntraced(function* ({ params, payload }) {
        yield* checkDefinition(payload, packages, params.workspace_id)
        const created = yield* written(params.workspace_id, payload, store.create(params.workspace_id, payload))
        return created === null ? yield* taken(payload.name) : created.view
      }, transaction),
      updateProcess: Effect.fnUntraced(function* ({ params, payload }) {
        yield* checkDefinition(payload, packages, params.workspace_id)
        const { process_id, workspace_id } = params
        const locked = orNotFound("process", process_id, store.lock(workspace_id, process_id, "update"))
        const change = Effect.flatMap(locked, (existing) => store.update(workspace_id, existing, payload))
        const updated = yield* written(workspace_id, payload, change)
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
      }),
      deleteProcess: Effect.fnUntraced(function* ({ params }) {
        yield* answering("NOT_FOUND", "CONFLICT")(runs.removeProcess(params.workspace_id, params.process_id))
        return { id: params.process_id, deleted: true } as const
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
    if (id !== undefined && !(yield* packages.lock(workspace, id))) {
      return yield* notFound(`task package (steps.${index}.task.package_id)`, id)
    }
  }
})

const summaries = (items: ReadonlyArray<StoredSummary>) => Effect.succeed(items.map(summary))

const workItems = Endpoints.group(
  "workItems",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* WorkItems
    const processStore = yield* Processes
    const files = yield* Files
    const links = yield* FileLinks
    const runs = yield* Runs
    const { transaction } = yield* Database
    const views = yield* Views
    const { page, pageOfTexts } = yield* Pagination
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
        yield* checkPayload(payload.payload ?? null)
        const item = yield* transaction(
          Effect.andThen(
            orNotFound("process", id, processStore.lock(params.workspace_id, id, "share")),
            store.create(params.workspace_id, id, payload.payload ?? null)
          )
        )
        return whole(item, [])
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

const outputs = Endpoints.group(
  "outputs",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Outputs
    const runStore = yield* ProcessRuns
    const views = yield* Views
    const { pageOfTexts } = yield* Pagination
    return handlers.handleAll({
      listOutputs: Effect.fnUntraced(function* ({ params, query, request }) {
        const id = query.process_run_id
        const run = yield* orNotFound("process run", id, runStore.get(params.workspace_id, id))
        return yield* pageOfTexts(request, query, (from) => store.list(run.id, from), views.outputs)
      })
    })
  })
)

export const layer = Layer.mergeAll(processes, workItems, outputs)
