/**
 * The workers' own interface, `/worker-v1`: link, lease step runs, report them. The bearer is the worker's token,
 * and calls about a step run carry its lease token besides.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { TokenAuthorization } from "./Authorization.ts"
import { Deleted, Name, RelativePath, Text, TimestampInput } from "./Common.ts"
import { extension } from "./Documentation.ts"
import { NewFile, UploadForm } from "./Files.ts"
import { FileId, ProcessId, ProcessRunId, StepRunId, WorkerId, WorkItemId, WorkspaceId } from "./Ids.ts"
import {
  ConflictResponse,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse,
  SentAsStored
} from "./Responses.ts"
import { Settlement } from "./Robot.ts"
import { stepRunErrorCodes, stepRunEventTypes } from "./StepRuns.ts"

/** Step runs in one call of `nextItems`. */
export const maxStepRunsAtOnce = 100

/** Outputs that an item is settled with; more are made by calls of their own before. */
export const maxOutputsAtOnce = 100

const Tasks = Schema.Array(Name).check(Schema.isMaxLength(1000))

export const Linked = Schema.Struct({
  worker_id: WorkerId,
  workspace_id: WorkspaceId,
  worker_token: Schema.String,
  heartbeat_seconds: Schema.Finite
}).annotate({ identifier: "Linked" })

/** Trades a link token for an identity. A worker's link token serves once, a group's until it expires or is deleted. */
export const link = HttpApiEndpoint.post("linkWorker", "/link", {
  payload: Schema.Struct({ link_token: Schema.String, name: Name, tasks: Tasks }),
  success: Linked,
  error: [InvalidRequestResponse, ForbiddenResponse]
}).annotateMerge(extension("Link a worker to the workspace"))

/** A step run that this worker, and no other, may now start. The tokens are dead once the step run has ended. */
export const Lease = Schema.Struct({
  step_run_id: StepRunId,
  process_id: ProcessId,
  process_run_id: ProcessRunId,
  lease_token: Schema.String,
  run_token: Schema.String,
  task: Schema.Struct({ name: Schema.String }),
  /** Null for a task that the worker brings with it. */
  package: Schema.NullOr(Schema.Struct({ digest: Schema.String, url: Schema.String })),
  work_item_id: WorkItemId,
  timeout_seconds: Schema.NullOr(Schema.Finite),
  env: Schema.Record(Schema.String, Schema.String)
}).annotate({ identifier: "Lease" })
export interface Lease extends Schema.Schema.Type<typeof Lease> {}

/** Waits for up to `wait_seconds` and answers early when work arrives. */
export const lease = HttpApiEndpoint.post("leaseStepRuns", "/lease", {
  payload: Schema.Struct({
    free: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
    tasks: Tasks,
    /** Whether this worker runs tasks of task packages too; default false. */
    packages: Schema.optionalKey(Schema.Boolean),
    wait_seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 30 }))
  }),
  success: Schema.Struct({ leases: Schema.Array(Lease) }),
  error: InvalidRequestResponse
})
  .middleware(TokenAuthorization)
  .annotateMerge(extension("Wait for step runs and lease them"))

/** Keeps the worker and its step runs alive; answers which of them must stop and which are no longer its own. */
export const heartbeat = HttpApiEndpoint.post("heartbeat", "/heartbeat", {
  payload: Schema.Struct({ step_run_ids: Schema.Array(StepRunId) }),
  success: Schema.Struct({ stop: Schema.Array(StepRunId), lost: Schema.Array(StepRunId) }),
  error: InvalidRequestResponse
})
  .middleware(TokenAuthorization)
  .annotateMerge(extension("Keep a worker and its step runs alive"))

const stepRun = { params: { step_run_id: StepRunId }, success: Schema.Struct({ accepted: Schema.Literal(true) }) }

