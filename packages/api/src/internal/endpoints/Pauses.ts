/**
 * Pauses of processes, steps, workers and groups: no more work items are reserved, and no more step runs are leased. Step runs
 * in progress continue, with their leases and time limits.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { OpenEnum, Text, Timestamp } from "../../contract/Common.ts"
import { ProcessId, StepId, WorkerGroupId, WorkerId, WorkspaceId } from "../../contract/Ids.ts"
import { InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** Who paused something: a key, a user, or its `pause_after_failures`, which has neither id nor name. */
export class PausedBy extends Struct<PausedBy>()({
  type: OpenEnum(["api_key", "user", "failures"]),
  id: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String)
}) {}

/** The events of webhooks about pauses, with the prefix `process.`. */
export const pauseActions = ["paused", "resumed"] as const
export type PauseAction = (typeof pauseActions)[number]

export class Paused extends Struct<Paused>("Paused")({
  by: PausedBy,
  /** Why, in the words of who paused it. */
  note: Schema.NullOr(Schema.String),
  since: Timestamp
}) {}

/** What a resource shows of its pause; null while it is not paused. An extension. */
export const paused = Schema.NullOr(Paused).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

/** The pause of something after a change. */
export class PauseState extends Struct<PauseState>()({ paused }) {}

/** After how many failures in a row, 1 to 1,000, of type `application` or by the orchestrator something pauses itself. */
export const PauseAfterFailures = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))

const request = {
  payload: [
    Schema.Struct({ note: Schema.optionalKey(Schema.NullOr(Text.check(Schema.isMaxLength(1000)))) }),
    Schema.Undefined
  ],
  success: PauseState,
  error: [InvalidRequestResponse, NotFoundResponse]
} as const

const resumed = { success: PauseState, error: NotFoundResponse }

const processParams = { workspace_id: WorkspaceId, process_id: ProcessId }
const process = "/workspaces/:workspace_id/processes/:process_id"

export const pauseProcess = /* @__PURE__ */ Endpoint.post("pauseProcess", `${process}/pause`, () => ({
  extension: true,
  params: processParams,
  ...request
}))

export const resumeProcess = /* @__PURE__ */ Endpoint.post("resumeProcess", `${process}/resume`, () => ({
  extension: true,
  params: processParams,
  ...resumed
}))

const stepParams = { ...processParams, step_id: StepId }

export const pauseStep = /* @__PURE__ */ Endpoint.post("pauseProcessStep", `${process}/steps/:step_id/pause`, () => ({
  extension: true,
  params: stepParams,
  ...request
}))

export const resumeStep = /* @__PURE__ */ Endpoint.post(
  "resumeProcessStep",
  `${process}/steps/:step_id/resume`,
  () => ({ extension: true, params: stepParams, ...resumed })
)

const workerParams = { workspace_id: WorkspaceId, worker_id: WorkerId }
const worker = "/workspaces/:workspace_id/workers/:worker_id"

export const pauseWorker = /* @__PURE__ */ Endpoint.post("pauseWorker", `${worker}/pause`, () => ({
  extension: true,
  params: workerParams,
  ...request
}))

export const resumeWorker = /* @__PURE__ */ Endpoint.post("resumeWorker", `${worker}/resume`, () => ({
  extension: true,
  params: workerParams,
  ...resumed
}))

const groupParams = { workspace_id: WorkspaceId, worker_group_id: WorkerGroupId }
const group = "/workspaces/:workspace_id/worker-groups/:worker_group_id"

export const pauseGroup = /* @__PURE__ */ Endpoint.post("pauseWorkerGroup", `${group}/pause`, () => ({
  extension: true,
  params: groupParams,
  ...request
}))

export const resumeGroup = /* @__PURE__ */ Endpoint.post("resumeWorkerGroup", `${group}/resume`, () => ({
  extension: true,
  params: groupParams,
  ...resumed
}))
