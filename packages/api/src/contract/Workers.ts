/**
 * Workers: the machines that execute step runs, and how one is linked to a workspace.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Workers.ts"

export * from "../internal/endpoints/Workers.ts"

/** Extension: creates a link token. Without `expires_at` it is valid for one hour. */
export const createLinkToken: EndpointOf<typeof declared.createLinkToken> = endpoint(
  declared.createLinkToken,
  "Create a token with which one worker links itself"
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("link_token"))

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a worker").annotate(
  RequiredPermission,
  "Workers.read_workers"
)

export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the workers, newest first"
).annotate(RequiredPermission, "Workers.read_workers")

/** Only present fields are changed. Names of workers need not be unique. */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Rename a worker")
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("worker"))

/** Irreversible; its token is then refused. A worker that holds a lease is a 409. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a worker")
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("worker"))

/**
 * Extension: the worker leases nothing more, finishes its step runs and ends. It leases again when it is started the next
 * time. Repeating it changes nothing.
 */
export const drain: EndpointOf<typeof declared.drain> = endpoint(
  declared.drain,
  "Let a worker finish its step runs and end"
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("worker"))

/** Extension: each step run is counted for exactly one group, or none, and for exactly one set of labels. */
export const queueDepth: EndpointOf<typeof declared.queueDepth> = endpoint(
  declared.queueDepth,
  "Count the step runs that want a worker"
).annotate(RequiredPermission, "Workers.read_workers")

export const Workers: Group<
  "workers",
  typeof get | typeof list | typeof update | typeof remove | typeof drain | typeof createLinkToken | typeof queueDepth,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("workers")
  .add(get, list, update, remove, drain, createLinkToken, queueDepth)
  .middleware(WorkspaceAuthorization)
