/**
 * Processes and their definitions.
 */
import type { StepId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import { refusals, conflict, invalidRequest, notFound, orNotFound, tooLarge } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { need } from "../edge/Permissions.ts"
import { checkPayload } from "../edge/PayloadSize.ts"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { InputSchemas } from "../runs/InputSchemas.ts"
import { limits } from "../settings/Limits.ts"
import { Runs } from "../runs/Runs.ts"
import { Masking } from "./Masking.ts"
import * as SecretChecks from "./SecretChecks.ts"
import { Database } from "../store/database/Database.ts"
import { Pauses } from "../store/processes/Pauses.ts"
import { inputOf, Processes, revisionOf, type StoredProcess } from "../store/processes/Processes.ts"
import { Blocked } from "../store/runs/Blocked.ts"
import type { StoredItem } from "../store/items/StoredItem.ts"
import { PackageVersions } from "../store/packages/PackageVersions.ts"
import { TaskPackages } from "../store/packages/TaskPackages.ts"
import { WorkerGroups } from "../store/workers/WorkerGroups.ts"

/** Only what the contract has decoded is stored. */
const inputSchemaOf = (text: string) => ExactJson.parse(text) as NonNullable<ProcessDefinition["input_schema"]>

export const layer = Endpoints.group(
  "processes",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Processes
    const groups = yield* WorkerGroups
    const packages = { ofWorkspace: yield* TaskPackages, versions: yield* PackageVersions }
    const pauses = yield* Pauses
    const blocked = yield* Blocked
    const runs = yield* Runs
    const inputSchemas = yield* InputSchemas
    const masking = yield* Masking
    const secretChecks = yield* SecretChecks.make
    const { transaction } = yield* Database
    const { page } = yield* Pagination
    /** Stores a definition after checking that the worker groups it names exist, in the transaction around it. */
    const written = <A, E, R>(workspace: WorkspaceId, { steps }: ProcessDefinition, write: Effect.Effect<A, E, R>) =>
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
    /** What is paused of a process is not part of its definition. */
    const shown = Effect.fnUntraced(function* (workspace: WorkspaceId, { view }: StoredProcess) {
      const found = yield* pauses.of(workspace, [view.id, ...view.steps.map(({ id }) => id)])
      const steps = view.steps.map((step) => ({ ...step, paused: found.get(step.id) ?? null }))
      return { ...view, steps, paused: found.get(view.id) ?? null }
    })
    const taken = (name: string) =>
      conflict(`name: a process "${name}" already exists; choose another name or change that one`)
    return handlers.handleAll({
      getProcess: ({ params }) => Effect.flatMap(find(params), (process) => shown(params.workspace_id, process)),
      listProcesses: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createProcess: Effect.fnUntraced(function* ({ params, payload }) {
        yield* checkDefinition(payload, packages, params.workspace_id)
        yield* checkInput(payload, inputSchemas)
        yield* secretChecks.definition(payload)
        const created = yield* written(params.workspace_id, payload, store.create(params.workspace_id, payload))
        return created === null ? yield* taken(payload.name) : created.view
      }, transaction),
      updateProcess: Effect.fnUntraced(function* ({
        params,
        payload: { delete_work_items = [], masked: _, ...given }
      }) {
        if (delete_work_items.length > 0) yield* mayDeleteItems
        const { process_id, workspace_id } = params
        const payload = yield* secretChecks.kept(yield* find(params), given)
        yield* checkDefinition(payload, packages, params.workspace_id)
        yield* checkInput(payload, inputSchemas)
        yield* secretChecks.definition(payload, params)
        const locked = orNotFound("process", process_id, store.lock(workspace_id, process_id, "update"))
        const change = Effect.gen(function* () {
          const existing = yield* locked
          if (payload.revision !== undefined && payload.revision !== revisionOf(existing)) {
            return yield* conflict("revision: the definition has changed since it was read; read it again")
          }
          yield* secretChecks.mayReveal(existing, given)
          // Another request may have changed it since.
          return yield* store.update(workspace_id, existing, yield* secretChecks.kept(existing, given))
        })
        const updated = yield* written(workspace_id, payload, change)
        if (updated === null) return yield* taken(payload.name)
        yield* refusals("CONFLICT")(runs.removeWaiting(process_id, delete_work_items))
        return yield* shown(workspace_id, updated)
      }, transaction),
      getProcessDefinition: Effect.fnUntraced(function* ({ params }) {
        const process = yield* find(params)
        const {
          checkPayloads,
          defaultWorkItem,
          forwardDoneItems,
          inputSchema,
          limits,
          pauseAfterFailures,
          sensitive,
          sensitiveFiles,
          steps,
          view
        } = process
        const shown = defaultWorkItem == null ? undefined : yield* masking.json(view.id, defaultWorkItem.payload)
        return {
          revision: revisionOf(process),
          name: view.name,
          description: view.description,
          steps: steps.map(({ id: _, ...step }) => step),
          ...defined({
            default_work_item: shown === undefined ? undefined : { payload: shown.json },
            input_schema: inputSchema === null ? undefined : inputSchemaOf(inputSchema),
            check_payloads: checkPayloads || undefined,
            forward_done_items: forwardDoneItems || undefined,
            pause_after_failures: pauseAfterFailures ?? undefined,
            concurrency: limits?.concurrency,
            rate: limits?.rate,
            sensitive: sensitive.length === 0 ? undefined : sensitive,
            sensitive_files: sensitiveFiles ? undefined : false,
            masked: shown === undefined || shown.masked.length === 0 ? undefined : shown.masked
          })
        }
      }),
      getProcessLimits: Effect.fnUntraced(function* ({ params }) {
        const { steps, view } = yield* find(params)
        const names = new Map<string, { id: StepId; name: string }>(steps.map(({ id, name }) => [id, { id, name }]))
        const waits = yield* blocked.waits(view.id)
        const isHidden = yield* masking.hides(view.id)
        return {
          data: waits.map(({ bucket, ...wait }) => ({
            kind: bucket.kind,
            step: names.get(bucket.scope) ?? null,
            key: bucket.key,
            value: bucket.key === null || isHidden(bucket.key) ? null : bucket.value,
            ...wait
          }))
        }
      }),
      deleteProcess: Effect.fnUntraced(function* ({ params }) {
        yield* refusals("NOT_FOUND", "CONFLICT")(runs.removeProcess(params.workspace_id, params.process_id))
        return { id: params.process_id, deleted: true } as const
      })
    })
  })
)

