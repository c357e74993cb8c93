/** Bulk operations: one operation on all work items, or runs, that match a filter, as a job. An extension. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { listQuery, OpenEnum, Page, Timestamp, TimestampInput } from "./Common.ts"
import { extension } from "./Documentation.ts"
import { BulkOperationId, FailureId, ProcessId, ProcessRunId, StepId, WorkspaceId } from "./Ids.ts"
import { ForbiddenResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"
import { batchOperations, exceptionTypes, workItemStates } from "./WorkItems.ts"

export const bulkOperations = [...batchOperations, "start_again"] as const
export type BulkOperationName = (typeof bulkOperations)[number]

export const bulkOperationStates = ["waiting", "in_progress", "completed", "cancelled"] as const
export type BulkOperationState = (typeof bulkOperationStates)[number]

/**
 * Which work items, or for `start_again` which runs: those to which all of the given keys apply. At least one besides
 * `state`, or `everything: true`.
 */
export const BulkFilter = Schema.Struct({
  process_id: Schema.optionalKey(ProcessId),
  /** Of work items. */
  process_run_id: Schema.optionalKey(ProcessRunId),
  /** Of work items. */
  step_id: Schema.optionalKey(StepId),
  /**
   * `failed` for `retry` and `mark_as_done`; `new`, `failed` or `done` for `delete`; `completed` or `unresolved` for
   * `start_again`. Default: any of these.
   */
  state: Schema.optionalKey(Schema.Literals([...workItemStates, "completed", "unresolved"])),
  /** Of work items: those of one group of failures. */
  failure_id: Schema.optionalKey(FailureId),
  /** Of work items: the type of their exception. */
  type: Schema.optionalKey(Schema.Literals(exceptionTypes)),
  /** Of work items: the code of their exception. */
  code: Schema.optionalKey(Schema.String),
  /** Of work items: those with this reference. */
  reference: Schema.optionalKey(Schema.String),
  /** Of work items: those with this tag. */
  tag: Schema.optionalKey(Schema.String),
  /** Ids of work items; for `start_again`, of runs. */
  ids: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isBetweenLength(1, 10_000))),
  created_after: Schema.optionalKey(TimestampInput),
  created_before: Schema.optionalKey(TimestampInput),
  /** Of work items: when they failed, were done, and so on. */
  state_updated_after: Schema.optionalKey(TimestampInput),
  /** Of work items. */
  state_updated_before: Schema.optionalKey(TimestampInput),
  /** Everything on which the operation is possible: needed by a filter without any other key but `state`. */
  everything: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "BulkFilter" })
export interface BulkFilter extends Schema.Schema.Type<typeof BulkFilter> {}

/** What was refused for one reason. */
export const BulkRefusal = Schema.Struct({
  code: Schema.String,
  /** With `#` for each number and id. */
  message: Schema.String,
  count: Schema.Int,
  /** Up to five of them. */
  ids: Schema.Array(Schema.String)
}).annotate({ identifier: "BulkRefusal" })
export interface BulkRefusal extends Schema.Schema.Type<typeof BulkRefusal> {}

/** A job. Kept for 30 days after its end. */
export const BulkOperation = Schema.Struct({
  id: BulkOperationId,
  operation: OpenEnum(bulkOperations),
  filter: BulkFilter,
  state: OpenEnum(bulkOperationStates),
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp),
  /** How many matched when it was created. */
  total: Schema.Int,
  /** On how many the operation was carried out. */
  done: Schema.Int,
  refused: Schema.Int,
  /** How many others had changed before their turn came, and were left as they are; null until its end. */
  skipped: Schema.NullOr(Schema.Int),
  /** Why, in groups; at most 20. */
  refusals: Schema.Array(BulkRefusal)
}).annotate({ identifier: "BulkOperation" })
export interface BulkOperation extends Schema.Schema.Type<typeof BulkOperation> {}

const params = { workspace_id: WorkspaceId, bulk_operation_id: BulkOperationId }

/**
 * Creates a job on what matches now and has not changed since. Each is taken once, in the order of the ids, with the rules
 * of the single operation; the key needs its permission too. `dry_run: true` only counts.
 */
export const create = HttpApiEndpoint.post("createBulkOperation", "/workspaces/:workspace_id/bulk-operations", {
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({
    operation: Schema.Literals(bulkOperations),
    filter: BulkFilter,
    dry_run: Schema.optionalKey(Schema.Boolean)
  }),
  success: Schema.Struct({
    /** How many match. */
    total: Schema.Int,
    /** Null for a dry run. */
    bulk_operation: Schema.NullOr(BulkOperation)
  }),
  error: [InvalidRequestResponse, ForbiddenResponse]
})
  .annotate(RequiredPermission, "Processes.run_bulk_operations")
  .annotateMerge(extension("Retry, settle or delete all work items, or start all runs again, that match a filter"))

export const list = HttpApiEndpoint.get("listBulkOperations", "/workspaces/:workspace_id/bulk-operations", {
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(BulkOperation),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Processes.run_bulk_operations")
  .annotateMerge(extension("List bulk operations, newest first"))

export const get = HttpApiEndpoint.get(
  "getBulkOperation",
  "/workspaces/:workspace_id/bulk-operations/:bulk_operation_id",
  { params, success: BulkOperation, error: NotFoundResponse }
)
  .annotate(RequiredPermission, "Processes.run_bulk_operations")
  .annotateMerge(extension("Get a bulk operation with its progress"))

/** What it has done stays. `accepted` is false when it had already ended. */
export const cancel = HttpApiEndpoint.post(
  "cancelBulkOperation",
  "/workspaces/:workspace_id/bulk-operations/:bulk_operation_id/cancel",
  { params, success: Schema.Struct({ accepted: Schema.Boolean }), error: NotFoundResponse }
)
  .annotate(RequiredPermission, "Processes.run_bulk_operations")
  .annotateMerge(extension("Cancel a bulk operation"))

export const BulkOperations = /* @__PURE__ */ HttpApiGroup.make("bulkOperations")
  .add(create, list, get, cancel)
  .middleware(WorkspaceAuthorization)
