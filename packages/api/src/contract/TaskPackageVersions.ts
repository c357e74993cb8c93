/**
 * Versions of task packages. Each upload and each commit that changes the content of a package appends one and makes it
 * current; an older one becomes current again in one call. The newest 20 are retained, and every version that is
 * current, named by a step, or used by a task in progress.
 */
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, StartsWork } from "./Authorization.ts"
import { endpoint, type EndpointOf } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/TaskPackageVersions.ts"

export * from "../internal/endpoints/TaskPackageVersions.ts"

/** Extension. */
export const listVersions: EndpointOf<typeof declared.listVersions> = endpoint(
  declared.listVersions,
  "List the versions of a task package, newest first"
).annotate(RequiredPermission, "Tasks.read_task_packages")

/** Extension. */
export const getVersion: EndpointOf<typeof declared.getVersion> = endpoint(
  declared.getVersion,
  "Get a version of a task package"
).annotate(RequiredPermission, "Tasks.read_task_packages")

/**
 * Extension: makes a version the current one. Step runs in progress continue with their version. Does nothing when it is
 * current. Versions between an older one and the one that was current are rolled back.
 */
export const promote: EndpointOf<typeof declared.promote> = endpoint(
  declared.promote,
  "Make a version of a task package the current one"
)
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotate(StartsWork, true)
  .annotate(Audited, entry("task_package"))

/**
 * Extension: makes the one before the current version current, of those that are not rolled back. With `from`, only if
 * that is current still; else, and without an older one, a 409.
 */
export const rollback: EndpointOf<typeof declared.rollback> = endpoint(
  declared.rollback,
  "Go back to the version of a task package before the current one"
)
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotate(StartsWork, true)
  .annotate(Audited, entry("task_package"))
