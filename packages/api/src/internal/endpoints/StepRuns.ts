/** Step runs: one execution of a step on one worker. A step run is executed at most once. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { cursorQuery, listQuery, NamedRef, OpenEnum, Page, Timestamp } from "../../contract/Common.ts"
import { ArtifactId, ProcessRunId, StepId, StepRunId, TaskPackageId, WorkspaceId } from "../../contract/Ids.ts"
import { InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import { VersionNumber } from "./TaskPackageVersions.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

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
  "NO_WORKER",
  "PAUSED",
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

/** The version of a task package that a step run was given to a worker with. */
export class StepRunPackage extends Struct<StepRunPackage>("StepRunPackage")({
  id: TaskPackageId,
  version: VersionNumber,
  digest: Schema.String
}) {}

/**
 * `duration` is in seconds, null until the step run has ended. `task_package` is an extension: null for a task that workers
 * define themselves, and until a worker has it.
 */
export class StepRun extends Struct<StepRun>("StepRun")({
  id: StepRunId,
  state: OpenEnum(stepRunStates),
  state_updated_at: Timestamp,
  error: Schema.NullOr(Schema.Struct({ code: OpenEnum(stepRunErrorCodes) })),
  started_at: Schema.NullOr(Timestamp),
  ended_at: Schema.NullOr(Timestamp),
  duration: Schema.NullOr(Schema.Finite),
  step: NamedRef(StepId),
  task_package: Schema.NullOr(StepRunPackage).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}) {}

/** The event of workers that says in which environment a task of a package runs. */
export const environmentEvent = "ENVIRONMENT"

/**
 * The environment of a step run. `provider` is the tool that built it; `cached` says that it was there already, and
 * `seconds` how long its build took, whenever that was.
 */
export class StepRunEnvironment extends Struct<StepRunEnvironment>("StepRunEnvironment")({
  digest: Schema.String.check(Schema.isPattern(/^[0-9a-f]{12,128}$/, { message: "Expected a digest in hexadecimal" })),
  provider: Schema.String.check(
    Schema.isPattern(/^[a-z][a-z0-9-]{0,63}$/, { message: "Expected the name of a tool, such as uv" })
  ),
  cached: Schema.Boolean,
  seconds: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
}) {}

/**
 * `NO_WORKER`, `PAUSED`, `message` and `environment` are extensions. `NO_WORKER`: a step run has been unassigned for 10 seconds, or for
 * one when no worker of its group is online, and no worker that is online matches; the message says what is missing. It is reported
 * once, and the step run continues when a worker leases it. `environment` is that of the event `ENVIRONMENT`, null in all others. `PAUSED`: it waits
 * because something is paused, or the failure of its item has paused its step or process. `LOG_INCOMPLETE`, of a worker: lines of
 * the log were dropped; the message says how many.
 */
export class StepRunEvent extends Struct<StepRunEvent>("StepRunEvent")({
  timestamp: Timestamp,
  event_type: OpenEnum(stepRunEventTypes),
  message: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  environment: Schema.NullOr(StepRunEnvironment).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}) {}

const params = { workspace_id: WorkspaceId, step_run_id: StepRunId }

export const get = /* @__PURE__ */ Endpoint.get(
  "getStepRun",
  "/workspaces/:workspace_id/step-runs/:step_run_id",
  () => ({
    params,
    success: StepRun,
    error: NotFoundResponse
  })
)

export const list = /* @__PURE__ */ Endpoint.get("listStepRuns", "/workspaces/:workspace_id/step-runs", () => ({
  params: { workspace_id: WorkspaceId },
  query: { ...listQuery, process_run_id: ProcessRunId },
  success: Page(StepRun),
  error: [InvalidRequestResponse, NotFoundResponse]
}))

export const listEvents = /* @__PURE__ */ Endpoint.get(
  "listStepRunEvents",
  "/workspaces/:workspace_id/step-runs/:step_run_id/events",
  () => ({
    params,
    query: listQuery,
    success: Page(StepRunEvent),
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

/** A file that a step run saved. `size` is in bytes. */
export class ArtifactListed extends Struct<ArtifactListed>("ArtifactListed")({
  id: ArtifactId,
  name: Schema.String,
  size: Schema.Finite
}) {}

/** `url` needs no key and is valid for one hour. */
export class Artifact extends Struct<Artifact>("Artifact")({ ...ArtifactListed.fields, url: Schema.String }) {}

/** Console output of a step run: a message has one or more lines. */
export class ConsoleMessage extends Struct<ConsoleMessage>("ConsoleMessage")({
  timestamp: Timestamp,
  message: Schema.String
}) {}

export const listArtifacts = /* @__PURE__ */ Endpoint.get(
  "listStepRunArtifacts",
  "/workspaces/:workspace_id/step-runs/:step_run_id/artifacts",
  () => ({
    params,
    query: listQuery,
    success: Page(ArtifactListed),
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const getArtifact = /* @__PURE__ */ Endpoint.get(
  "getStepRunArtifact",
  "/workspaces/:workspace_id/step-runs/:step_run_id/artifacts/:artifact_id",
  () => ({ params: { ...params, artifact_id: ArtifactId }, success: Artifact, error: NotFoundResponse })
)

/**
 * A page of console messages. Extensions: `newer` is the address of what is written after this page, also while there is
 * nothing yet. To read a log and continue: read to the end, then read `newer` repeatedly. `total` is the number of messages,
 * and `position` that of the first message of a page requested by `position`.
 */
export class ConsoleMessages extends Struct<ConsoleMessages>("ConsoleMessages")({
  ...Page(ConsoleMessage).fields,
  newer: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  position: Schema.NullOr(Schema.Finite).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  total: Schema.NullOr(Schema.Finite).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}) {}

export const listConsoleMessages = /* @__PURE__ */ Endpoint.get(
  "listStepRunConsoleMessages",
  "/workspaces/:workspace_id/step-runs/:step_run_id/console-messages",
  () => ({
    params,
    query: {
      ...cursorQuery,
      /** Extension: the end of the log first, and each page from its newest message to its oldest; default: oldest first. */
      order: Schema.optional(Schema.Literal("newest_first")),
      /** Extension: the page that begins with this message, from 0; negative: that many messages before the end. */
      position: Schema.optional(Schema.Int),
      /** Extension: with `position`, the most messages of the page; 1 to 1,000, default 1,000. */
      count: Schema.optional(Schema.Int.check(Schema.isGreaterThan(0)))
    },
    success: ConsoleMessages,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)
