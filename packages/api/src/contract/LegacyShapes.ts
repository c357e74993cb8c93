/**
 * What the older interface returns, in its names and words. `LegacyViews` of the service has the words of each state.
 */
import * as Schema from "effect/Schema"
import { Timestamp } from "./Common.ts"
import {
  ArtifactId,
  FileId,
  ProcessId,
  ProcessRunId,
  StepId,
  StepRunId,
  TaskPackageId,
  WorkItemId,
  WorkspaceId
} from "./Ids.ts"
import { Struct } from "../internal/endpoints/Endpoint.ts"

/** A process. */
export class LegacyProcess extends Struct<LegacyProcess>("LegacyProcess")({
  id: ProcessId,
  name: Schema.String,
  workspaceId: WorkspaceId,
  createTs: Timestamp
}) {}

/** How a run or step run ended, null before. */
const result = Schema.NullOr(Schema.Literals(["COMPL", "ERR", "TIMEOUT"]))

const times = {
  startTs: Schema.NullOr(Timestamp),
  endTs: Schema.NullOr(Timestamp),
  /** Seconds, 0 until the end. */
  duration: Schema.Finite
}

/**
 * A process run. `state`: `INI` before its first step run starts, `IP` while it runs, `COMPL` when it is completed,
 * `PENDING` when failed items wait for somebody. `runNo` counts the runs of the process that exist, from 1.
 */
export class LegacyRun extends Struct<LegacyRun>("LegacyRun")({
  id: ProcessRunId,
  state: Schema.Literals(["INI", "IP", "COMPL", "PENDING"]),
  result,
  /** Why the last failed step run of an unresolved run failed; null in lists. */
  errorCode: Schema.NullOr(Schema.String),
  workspaceId: WorkspaceId,
  processId: ProcessId,
  processName: Schema.String,
  runNo: Schema.Finite,
  createTs: Timestamp,
  ...times
}) {}

/** A step run. `state`: `INI`, `IND` while it waits for a worker, `IP`, and `COMPL` when it has ended, as `result` says. */
export class LegacyStepRun extends Struct<LegacyStepRun>("LegacyStepRun")({
  id: StepRunId,
  state: Schema.Literals(["INI", "IND", "IP", "COMPL"]),
  result,
  errorCode: Schema.NullOr(Schema.String),
  activityId: StepId,
  /** The same: some programs know it by this name. */
  stepId: StepId,
  activityName: Schema.String,
  processRunId: ProcessRunId,
  stateTs: Timestamp,
  ...times
}) {}

/** A process run with its step runs: the newest 1,000, newest first. */
export class LegacyRunWithSteps extends Struct<LegacyRunWithSteps>("LegacyRunWithSteps")({
  ...LegacyRun.fields,
  robotRuns: Schema.Array(LegacyStepRun)
}) {}

/** A work item. `payload` and `files` only with `includeData=true`. */
export class LegacyWorkItem extends Struct<LegacyWorkItem>("LegacyWorkItem")({
  id: WorkItemId,
  state: Schema.Literals(["NEW", "PENDING", "IN_PROGRESS", "FAILED", "COMPLETED"]),
  stateTs: Timestamp,
  createTs: Timestamp,
  queueTs: Timestamp,
  workspaceId: WorkspaceId,
  processId: ProcessId,
  processName: Schema.String,
  processRunId: Schema.NullOr(ProcessRunId),
  processRunNo: Schema.NullOr(Schema.Finite),
  /** The step. */
  activityId: Schema.NullOr(StepId),
  /** The step run. */
  activityRunId: Schema.NullOr(StepRunId),
  batchPriority: Schema.Finite,
  exception: Schema.NullOr(
    Schema.Struct({
      code: Schema.String,
      type: Schema.Literals(["APPLICATION", "BUSINESS", "ORCHESTRATOR", "UNSPECIFIED"]),
      message: Schema.String
    })
  ),
  payload: Schema.optionalKey(Schema.NullOr(Schema.Json)),
  /** Extension: the pointers to secret fields of the payload, in whose place it has null. */
  masked: Schema.optionalKey(Schema.Array(Schema.String)),
  files: Schema.optionalKey(
    Schema.Array(Schema.Struct({ id: FileId, fileName: Schema.String, fileSize: Schema.Finite, url: Schema.String }))
  )
}) {}

/** A run that was started, with its work items. */
export class LegacyStarted extends Struct<LegacyStarted>("LegacyStarted")({
  id: ProcessRunId,
  workItemIds: Schema.Array(WorkItemId)
}) {}

/** A file that a step run left. */
export class LegacyArtifact extends Struct<LegacyArtifact>("LegacyArtifact")({
  id: ArtifactId,
  fileName: Schema.String,
  fileSize: Schema.Finite
}) {}

/** A line of the console of a step run, with its line break. */
export class LegacyMessage extends Struct<LegacyMessage>("LegacyMessage")({
  seqNo: Schema.Finite,
  timeStamp: Timestamp,
  message: Schema.String
}) {}

/** An event of a step run. */
export class LegacyEvent extends Struct<LegacyEvent>("LegacyEvent")({
  seqNo: Schema.Finite,
  timeStamp: Timestamp,
  eventType: Schema.String,
  data: Schema.Null
}) {}

/** A task package. */
export class LegacyRobot extends Struct<LegacyRobot>("LegacyRobot")({ id: TaskPackageId, name: Schema.String }) {}

/** Where and how to send bytes: as `UploadForm`, with the fields in `fields`. */
export class LegacyUploadForm extends Struct<LegacyUploadForm>("LegacyUploadForm")({
  url: Schema.String,
  fields: Schema.Record(Schema.String, Schema.String)
}) {}
