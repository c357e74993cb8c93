/**
 * The older interface: translates to the same commands and repositories that `/api/v1` uses.
 */
import { ArtifactId, type ProcessId, type ProcessRunId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { StartInput } from "@signalbox/api/contract/ProcessRuns"
import { packageLimits } from "@signalbox/task-package/PackageLimits"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, notFound, orNotFound, refusals } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { checkPayload } from "../edge/PayloadSize.ts"
import { InputSchemas } from "../runs/InputSchemas.ts"
import { Runs } from "../runs/Runs.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import { Processes, type StoredProcess } from "../store/processes/Processes.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import * as RunNumbers from "../store/runs/RunNumbers.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import { notUploaded } from "../store/packages/PackageVersions.ts"
import { TaskPackages } from "../store/packages/TaskPackages.ts"
import { type ItemFilter, WorkItems } from "../store/items/WorkItems.ts"
import { WorkerReports } from "../store/runs/WorkerReports.ts"
import { FileLinks } from "../transfers/FileLinks.ts"
import * as ItemFiles from "./ItemFiles.ts"
import * as LegacyItems from "./LegacyItems.ts"
import { Masking } from "./Masking.ts"
import { pageSize, runView, sizeOf, stepRunView } from "./LegacyViews.ts"
import * as Actor from "../edge/Actor.ts"

const firstPage = { after: null, limit: pageSize }

interface OfProcess {
  readonly workspace_id: WorkspaceId
  readonly process_id: ProcessId
}

interface OfRun {
  readonly workspace_id: WorkspaceId
  readonly process_run_id: ProcessRunId
}

