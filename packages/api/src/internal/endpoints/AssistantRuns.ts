/** Assistant runs: a person runs an assistant on a machine, which reports on it. */
import * as Schema from "effect/Schema"
import { listQuery, NamedRef, OpenEnum, Page, Timestamp } from "../../contract/Common.ts"
import { AssistantId, AssistantRunId, WorkspaceId } from "../../contract/Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const assistantRunStates = ["in_progress", "completed", "failed"] as const
export type AssistantRunState = (typeof assistantRunStates)[number]

/** Why an assistant run failed. `UNKNOWN` also when its machine missed three heartbeats. */
export const assistantRunErrorCodes = [
  "START_FAILURE",
  "UNZIP_FAILURE",
  "SETUP_FAILURE",
  "ROBOT_FAILURE",
  "UPLOAD_FAILURE",
  "UNKNOWN"
] as const
export type AssistantRunErrorCode = (typeof assistantRunErrorCodes)[number]

/** `duration` is in seconds, null until the run has ended. */
export class AssistantRun extends Struct<AssistantRun>("AssistantRun")({
  id: AssistantRunId,
  state: OpenEnum(assistantRunStates),
  error: Schema.NullOr(Schema.Struct({ code: OpenEnum(assistantRunErrorCodes) })),
  started_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp),
  duration: Schema.NullOr(Schema.Finite),
  assistant: NamedRef(AssistantId)
}) {}

/** What the machine needs to run the assistant. `run_token` is refused once the run has ended. */
export class AssistantRunStarted extends Struct<AssistantRunStarted>("AssistantRunStarted")({
  id: AssistantRunId,
  run_token: Schema.RedactedFromValue(Schema.String),
  task: Schema.Struct({ name: Schema.String }),
  /** `url` needs no key and is valid for one hour; `digest` is `sha256:` and the hex digest of the bytes there. */
  package: Schema.Struct({ digest: Schema.String, url: Schema.String }),
  /** The interval of heartbeats of the machine. */
  heartbeat_seconds: Schema.Finite
}) {}

const params = { workspace_id: WorkspaceId, assistant_run_id: AssistantRunId }

export const get = /* @__PURE__ */ Endpoint.get(
  "getAssistantRun",
  "/workspaces/:workspace_id/assistant-runs/:assistant_run_id",
  () => ({
    params,
    success: AssistantRun,
    error: NotFoundResponse
  })
)

export const list = /* @__PURE__ */ Endpoint.get(
  "listAssistantRuns",
  "/workspaces/:workspace_id/assistant-runs",
  () => ({
    params: { workspace_id: WorkspaceId },
    query: { ...listQuery, assistant_id: Schema.optional(AssistantId) },
    success: Page(AssistantRun),
    error: InvalidRequestResponse
  })
)

export const start = /* @__PURE__ */ Endpoint.post(
  "startAssistantRun",
  "/workspaces/:workspace_id/assistants/:assistant_id/runs",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId, assistant_id: AssistantId },
    success: AssistantRunStarted,
    error: [NotFoundResponse, ConflictResponse]
  })
)

export const heartbeat = /* @__PURE__ */ Endpoint.post(
  "heartbeatAssistantRun",
  "/workspaces/:workspace_id/assistant-runs/:assistant_run_id/heartbeat",
  () => ({ extension: true, params, success: AssistantRun, error: [NotFoundResponse, ConflictResponse] })
)

export const complete = /* @__PURE__ */ Endpoint.post(
  "completeAssistantRun",
  "/workspaces/:workspace_id/assistant-runs/:assistant_run_id/complete",
  () => ({
    extension: true,
    params,
    payload: Schema.Struct({
      error: Schema.NullOr(Schema.Struct({ code: Schema.Literals(assistantRunErrorCodes) }))
    }),
    success: AssistantRun,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  })
)
