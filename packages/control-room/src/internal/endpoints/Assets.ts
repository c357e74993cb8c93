/**
 * Assets over HTTP.
 */
import { type Asset, maxDirectAssetBytes } from "@signalbox/api/contract/Assets"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { BlobStore } from "../../BlobStore.ts"
import * as UnusedBlobs from "../blobs/UnusedBlobs.ts"
import { UploadCompletion } from "../transfers/UploadCompletion.ts"
import { Assets, type StoredAsset } from "../store/files/Assets.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { refusals, conflict, orNotFound, tooLarge } from "../edge/Failures.ts"
import { FileLinks, validFor } from "../transfers/FileLinks.ts"
import { Pagination } from "../edge/Pagination.ts"

export const layer = Endpoints.group(
  "assets",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Assets
    const { millis } = yield* Database
    const files = yield* Files
    const blobs = yield* BlobStore
    const dropBlobs = yield* UnusedBlobs.make
    const uploadCompletion = yield* UploadCompletion
    const links = yield* FileLinks
    const { page } = yield* Pagination
    const find = (params: { readonly workspace_id: WorkspaceId; readonly asset_id: string }) =>
      orNotFound("asset", params.asset_id, store.get(params.workspace_id, params.asset_id))

    const view = Effect.fnUntraced(function* (asset: StoredAsset): Effect.fn.Return<Asset> {
      const { contentType, id, name } = asset
      const [file] = yield* files.ofOwners([id])
      if (file === undefined || contentType === null) return { id, name, payload: { type: "empty" } }
      const url = yield* links.download(asset.workspaceId, { id: file.id, name, type: contentType })
      return { id, name, payload: { type: "url", content_type: contentType, url } }
    })

    return handlers.handleAll({
      getAsset: ({ params }) => Effect.flatMap(find(params), view),
      listAssets: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createAsset: Effect.fnUntraced(function* ({ params, payload: { name } }) {
        const created = yield* store.create(params.workspace_id, name)
        if (created === null) return yield* conflict(`name: an asset "${name}" already exists; choose another name`)
        return { id: created.id, name, payload: { type: "empty" } } as const
      }),
      createAssetUpload: Effect.fnUntraced(function* ({ params, payload: { content_type, data } }) {
        const asset = yield* find(params)
        if (data !== undefined && data.length >= maxDirectAssetBytes) {
          return yield* tooLarge(
            `data: ${data.length} bytes; send content of ${maxDirectAssetBytes} bytes and more to upload_url, without data`
          )
        }
        const expires = (yield* millis) + (yield* validFor)
        const id = yield* store.createUpload(asset.id, content_type, new Date(expires).toISOString())
        if (data === undefined) {
          const upload_url = yield* links.assetUpload(params.workspace_id, id, expires)
          return { id, content_type, status: "pending", upload_url } as const
        }
        const stored = Effect.flatMap(blobs.stage(Stream.succeed(data)), (staged) =>
          uploadCompletion.asset(params.workspace_id, id, staged)
        )
        yield* refusals("NOT_FOUND")(Effect.scoped(stored))
        return { id, content_type, status: "completed" } as const
      }),
      getAssetUpload: Effect.fnUntraced(function* ({ params }) {
        const asset = yield* find(params)
        return yield* orNotFound("upload", params.upload_id, store.getUpload(asset.id, params.upload_id))
      }),
      deleteAsset: Effect.fnUntraced(function* ({ params }) {
        const asset = yield* find(params)
        const unused = yield* store.remove(asset.id)
        yield* dropBlobs(unused)
        return { id: asset.id, deleted: true } as const
      })
    })
  })
)