export const layer = Endpoints.group(
  "legacy",
  Effect.fnUntraced(function* (handlers) {
    const { transaction } = yield* Database
    const { page } = yield* Pagination
    const commands = yield* Runs
    const inputSchemas = yield* InputSchemas
    const processes = yield* Processes
    const runs = yield* ProcessRuns
    const numbersOf = yield* RunNumbers.make
    const stepRuns = yield* StepRuns
    const items = yield* WorkItems
    const packages = yield* TaskPackages
    const by = yield* Actor.make
    const reports = yield* WorkerReports
    const files = yield* Files
    const links = yield* FileLinks
    const formFor = yield* ItemFiles.formFor
    const legacyItems = yield* LegacyItems.make
    const masking = yield* Masking

    const findProcess = ({ process_id, workspace_id }: OfProcess) =>
      orNotFound("process", process_id, processes.get(workspace_id, process_id))
    const findRun = ({ process_run_id, workspace_id }: OfRun) =>
      orNotFound("process run", process_run_id, runs.get(workspace_id, process_run_id))
    const findStepRun = Effect.fnUntraced(function* (params: OfRun & { readonly step_run_id: string }) {
      const { process_run_id, step_run_id, workspace_id } = params
      const stored = yield* stepRuns.find(step_run_id)
      const found =
        stored?.processRunId === process_run_id && (yield* runs.get(workspace_id, process_run_id)) !== null
          ? yield* stepRuns.get(workspace_id, step_run_id)
          : null
      return found ?? (yield* notFound("step run", step_run_id))
    })

    /** Like `findStepRun`, for what may be secret with fields of payloads. */
    const findOpenStepRun = Effect.fnUntraced(function* (params: Parameters<typeof findStepRun>[0]) {
      const { process } = yield* findRun(params)
      yield* masking.needFiles(Effect.succeed(process.id))
      return yield* findStepRun(params)
    })

    /** Starts a run, and finds its work items, which are its oldest. */
    const started = Effect.fnUntraced(function* (workspace: WorkspaceId, process: StoredProcess, input: StartInput) {
      const id = yield* commands
        .start(workspace, process, input)
        .pipe(refusals("CONFLICT", "NOT_FOUND", "INVALID_REQUEST"))
      if (id === null) return yield* conflict("no work item waits in the queue of the process; nothing was started")
      if (input.type === "with_work_item_ids") return { id, workItemIds: input.work_item_ids }
      const filter = { processId: null, processRunId: id, state: null, order: "oldest first" } as const
      const { rows } = yield* items.list(workspace, filter, { after: null, limit: 1 })
      return { id, workItemIds: rows.map((item) => item.id) }
    })
    /** Starts a run with one payload; `field` is where the request has it. */
    const startedWith = Effect.fnUntraced(function* (
      workspace: WorkspaceId,
      process: StoredProcess,
      payload: Schema.Json,
      field: string
    ) {
      yield* checkPayload(payload, field)
      yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(process, payload, field))
      return yield* started(workspace, process, { type: "with_payloads", payloads: [payload] })
    })

    const runViews = (workspace: WorkspaceId) =>
      Effect.fnUntraced(function* (found: ReadonlyArray<Effect.Success<ReturnType<typeof findRun>>>) {
        const numbers = yield* numbersOf(found.map((run) => run.id))
        return found.map((run) => runView(workspace, run, numbers.get(run.id) ?? 0))
      })

    return handlers.handleAll({
      legacyProcesses: ({ params, query, request }) =>
        page(
          request,
          query,
          (from) => processes.list(params.workspace_id, from),
          (found) =>
            Effect.succeed(
              found.map(({ created_at, id, name }) => ({
                id,
                name,
                workspaceId: params.workspace_id,
                createTs: created_at
              }))
            ),
          sizeOf(query)
        ),
      legacyStart: Effect.fnUntraced(function* ({ params, payload }) {
        const process = yield* findProcess(params)
        // An empty list is what the library sends for no work items.
        if (payload === undefined || payload === null || (Array.isArray(payload) && payload.length === 0))
          return yield* started(params.workspace_id, process, {})
        return yield* startedWith(params.workspace_id, process, payload, "the body")
      }),
      legacyStartBatch: Effect.fnUntraced(function* ({ params, payload }) {
        const process = yield* findProcess(params)
        return yield* transaction(
          Effect.forEach(payload, (one, index) => startedWith(params.workspace_id, process, one, String(index)))
        )
      }),
      legacyStartRequested: Effect.fnUntraced(function* ({ params, payload }) {
        const process = yield* findProcess(params)
        const input: StartInput =
          payload.type === "default" ? {} : { type: "with_work_item_ids", work_item_ids: payload.workItemIds }
        return yield* started(params.workspace_id, process, input)
      }),
      legacyRuns: Effect.fnUntraced(function* ({ params, query, request }) {
        const { view } = yield* findProcess(params)
        const filter = { processId: view.id, state: null }
        const workspace = params.workspace_id
        return yield* page(
          request,
          query,
          (from) => runs.list(workspace, filter, from),
          runViews(workspace),
          sizeOf(query)
        )
      }),
      legacyWorkspaceRuns: Effect.fnUntraced(function* ({ params, query }) {
        const filter = { processId: null, state: null }
        const { rows } = yield* runs.list(params.workspace_id, filter, { after: null, limit: sizeOf(query) })
        return yield* runViews(params.workspace_id)(rows)
      }),
      legacyRun: Effect.fnUntraced(function* ({ params }) {
        const run = yield* findRun(params)
        const numbers = yield* numbersOf([run.id])
        const robotRuns = (yield* stepRuns.list(run.id, firstPage)).rows.map((one) => stepRunView(run.id, one))
        const failed = run.state === "unresolved" ? robotRuns.find((one) => one.errorCode !== null) : undefined
        return {
          ...runView(params.workspace_id, run, numbers.get(run.id) ?? 0, failed?.errorCode ?? null),
          robotRuns
        }
      }),
      legacyWorkItems: Effect.fnUntraced(function* ({ params, query, request }) {
        const { view } = yield* findProcess(params)
        const filter = { processId: view.id, processRunId: null, state: null }
        return yield* legacyItems.list(request, query, params.workspace_id, filter, view.name)
      }),
      legacyRunWorkItems: Effect.fnUntraced(function* ({ params, query, request }) {
        const run = yield* findRun(params)
        const filter: ItemFilter = {
          processId: null,
          processRunId: run.id,
          state: null,
          order: query.sortOrder === "asc" ? "oldest first" : undefined
        }
        return yield* legacyItems.list(request, query, params.workspace_id, filter, run.process.name)
      }),
      legacyWorkItem: ({ params, query }) => legacyItems.get(params, query.includeData),
      legacyCreateWorkItem: Effect.fnUntraced(function* ({ params, payload }) {
        const { process_id, workspace_id } = params
        const data = payload.payload ?? null
        const json = yield* checkPayload(data)
        const { id } = yield* transaction(
          Effect.gen(function* () {
            const locked = processes.lock(workspace_id, process_id, "share")
            const process = yield* orNotFound("process", process_id, locked)
            yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(process, data, "payload"))
            return yield* items.create(workspace_id, process_id, json)
          })
        )
        return { id }
      }),
      legacyCreateWorkItemFile: Effect.fnUntraced(function* ({ params, payload: { fileName, fileSize } }) {
        const item = yield* legacyItems.find(params)
        const form = yield* formFor(item, { file_name: fileName, file_size: fileSize }, "fileSize")
        return { url: form.url, fields: form.form_data }
      }),
      legacyRetryWorkItem: Effect.fnUntraced(function* ({ params }) {
        const item = yield* legacyItems.find(params)
        yield* refusals("NOT_FOUND", "CONFLICT")(commands.batch(params.workspace_id, "retry", [item.id]))
        return yield* legacyItems.get(params)
      }),
      legacyBatchWorkItems: ({ params, payload }) =>
        commands
          .batch(params.workspace_id, payload.batchOperation, payload.workItemIds)
          .pipe(refusals("INVALID_REQUEST", "NOT_FOUND", "CONFLICT"), Effect.as({ accepted: true })),
      legacyStepRuns: Effect.fnUntraced(function* ({ params, query, request }) {
        const { id } = yield* findRun(params)
        return yield* page(
          request,
          query,
          (from) => stepRuns.list(id, from),
          (found) => Effect.succeed(found.map((one) => stepRunView(id, one))),
          sizeOf(query)
        )
      }),
      legacyStepRun: ({ params }) =>
        Effect.map(findStepRun(params), (found) => stepRunView(params.process_run_id, found)),
      legacyArtifacts: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* findOpenStepRun(params)
        const { rows } = yield* files.list(id, firstPage)
        return rows.map((file) => ({ id: ArtifactId.make(file.id), fileName: file.name, fileSize: file.size }))
      }),
      legacyArtifact: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* findOpenStepRun(params)
        const file = yield* files.find(params.workspace_id, params.artifact_id)
        if (file === null || file.ownerId !== id) return yield* notFound("artifact", params.artifact_id)
        return (yield* links.file(params.workspace_id, file)).download.url
      }),
      legacyMessages: Effect.fnUntraced(function* ({ params, request }) {
        const { id } = yield* findOpenStepRun(params)
        const { data } = yield* page(
          request,
          {},
          (from) => reports.listMessages(id, "oldest first", from),
          Effect.succeed,
          pageSize
        )
        // Clients join them without a separator.
        return data.map(({ message, timestamp }, index) => ({
          seqNo: index + 1,
          timeStamp: timestamp,
          message: `${message}\n`
        }))
      }),
      legacyEvents: Effect.fnUntraced(function* ({ params, request }) {
        const { id } = yield* findStepRun(params)
        const { data } = yield* page(request, {}, (from) => stepRuns.listEvents(id, from), Effect.succeed, pageSize)
        return data.map(({ event_type, timestamp }, index) => ({
          seqNo: index + 1,
          timeStamp: timestamp,
          eventType: event_type,
          data: null
        }))
      }),
      legacyRobots: ({ params, query, request }) =>
        page(
          request,
          query,
          (from) => packages.list(params.workspace_id, from),
          (found) => Effect.succeed(found.map(({ id, name }) => ({ id, name }))),
          sizeOf(query)
        ),
      legacyRobotUpload: Effect.fnUntraced(function* ({ params }) {
        const { task_package_id, workspace_id } = params
        const { id, name, type } = yield* orNotFound(
          "task package",
          task_package_id,
          packages.get(workspace_id, task_package_id)
        )
        if (type !== "zip") return yield* conflict(notUploaded(name))
        const owner = { workspace: workspace_id, id, stepRun: null, kind: "package", by: yield* by } as const
        const form = yield* links.uploadForm(owner, { file_name: `${name}.zip`, file_size: packageLimits.zip })
        return { url: form.url, fields: form.form_data }
      })
    })
  })
)
