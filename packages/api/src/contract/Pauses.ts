/**
 * Pauses of processes, steps, workers and groups: no more work items are reserved, and no more step runs are leased. Step runs
 * in progress continue, with their leases and time limits.
 */
import * as Effect from "effect/Effect"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization, StartsWork } from "./Authorization.ts"
import { OpenEnum, Text, Timestamp } from "./Common.ts"
import { extension } from "./Documentation.ts"
import { ProcessId, StepId, WorkerGroupId, WorkerId, WorkspaceId } from "./Ids.ts"
import { InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

/** Who paused something: a key, or its `pause_after_failures`, which has neither id nor name. */
export const PausedBy = Schema.Struct({
  type: OpenEnum(["api_key", "failures"]),
  id: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String)
})
export interface PausedBy extends Schema.Schema.Type<typeof PausedBy> {}

/** The events of webhooks about pauses, with the prefix `process.`. */
export const pauseActions = ["paused", "resumed"] as const
export type PauseAction = (typeof pauseActions)[number]

export const Paused = Schema.Struct({
  by: PausedBy,
  /** Why, in the words of who paused it. */
  note: Schema.NullOr(Schema.String),
  since: Timestamp
}).annotate({ identifier: "Paused" })
export interface Paused extends Schema.Schema.Type<typeof Paused> {}

/** What a resource shows of its pause; null while it is not paused. An extension. */
export const paused = Schema.NullOr(Paused).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

/** The pause of something after a change. */
export const PauseState = Schema.Struct({ paused })
export interface PauseState extends Schema.Schema.Type<typeof PauseState> {}

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

/** Runs of a paused process can be started; they wait. */
export const pauseProcess = HttpApiEndpoint.post("pauseProcess", `${process}/pause`, {
  params: processParams,
  ...request
})
  .annotate(RequiredPermission, "Processes.pause_processes")
  .annotateMerge(extension("Pause a process"))

/** Its failures are counted from zero again. */
export const resumeProcess = HttpApiEndpoint.post("resumeProcess", `${process}/resume`, {
  params: processParams,
  ...resumed
})
  .annotate(RequiredPermission, "Processes.pause_processes")
  .annotate(StartsWork, true)
  .annotateMerge(extension("Resume a process"))

const stepParams = { ...processParams, step_id: StepId }

export const pauseStep = HttpApiEndpoint.post("pauseProcessStep", `${process}/steps/:step_id/pause`, {
  params: stepParams,
  ...request
})
  .annotate(RequiredPermission, "Processes.pause_processes")
  .annotateMerge(extension("Pause a step of a process"))

/** Its failures are counted from zero again. */
export const resumeStep = HttpApiEndpoint.post("resumeProcessStep", `${process}/steps/:step_id/resume`, {
  params: stepParams,
  ...resumed
})
  .annotate(RequiredPermission, "Processes.pause_processes")
  .annotate(StartsWork, true)
  .annotateMerge(extension("Resume a step of a process"))

const workerParams = { workspace_id: WorkspaceId, worker_id: WorkerId }
const worker = "/workspaces/:workspace_id/workers/:worker_id"

/** It stays online, finishes what it has, and gets nothing more. */
export const pauseWorker = HttpApiEndpoint.post("pauseWorker", `${worker}/pause`, { params: workerParams, ...request })
  .annotate(RequiredPermission, "Workers.pause_workers")
  .annotateMerge(extension("Pause a worker"))

export const resumeWorker = HttpApiEndpoint.post("resumeWorker", `${worker}/resume`, {
  params: workerParams,
  ...resumed
})
  .annotate(RequiredPermission, "Workers.pause_workers")
  .annotateMerge(extension("Resume a worker"))

const groupParams = { workspace_id: WorkspaceId, worker_group_id: WorkerGroupId }
const group = "/workspaces/:workspace_id/worker-groups/:worker_group_id"

/** Steps that are bound to it wait; its workers still get what is not. */
export const pauseGroup = HttpApiEndpoint.post("pauseWorkerGroup", `${group}/pause`, {
  params: groupParams,
  ...request
})
  .annotate(RequiredPermission, "Workers.pause_workers")
  .annotateMerge(extension("Pause a worker group"))

export const resumeGroup = HttpApiEndpoint.post("resumeWorkerGroup", `${group}/resume`, {
  params: groupParams,
  ...resumed
})
  .annotate(RequiredPermission, "Workers.pause_workers")
  .annotateMerge(extension("Resume a worker group"))

export const Pauses = HttpApiGroup.make("pauses")
  .add(pauseProcess, resumeProcess, pauseStep, resumeStep, pauseWorker, resumeWorker, pauseGroup, resumeGroup)
  .middleware(WorkspaceAuthorization)
