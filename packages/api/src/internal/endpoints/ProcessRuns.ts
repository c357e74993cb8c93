/** Process runs: a process that runs on one or more work items. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  CallbackUrl,
  listQuery,
  NamedRef,
  OpenEnum,
  Page,
  Text,
  Timestamp,
  TimestampInput
} from "../../contract/Common.ts"
import { ProcessId, ProcessRunId, StepId, WorkItemId, WorkspaceId } from "../../contract/Ids.ts"
import { orderFields, Priority } from "../../contract/Order.ts"
import {
  ConflictResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse
} from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const processRunStates = ["new", "in_progress", "completed", "unresolved", "stopping"] as const
export type ProcessRunState = (typeof processRunStates)[number]

/** The events of callbacks. Those of webhooks have the prefix `process_run.`. */
export const processRunActions = ["started", "completed", "unresolved"] as const
export type ProcessRunAction = (typeof processRunActions)[number]

/** What started a run; `details` only when `type` is `user`. */
export class StartedBy extends Struct<StartedBy>("StartedBy")({
  type: OpenEnum(["api", "user", "schedule", "email"]),
  details: Schema.NullOr(Schema.Struct({ id: Schema.String, first_name: Schema.String, last_name: Schema.String }))
}) {}

/** The schedule or trigger that started a run, with its name at that time. It may have been deleted since. */
export class RunSource extends Struct<RunSource>("RunSource")({
  type: OpenEnum(["schedule", "trigger"]),
  id: Schema.String,
  name: Schema.String
}) {}

/** `duration` is in seconds, null until the run has ended. */
export class ProcessRun extends Struct<ProcessRun>("ProcessRun")({
  id: ProcessRunId,
  state: OpenEnum(processRunStates),
  created_at: Timestamp,
  started_at: Schema.NullOr(Timestamp),
  ended_at: Schema.NullOr(Timestamp),
  process: NamedRef(ProcessId),
  started_by: StartedBy,
  /** Extension: null when neither a schedule nor a trigger started it. */
  source: Schema.NullOr(RunSource).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  duration: Schema.NullOr(Schema.Finite),
  /** Extension. */
  priority: orderFields.priority
}) {}

/**
 * The input of a run. An absent body and `{}`: the default work item of the process, else one empty item. An unknown
 * `type` is refused, never treated as another; so is a body that has unknown members only.
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
  /** All items waiting in the queue of the process; `started` is false when none wait. */
  Schema.Struct({ type: Schema.Literal("with_inputs") }),
  Schema.Struct({ type: Schema.optionalKey(Schema.Never) })
])
export type StartInput = typeof StartInput.Type

export const Started = Schema.Union([
  Schema.Struct({ started: Schema.Literal(true), id: ProcessRunId }),
  Schema.Struct({ started: Schema.Literal(false) })
])

/** A run that was started. */
export interface RunStarted {
  readonly started: true
  readonly id: ProcessRunId
}

/** No run was started: no item waits for one. */
export interface NothingStarted {
  readonly started: false
}

/** What became of a start. */
export type Started = RunStarted | NothingStarted

/** How to stop a run. */
export class StopRequest extends Struct<StopRequest>()({
  /** True: waiting items become `done`; false: `failed`. */
  set_remaining_work_items_as_done: Schema.Boolean,
  /** True: running step runs are terminated; false: they finish their reserved item. */
  terminate_ongoing_activity_runs: Schema.Boolean,
  reason: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000)))
}) {}

const params = { workspace_id: WorkspaceId, process_run_id: ProcessRunId }

export const get = /* @__PURE__ */ Endpoint.get(
  "getProcessRun",
  "/workspaces/:workspace_id/process-runs/:process_run_id",
  () => ({
    params,
    success: ProcessRun,
    error: NotFoundResponse
  })
)

