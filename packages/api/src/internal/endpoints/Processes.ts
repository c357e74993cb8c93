/**
 * Processes: named definitions made of steps.
 */
import * as Schema from "effect/Schema"
import { Deleted, Labels, Name, namedListQuery, Page, Ref, Text, Timestamp } from "../../contract/Common.ts"
import { ProcessId, StepId, TaskPackageId, WorkerGroupId, WorkItemId, WorkspaceId } from "../../contract/Ids.ts"
import { Concurrency, LimitWait, Rate } from "./Limits.ts"
import { PauseAfterFailures, paused } from "./Pauses.ts"
import {
  ConflictResponse,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse
} from "../../contract/Responses.ts"
import { Sensitive } from "./SecretFields.ts"
import { VersionNumber } from "./TaskPackageVersions.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export { LimitWait }

export class Process extends Struct<Process>("Process")({
  id: ProcessId,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  steps: Schema.Array(Schema.Struct({ id: StepId, name: Schema.String, paused })),
  paused
}) {}

/** A process in lists. */
export class ProcessSummary extends Struct<ProcessSummary>("ProcessSummary")({
  id: ProcessId,
  name: Schema.String,
  created_at: Timestamp,
  paused
}) {}

/** What a step runs: a task of a task package, or a task of this name that workers define themselves. */
export const StepTask = Schema.Struct({ name: Name, package_id: Schema.optionalKey(TaskPackageId) })

/** `none`: the programs of the worker's machine; a path: an environment that is there, below a folder that workers allow. */
export const StepEnvironment = Schema.Union([Schema.Literal("none"), Schema.Struct({ path: Text })])

/** What a step asks of the worker that takes it: all of these labels. */
export const StepWorker = Schema.Struct({ labels: Labels })

/** One step of a definition. Steps run in the order of the list. */
export class StepDefinition extends Struct<StepDefinition>()({
  name: Name,
  task: StepTask,
  /** The version of its task package that the step runs, whatever is current; absent or null: the current one. */
  task_package_version: Schema.optionalKey(Schema.NullOr(VersionNumber)),
  /** Only workers of this group may lease the step; absent or null: any worker. */
  worker_group: Schema.optionalKey(Schema.NullOr(Ref(WorkerGroupId))),
  /** Only workers with all of these labels may lease the step; absent: any worker. */
  worker: Schema.optionalKey(StepWorker),
  /** How many step runs of this step may be active concurrently; default 1. */
  max_parallel: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))),
  /** A step run that exceeds this is terminated; default: no limit. */
  timeout_seconds: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 604_800 }))),
  /** Items that fail for other than business reasons are retried; default: not. */
  retry: Schema.optionalKey(
    Schema.Struct({
      /** All attempts, including the first. */
      max_attempts: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
      delay_seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 86_400 }))
    })
  ),
  /** `items` (default): as items arrive; `previous_step`: when all items of all earlier steps are done or failed. */
  start_after: Schema.optionalKey(Schema.Literals(["items", "previous_step"])),
  /**
   * The outputs of items that the task releases as failed: `pass_on` (default), as those of completed items, or `drop`.
   * Those of items that are retried, or whose task crashed, are always dropped.
   */
  failed_outputs: Schema.optionalKey(Schema.Literals(["pass_on", "drop"])),
  /** Completed items without outputs travel on themselves, with payload and files; default: as the process says. */
  forward_done_items: Schema.optionalKey(Schema.Boolean),
  /** Environment variables of the task. */
  env: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** What the task of a package runs in; absent: the environment that its package describes. */
  environment: Schema.optionalKey(StepEnvironment),
  /** The step is paused after so many failures in a row, of type `application` or by the orchestrator; default: not. */
  pause_after_failures: Schema.optionalKey(PauseAfterFailures),
  /** How many items of the step are in hand at a time, in all runs; default: no limit. */
  concurrency: Schema.optionalKey(Concurrency),
  /** How many attempts of the step begin in a time, in all runs; default: no limit. */
  rate: Schema.optionalKey(Rate)
}) {}

