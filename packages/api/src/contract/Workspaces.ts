/**
 * Workspaces: the top-level container, owned by an organization.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { ApiKeyCreated } from "./ApiKeys.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { Name } from "./Common.ts"
import { extension, summary } from "./Documentation.ts"
import { WorkspaceId } from "./Ids.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { ForbiddenResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

const fields = {
  id: WorkspaceId,
  name: Schema.String,
  organization: Schema.Struct({ id: Schema.String, name: Schema.String })
}

export const Workspace = Schema.Struct(fields).annotate({ identifier: "Workspace" })
export interface Workspace extends Schema.Schema.Type<typeof Workspace> {}

/** A new workspace with its first key, whose text is shown only here. */
export const WorkspaceCreated = Schema.Struct({ ...fields, api_key: ApiKeyCreated }).annotate({
  identifier: "WorkspaceCreated"
})
export interface WorkspaceCreated extends Schema.Schema.Type<typeof WorkspaceCreated> {}

/** `GET /workspaces/{workspace_id}`: needs any valid key of the workspace. */
export const get = HttpApiEndpoint.get("getWorkspace", "/workspaces/:workspace_id", {
  params: { workspace_id: WorkspaceId },
  success: Workspace,
  error: NotFoundResponse
}).annotateMerge(summary("Get the workspace"))

/**
 * Extension: creates a workspace in the organization of the caller, with a key that has every permission but
 * `Vault.read_secret_values`. The caller's key has no access to it. A service may refuse this to all callers (403).
 */
export const create = HttpApiEndpoint.post("createWorkspace", "/workspaces", {
  payload: Schema.Struct({ name: Name }),
  success: WorkspaceCreated,
  error: [InvalidRequestResponse, ForbiddenResponse]
})
  .annotate(RequiredPermission, "Workspace.manage_api_keys")
  .annotate(ReturnsCredential, true)
  .annotateMerge(extension("Create a workspace"))

export const Workspaces = /* @__PURE__ */ HttpApiGroup.make("workspaces")
  .add(get, create)
  .middleware(WorkspaceAuthorization)
