/**
 * The older interface, `/process-v1` and `/robot-v2`, for the robots and programs of its time: the same engine and the same
 * keys under other paths, names and words. New clients use `/api/v1`. What it leaves out is in docs/older-interface.md.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { Audited, entry, itemEntry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { listQuery, Page } from "./Common.ts"
import { older } from "./Documentation.ts"
import { NewFile } from "./Files.ts"
import { ArtifactId, ProcessId, ProcessRunId, StepRunId, TaskPackageId, WorkItemId, WorkspaceId } from "./Ids.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import {
  LegacyArtifact,
  LegacyEvent,
  LegacyMessage,
  LegacyProcess,
  LegacyRobot,
  LegacyRun,
  LegacyRunWithSteps,
  LegacyStarted,
  LegacyStepRun,
  LegacyUploadForm,
  LegacyWorkItem
} from "./LegacyShapes.ts"
import {
  ConflictResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse,
  SentAsStored
} from "./Responses.ts"
import type { Group } from "../internal/endpoints/HttpApi.ts"
import { batchOperations } from "./WorkItems.ts"

const inWorkspace = "/process-v1/workspaces/:workspace_id" as const
const inProcess = `${inWorkspace}/processes/:process_id` as const
// The process is ignored here, because there are programs that send `None` for it.
const inRun = `${inProcess}/runs/:process_run_id` as const
const inStepRun = `${inRun}/robotRuns/:step_run_id` as const

const ofWorkspace = { workspace_id: WorkspaceId }
const ofProcess = { ...ofWorkspace, process_id: ProcessId }
const ofRun = { ...ofProcess, process_run_id: ProcessRunId }
const ofStepRun = { ...ofRun, step_run_id: StepRunId }
const ofItem = { ...ofProcess, work_item_id: WorkItemId }

const starting = [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse] as const
const include = { includeData: Schema.optional(Schema.Boolean) }

export const processes = HttpApiEndpoint.get("legacyProcesses", `${inWorkspace}/processes`, {
  params: ofWorkspace,
  query: listQuery,
  success: Page(LegacyProcess),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Processes.read_processes")
  .annotateMerge(older("List the processes"))

/** Any JSON is the payload of the one work item; an absent body and `[]` start with the default work item. */
export const start = HttpApiEndpoint.post("legacyStart", `${inProcess}/runs`, {
  params: ofProcess,
  payload: [Schema.Json, Schema.Undefined],
  success: LegacyStarted,
  error: starting
})
  .annotate(RequiredPermission, "Processes.trigger_processes")
  .annotateMerge(older("Start a process run"))
  .annotate(Audited, entry("process_run"))

/** One run for each of 1 to 1,000 payloads, all or none. */
export const startBatch = HttpApiEndpoint.post("legacyStartBatch", `${inProcess}/runs-batch`, {
  params: ofProcess,
  payload: Schema.Array(Schema.Json).check(Schema.isBetweenLength(1, 1000)),
  success: Schema.Array(LegacyStarted),
  error: starting
})
  .annotate(RequiredPermission, "Processes.trigger_processes")
  .annotateMerge(older("Start a process run for each payload"))
  .annotate(Audited, entry("process_run"))

/** With the default work item, or with work items that wait in the queue of the process. */
export const startRequested = HttpApiEndpoint.post("legacyStartRequested", `${inProcess}/run-request`, {
  params: ofProcess,
  payload: Schema.Union([
    Schema.Struct({ type: Schema.Literal("default") }),
    Schema.Struct({
      type: Schema.Literal("workItemIds"),
      workItemIds: Schema.Array(WorkItemId).check(Schema.isBetweenLength(1, 10_000))
    })
  ]),
  success: LegacyStarted,
  error: starting
})
  .annotate(RequiredPermission, "Processes.trigger_processes")
  .annotateMerge(older("Start a process run as configured"))
  .annotate(Audited, entry("process_run"))