export const start = HttpApiEndpoint.post("startStepRun", "/step-runs/:step_run_id/start", {
  ...stepRun,
  payload: Schema.Struct({ lease_token: Schema.String }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
})
  .middleware(TokenAuthorization)
  .annotateMerge(extension("Report that a leased step run starts"))

/** The item in hand. `attempt` says which attempt at it this is, and settles it with. */
export const ItemInHand = Schema.Struct({
  work_item_id: WorkItemId,
  attempt: Schema.Int,
  payload: Schema.NullOr(Schema.Json),
  files: Schema.Array(Schema.Struct({ id: FileId, name: Schema.String, size: Schema.Finite }))
}).annotate({ identifier: "ItemInHand" })
export interface ItemInHand extends Schema.Schema.Type<typeof ItemInHand> {}

/** How an item is settled; `outputs` are made of one that is completed, those with files by calls of their own before. */
export const SettledItem = Schema.Struct({
  work_item_id: WorkItemId,
  attempt: Schema.Int,
  ...Settlement.fields,
  outputs: Schema.optionalKey(Schema.Array(Schema.NullOr(Schema.Json)).check(Schema.isMaxLength(maxOutputsAtOnce)))
}).annotate({ identifier: "SettledItem" })
export interface SettledItem extends Schema.Schema.Type<typeof SettledItem> {}

/**
 * What several step runs of one run have settled, and what each does next: in one call and one transaction. A step run
 * that says nothing of an item is answered the one that it has in hand; one that settles it takes the oldest that waits,
 * unless `reserve` is false. Each has an answer of its own, in the order of the request: an item, null when it has none in
 * hand, or an error, with which nothing of that step run was changed. Sent again, it changes nothing and answers what is
 * in hand.
 */
export const nextItems = HttpApiEndpoint.post("nextWorkItems", "/process-runs/:process_run_id/next", {
  params: { process_run_id: ProcessRunId },
  payload: Schema.Struct({
    step_runs: Schema.Array(
      Schema.Struct({
        step_run_id: StepRunId,
        lease_token: Schema.String,
        settled: Schema.optionalKey(SettledItem),
        reserve: Schema.optionalKey(Schema.Boolean)
      })
    ).check(Schema.isBetweenLength(1, maxStepRunsAtOnce))
  }),
  success: Schema.Struct({
    step_runs: Schema.Array(
      Schema.Struct({
        step_run_id: StepRunId,
        item: Schema.NullOr(ItemInHand),
        error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String }))
      })
    )
  }),
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .middleware(TokenAuthorization)
  .annotate(SentAsStored, true)
  .annotateMerge(extension("Settle the work items in hand and take the next"))

/** `error` null: the task ended well. An item still reserved is settled by how the task ended. */
export const finish = HttpApiEndpoint.post("finishStepRun", "/step-runs/:step_run_id/finish", {
  ...stepRun,
  payload: Schema.Struct({
    lease_token: Schema.String,
    error: Schema.NullOr(Schema.Struct({ code: Schema.Literals(stepRunErrorCodes), message: Schema.String }))
  }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
})
  .middleware(TokenAuthorization)
  .annotateMerge(extension("Report that a step run has ended"))

/** Takes the worker out of the workspace; its token is dead. While it holds a lease: 409. */
export const unlink = HttpApiEndpoint.delete("unlinkWorker", "/link", {
  success: Deleted(WorkerId),
  error: ConflictResponse
})
  .middleware(TokenAuthorization)
  .annotateMerge(extension("Take a worker out of the workspace"))

/** How many lines or events this step run was sent before: what is sent again is kept once. */
const offset = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Lines of the console, in order. A message has at most 65,536 characters: cut longer ones into several. */
export const sendConsole = HttpApiEndpoint.post("sendStepRunConsole", "/step-runs/:step_run_id/console", {
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
  .middleware(TokenAuthorization)
  .annotateMerge(extension("Send console messages of a step run"))

/**
 * An event that a worker reports, such as `SETUP`: a word in capitals, and none of those that the service itself writes.
 */
export const WorkerEventType = Schema.String.check(
  Schema.isPattern(/^[A-Z][A-Z0-9_]{0,63}$/, { message: "Expected a word in capitals, such as SETUP" }),
  Schema.makeFilter(
    (type) => !stepRunEventTypes.some((own) => own === type) || "the service itself writes events of this type"
  )
)

/** Events of the worker's own, in order; they stand among those of the service in `/step-runs/{id}/events`. */
export const sendEvents = HttpApiEndpoint.post("sendStepRunEvents", "/step-runs/:step_run_id/events", {
  ...stepRun,
  payload: Schema.Struct({
    lease_token: Schema.String,
    offset,
    events: Schema.Array(Schema.Struct({ timestamp: TimestampInput, event_type: WorkerEventType })).check(
      Schema.isBetweenLength(1, 100)
    )
  }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
})
  .middleware(TokenAuthorization)
  .annotateMerge(extension("Send events of a step run"))

/** Where an artifact lies below the folder of artifacts: a relative path with `/` and without `..`. */
export const ArtifactName = RelativePath.check(Schema.isMaxLength(255))

/** Asks for the form with which one artifact is uploaded. It is listed once it is whole; the same name replaces it. */
export const createArtifact = HttpApiEndpoint.post("createStepRunArtifact", "/step-runs/:step_run_id/artifacts", {
  params: stepRun.params,
  payload: Schema.Struct({ lease_token: Schema.String, name: ArtifactName, size: NewFile.fields.file_size }),
  success: Schema.Struct({ upload: UploadForm }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
})
  .middleware(TokenAuthorization)
  .annotateMerge(extension("Get the form with which an artifact is uploaded"))

export const WorkerProtocol = HttpApiGroup.make("workerProtocol").add(
  link,
  lease,
  heartbeat,
  start,
  nextItems,
  finish,
  unlink,
  sendConsole,
  sendEvents,
  createArtifact
)
