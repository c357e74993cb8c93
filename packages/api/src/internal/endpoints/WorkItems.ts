/**
 * Work items: units of input and output data of processes, JSON and files.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { listQuery, OpenEnum, Page, Ref, Timestamp } from "../../contract/Common.ts"
import { File, NewFile, UploadForm } from "../../contract/Files.ts"
import { ProcessId, ProcessRunId, StepId, StepRunId, WorkItemId, WorkspaceId } from "../../contract/Ids.ts"
import { dueStates, newOrderFields, orderFields, Reference, Tag } from "../../contract/Order.ts"
import {
  ConflictResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse
} from "../../contract/Responses.ts"
import { masked, Revealed } from "./SecretFields.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const workItemStates = ["new", "pending", "in_progress", "failed", "done"] as const
export type WorkItemState = (typeof workItemStates)[number]

export const exceptionTypes = ["application", "business", "orchestrator", "unspecified"] as const
export type ExceptionType = (typeof exceptionTypes)[number]

/** Why a work item failed. `business`: invalid or missing data, not worth a retry; other items may be retried. */
export class WorkItemException extends Struct<WorkItemException>("WorkItemException")({
  code: Schema.String,
  type: OpenEnum(exceptionTypes),
  message: Schema.String
}) {}

const summaryFields = {
  id: WorkItemId,
  created_at: Timestamp,
  state: OpenEnum(workItemStates),
  state_updated_at: Schema.NullOr(Timestamp),
  process: Ref(ProcessId),
  process_run: Schema.NullOr(Ref(ProcessRunId)),
  step: Schema.NullOr(Ref(StepId)),
  step_run: Schema.NullOr(Ref(StepRunId)),
  exception: Schema.NullOr(WorkItemException),
  ...orderFields
}

export class WorkItem extends Struct<WorkItem>("WorkItem")({
  ...summaryFields,
  payload: Schema.NullOr(Schema.Json),
  /** Extension: the pointers to secret fields of the payload, in whose place it has null. */
  masked,
  files: Schema.Array(File)
}) {}

/** A work item in lists: payload and files only with `include_data=true`. */
export class WorkItemListed extends Struct<WorkItemListed>("WorkItemListed")({
  ...summaryFields,
  payload: Schema.optionalKey(Schema.NullOr(Schema.Json)),
  /** Extension: as in `WorkItem`, with the payload. */
  masked: Schema.optionalKey(Schema.Array(Schema.String)),
  files: Schema.optionalKey(Schema.Array(File))
}) {}

export const batchOperations = ["retry", "delete", "mark_as_done"] as const
export type BatchOperation = (typeof batchOperations)[number]

const params = { workspace_id: WorkspaceId, work_item_id: WorkItemId }

export const get = /* @__PURE__ */ Endpoint.get(
  "getWorkItem",
  "/workspaces/:workspace_id/work-items/:work_item_id",
  () => ({
    params,
    success: WorkItem,
    error: NotFoundResponse
  })
)

export const list = /* @__PURE__ */ Endpoint.get("listWorkItems", "/workspaces/:workspace_id/work-items", () => ({
  params: { workspace_id: WorkspaceId },
  query: {
    ...listQuery,
    process_id: Schema.optional(ProcessId),
    process_run_id: Schema.optional(ProcessRunId),
    state: Schema.optional(Schema.Literals(workItemStates)),
    include_data: Schema.optional(Schema.Boolean),
    /** Extension: items that are in this step or ended in it; with `process_id` or `process_run_id`. */
    step_id: Schema.optional(StepId),
    /** Extension. */
    reference: Schema.optional(Reference),
    /** Extension. */
    tag: Schema.optional(Tag),
    /** Extension: only open items that have a `due_at`. */
    due_state: Schema.optional(Schema.Literals(dueStates))
  },
  success: Page(WorkItemListed),
  error: InvalidRequestResponse
}))

export const create = /* @__PURE__ */ Endpoint.post("createWorkItem", "/workspaces/:workspace_id/work-items", () => ({
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({
    process: Ref(ProcessId),
    payload: Schema.optionalKey(Schema.NullOr(Schema.Json)),
    ...newOrderFields,
    reference: Schema.optionalKey(Reference)
  }),
  success: WorkItem,
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
}))

/** The largest payload of a work item, in bytes of JSON. */
export const maxPayload = 1024 * 1024

/** The most work items that are made with one request. */
export const maxCreated = 1000

export const createMany = /* @__PURE__ */ Endpoint.post(
  "createWorkItems",
  "/workspaces/:workspace_id/work-items/bulk",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId },
    payload: Schema.Struct({
      process: Ref(ProcessId),
      payloads: Schema.Array(Schema.Json).check(Schema.isBetweenLength(1, maxCreated)),
      ...newOrderFields,
      references: Schema.optionalKey(Schema.Array(Schema.NullOr(Reference)))
    }),
    success: Schema.Struct({ work_items: Schema.Array(Ref(WorkItemId)) }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)

export const createFile = /* @__PURE__ */ Endpoint.post(
  "createWorkItemFile",
  "/workspaces/:workspace_id/work-items/:work_item_id/files",
  () => ({
    params,
    payload: NewFile,
    success: Schema.Struct({ upload: UploadForm }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)

export const updatePayload = /* @__PURE__ */ Endpoint.post(
  "updateWorkItemPayload",
  "/workspaces/:workspace_id/work-items/:work_item_id/payload",
  () => ({
    params,
    payload: Schema.Struct({
      payload: Schema.NullOr(Schema.Json),
      /** Extension. */
      previous_payload: Schema.optionalKey(Schema.NullOr(Schema.Json))
    }),
    success: Schema.Struct({ payload: Schema.NullOr(Schema.Json), masked }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  })
)

/** Secret fields of a payload, by the pointers that were asked for. */
export class Secrets extends Struct<Secrets>("RevealedSecrets")({
  values: Schema.Record(Schema.String, Schema.NullOr(Schema.Json))
}) {}

export const reveal = /* @__PURE__ */ Endpoint.post(
  "revealWorkItem",
  "/workspaces/:workspace_id/work-items/:work_item_id/reveal",
  () => ({
    extension: true,
    params,
    payload: Schema.Struct({ pointers: Revealed }),
    success: Secrets,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

/**
 * `outputs_passed_on` is an extension: how many outputs of retried or deleted items were passed on before and stay. A
 * retry may create them again.
 */
export class BatchResult extends Struct<BatchResult>()({
  accepted: Schema.Boolean,
  outputs_passed_on: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
}) {}

export const batch = /* @__PURE__ */ Endpoint.post(
  "batchWorkItems",
  "/workspaces/:workspace_id/work-items/batch",
  () => ({
    params: { workspace_id: WorkspaceId },
    payload: Schema.Struct({
      batch_operation: Schema.Literals(batchOperations),
      work_item_ids: Schema.Array(WorkItemId).check(Schema.isBetweenLength(1, 10_000))
    }),
    success: BatchResult,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  })
)

/** The work items that were created in one hour, by what has become of them. Deleted ones are not counted. */
export class ThroughputHour extends Struct<ThroughputHour>("ThroughputHour")({
  /** The beginning of the hour. */
  from: Timestamp,
  done: Schema.Int,
  failed: Schema.Int,
  /** New, pending or in progress. */
  open: Schema.Int
}) {}

export const throughput = /* @__PURE__ */ Endpoint.get("getThroughput", "/workspaces/:workspace_id/throughput", () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  query: { hours: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 168 }))) },
  success: Schema.Struct({ data: Schema.Array(ThroughputHour) }),
  error: InvalidRequestResponse
}))