export const runs = HttpApiEndpoint.get("legacyRuns", `${inProcess}/runs`, {
  params: ofProcess,
  query: listQuery,
  success: Page(LegacyRun),
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Processes.read_runs")
  .annotateMerge(older("List the runs of a process, newest first"))

/** The newest runs, without an envelope. */
export const workspaceRuns = HttpApiEndpoint.get("legacyWorkspaceRuns", `${inWorkspace}/pruns`, {
  params: ofWorkspace,
  query: { limit: listQuery.limit },
  success: Schema.Array(LegacyRun),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Processes.read_runs")
  .annotateMerge(older("List the newest runs of all processes"))

/** Programs that start and watch a run were told to use a key with `read_runs` and `trigger_processes`. */
export const getRun = HttpApiEndpoint.get("legacyRun", inRun, {
  params: ofRun,
  success: LegacyRunWithSteps,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Processes.read_runs")
  .annotateMerge(older("Get a process run with its step runs"))

const itemsOf = {
  query: { ...listQuery, ...include },
  success: Page(LegacyWorkItem),
  error: [InvalidRequestResponse, NotFoundResponse]
} as const

export const workItems = HttpApiEndpoint.get("legacyWorkItems", `${inProcess}/work-items`, {
  params: ofProcess,
  ...itemsOf
})
  .annotate(RequiredPermission, "Processes.read_work_items")
  .annotate(SentAsStored, true)
  .annotateMerge(older("List the work items of a process, newest first"))

export const runWorkItems = HttpApiEndpoint.get("legacyRunWorkItems", `${inRun}/work-items`, {
  params: ofRun,
  ...itemsOf,
  query: {
    ...itemsOf.query,
    sortBy: Schema.optional(Schema.Literal("createTs")),
    sortOrder: Schema.optional(Schema.Literals(["asc", "desc"]))
  }
})
  .annotate(RequiredPermission, "Processes.read_work_items")
  .annotate(SentAsStored, true)
  .annotateMerge(older("List the work items of a run"))

export const getWorkItem = HttpApiEndpoint.get("legacyWorkItem", `${inProcess}/work-items/:work_item_id`, {
  params: ofItem,
  query: include,
  success: LegacyWorkItem,
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Processes.read_work_items")
  .annotate(SentAsStored, true)
  .annotateMerge(older("Get a work item"))

export const createWorkItem = HttpApiEndpoint.post("legacyCreateWorkItem", `${inProcess}/work-items`, {
  params: ofProcess,
  payload: Schema.Struct({ payload: Schema.optionalKey(Schema.NullOr(Schema.Json)) }),
  success: Schema.Struct({ id: WorkItemId }),
  error: [InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse]
})
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotateMerge(older("Create a work item in the queue of a process"))
  .annotate(Audited, itemEntry)

export const createFile = HttpApiEndpoint.post(
  "legacyCreateWorkItemFile",
  `${inProcess}/work-items/:work_item_id/files/upload`,
  {
    params: ofItem,
    payload: Schema.Struct({ fileName: NewFile.fields.file_name, fileSize: NewFile.fields.file_size }),
    success: LegacyUploadForm,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  }
)
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotate(ReturnsCredential, true)
  .annotateMerge(older("Get the form with which a file is attached to a work item"))
  .annotate(Audited, itemEntry)

export const retry = HttpApiEndpoint.post("legacyRetryWorkItem", `${inProcess}/work-items/:work_item_id/retry`, {
  params: ofItem,
  success: LegacyWorkItem,
  error: [NotFoundResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotateMerge(older("Retry a failed work item"))
  .annotate(Audited, entry("work_item"))

/** One operation on 1 to 10,000 items, all or none. */
export const batch = HttpApiEndpoint.post("legacyBatchWorkItems", `${inWorkspace}/work-items/batch`, {
  params: ofWorkspace,
  payload: Schema.Struct({
    batchOperation: Schema.Literals(batchOperations),
    workItemIds: Schema.Array(WorkItemId).check(Schema.isBetweenLength(1, 10_000))
  }),
  success: Schema.Struct({ accepted: Schema.Boolean }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotateMerge(older("Retry, delete or settle work items, all or none"))
  .annotate(Audited, entry("work_item"))

export const listStepRuns = HttpApiEndpoint.get("legacyStepRuns", `${inRun}/robotRuns`, {
  params: ofRun,
  query: listQuery,
  success: Page(LegacyStepRun),
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Processes.read_runs")
  .annotateMerge(older("List the step runs of a run, newest first"))

export const getStepRun = HttpApiEndpoint.get("legacyStepRun", inStepRun, {
  params: ofStepRun,
  success: LegacyStepRun,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Processes.read_runs")
  .annotateMerge(older("Get a step run"))

const partsOf = <const Id extends string, const Part extends string, S extends Schema.Top>(
  id: Id,
  part: Part,
  item: S,
  text: string
) =>
  HttpApiEndpoint.get(id, `${inStepRun}/${part}`, {
    params: ofStepRun,
    success: Schema.Array(item),
    error: [InvalidRequestResponse, NotFoundResponse]
  })
    .annotate(RequiredPermission, "Processes.read_run_outputs")
    .annotateMerge(older(text))

/** The newest 1,000, without an envelope. */
export const artifacts = partsOf("legacyArtifacts", "artifacts", LegacyArtifact, "List the artifacts of a step run")
/** The first 1,000, or fewer if these are large, without an envelope. */
export const messages = partsOf("legacyMessages", "messages", LegacyMessage, "List the console of a step run")
/** The first 1,000, without an envelope. */
export const events = partsOf("legacyEvents", "events", LegacyEvent, "List the events of a step run")

/** The address of an artifact, as a JSON string; valid for one hour, and needs no key. The name in the path is ignored. */
export const getArtifact = HttpApiEndpoint.get("legacyArtifact", `${inStepRun}/artifacts/:artifact_id/:file_name`, {
  params: { ...ofStepRun, artifact_id: ArtifactId, file_name: Schema.String },
  success: Schema.String,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Processes.read_run_outputs")
  .annotateMerge(older("Get where an artifact is downloaded"))

const robots = "/robot-v2/workspaces/:workspace_id/robots" as const

export const listRobots = HttpApiEndpoint.get("legacyRobots", robots, {
  params: ofWorkspace,
  query: listQuery,
  success: Page(LegacyRobot),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Tasks.read_task_packages")
  .annotateMerge(older("List the task packages"))

/** The form with which a new zip is uploaded, valid for one hour. A package from git is a 409. */
export const getUploadLink = HttpApiEndpoint.get("legacyRobotUpload", `${robots}/:task_package_id/file/uploadlink`, {
  params: { ...ofWorkspace, task_package_id: TaskPackageId },
  success: LegacyUploadForm,
  error: [NotFoundResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotateMerge(older("Get the form with which a zip is uploaded"))

/** The group of the older interface. */
export const Legacy: Group<
  "legacy",
  | typeof processes
  | typeof start
  | typeof startBatch
  | typeof startRequested
  | typeof runs
  | typeof workspaceRuns
  | typeof getRun
  | typeof workItems
  | typeof runWorkItems
  | typeof getWorkItem
  | typeof createWorkItem
  | typeof createFile
  | typeof retry
  | typeof batch
  | typeof listStepRuns
  | typeof getStepRun
  | typeof artifacts
  | typeof messages
  | typeof events
  | typeof getArtifact
  | typeof listRobots
  | typeof getUploadLink,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("legacy")
  .add(processes, start, startBatch, startRequested, runs, workspaceRuns, getRun)
  .add(workItems, runWorkItems, getWorkItem, createWorkItem, createFile, retry, batch)
  .add(listStepRuns, getStepRun, artifacts, messages, events, getArtifact, listRobots, getUploadLink)
  .middleware(WorkspaceAuthorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Older interface",
      description:
        "For robots and programs of the years before `/api/v1`, which has all of it and more. Nothing is added here."
    })
  )
