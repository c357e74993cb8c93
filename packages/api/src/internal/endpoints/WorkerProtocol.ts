/**
 * The interface of workers, `/worker-v1`: link, lease step runs, report them. The bearer is the worker's token, and
 * calls about a step run also carry its lease token.
 */
import * as Schema from "effect/Schema"
import { Deleted, Labels, Name, RelativePath, Text, TimestampInput } from "../../contract/Common.ts"
import { NewFile, UploadForm } from "../../contract/Files.ts"
import {
  FileId,
  ProcessId,
  ProcessRunId,
  StepId,
  StepRunId,
  WorkerId,
  WorkItemId,
  WorkspaceId
} from "../../contract/Ids.ts"
import { StepEnvironment } from "./Processes.ts"
import {
  ConflictResponse,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse
} from "../../contract/Responses.ts"
import { Settlement } from "./Robot.ts"
import { environmentEvent, StepRunEnvironment, stepRunErrorCodes, stepRunEventTypes } from "./StepRuns.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** The maximum of step runs in one call of `nextItems`. */
export const maxStepRunsAtOnce = 100

/** The maximum of items that a step run has and has not begun. */
export const maxItemsAhead = 20

/** The maximum of outputs sent with a settled item; further ones are created by separate calls before. */
export const maxOutputsAtOnce = 100

const Tasks = Schema.Array(Name).check(Schema.isMaxLength(1000))

export class Linked extends Struct<Linked>("Linked")({
  worker_id: WorkerId,
  workspace_id: WorkspaceId,
  worker_token: Schema.String,
  heartbeat_seconds: Schema.Finite
}) {}

export const link = /* @__PURE__ */ Endpoint.post("linkWorker", "/link", () => ({
  extension: true,
  payload: Schema.Struct({
    link_token: Schema.String,
    name: Name,
    tasks: Tasks,
    /** What the worker has, for steps that ask for it; default: none. */
    labels: Schema.optionalKey(Labels)
  }),
  success: Linked,
  error: [InvalidRequestResponse, ForbiddenResponse]
}))

/** A step run that only this worker may start now. The tokens are refused once the step run has ended. */
export class Lease extends Struct<Lease>("Lease")({
  step_run_id: StepRunId,
  process_id: ProcessId,
  process_run_id: ProcessRunId,
  lease_token: Schema.String,
  run_token: Schema.String,
  task: Schema.Struct({ name: Schema.String }),
  /** The step of the process; a service before this field does not send it. */
  step_id: Schema.optionalKey(StepId),
  /** Null for a task that the worker defines itself. */
  package: Schema.NullOr(Schema.Struct({ digest: Schema.String, url: Schema.String })),
  work_item_id: WorkItemId,
  timeout_seconds: Schema.NullOr(Schema.Finite),
  env: Schema.Record(Schema.String, Schema.String),
  /** Null: the environment that the package describes. */
  environment: Schema.NullOr(StepEnvironment),
  /** The trace that the run belongs to, as in W3C Trace Context; only of a service that sends traces to a collector. */
  traceparent: Schema.optionalKey(Schema.String)
}) {}

export const lease = /* @__PURE__ */ Endpoint.post("leaseStepRuns", "/lease", () => ({
  extension: true,
  payload: Schema.Struct({
    free: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
    tasks: Tasks,
    /** Whether this worker also runs tasks of task packages; default false. */
    packages: Schema.optionalKey(Schema.Boolean),
    /** In place of those that it had; absent: it keeps them. */
    labels: Schema.optionalKey(Labels),
    wait_seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 30 }))
  }),
  success: Schema.Struct({ leases: Schema.Array(Lease) }),
  error: InvalidRequestResponse
}))

export const heartbeat = /* @__PURE__ */ Endpoint.post("heartbeat", "/heartbeat", () => ({
  extension: true,
  payload: Schema.Struct({ step_run_ids: Schema.Array(StepRunId), starting: Schema.optionalKey(Schema.Boolean) }),
  success: Schema.Struct({
    stop: Schema.Array(StepRunId),
    lost: Schema.Array(StepRunId),
    /** A service before this field does not send it. */
    drain: Schema.optionalKey(Schema.Boolean)
  }),
  error: InvalidRequestResponse
}))

const stepRun = { params: { step_run_id: StepRunId }, success: Schema.Struct({ accepted: Schema.Literal(true) }) }

export const start = /* @__PURE__ */ Endpoint.post("startStepRun", "/step-runs/:step_run_id/start", () => ({
  extension: true,
  ...stepRun,
  payload: Schema.Struct({ lease_token: Schema.String }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
}))

export const build = /* @__PURE__ */ Endpoint.post("reportStepRunBuild", "/step-runs/:step_run_id/build", () => ({
  extension: true,
  ...stepRun,
  payload: Schema.Struct({ lease_token: Schema.String, state: Schema.Literals(["started", "ended"]) }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
}))

const Attempt = { work_item_id: WorkItemId, attempt: Schema.Int }

/** The reserved item. `attempt` is the number of this attempt, and must be sent to settle it. */
export class ReservedItem extends Struct<ReservedItem>("ItemInHand")({
  ...Attempt,
  payload: Schema.NullOr(Schema.Json),
  files: Schema.Array(Schema.Struct({ id: FileId, name: Schema.String, size: Schema.Finite }))
}) {}

/** The result of an item; `outputs` are created from it, those with files by separate calls before. */
export class SettledItem extends Struct<SettledItem>("SettledItem")({
  ...Attempt,
  ...Settlement.fields,
  outputs: Schema.optionalKey(Schema.Array(Schema.NullOr(Schema.Json)).check(Schema.isMaxLength(maxOutputsAtOnce))),
  /** Whether the outputs of this attempt are dropped, if it failed; default: they are passed on. */
  drop_outputs: Schema.optionalKey(Schema.Boolean)
}) {}

/**
 * What a step run has done with items that it was given ahead, without waiting for the response: which have ended since
 * `settled`, in their order, and which one it has begun after those. Absent: it waits for the response.
 */
export class Ahead extends Struct<Ahead>()({
  also_settled: Schema.Array(SettledItem).check(Schema.isMaxLength(maxItemsAhead)),
  begun: Schema.optionalKey(Schema.Struct(Attempt)),
  /** Those that it has and has not begun. */
  not_begun: Schema.Array(WorkItemId).check(Schema.isMaxLength(maxItemsAhead)),
  /** How many it wants to have that it has not begun. */
  wanted: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxItemsAhead }))
}) {}

