/** Keys of the workspace. An extension: keys of the hosted service are managed in a console. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/ApiKeys.ts"

export * from "../internal/endpoints/ApiKeys.ts"

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the API keys, newest first"
).annotate(RequiredPermission, "Workspace.manage_api_keys")

/**
 * Extension. A permission that the caller's own key lacks is a 403, except `Vault.read_secret_values`, which every key
 * that manages keys may grant.
 */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create an API key")
  .annotate(RequiredPermission, "Workspace.manage_api_keys")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("api_key"))

/** Extension: hands a key over to a user whose role has all its permissions, or with null to the workspace. */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Hand an API key over")
  .annotate(RequiredPermission, "Workspace.manage_api_keys")
  .annotate(Audited, entry("api_key"))

/** Extension. The key is refused from then on. Irreversible. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Revoke an API key")
  .annotate(RequiredPermission, "Workspace.manage_api_keys")
  .annotate(Audited, entry("api_key"))

export const ApiKeys: Group<
  "apiKeys",
  typeof list | typeof create | typeof update | typeof remove,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("apiKeys").add(list, create, update, remove).middleware(WorkspaceAuthorization)
