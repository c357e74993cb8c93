/**
 * The robot side: what a task uses while its step run is in progress, with the run's token as the bearer. Names and
 * spellings are those of existing robots (camelCase).
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { TokenAuthorization } from "./Authorization.ts"
import { ExtensionKeys, summary } from "./Documentation.ts"
import { NewFile } from "./Files.ts"
import { FileId, ProcessId, ProcessRunId, StepRunId, WorkItemId, WorkspaceId } from "./Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse } from "./Responses.ts"

const stepRunParams = {
  workspace_id: WorkspaceId,
  process_id: ProcessId,
  process_run_id: ProcessRunId,
  step_run_id: StepRunId
}

/**
 * Reserves the next waiting item of the step; null when none waits. Returns the item that is already reserved, if any.
 */
export const reserveNext = HttpApiEndpoint.post(
  "reserveNextWorkItem",
  "/workspaces/:workspace_id/processes/:process_id/runs/:process_run_id/robotRuns/:step_run_id/reserve-next-work-item",
  {
    params: stepRunParams,
    success: Schema.Struct({ workItemId: Schema.NullOr(WorkItemId) }),
    error: [NotFoundResponse, ConflictResponse]
  }
).annotateMerge(summary("Reserve the next work item of the step"))

/** The result of a work item. */
export const Settlement = Schema.Struct({
  state: Schema.Literals(["COMPLETED", "FAILED"]),
  exception: Schema.optionalKey(
    Schema.Struct({
      type: Schema.Literals(["BUSINESS", "APPLICATION"]),
      code: Schema.optionalKey(Schema.NullOr(Schema.String)),
      message: Schema.optionalKey(Schema.NullOr(Schema.String))
    })
  )
})
export interface Settlement extends Schema.Schema.Type<typeof Settlement> {}

/** Releases the reserved item. Repeating it with the same result changes nothing. */
export const release = HttpApiEndpoint.post(
  "releaseWorkItem",
  "/workspaces/:workspace_id/processes/:process_id/runs/:process_run_id/robotRuns/:step_run_id/release-work-item",
  {
    params: stepRunParams,
    payload: Schema.Struct({
      workItemId: WorkItemId,
      ...Settlement.fields,
      /** Extension: whether the outputs of this attempt are dropped, if it failed; default: they are passed on. */
      dropOutputs: Schema.optionalKey(Schema.Boolean)
    }),
    success: Schema.Struct({}),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  }
)
  .annotate(ExtensionKeys, ["dropOutputs"])
  .annotateMerge(summary("Settle the reserved work item"))

/** Creates an output of the reserved item. */
export const createOutput = HttpApiEndpoint.post(
  "createOutput",
  "/workspaces/:workspace_id/processes/:process_id/work-items/:work_item_id/output",
  {
    params: { workspace_id: WorkspaceId, process_id: ProcessId, work_item_id: WorkItemId },
    payload: Schema.Struct({ payload: Schema.NullOr(Schema.Json) }),
    success: Schema.Struct({ id: WorkItemId }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  }
).annotateMerge(summary("Create an output of the reserved work item"))

/** `/process-v1/workspaces/{w}/processes/{p}`. */
export const RobotProcess = /* @__PURE__ */ HttpApiGroup.make("robotProcess")
  .add(reserveNext, release, createOutput)
  .middleware(TokenAuthorization)

const itemParams = { workspace_id: WorkspaceId, work_item_id: WorkItemId }

/** A work item without a payload is a 404, which robot libraries read as an empty payload. */
export const getData = HttpApiEndpoint.get(
  "getWorkItemData",
  "/workspaces/:workspace_id/workitems/:work_item_id/data",
  {
    params: itemParams,
    success: Schema.Json,
    error: [NotFoundResponse, ConflictResponse]
  }
).annotateMerge(summary("Get the payload of a work item"))

export const listFiles = HttpApiEndpoint.get(
  "listWorkItemFiles",
  "/workspaces/:workspace_id/workitems/:work_item_id/files",
  {
    params: itemParams,
    success: Schema.Array(Schema.Struct({ fileId: FileId, fileName: Schema.String, fileSize: Schema.Finite })),
    error: [NotFoundResponse, ConflictResponse]
  }
).annotateMerge(summary("List the files of a work item"))

export const getFile = HttpApiEndpoint.get(
  "getWorkItemFile",
  "/workspaces/:workspace_id/workitems/:work_item_id/files/:file_id",
  {
    params: { ...itemParams, file_id: FileId },
    success: Schema.Struct({ url: Schema.String }),
    error: [NotFoundResponse, ConflictResponse]
  }
).annotateMerge(summary("Get where a file is downloaded"))

export const createFile = HttpApiEndpoint.post(
  "createRobotFile",
  "/workspaces/:workspace_id/workitems/:work_item_id/files",
  {
    params: itemParams,
    payload: Schema.Struct({ fileName: NewFile.fields.file_name, fileSize: NewFile.fields.file_size }),
    success: Schema.Struct({ url: Schema.String, fields: Schema.Record(Schema.String, Schema.String) }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  }
).annotateMerge(summary("Get the form with which a file is uploaded"))

/** Replaces the payload of the reserved item, or of an output of it. */
export const putData = HttpApiEndpoint.put(
  "putWorkItemData",
  "/workspaces/:workspace_id/workitems/:work_item_id/data",
  {
    params: itemParams,
    payload: [Schema.Json, Schema.Undefined],
    success: Schema.Struct({}),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  }
).annotateMerge(summary("Replace the payload of a work item"))

export const removeFile = HttpApiEndpoint.delete(
  "deleteWorkItemFile",
  "/workspaces/:workspace_id/workitems/:work_item_id/files/:file_id",
  {
    params: { ...itemParams, file_id: FileId },
    success: Schema.Struct({}),
    error: [NotFoundResponse, ConflictResponse]
  }
).annotateMerge(summary("Delete a file of a work item"))

/** `/json-v1/workspaces/{w}/workitems/{id}`. */
export const RobotData = /* @__PURE__ */ HttpApiGroup.make("robotData")
  .add(getData, listFiles, getFile, createFile, putData, removeFile)
  .middleware(TokenAuthorization)