export const nextItems = /* @__PURE__ */ Endpoint.post("nextWorkItems", "/process-runs/:process_run_id/next", () => ({
  extension: true,
  params: { process_run_id: ProcessRunId },
  payload: Schema.Struct({
    step_runs: Schema.Array(
      Schema.Struct({
        step_run_id: StepRunId,
        lease_token: Schema.String,
        settled: Schema.optionalKey(SettledItem),
        reserve: Schema.optionalKey(Schema.Boolean),
        ahead: Schema.optionalKey(Ahead)
      })
    ).check(Schema.isBetweenLength(1, maxStepRunsAtOnce))
  }),
  success: Schema.Struct({
    step_runs: Schema.Array(
      Schema.Struct({
        step_run_id: StepRunId,
        item: Schema.NullOr(ReservedItem),
        /** Items that the step run may begin next, in this order, besides those that it has. */
        items_ahead: Schema.optionalKey(Schema.Array(ReservedItem)),
        /** Whether it may have some, and begin them without waiting for a response; default true. */
        begin_ahead: Schema.optionalKey(Schema.Boolean),
        error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String }))
      })
    )
  }),
  error: [InvalidRequestResponse, NotFoundResponse]
}))

export const finish = /* @__PURE__ */ Endpoint.post("finishStepRun", "/step-runs/:step_run_id/finish", () => ({
  extension: true,
  ...stepRun,
  payload: Schema.Struct({
    lease_token: Schema.String,
    error: Schema.NullOr(Schema.Struct({ code: Schema.Literals(stepRunErrorCodes), message: Schema.String }))
  }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
}))

export const unlink = /* @__PURE__ */ Endpoint.delete("unlinkWorker", "/link", () => ({
  extension: true,
  success: Deleted(WorkerId),
  error: ConflictResponse
}))

/** How many lines or events of this step run were sent before: repeated ones are stored once. */
const offset = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const sendConsole = /* @__PURE__ */ Endpoint.post(
  "sendStepRunConsole",
  "/step-runs/:step_run_id/console",
  () => ({
    extension: true,
    ...stepRun,
    payload: Schema.Struct({
      lease_token: Schema.String,
      offset,
      messages: Schema.Array(
        Schema.Struct({ timestamp: TimestampInput, message: Text.check(Schema.isMaxLength(65_536)) })
      ).check(Schema.isBetweenLength(1, 1000))
    }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)

/**
 * An event that a worker reports, such as `SETUP`: a word in upper case, and not one that the service itself writes.
 */
export const WorkerEventType = Schema.String.check(
  Schema.isPattern(/^[A-Z][A-Z0-9_]{0,63}$/, { message: "Expected a word in capitals, such as SETUP" }),
  Schema.makeFilter(
    (type) => !stepRunEventTypes.some((own) => own === type) || "the service itself writes events of this type"
  )
)

/** `environment` says what the event `ENVIRONMENT` is about, `message` what any other is. */
const WorkerEvent = Schema.Struct({
  timestamp: TimestampInput,
  event_type: WorkerEventType,
  environment: Schema.optionalKey(StepRunEnvironment),
  message: Schema.optionalKey(Text.check(Schema.isMaxLength(1000)))
}).check(
  Schema.makeFilter(
    ({ environment, event_type }) =>
      environment === undefined ||
      event_type === environmentEvent || {
        path: ["environment"],
        issue: `only events ${environmentEvent} have an environment`
      }
  ),
  Schema.makeFilter(
    ({ event_type, message }) =>
      message === undefined ||
      event_type !== environmentEvent || {
        path: ["message"],
        issue: `events ${environmentEvent} have an environment and no message`
      }
  )
)

export const sendEvents = /* @__PURE__ */ Endpoint.post("sendStepRunEvents", "/step-runs/:step_run_id/events", () => ({
  extension: true,
  ...stepRun,
  payload: Schema.Struct({
    lease_token: Schema.String,
    offset,
    events: Schema.Array(WorkerEvent).check(Schema.isBetweenLength(1, 100))
  }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
}))

/** The path of an artifact below the folder of artifacts: relative, with `/` and without `..`. */
export const ArtifactName = RelativePath.check(Schema.isMaxLength(255))

export const createArtifact = /* @__PURE__ */ Endpoint.post(
  "createStepRunArtifact",
  "/step-runs/:step_run_id/artifacts",
  () => ({
    extension: true,
    params: stepRun.params,
    payload: Schema.Struct({ lease_token: Schema.String, name: ArtifactName, size: NewFile.fields.file_size }),
    success: Schema.Struct({ upload: UploadForm }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)
