/** Bulk operations: created, listed and cancelled. `runs/BulkOperations` carries them out. */
import { type Permission, startPermission } from "@signalbox/api/contract/Authorization"
import type { BulkOperationName } from "@signalbox/api/contract/BulkOperations"
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import { orNotFound, refusals } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { need } from "../edge/Permissions.ts"
import { BulkOperations } from "../runs/BulkOperations.ts"
import { BulkOperations as Store } from "../store/room/BulkOperations.ts"

/** What an operation needs besides the permission of bulk operations. */
const needed: Readonly<Record<BulkOperationName, ReadonlyArray<Permission>>> = {
  retry: ["Processes.write_work_items", startPermission],
  mark_as_done: ["Processes.write_work_items"],
  delete: ["Processes.write_work_items"],
  start_again: [startPermission]
}

export const layer = Endpoints.group(
  "bulkOperations",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Store
    const operations = yield* BulkOperations
    const { page } = yield* Pagination
    return handlers.handleAll({
      createBulkOperation: Effect.fnUntraced(function* ({ params, payload: { dry_run, filter, operation } }) {
        for (const permission of needed[operation]) {
          yield* need(
            permission,
            `operation: ${operation} of work items or runs needs a permission beyond that of bulk operations`
          )
        }
        const created = operations.create(params.workspace_id, operation, filter, dry_run === true)
        return yield* refusals("INVALID_REQUEST")(created)
      }),
      listBulkOperations: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      getBulkOperation: ({ params }) =>
        orNotFound(
          "bulk operation",
          params.bulk_operation_id,
          store.get(params.workspace_id, params.bulk_operation_id)
        ),
      cancelBulkOperation: Effect.fnUntraced(function* ({ params }) {
        const id = params.bulk_operation_id
        const { id: known } = yield* orNotFound("bulk operation", id, store.get(params.workspace_id, id))
        return { accepted: yield* store.cancel(params.workspace_id, known) }
      })
    })
  })
)
