/**
 * The robot side: what a task uses while its step run is in progress, with the run's token as the bearer. Names and
 * spellings are those of existing robots (camelCase).
 */
import * as Schema from "effect/Schema"
import { NewFile } from "../../contract/Files.ts"
import { FileId, ProcessId, ProcessRunId, StepRunId, WorkItemId, WorkspaceId } from "../../contract/Ids.ts"
import {
  ConflictResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse
} from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

const stepRunParams = {
  workspace_id: WorkspaceId,
  process_id: ProcessId,
  process_run_id: ProcessRunId,
  step_run_id: StepRunId
}

export const reserveNext = /* @__PURE__ */ Endpoint.post(
  "reserveNextWorkItem",
  "/workspaces/:workspace_id/processes/:process_id/runs/:process_run_id/robotRuns/:step_run_id/reserve-next-work-item",
  () => ({
    params: stepRunParams,
    success: Schema.Struct({ workItemId: Schema.NullOr(WorkItemId) }),
    error: [NotFoundResponse, ConflictResponse]
  })
)

/** The result of a work item. */
export class Settlement extends Struct<Settlement>()({
  state: Schema.Literals(["COMPLETED", "FAILED"]),
  exception: Schema.optionalKey(
    Schema.Struct({
      type: Schema.Literals(["BUSINESS", "APPLICATION"]),
      code: Schema.optionalKey(Schema.NullOr(Schema.String)),
      message: Schema.optionalKey(Schema.NullOr(Schema.String))
    })
  )
}) {}

export const release = /* @__PURE__ */ Endpoint.post(
  "releaseWorkItem",
  "/workspaces/:workspace_id/processes/:process_id/runs/:process_run_id/robotRuns/:step_run_id/release-work-item",
  () => ({
    params: stepRunParams,
    payload: Schema.Struct({
      workItemId: WorkItemId,
      ...Settlement.fields,
      /** Extension: whether the outputs of this attempt are dropped, if it failed; default: they are passed on. */
      dropOutputs: Schema.optionalKey(Schema.Boolean)
    }),
    success: Schema.Struct({}),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  })
)

export const createOutput = /* @__PURE__ */ Endpoint.post(
  "createOutput",
  "/workspaces/:workspace_id/processes/:process_id/work-items/:work_item_id/output",
  () => ({
    params: { workspace_id: WorkspaceId, process_id: ProcessId, work_item_id: WorkItemId },
    payload: Schema.Struct({ payload: Schema.NullOr(Schema.Json) }),
    success: Schema.Struct({ id: WorkItemId }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)

const itemParams = { workspace_id: WorkspaceId, work_item_id: WorkItemId }

export const getData = /* @__PURE__ */ Endpoint.get(
  "getWorkItemData",
  "/workspaces/:workspace_id/workitems/:work_item_id/data",
  () => ({
    params: itemParams,
    success: Schema.Json,
    error: [NotFoundResponse, ConflictResponse]
  })
)

export const listFiles = /* @__PURE__ */ Endpoint.get(
  "listWorkItemFiles",
  "/workspaces/:workspace_id/workitems/:work_item_id/files",
  () => ({
    params: itemParams,
    success: Schema.Array(Schema.Struct({ fileId: FileId, fileName: Schema.String, fileSize: Schema.Finite })),
    error: [NotFoundResponse, ConflictResponse]
  })
)

export const getFile = /* @__PURE__ */ Endpoint.get(
  "getWorkItemFile",
  "/workspaces/:workspace_id/workitems/:work_item_id/files/:file_id",
  () => ({
    params: { ...itemParams, file_id: FileId },
    success: Schema.Struct({ url: Schema.String }),
    error: [NotFoundResponse, ConflictResponse]
  })
)

export const createFile = /* @__PURE__ */ Endpoint.post(
  "createRobotFile",
  "/workspaces/:workspace_id/workitems/:work_item_id/files",
  () => ({
    params: itemParams,
    payload: Schema.Struct({ fileName: NewFile.fields.file_name, fileSize: NewFile.fields.file_size }),
    success: Schema.Struct({ url: Schema.String, fields: Schema.Record(Schema.String, Schema.String) }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)

export const putData = /* @__PURE__ */ Endpoint.put(
  "putWorkItemData",
  "/workspaces/:workspace_id/workitems/:work_item_id/data",
  () => ({
    params: itemParams,
    payload: [Schema.Json, Schema.Undefined],
    success: Schema.Struct({}),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)

export const removeFile = /* @__PURE__ */ Endpoint.delete(
  "deleteWorkItemFile",
  "/workspaces/:workspace_id/workitems/:work_item_id/files/:file_id",
  () => ({
    params: { ...itemParams, file_id: FileId },
    success: Schema.Struct({}),
    error: [NotFoundResponse, ConflictResponse]
  })
)
