/**
 * Secrets of the vault: named sets of items. Items can only be written here; robots read them elsewhere
 * (`RobotSecrets`).
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Secrets.ts"

export * from "../internal/endpoints/Secrets.ts"

/** A page has up to 1,000 secrets. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the secrets, newest first, without their items"
).annotate(RequiredPermission, "Vault.read_secrets")

/** Extension. */
export const get: EndpointOf<typeof declared.get> = endpoint(
  declared.get,
  "Get a secret with the names of its items, without their values"
).annotate(RequiredPermission, "Vault.read_secrets")

export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create a secret")
  .annotate(RequiredPermission, "Vault.write_secrets")
  .annotate(Audited, entry("secret"))

/** All items are replaced. A description and `hosts` that are absent do not change. */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Replace the items of a secret")
  .annotate(RequiredPermission, "Vault.write_secrets")
  .annotate(Audited, entry("secret"))

/**
 * Extension: items that are not named stay as they are. A description and `hosts` that are absent do not change. An endpoint of its
 * own, so that a service that does not know it replaces nothing.
 */
export const setItems: EndpointOf<typeof declared.setItems> = endpoint(
  declared.setItems,
  "Set single items of a secret, and keep the others"
)
  .annotate(RequiredPermission, "Vault.write_secrets")
  .annotate(Audited, entry("secret"))

/** Irreversible. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a secret")
  .annotate(RequiredPermission, "Vault.write_secrets")
  .annotate(Audited, entry("secret"))

export const Secrets: Group<
  "secrets",
  typeof get | typeof list | typeof create | typeof update | typeof setItems | typeof remove,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("secrets")
  .add(get, list, create, update, setItems, remove)
  .middleware(WorkspaceAuthorization)
