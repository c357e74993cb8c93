/**
 * The workers' own interface, `/worker-v1`: link, lease step runs, report them. The bearer is the worker's token,
 * and calls about a step run carry its lease token besides.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { TokenAuthorization } from "./Authorization.ts"
import { Name } from "./Common.ts"
import { ProcessId, ProcessRunId, StepRunId, WorkerId, WorkItemId, WorkspaceId } from "./Ids.ts"
import { ConflictResponse, ForbiddenResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"
import { stepRunErrorCodes } from "./StepRuns.ts"

const Tasks = Schema.Array(Name).check(Schema.isMaxLength(1000))

export const Linked = Schema.Struct({
  worker_id: WorkerId,
  workspace_id: WorkspaceId,
  worker_token: Schema.String,
  heartbeat_seconds: Schema.Finite
})

/** Trades a link token for an identity. A link token serves once. */
export const link = HttpApiEndpoint.post("linkWorker", "/link", {
  payload: Schema.Struct({ link_token: Schema.String, name: Name, tasks: Tasks }),
  success: Linked,
  error: [InvalidRequestResponse, ForbiddenResponse]
})

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
})
export interface Lease extends Schema.Schema.Type<typeof Lease> {}

/** Waits for up to `wait_seconds` and answers early when work arrives. */
export const lease = HttpApiEndpoint.post("leaseStepRuns", "/lease", {
  payload: Schema.Struct({
    free: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
    tasks: Tasks,
    wait_seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 30 }))
  }),
  success: Schema.Struct({ leases: Schema.Array(Lease) }),
  error: InvalidRequestResponse
}).middleware(TokenAuthorization)

/** Keeps the worker and its step runs alive; answers which of them must stop and which are no longer its own. */
export const heartbeat = HttpApiEndpoint.post("heartbeat", "/heartbeat", {
  payload: Schema.Struct({ step_run_ids: Schema.Array(StepRunId) }),
  success: Schema.Struct({ stop: Schema.Array(StepRunId), lost: Schema.Array(StepRunId) }),
  error: InvalidRequestResponse
}).middleware(TokenAuthorization)

const stepRun = { params: { step_run_id: StepRunId }, success: Schema.Struct({ accepted: Schema.Literal(true) }) }

export const start = HttpApiEndpoint.post("startStepRun", "/step-runs/:step_run_id/start", {
  ...stepRun,
  payload: Schema.Struct({ lease_token: Schema.String }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
}).middleware(TokenAuthorization)

/** `error` null: the task ended well. An item still reserved is settled by how the task ended. */
export const finish = HttpApiEndpoint.post("finishStepRun", "/step-runs/:step_run_id/finish", {
  ...stepRun,
  payload: Schema.Struct({
    lease_token: Schema.String,
    error: Schema.NullOr(Schema.Struct({ code: Schema.Literals(stepRunErrorCodes), message: Schema.String }))
  }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
}).middleware(TokenAuthorization)

export const WorkerProtocol = HttpApiGroup.make("workerProtocol").add(link, lease, heartbeat, start, finish)