export const list = /* @__PURE__ */ Endpoint.get("listProcessRuns", "/workspaces/:workspace_id/process-runs", () => ({
  params: { workspace_id: WorkspaceId },
  query: {
    ...listQuery,
    process_id: Schema.optional(ProcessId),
    state: Schema.optional(Schema.Literals(processRunStates)),
    /** Extension: not before this time. */
    created_after: Schema.optional(TimestampInput),
    /** Extension. */
    created_before: Schema.optional(TimestampInput)
  },
  success: Page(ProcessRun),
  error: InvalidRequestResponse
}))

export const stop = /* @__PURE__ */ Endpoint.post(
  "stopProcessRun",
  "/workspaces/:workspace_id/process-runs/:process_run_id/stop",
  () => ({
    params,
    payload: StopRequest,
    success: Schema.Struct({ accepted: Schema.Boolean }),
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

/** A step of a run with its items, by state. */
export class RunStep extends Struct<RunStep>("RunStep")({
  id: StepId,
  name: Schema.String,
  items: Schema.Struct({
    waiting: Schema.Int,
    in_progress: Schema.Int,
    done: Schema.Int,
    failed: Schema.Int
  }),
  /** When the first step run of the step started. */
  started_at: Schema.NullOr(Timestamp),
  /** When the last one ended; null while items wait or are in progress. */
  ended_at: Schema.NullOr(Timestamp),
  /** Why items wait and none is in progress, as a sentence; null otherwise. */
  waits_for: Schema.NullOr(Schema.String)
}) {}

export const getSteps = /* @__PURE__ */ Endpoint.get(
  "getProcessRunSteps",
  "/workspaces/:workspace_id/process-runs/:process_run_id/steps",
  () => ({ extension: true, params, success: Schema.Struct({ data: Schema.Array(RunStep) }), error: NotFoundResponse })
)

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteProcessRun",
  "/workspaces/:workspace_id/process-runs/:process_run_id",
  () => ({
    params,
    success: Schema.Struct({ id: ProcessRunId, deleted: Schema.Literal(true) }),
    error: [NotFoundResponse, ConflictResponse]
  })
)

export const startAgain = /* @__PURE__ */ Endpoint.post(
  "startProcessRunAgain",
  "/workspaces/:workspace_id/process-runs/:process_run_id/start-again",
  () => ({
    extension: true,
    params,
    success: Schema.Struct({ started: Schema.Literal(true), id: ProcessRunId }),
    error: [NotFoundResponse, ConflictResponse]
  })
)

/** The receiver of the events of a run, and the secret that signs the deliveries (see `WebhookEvents`). */
export class Callback extends Struct<Callback>()({
  url: CallbackUrl,
  secret: Schema.RedactedFromValue(Text.check(Schema.isBetweenLength(1, 1024))),
  callback_events: Schema.Array(Schema.Literals(processRunActions)).check(Schema.isBetweenLength(1, 100))
}) {}

const startFields = {
  callback: Schema.optionalKey(Callback),
  /** Extension: of the items that the run makes, and of those that it takes and whose own priority is 0. */
  priority: Schema.optionalKey(Priority)
}
const [withPayloads, withWorkItemIds, withInputs, withDefault] = StartInput.members

/** `StartInput`, each with an optional callback and priority. */
export const StartRequest = Schema.Union([
  Schema.Struct({ ...withPayloads.fields, ...startFields }),
  Schema.Struct({ ...withWorkItemIds.fields, ...startFields }),
  Schema.Struct({ ...withInputs.fields, ...startFields }),
  Schema.Struct({ ...withDefault.fields, ...startFields })
])
export type StartRequest = typeof StartRequest.Type

export const start = /* @__PURE__ */ Endpoint.post(
  "startProcessRun",
  "/workspaces/:workspace_id/processes/:process_id/process-runs",
  () => ({
    params: { workspace_id: WorkspaceId, process_id: ProcessId },
    payload: [StartRequest, Schema.Undefined],
    success: Started,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)
