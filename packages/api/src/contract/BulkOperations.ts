/** Bulk operations: one operation on all work items, or runs, that match a filter, as a job. An extension. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/BulkOperations.ts"

export * from "../internal/endpoints/BulkOperations.ts"

/**
 * Creates a job on what matches now and has not changed since. Each is taken once, in the order of the ids, with the rules
 * of the single operation; the key needs its permission too. `dry_run: true` only counts.
 */
export const create: EndpointOf<typeof declared.create> = endpoint(
  declared.create,
  "Retry, settle or delete all work items, or start all runs again, that match a filter"
)
  .annotate(RequiredPermission, "Processes.run_bulk_operations")
  .annotate(Audited, entry("bulk_operation"))

export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List bulk operations, newest first"
).annotate(RequiredPermission, "Processes.run_bulk_operations")

export const get: EndpointOf<typeof declared.get> = endpoint(
  declared.get,
  "Get a bulk operation with its progress"
).annotate(RequiredPermission, "Processes.run_bulk_operations")

/** What it has done stays. `accepted` is false when it had already ended. */
export const cancel: EndpointOf<typeof declared.cancel> = endpoint(declared.cancel, "Cancel a bulk operation")
  .annotate(RequiredPermission, "Processes.run_bulk_operations")
  .annotate(Audited, entry("bulk_operation"))

export const BulkOperations: Group<
  "bulkOperations",
  typeof create | typeof list | typeof get | typeof cancel,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("bulkOperations")
  .add(create, list, get, cancel)
  .middleware(WorkspaceAuthorization)
