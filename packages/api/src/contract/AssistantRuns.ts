/** Assistant runs: a person runs an assistant on a machine, which reports on it. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { listQuery, OpenEnum, Page, Timestamp } from "./Common.ts"
import { extension, summary } from "./Documentation.ts"
import { AssistantId, AssistantRunId, WorkspaceId } from "./Ids.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

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
export const AssistantRun = Schema.Struct({
  id: AssistantRunId,
  state: OpenEnum(assistantRunStates),
  error: Schema.NullOr(Schema.Struct({ code: OpenEnum(assistantRunErrorCodes) })),
  started_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp),
  duration: Schema.NullOr(Schema.Finite),
  assistant: Schema.Struct({ id: AssistantId, name: Schema.String })
}).annotate({ identifier: "AssistantRun" })
export interface AssistantRun extends Schema.Schema.Type<typeof AssistantRun> {}

/** What the machine needs to run the assistant. `run_token` is refused once the run has ended. */
export const AssistantRunStarted = Schema.Struct({
  id: AssistantRunId,
  run_token: Schema.RedactedFromValue(Schema.String),
  task: Schema.Struct({ name: Schema.String }),
  /** `url` needs no key and is valid for one hour; `digest` is `sha256:` and the hex digest of the bytes there. */
  package: Schema.Struct({ digest: Schema.String, url: Schema.String }),
  /** The interval of heartbeats of the machine. */
  heartbeat_seconds: Schema.Finite
}).annotate({ identifier: "AssistantRunStarted" })
export interface AssistantRunStarted extends Schema.Schema.Type<typeof AssistantRunStarted> {}

const params = { workspace_id: WorkspaceId, assistant_run_id: AssistantRunId }

export const get = HttpApiEndpoint.get(
  "getAssistantRun",
  "/workspaces/:workspace_id/assistant-runs/:assistant_run_id",
  {
    params,
    success: AssistantRun,
    error: NotFoundResponse
  }
)
  .annotate(RequiredPermission, "Assistants.read_assistants")
  .annotateMerge(summary("Get an assistant run"))

/** Runs of one assistant, or of all in the workspace. */
export const list = HttpApiEndpoint.get("listAssistantRuns", "/workspaces/:workspace_id/assistant-runs", {
  params: { workspace_id: WorkspaceId },
  query: { ...listQuery, assistant_id: Schema.optional(AssistantId) },
  success: Page(AssistantRun),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Assistants.read_assistants")
  .annotateMerge(summary("List assistant runs, newest first"))

/** Extension: starts a run, which the caller executes. An assistant whose package has no content is a 409. */
export const start = HttpApiEndpoint.post(
  "startAssistantRun",
  "/workspaces/:workspace_id/assistants/:assistant_id/runs",
  {
    params: { workspace_id: WorkspaceId, assistant_id: AssistantId },
    success: AssistantRunStarted,
    error: [NotFoundResponse, ConflictResponse]
  }
)
  .annotate(RequiredPermission, "Assistants.run_assistants")
  .annotate(ReturnsCredential, true)
  .annotateMerge(extension("Start a run of an assistant"))

/** Extension: keeps a run alive. An ended run is a 409: stop the task. */
export const heartbeat = HttpApiEndpoint.post(
  "heartbeatAssistantRun",
  "/workspaces/:workspace_id/assistant-runs/:assistant_run_id/heartbeat",
  {
    params,
    success: AssistantRun,
    error: [NotFoundResponse, ConflictResponse]
  }
)
  .annotate(RequiredPermission, "Assistants.run_assistants")
  .annotateMerge(extension("Keep an assistant run alive"))

/** Extension: completes a run; `error` null: success. Repeating it changes nothing, another result is a 409. */
export const complete = HttpApiEndpoint.post(
  "completeAssistantRun",
  "/workspaces/:workspace_id/assistant-runs/:assistant_run_id/complete",
  {
    params,
    payload: Schema.Struct({
      error: Schema.NullOr(Schema.Struct({ code: Schema.Literals(assistantRunErrorCodes) }))
    }),
    success: AssistantRun,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  }
)
  .annotate(RequiredPermission, "Assistants.run_assistants")
  .annotateMerge(extension("End an assistant run"))

export const AssistantRuns = /* @__PURE__ */ HttpApiGroup.make("assistantRuns")
  .add(get, list, start, heartbeat, complete)
  .middleware(WorkspaceAuthorization)
