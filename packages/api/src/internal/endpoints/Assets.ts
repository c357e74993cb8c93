/** Assets: named values of any content type, stored in the workspace and read by its robots. */
import * as Schema from "effect/Schema"
import { Deleted, Name, namedListQuery, Page, UnrecognisedTag } from "../../contract/Common.ts"
import { AssetId, AssetUploadId, WorkspaceId } from "../../contract/Ids.ts"
import {
  ConflictResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse
} from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** `name:` followed by the name of an asset. */
export const AssetNameRef = Schema.TemplateLiteral(["name:", Schema.String])

/** An asset id, or `name:` followed by the name of the asset, such as `name:config/eu.json`. */
export const AssetRef = Schema.Union([AssetNameRef, AssetId])
export type AssetRef = typeof AssetRef.Type

/** `content_type`: 1 to 255 printable ASCII characters, returned unchanged. */
export const ContentType = Schema.String.check(
  Schema.isBetweenLength(1, 255),
  Schema.isPattern(/^[\x20-\x7e]+$/, { message: "Expected a content type such as application/json" })
)

/** The content of an asset that has none yet. */
export const EmptyPayload = Schema.Struct({ type: Schema.Literal("empty") })

/** `url` needs no key and is valid for one hour. Distinguish the variants by their fields: `"url" in payload`. */
export const AssetPayload = Schema.Union([
  EmptyPayload,
  Schema.Struct({ type: Schema.Literal("url"), content_type: Schema.String, url: Schema.String }),
  Schema.Struct({ type: UnrecognisedTag(["empty", "url"]) })
])
export type AssetPayload = typeof AssetPayload.Type

export class Asset extends Struct<Asset>("Asset")({ id: AssetId, name: Schema.String, payload: AssetPayload }) {}

/** An asset in lists. */
export class AssetSummary extends Struct<AssetSummary>("AssetSummary")({ id: AssetId, name: Schema.String }) {}

export const assetUploadStatuses = ["pending", "completed", "failed"] as const
export type AssetUploadStatus = (typeof assetUploadStatuses)[number]

const upload = { id: AssetUploadId, content_type: Schema.String }
const Completed = Schema.Struct({ ...upload, status: Schema.Literal("completed") })

/**
 * An upload. It is `pending` until the content is complete, and `failed` when it expired or was too large. Distinguish
 * the variants by their fields: `"reason" in upload`.
 */
export const AssetUpload = Schema.Union([
  Schema.Struct({ ...upload, status: Schema.Literal("pending") }),
  Completed,
  Schema.Struct({ ...upload, status: Schema.Literal("failed"), reason: Schema.String }),
  Schema.Struct({ ...upload, status: UnrecognisedTag(assetUploadStatuses) })
]).annotate({ identifier: "AssetUpload" })
export type AssetUpload = typeof AssetUpload.Type

/**
 * The response to creating an upload: `completed` if the content came with the request; else `pending`, and the content
 * is sent to `upload_url` as a raw `PUT` without authorization, repeatedly if needed, within one hour.
 */
export const AssetUploadCreated = Schema.Union([
  Completed,
  Schema.Struct({ ...upload, status: Schema.Literal("pending"), upload_url: Schema.String })
]).annotate({ identifier: "AssetUploadCreated" })
export type AssetUploadCreated = typeof AssetUploadCreated.Type

/** Content in the request must be smaller than this, in bytes. */
export const maxDirectAssetBytes = 5_000_000

const params = { workspace_id: WorkspaceId, asset_id: AssetRef }

export const get = /* @__PURE__ */ Endpoint.get("getAsset", "/workspaces/:workspace_id/assets/:asset_id", () => ({
  params,
  success: Asset,
  error: NotFoundResponse
}))

export const list = /* @__PURE__ */ Endpoint.get("listAssets", "/workspaces/:workspace_id/assets", () => ({
  params: { workspace_id: WorkspaceId },
  query: namedListQuery,
  success: Page(AssetSummary),
  error: InvalidRequestResponse
}))

export const create = /* @__PURE__ */ Endpoint.post("createAsset", "/workspaces/:workspace_id/assets", () => ({
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({ name: Name }),
  success: Schema.Struct({ id: AssetId, name: Schema.String, payload: EmptyPayload }),
  error: [InvalidRequestResponse, ConflictResponse]
}))

export const createUpload = /* @__PURE__ */ Endpoint.post(
  "createAssetUpload",
  "/workspaces/:workspace_id/assets/:asset_id/uploads",
  () => ({
    params,
    payload: Schema.Struct({ content_type: ContentType, data: Schema.optionalKey(Schema.Uint8ArrayFromBase64) }),
    success: AssetUploadCreated,
    error: [InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse]
  })
)

export const getUpload = /* @__PURE__ */ Endpoint.get(
  "getAssetUpload",
  "/workspaces/:workspace_id/assets/:asset_id/uploads/:upload_id",
  () => ({
    params: { workspace_id: WorkspaceId, asset_id: AssetId, upload_id: AssetUploadId },
    success: AssetUpload,
    error: NotFoundResponse
  })
)

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteAsset",
  "/workspaces/:workspace_id/assets/:asset_id",
  () => ({
    params,
    success: Deleted(AssetId),
    error: NotFoundResponse
  })
)
