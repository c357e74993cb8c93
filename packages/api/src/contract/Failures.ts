/** Failures: failed work items in groups of those that failed alike. An extension. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Failures.ts"

export * from "../internal/endpoints/Failures.ts"

/**
 * Groups with failed items; with `state=resolved` those that were resolved. The one that failed last comes first, to ten
 * seconds; a group that fails again while pages are walked moves to their beginning.
 */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List groups of similar failures"
).annotate(RequiredPermission, "Failures.read_failures")

/** Without failed items a group is deleted 90 days after its last change, unless it is muted. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a group of failures").annotate(
  RequiredPermission,
  "Failures.read_failures"
)

/**
 * Changes the given fields. `muted`: with `muted_until`, or until it is opened. `resolved`: 409 while the group has failed
 * items.
 */
export const update: EndpointOf<typeof declared.update> = endpoint(
  declared.update,
  "Mute, resolve or open a group of failures, or set its note and assignee"
)
  .annotate(RequiredPermission, "Failures.write_failures")
  .annotate(Audited, entry("failure"))

export const Failures: Group<"failures", typeof list | typeof get | typeof update, WorkspaceAuthorization> =
  /* @__PURE__ */ HttpApiGroup.make("failures").add(list, get, update).middleware(WorkspaceAuthorization)
