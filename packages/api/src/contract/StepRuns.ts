/**
 * Step runs: one execution of a step on one worker. A step run never lives twice.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { listQuery, OpenEnum, Page, Timestamp } from "./Common.ts"
import { ProcessRunId, StepId, StepRunId, WorkspaceId } from "./Ids.ts"
import { InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

export const stepRunStates = ["new", "awaiting_worker", "in_progress", "completed", "failed"] as const
export type StepRunState = (typeof stepRunStates)[number]

/** Why a step run failed. */
export const stepRunErrorCodes = [
  "START_FAILURE",
  "UNZIP_FAILURE",
  "SETUP_FAILURE",
  "ROBOT_FAILURE",
  "UPLOAD_FAILURE",
  "TIMEOUT",
  "TERMINATED",
  "WORKER_LOST",
  "UNKNOWN"
] as const
export type StepRunErrorCode = (typeof stepRunErrorCodes)[number]

export const stepRunEventTypes = [
  "CREATED",
  "QUEUED",
  "LEASED",
  "START",
  "ITEM_RESERVED",
  "ITEM_RELEASED",
  "ITEM_FAILED",
  "OUTPUT_CREATED",
  "ARTIFACT_ADDED",
  "STOP_REQUESTED",
  "END"
] as const
export type StepRunEventType = (typeof stepRunEventTypes)[number]

/** `duration` is in seconds, null until the step run has ended. */
export const StepRun = Schema.Struct({
  id: StepRunId,
  state: OpenEnum(stepRunStates),
  state_updated_at: Timestamp,
  error: Schema.NullOr(Schema.Struct({ code: OpenEnum(stepRunErrorCodes) })),
  started_at: Schema.NullOr(Timestamp),
  ended_at: Schema.NullOr(Timestamp),
  duration: Schema.NullOr(Schema.Finite),
  step: Schema.Struct({ id: StepId, name: Schema.String })
})
export interface StepRun extends Schema.Schema.Type<typeof StepRun> {}

export const StepRunEvent = Schema.Struct({ timestamp: Timestamp, event_type: OpenEnum(stepRunEventTypes) })
export interface StepRunEvent extends Schema.Schema.Type<typeof StepRunEvent> {}

const params = { workspace_id: WorkspaceId, step_run_id: StepRunId }

export const get = HttpApiEndpoint.get("getStepRun", "/workspaces/:workspace_id/step-runs/:step_run_id", {
  params,
  success: StepRun,
  error: NotFoundResponse
}).annotate(RequiredPermission, "Processes.read_runs")

export const list = HttpApiEndpoint.get("listStepRuns", "/workspaces/:workspace_id/step-runs", {
  params: { workspace_id: WorkspaceId },
  query: { ...listQuery, process_run_id: ProcessRunId },
  success: Page(StepRun),
  error: [InvalidRequestResponse, NotFoundResponse]
}).annotate(RequiredPermission, "Processes.read_processes")

/** Oldest first. */
export const listEvents = HttpApiEndpoint.get("listStepRunEvents", "/workspaces/:workspace_id/step-runs/:step_run_id/events", {
  params,
  query: listQuery,
  success: Page(StepRunEvent),
  error: [InvalidRequestResponse, NotFoundResponse]
}).annotate(RequiredPermission, "Processes.read_run_outputs")

export const StepRuns = HttpApiGroup.make("stepRuns")
  .add(get, list, listEvents)
  .middleware(WorkspaceAuthorization)