const findIn = (
  store: Processes["Service"],
  params: { readonly workspace_id: StoredItem["workspaceId"]; readonly process_id: string }
) => orNotFound("process", params.process_id, store.get(params.workspace_id, params.process_id))

/** What the deletion of work items by itself needs. */
const mayDeleteItems = need("Processes.write_work_items", "delete_work_items: work items are deleted")

const checkDefinition = Effect.fnUntraced(function* (
  { default_work_item, steps }: ProcessDefinition,
  packages: { readonly ofWorkspace: TaskPackages["Service"]; readonly versions: PackageVersions["Service"] },
  workspace: WorkspaceId
) {
  if (default_work_item !== undefined) yield* checkPayload(default_work_item.payload, "default_work_item.payload")
  const names = new Set<string>()
  for (const [index, step] of steps.entries()) {
    if (names.has(step.name)) {
      return yield* invalidRequest(
        `steps.${index}.name: "${step.name}" is already the name of another step; names are unique`
      )
    }
    names.add(step.name)
    const id = step.task.package_id
    if (id !== undefined && !(yield* packages.ofWorkspace.lock(workspace, id))) {
      return yield* notFound(`task package (steps.${index}.task.package_id)`, id)
    }
    yield* checkPin(step, `steps.${index}.task_package_version`, packages.versions, workspace)
  }
})

/** The version that a step names exists and has its task. Its package is locked, so the version stays. */
const checkPin = Effect.fnUntraced(function* (
  { task, task_package_version: pin }: ProcessDefinition["steps"][number],
  field: string,
  versions: PackageVersions["Service"],
  workspace: WorkspaceId
) {
  if (pin === undefined || pin === null) return
  if (task.package_id === undefined) {
    return yield* invalidRequest(`${field}: the task is not one of a package; name the package, or leave this out`)
  }
  const found = yield* versions.get(workspace, task.package_id, pin)
  if (found === null) {
    return yield* invalidRequest(
      `${field}: the package has no version ${pin}, or it was deleted; list the versions of the package`
    )
  }
  if (!found.content.tasks.includes(task.name)) {
    return yield* invalidRequest(`${field}: version ${pin} of the package has no task "${task.name}"`)
  }
})

/** What a definition says of its payloads holds for its own default work item too. */
const checkInput = Effect.fnUntraced(function* (definition: ProcessDefinition, schemas: InputSchemas["Service"]) {
  const { inputSchema, ...input } = inputOf(definition)
  const size = Buffer.byteLength(inputSchema ?? "")
  if (size > limits.inputSchema) {
    return yield* tooLarge(`input_schema: ${size} bytes of JSON are more than the ${limits.inputSchema} allowed`)
  }
  if (input.checkPayloads && inputSchema === null) {
    return yield* invalidRequest("check_payloads: needs an input_schema to check payloads against")
  }
  const checked = { inputSchema, ...input }
  const { default_work_item } = definition
  yield* refusals("INVALID_REQUEST")(
    Effect.andThen(
      schemas.checkSchema(checked),
      default_work_item === undefined
        ? Effect.void
        : schemas.checkPayload(checked, default_work_item.payload, "default_work_item.payload")
    )
  )
})
