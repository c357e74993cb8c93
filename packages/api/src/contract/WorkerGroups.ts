/**
 * Worker groups: sets of workers that steps may be bound to. A worker may be in any number of groups.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/WorkerGroups.ts"

export * from "../internal/endpoints/WorkerGroups.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a worker group").annotate(
  RequiredPermission,
  "Workers.read_workers"
)

export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the worker groups, newest first"
).annotate(RequiredPermission, "Workers.read_workers")

/** The name is unique in the workspace. */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create a worker group")
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("worker_group"))

/** Only present fields are changed. */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Rename a worker group")
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("worker_group"))

/** Irreversible. Its workers remain, its link tokens are deleted. A group that a step names is a 409. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a worker group")
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("worker_group"))

/** Adding a member again changes nothing. */
export const addWorker: EndpointOf<typeof declared.addWorker> = endpoint(declared.addWorker, "Add a worker to a group")
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("worker_group"))

/** A worker that is not in the group is a 404. */
export const removeWorker: EndpointOf<typeof declared.removeWorker> = endpoint(
  declared.removeWorker,
  "Remove a worker from a group"
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("worker_group"))

/** Extension. */
export const listLinkTokens: EndpointOf<typeof declared.listLinkTokens> = endpoint(
  declared.listLinkTokens,
  "List the link tokens of a worker group, newest first"
).annotate(RequiredPermission, "Workers.read_workers")

/** Extension: without `expires_at`, or with null, the token is valid until it is deleted. */
export const createLinkToken: EndpointOf<typeof declared.createLinkToken> = endpoint(
  declared.createLinkToken,
  "Create a link token of a worker group"
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("link_token"))

/** Extension. */
export const getLinkToken: EndpointOf<typeof declared.getLinkToken> = endpoint(
  declared.getLinkToken,
  "Get a link token of a worker group"
).annotate(RequiredPermission, "Workers.read_workers")

/** Extension: only present fields are changed. */
export const updateLinkToken: EndpointOf<typeof declared.updateLinkToken> = endpoint(
  declared.updateLinkToken,
  "Change a link token of a worker group"
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("link_token"))

/** Extension. Irreversible. */
export const removeLinkToken: EndpointOf<typeof declared.removeLinkToken> = endpoint(
  declared.removeLinkToken,
  "Delete a link token of a worker group"
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(Audited, entry("link_token"))

export const WorkerGroups: Group<
  "workerGroups",
  | typeof get
  | typeof list
  | typeof create
  | typeof update
  | typeof remove
  | typeof addWorker
  | typeof removeWorker
  | typeof listLinkTokens
  | typeof createLinkToken
  | typeof getLinkToken
  | typeof updateLinkToken
  | typeof removeLinkToken,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("workerGroups")
  .add(
    get,
    list,
    create,
    update,
    remove,
    addWorker,
    removeWorker,
    listLinkTokens,
    createLinkToken,
    getLinkToken,
    updateLinkToken,
    removeLinkToken
  )
  .middleware(WorkspaceAuthorization)
