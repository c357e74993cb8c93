/**
 * Worker groups: sets of workers that steps may be bound to. A worker may be in any number of groups.
 */
import * as Schema from "effect/Schema"
import {
  Deleted,
  listQuery,
  Name,
  namedListQuery,
  Page,
  Ref,
  Timestamp,
  TimestampInput
} from "../../contract/Common.ts"
import { LinkTokenId, WorkerGroupId, WorkerId, WorkspaceId } from "../../contract/Ids.ts"
import { paused } from "./Pauses.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export class WorkerGroup extends Struct<WorkerGroup>("WorkerGroup")({
  id: WorkerGroupId,
  name: Schema.String,
  paused
}) {}

/** The groups of a worker after a change. */
export class Membership extends Struct<Membership>("Membership")({
  worker: Ref(WorkerId),
  worker_groups: Schema.Array(WorkerGroup)
}) {}

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
export class GroupLinkToken extends Struct<GroupLinkToken>("GroupLinkToken")(linkToken) {}

/** A new token; `link_token` is shown only here. */
export class GroupLinkTokenCreated extends Struct<GroupLinkTokenCreated>("GroupLinkTokenCreated")({
  ...linkToken,
  link_token: Schema.RedactedFromValue(Schema.String)
}) {}

const params = { workspace_id: WorkspaceId, worker_group_id: WorkerGroupId }

export const get = /* @__PURE__ */ Endpoint.get(
  "getWorkerGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id",
  () => ({
    params,
    success: WorkerGroup,
    error: NotFoundResponse
  })
)

export const list = /* @__PURE__ */ Endpoint.get("listWorkerGroups", "/workspaces/:workspace_id/worker-groups", () => ({
  params: { workspace_id: WorkspaceId },
  query: namedListQuery,
  success: Page(WorkerGroup),
  error: InvalidRequestResponse
}))

export const create = /* @__PURE__ */ Endpoint.post(
  "createWorkerGroup",
  "/workspaces/:workspace_id/worker-groups",
  () => ({
    params: { workspace_id: WorkspaceId },
    payload: Schema.Struct({ name: Name }),
    success: WorkerGroup,
    error: [InvalidRequestResponse, ConflictResponse]
  })
)

export const update = /* @__PURE__ */ Endpoint.post(
  "updateWorkerGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id",
  () => ({
    params,
    payload: Schema.Struct({ name: Schema.optionalKey(Name) }),
    success: WorkerGroup,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  })
)

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteWorkerGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id",
  () => ({
    params,
    success: Deleted(WorkerGroupId),
    error: [NotFoundResponse, ConflictResponse]
  })
)

export const addWorker = /* @__PURE__ */ Endpoint.post(
  "addWorkerToGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/workers",
  () => ({
    params,
    payload: Schema.Struct({ worker: Ref(WorkerId) }),
    success: Membership,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const removeWorker = /* @__PURE__ */ Endpoint.delete(
  "removeWorkerFromGroup",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/workers/:worker_id",
  () => ({ params: { ...params, worker_id: WorkerId }, success: Membership, error: NotFoundResponse })
)

const tokenParams = { ...params, token_id: LinkTokenId }

export const listLinkTokens = /* @__PURE__ */ Endpoint.get(
  "listGroupLinkTokens",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens",
  () => ({
    extension: true,
    params,
    query: listQuery,
    success: Page(GroupLinkToken),
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const createLinkToken = /* @__PURE__ */ Endpoint.post(
  "createGroupLinkToken",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens",
  () => ({
    extension: true,
    params,
    payload: Schema.Struct({ name: Name, expires_at: Schema.optionalKey(Schema.NullOr(TimestampInput)) }),
    success: GroupLinkTokenCreated,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const getLinkToken = /* @__PURE__ */ Endpoint.get(
  "getGroupLinkToken",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens/:token_id",
  () => ({ extension: true, params: tokenParams, success: GroupLinkToken, error: NotFoundResponse })
)

export const updateLinkToken = /* @__PURE__ */ Endpoint.post(
  "updateGroupLinkToken",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens/:token_id",
  () => ({
    extension: true,
    params: tokenParams,
    payload: Schema.Struct({
      name: Schema.optionalKey(Name),
      expires_at: Schema.optionalKey(Schema.NullOr(TimestampInput))
    }),
    success: GroupLinkToken,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const removeLinkToken = /* @__PURE__ */ Endpoint.delete(
  "deleteGroupLinkToken",
  "/workspaces/:workspace_id/worker-groups/:worker_group_id/link-tokens/:token_id",
  () => ({ extension: true, params: tokenParams, success: Deleted(LinkTokenId), error: NotFoundResponse })
)
