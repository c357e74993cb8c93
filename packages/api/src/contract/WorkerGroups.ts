/**
 * Worker groups: sets of workers that steps may be bound to. A worker may be in any number of groups.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { Deleted, listQuery, Name, namedListQuery, Page, Ref, Timestamp, TimestampInput } from "./Common.ts"
import { extension, summary } from "./Documentation.ts"
import { LinkTokenId, WorkerGroupId, WorkerId, WorkspaceId } from "./Ids.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { paused } from "./Pauses.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

export const WorkerGroup = Schema.Struct({ id: WorkerGroupId, name: Schema.String, paused }).annotate({
  identifier: "WorkerGroup"
})
export interface WorkerGroup extends Schema.Schema.Type<typeof WorkerGroup> {}

/** The groups of a worker after a change. */
export const Membership = Schema.Struct({
  worker: Ref(WorkerId),
  worker_groups: Schema.Array(WorkerGroup)
}).annotate({ identifier: "Membership" })
export interface Membership extends Schema.Schema.Type<typeof Membership> {}

const linkToken = {
  id: LinkTokenId,
  name: Schema.String,
  /** Null: until it is deleted. */
  expires_at: Schema.NullOr(Timestamp),
  worker_group: Ref(WorkerGroupId)
}

/**
 * A token with which any number of workers link themselves into a group, until it expires or is deleted; workers that
 * it linked remain.
 */
export const GroupLinkToken = Schema.Struct(linkToken).annotate({ identifier: "GroupLinkToken" })
export interface GroupLinkToken extends Schema.Schema.Type<typeof GroupLinkToken> {}

/** A new token; `link_token` is shown only here. */
export const GroupLinkTokenCreated = Schema.Struct({
  ...linkToken,
  link_token: Schema.RedactedFromValue(Schema.String)
}).annotate({ identifier: "GroupLinkTokenCreated" })
export interface GroupLinkTokenCreated extends Schema.Schema.Type<typeof GroupLinkTokenCreated> {}

const params = { workspace_id: WorkspaceId, worker_group_id: WorkerGroupId }

export const get = HttpApiEndpoint.get("getWorkerGroup", "/workspaces/:workspace_id/worker-groups/:worker_group_id", {
  params,
  success: WorkerGroup,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Workers.read_workers")
  .annotateMerge(summary("Get a worker group"))

export const list = HttpApiEndpoint.get("listWorkerGroups", "/workspaces/:workspace_id/worker-groups", {
  params: { workspace_id: WorkspaceId },
  query: namedListQuery,
  success: Page(WorkerGroup),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Workers.read_workers")
  .annotateMerge(summary("List the worker groups, newest first"))

/** The name is unique in the workspace. */
export const create = HttpApiEndpoint.post("createWorkerGroup", "/workspaces/:workspace_id/worker-groups", {
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({ name: Name }),
  success: WorkerGroup,
  error: [InvalidRequestResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(summary("Create a worker group"))

/** Only present fields are changed. */
export const update = HttpApiEndpoint.post(
  "updateWorkerGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id",
  {
    params,
    payload: Schema.Struct({ name: Schema.optionalKey(Name) }),
    success: WorkerGroup,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  }
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(summary("Rename a worker group"))

/** Irreversible. Its workers remain, its link tokens are deleted. A group that a step names is a 409. */
export const remove = HttpApiEndpoint.delete(
  "deleteWorkerGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id",
  {
    params,
    success: Deleted(WorkerGroupId),
    error: [NotFoundResponse, ConflictResponse]
  }
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(summary("Delete a worker group"))

/** Adding a member again changes nothing. */
export const addWorker = HttpApiEndpoint.post(
  "addWorkerToGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/workers",
  {
    params,
    payload: Schema.Struct({ worker: Ref(WorkerId) }),
    success: Membership,
    error: [InvalidRequestResponse, NotFoundResponse]
  }
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(summary("Add a worker to a group"))

/** A worker that is not in the group is a 404. */
export const removeWorker = HttpApiEndpoint.delete(
  "removeWorkerFromGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/workers/:worker_id",
  { params: { ...params, worker_id: WorkerId }, success: Membership, error: NotFoundResponse }
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(summary("Remove a worker from a group"))

const tokenParams = { ...params, token_id: LinkTokenId }

/** Extension. */
export const listLinkTokens = HttpApiEndpoint.get(
  "listGroupLinkTokens",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens",
  { params, query: listQuery, success: Page(GroupLinkToken), error: [InvalidRequestResponse, NotFoundResponse] }
)
  .annotate(RequiredPermission, "Workers.read_workers")
  .annotateMerge(extension("List the link tokens of a worker group, newest first"))

/** Extension: without `expires_at`, or with null, the token is valid until it is deleted. */
export const createLinkToken = HttpApiEndpoint.post(
  "createGroupLinkToken",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens",
  {
    params,
    payload: Schema.Struct({ name: Name, expires_at: Schema.optionalKey(Schema.NullOr(TimestampInput)) }),
    success: GroupLinkTokenCreated,
    error: [InvalidRequestResponse, NotFoundResponse]
  }
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(ReturnsCredential, true)
  .annotateMerge(extension("Create a link token of a worker group"))

/** Extension. */
export const getLinkToken = HttpApiEndpoint.get(
  "getGroupLinkToken",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens/:token_id",
  { params: tokenParams, success: GroupLinkToken, error: NotFoundResponse }
)
  .annotate(RequiredPermission, "Workers.read_workers")
  .annotateMerge(extension("Get a link token of a worker group"))

/** Extension: only present fields are changed. */
export const updateLinkToken = HttpApiEndpoint.post(
  "updateGroupLinkToken",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens/:token_id",
  {
    params: tokenParams,
    payload: Schema.Struct({
      name: Schema.optionalKey(Name),
      expires_at: Schema.optionalKey(Schema.NullOr(TimestampInput))
    }),
    success: GroupLinkToken,
    error: [InvalidRequestResponse, NotFoundResponse]
  }
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(extension("Change a link token of a worker group"))

/** Extension. Irreversible. */
export const removeLinkToken = HttpApiEndpoint.delete(
  "deleteGroupLinkToken",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens/:token_id",
  { params: tokenParams, success: Deleted(LinkTokenId), error: NotFoundResponse }
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(extension("Delete a link token of a worker group"))

export const WorkerGroups = /* @__PURE__ */ HttpApiGroup.make("workerGroups")
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
