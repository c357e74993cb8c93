/** Assets: named values of any content type, stored in the workspace and read by its robots. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Assets.ts"

export * from "../internal/endpoints/Assets.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get an asset, by id or by name").annotate(
  RequiredPermission,
  "Assets.read_asset_storage_assets"
)

export const list: EndpointOf<typeof declared.list> = endpoint(declared.list, "List the assets, newest first").annotate(
  RequiredPermission,
  "Assets.read_asset_storage_assets"
)

/** The name is unique in the workspace. */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create an asset without content")
  .annotate(RequiredPermission, "Assets.write_asset_storage_assets")
  .annotate(Audited, entry("asset"))

/** `data` is the content, in base64. The asset keeps its old content until the new one is complete. */
export const createUpload: EndpointOf<typeof declared.createUpload> = endpoint(
  declared.createUpload,
  "Give an asset its content, or ask where to upload it"
)
  .annotate(RequiredPermission, "Assets.write_asset_storage_assets")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("asset"))

export const getUpload: EndpointOf<typeof declared.getUpload> = endpoint(
  declared.getUpload,
  "Get an upload of an asset"
).annotate(RequiredPermission, "Assets.write_asset_storage_assets")

/** Irreversible. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete an asset")
  .annotate(RequiredPermission, "Assets.write_asset_storage_assets")
  .annotate(Audited, entry("asset"))

export const Assets: Group<
  "assets",
  typeof get | typeof list | typeof create | typeof createUpload | typeof getUpload | typeof remove,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("assets")
  .add(get, list, create, createUpload, getUpload, remove)
  .middleware(WorkspaceAuthorization)
