/** Bulk operations: one operation on all work items, or runs, that match a filter, as a job. An extension. */
import * as Schema from "effect/Schema"
import { listQuery, OpenEnum, Page, Timestamp, TimestampInput } from "../../contract/Common.ts"
import { BulkOperationId, FailureId, ProcessId, ProcessRunId, StepId, WorkspaceId } from "../../contract/Ids.ts"
import { ForbiddenResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import { batchOperations, exceptionTypes, workItemStates } from "./WorkItems.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const bulkOperations = [...batchOperations, "start_again"] as const
export type BulkOperationName = (typeof bulkOperations)[number]

export const bulkOperationStates = ["waiting", "in_progress", "completed", "cancelled"] as const
export type BulkOperationState = (typeof bulkOperationStates)[number]

/**
 * Which work items, or for `start_again` which runs: those to which all of the given keys apply. At least one besides
 * `state`, or `everything: true`.
 */
export class BulkFilter extends Struct<BulkFilter>("BulkFilter")({
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
}) {}

/** What was refused for one reason. */
export class BulkRefusal extends Struct<BulkRefusal>("BulkRefusal")({
  code: Schema.String,
  /** With `#` for each number and id. */
  message: Schema.String,
  count: Schema.Int,
  /** Up to five of them. */
  ids: Schema.Array(Schema.String)
}) {}

/** A job. Kept for 30 days after its end. */
export class BulkOperation extends Struct<BulkOperation>("BulkOperation")({
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
}) {}

const params = { workspace_id: WorkspaceId, bulk_operation_id: BulkOperationId }

export const create = /* @__PURE__ */ Endpoint.post(
  "createBulkOperation",
  "/workspaces/:workspace_id/bulk-operations",
  () => ({
    extension: true,
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
)

export const list = /* @__PURE__ */ Endpoint.get(
  "listBulkOperations",
  "/workspaces/:workspace_id/bulk-operations",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId },
    query: listQuery,
    success: Page(BulkOperation),
    error: InvalidRequestResponse
  })
)

export const get = /* @__PURE__ */ Endpoint.get(
  "getBulkOperation",
  "/workspaces/:workspace_id/bulk-operations/:bulk_operation_id",
  () => ({ extension: true, params, success: BulkOperation, error: NotFoundResponse })
)

export const cancel = /* @__PURE__ */ Endpoint.post(
  "cancelBulkOperation",
  "/workspaces/:workspace_id/bulk-operations/:bulk_operation_id/cancel",
  () => ({ extension: true, params, success: Schema.Struct({ accepted: Schema.Boolean }), error: NotFoundResponse })
)
