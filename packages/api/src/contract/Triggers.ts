/**
 * Triggers: conditions under which runs of a process start, and addresses whose requests become work items. An extension.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization, StartsWork } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Triggers.ts"

export * from "../internal/endpoints/Triggers.ts"

/** Extension. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a trigger").annotate(
  RequiredPermission,
  "Triggers.read_triggers"
)

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the triggers, newest first"
).annotate(RequiredPermission, "Triggers.read_triggers")

/**
 * Extension: the name is unique in the workspace. Needs the permission Processes.trigger_processes too. It runs as
 * itself: it continues when the key that created it is revoked.
 */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create a trigger")
  .annotate(RequiredPermission, "Triggers.write_triggers")
  .annotate(StartsWork, true)
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("trigger"))

/**
 * Extension: replaces the definition. The address stays, if there is one; `url` is then null. Needs the permission
 * Processes.trigger_processes too.
 */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Replace a trigger")
  .annotate(RequiredPermission, "Triggers.write_triggers")
  .annotate(StartsWork, true)
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("trigger"))

/** Extension: a new address; the old one is revoked at once, and what a handshake agreed on is forgotten. */
export const rotate: EndpointOf<typeof declared.rotate> = endpoint(declared.rotate, "Give a trigger a new address")
  .annotate(RequiredPermission, "Triggers.write_triggers")
  .annotate(StartsWork, true)
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("trigger"))

/** Extension. Irreversible: its address is revoked. Its runs go on, and its items stay. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a trigger")
  .annotate(RequiredPermission, "Triggers.write_triggers")
  .annotate(Audited, entry("trigger"))

export const Triggers: Group<
  "triggers",
  typeof get | typeof list | typeof create | typeof update | typeof rotate | typeof remove,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("triggers")
  .add(get, list, create, update, rotate, remove)
  .middleware(WorkspaceAuthorization)
