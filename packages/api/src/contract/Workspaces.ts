/**
 * Workspaces: the top-level container, owned by an organization.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Workspaces.ts"

export * from "../internal/endpoints/Workspaces.ts"

/** `GET /workspaces/{workspace_id}`: needs any valid key of the workspace. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get the workspace")

/**
 * Extension: creates a workspace in the organization of the caller, with a key that has every permission but
 * `Vault.read_secret_values`. The caller's key has no access to it. A service may refuse this to all callers (403).
 */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create a workspace")
  .annotate(RequiredPermission, "Workspace.manage_api_keys")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("workspace"))

export const Workspaces: Group<"workspaces", typeof get | typeof create, WorkspaceAuthorization> =
  /* @__PURE__ */ HttpApiGroup.make("workspaces").add(get, create).middleware(WorkspaceAuthorization)