/** The definition of a process. */
export class ProcessDefinition extends Struct<ProcessDefinition>()({
  name: Name,
  description: Schema.optionalKey(Schema.NullOr(Text)),
  steps: Schema.Array(StepDefinition).check(Schema.isMaxLength(100)),
  /** The payload of a run that is started without input; absent: one empty work item. */
  default_work_item: Schema.optionalKey(Schema.Struct({ payload: Schema.Json })),
  /** The JSON Schema (draft 2020-12) of the payloads that the first step takes; absent or null: not known. */
  input_schema: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Json))),
  /**
   * Whether payloads that `input_schema` does not take are refused in new items, and when items of the first step are changed by
   * others than their robot; default false. `format` is not checked.
   */
  check_payloads: Schema.optionalKey(Schema.Boolean),
  /** For all steps that do not say otherwise; default false. */
  forward_done_items: Schema.optionalKey(Schema.Boolean),
  /** The process is paused after so many failures in a row in any of its steps; default: not. */
  pause_after_failures: Schema.optionalKey(PauseAfterFailures),
  /** How many items are in hand at a time, in all steps and runs together; default: no limit. */
  concurrency: Schema.optionalKey(Concurrency),
  /** How many attempts begin in a time, in all steps and runs together; default: no limit. */
  rate: Schema.optionalKey(Rate),
  /**
   * Secret fields of payloads and outputs in all steps, besides those that `input_schema` marks with `x-secret` or `writeOnly`: JSON
   * pointers, in which `*` is any key or index.
   */
  sensitive: Schema.optionalKey(Sensitive),
  /**
   * Whether files, console lines and artifacts of a process with secret fields need `Processes.read_sensitive`; default true.
   */
  sensitive_files: Schema.optionalKey(Schema.Boolean)
}) {}

const maskedOfDefinition = Schema.optionalKey(Schema.Array(Schema.String))

/** A definition as it is stored. `revision` changes whenever the definition does. */
export class StoredDefinition extends Struct<StoredDefinition>()({
  ...ProcessDefinition.fields,
  revision: Schema.String,
  /** The pointers to what is masked in the payload of `default_work_item`; absent: nothing is. */
  masked: maskedOfDefinition
}) {}

/** A definition in the place of another one: of the one that has this revision, if it is given; else 409. */
export class DefinitionChange extends Struct<DefinitionChange>()({
  ...ProcessDefinition.fields,
  revision: Schema.optionalKey(Schema.String),
  /** As it was read. What is masked stays as it is stored, where null or nothing is sent. */
  masked: maskedOfDefinition,
  /**
   * Items in the queue of the process that are deleted in the same transaction, which is irreversible; 409 and no change when one
   * does not wait there any more. Needs `Processes.write_work_items` too.
   */
  delete_work_items: Schema.optionalKey(Schema.Array(WorkItemId).check(Schema.isMaxLength(10_000)))
}) {}

const params = { workspace_id: WorkspaceId, process_id: ProcessId }

export const get = /* @__PURE__ */ Endpoint.get(
  "getProcess",
  "/workspaces/:workspace_id/processes/:process_id",
  () => ({
    params,
    success: Process,
    error: NotFoundResponse
  })
)

export const list = /* @__PURE__ */ Endpoint.get("listProcesses", "/workspaces/:workspace_id/processes", () => ({
  params: { workspace_id: WorkspaceId },
  query: namedListQuery,
  success: Page(ProcessSummary),
  error: InvalidRequestResponse
}))

export const create = /* @__PURE__ */ Endpoint.post("createProcess", "/workspaces/:workspace_id/processes", () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: ProcessDefinition,
  success: Process,
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
}))

export const update = /* @__PURE__ */ Endpoint.post(
  "updateProcess",
  "/workspaces/:workspace_id/processes/:process_id",
  () => ({
    extension: true,
    params,
    payload: DefinitionChange,
    success: Process,
    error: [InvalidRequestResponse, ForbiddenResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)

export const getDefinition = /* @__PURE__ */ Endpoint.get(
  "getProcessDefinition",
  "/workspaces/:workspace_id/processes/:process_id/definition",
  () => ({ extension: true, params, success: StoredDefinition, error: NotFoundResponse })
)

export const getLimits = /* @__PURE__ */ Endpoint.get(
  "getProcessLimits",
  "/workspaces/:workspace_id/processes/:process_id/limits",
  () => ({
    extension: true,
    params,
    success: Schema.Struct({ data: Schema.Array(LimitWait) }),
    error: NotFoundResponse
  })
)

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteProcess",
  "/workspaces/:workspace_id/processes/:process_id",
  () => ({ extension: true, params, success: Deleted(ProcessId), error: [NotFoundResponse, ConflictResponse] })
)
