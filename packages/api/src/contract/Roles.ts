/** Roles of the members of a workspace. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { Audited, entry } from "./Auditing.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Roles.ts"

export * from "../internal/endpoints/Roles.ts"

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "Get the roles, those that every workspace has first"
).annotate(RequiredPermission, "Workspace.read_users")

/** Extension: creates a role, or replaces its permissions. Only permissions that the caller has can be given or taken away. */
export const put: EndpointOf<typeof declared.put> = endpoint(declared.put, "Create or replace a role")
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(Audited, entry("role"))

/** Extension. Refused while a user has the role. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a role")
  .annotate(RequiredPermission, "Workspace.manage_users")
  .annotate(Audited, entry("role"))

export const Roles: Group<"roles", typeof list | typeof put | typeof remove, WorkspaceAuthorization> =
  /* @__PURE__ */ HttpApiGroup.make("roles").add(list, put, remove).middleware(WorkspaceAuthorization)
