/**
 * Process runs: a process at work on one or more work items.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { listQuery, OpenEnum, Page, Timestamp } from "./Common.ts"
import { ProcessId, ProcessRunId, WorkItemId, WorkspaceId } from "./Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse } from "./Responses.ts"

export const processRunStates = ["new", "in_progress", "completed", "unresolved", "stopping"] as const
export type ProcessRunState = (typeof processRunStates)[number]

/** Who started a run; `details` only when `type` is `user`. */
export const StartedBy = Schema.Struct({
  type: OpenEnum(["api", "user", "schedule", "email"]),
  details: Schema.NullOr(Schema.Struct({ id: Schema.String, first_name: Schema.String, last_name: Schema.String }))
})

/** `duration` is in seconds, null until the run has ended. */
export const ProcessRun = Schema.Struct({
  id: ProcessRunId,
  state: OpenEnum(processRunStates),
  created_at: Timestamp,
  started_at: Schema.NullOr(Timestamp),
  ended_at: Schema.NullOr(Timestamp),
  process: Schema.Struct({ id: ProcessId, name: Schema.String }),
  started_by: StartedBy,
  duration: Schema.NullOr(Schema.Finite)
})
export interface ProcessRun extends Schema.Schema.Type<typeof ProcessRun> {}

/**
 * What a run starts with. An absent body and `{}`: the default work item of the process, else one empty item.
 * A `type` that is none of these is refused, never taken for another.
 */
export const StartInput = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("with_payloads"),
    payloads: Schema.Array(Schema.Json).check(Schema.isBetweenLength(1, 1000))
  }),
  Schema.Struct({
    type: Schema.Literal("with_work_item_ids"),
    work_item_ids: Schema.Array(WorkItemId).check(Schema.isBetweenLength(1, 10_000))
  }),
  /** All items that wait in the queue of the process; `started` is false when there are none. */
  Schema.Struct({ type: Schema.Literal("with_inputs") }),
  Schema.Struct({ type: Schema.optionalKey(Schema.Undefined) })
])
export type StartInput = typeof StartInput.Type

export const Started = Schema.Union([
  Schema.Struct({ started: Schema.Literal(true), id: ProcessRunId }),
  Schema.Struct({ started: Schema.Literal(false) })
])
export type Started = typeof Started.Type

/** How to stop a run. */
export const StopRequest = Schema.Struct({
  /** True: waiting items become `done`; false: `failed`. */
  set_remaining_work_items_as_done: Schema.Boolean,
  /** True: what runs is terminated; false: it finishes the item in hand. */
  terminate_ongoing_activity_runs: Schema.Boolean,
  reason: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000)))
})
export interface StopRequest extends Schema.Schema.Type<typeof StopRequest> {}

const params = { workspace_id: WorkspaceId, process_run_id: ProcessRunId }

export const get = HttpApiEndpoint.get("getProcessRun", "/workspaces/:workspace_id/process-runs/:process_run_id", {
  params,
  success: ProcessRun,
  error: NotFoundResponse
}).annotate(RequiredPermission, "Processes.read_processes")

export const list = HttpApiEndpoint.get("listProcessRuns", "/workspaces/:workspace_id/process-runs", {
  params: { workspace_id: WorkspaceId },
  query: {
    ...listQuery,
    process_id: Schema.optional(ProcessId),
    state: Schema.optional(Schema.Literals(processRunStates))
  },
  success: Page(ProcessRun),
  error: InvalidRequestResponse
}).annotate(RequiredPermission, "Processes.read_runs")

export const start = HttpApiEndpoint.post("startProcessRun", "/workspaces/:workspace_id/processes/:process_id/process-runs", {
  params: { workspace_id: WorkspaceId, process_id: ProcessId },
  payload: [StartInput, Schema.Undefined],
  success: Started,
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
}).annotate(RequiredPermission, "Processes.trigger_processes")

export const stop = HttpApiEndpoint.post("stopProcessRun", "/workspaces/:workspace_id/process-runs/:process_run_id/stop", {
  params,
  payload: StopRequest,
  success: Schema.Struct({ accepted: Schema.Boolean }),
  error: [InvalidRequestResponse, NotFoundResponse]
}).annotate(RequiredPermission, "Processes.trigger_processes")

/** Irreversible. Only an ended run can be deleted. */
export const remove = HttpApiEndpoint.delete("deleteProcessRun", "/workspaces/:workspace_id/process-runs/:process_run_id", {
  params,
  success: Schema.Struct({ id: ProcessRunId, deleted: Schema.Literal(true) }),
  error: [NotFoundResponse, ConflictResponse]
}).annotate(RequiredPermission, "Processes.trigger_processes")

export const ProcessRuns = HttpApiGroup.make("processRuns")
  .add(get, list, start, stop, remove)
  .middleware(WorkspaceAuthorization)
