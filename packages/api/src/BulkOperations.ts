/**
 * Bulk operations: one operation on all work items, or runs, that match a filter, as a job of the service. An extension of
 * the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import * as contract from "./internal/endpoints/BulkOperations.ts"
import type { Accepted, Page } from "./contract/Common.ts"
import type { BulkOperationId } from "./contract/Ids.ts"
import type { InvalidRequest, NotFound } from "./ControlRoomError.ts"
import { type AwaitOptions, awaitUntil } from "./internal/calls/AwaitUntil.ts"
import { page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type {
  BulkFilter,
  BulkOperation,
  BulkOperationName,
  BulkOperationState,
  BulkRefusal
} from "./contract/BulkOperations.ts"

interface Created {
  readonly total: number
  readonly bulk_operation: contract.BulkOperation | null
}

const call = {
  create: returning<Created, InvalidRequest>()(inWorkspace(contract.create)),
  list: returning<Page<contract.BulkOperation>, InvalidRequest>()(inWorkspace(contract.list)),
  get: returning<contract.BulkOperation, NotFound>()(inWorkspace(contract.get)),
  cancel: returning<Accepted, NotFound>()(inWorkspace(contract.cancel))
}

/**
 * Creates a job on what matches now; what changes before its turn is left as it is.
 *
 * ```ts
 * import * as BulkOperations from "@signalbox/api/BulkOperations"
 * import type { FailureId } from "@signalbox/api/contract/Ids"
 *
 * export const retryAll = (failure: FailureId) =>
 *   BulkOperations.create("retry", { failure_id: failure })
 * ```
 */
export const create = Effect.fn("BulkOperations.create")(
  (operation: contract.BulkOperationName, filter: contract.BulkFilter) =>
    Effect.flatMap(call.create({ payload: { operation, filter } }), ({ bulk_operation }) =>
      bulk_operation === null
        ? Effect.die(new Error("the service created a bulk operation and did not return it"))
        : Effect.succeed(bulk_operation)
    ),
  refusing("bulkOperations.create", { 1: contract.BulkFilter })
)

/**
 * Returns how many match now.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as BulkOperations from "@signalbox/api/BulkOperations"
 *
 * export const failed = (process_id: ProcessId) =>
 *   BulkOperations.count("retry", { process_id })
 * ```
 */
export const count = Effect.fn("BulkOperations.count")(
  (operation: contract.BulkOperationName, filter: contract.BulkFilter) =>
    Effect.map(call.create({ payload: { operation, filter, dry_run: true } }), ({ total }) => total),
  refusing("bulkOperations.count", { 1: contract.BulkFilter })
)

/** Returns one page, newest first. */
export const list = Effect.fn("BulkOperations.list")(
  (options: ListOptions = {}) => call.list({ query: options }),
  refusing("bulkOperations.list", { 0: page })
)

/** Emits all jobs of the last 30 days, newest first. */
export const stream = (options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("bulkOperations.stream", pageSize, options))

/** Returns a job with its progress. */
export const get = Effect.fn("BulkOperations.get")((operation: BulkOperationId) =>
  call.get({ params: { bulk_operation_id: operation } })
)

/** Cancels a job. What it has done stays; `accepted` is false when it had already ended. */
export const cancel = Effect.fn("BulkOperations.cancel")((operation: BulkOperationId) =>
  call.cancel({ params: { bulk_operation_id: operation } })
)

/** Whether a job has ended. */
export const hasEnded = ({ state }: contract.BulkOperation): boolean => state === "completed" || state === "cancelled"

/** Waits until a job has ended. */
export const awaitEnd = Effect.fn("BulkOperations.awaitEnd")(
  (operation: BulkOperationId, options: AwaitOptions<contract.BulkOperation> = {}) =>
    awaitUntil(
      get(operation),
      hasEnded,
      {
        of: "bulkOperations.awaitEnd",
        path: `/bulk-operations/${operation}`,
        unfinished: "the bulk operation did not end"
      },
      options
    )
)
