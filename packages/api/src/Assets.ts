/** Assets: named values of any content type. An asset is referred to by its id, or by `name:` and its name. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Page } from "./contract/Common.ts"
import * as contract from "./internal/endpoints/Assets.ts"
import type { AssetId, AssetUploadId } from "./contract/Ids.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { ControlRoomError, Malformed, type Conflict, type InvalidRequest, type NotFound } from "./ControlRoomError.ts"
import { type DownloadError, fetchSigned } from "./Files.ts"
import { type AwaitOptions, awaitUntil } from "./internal/calls/AwaitUntil.ts"
import { names, namedPage, namedPageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { NamedListOptions } from "./ListOptions.ts"
import { type OnProgress, open, sendRaw, type UploadSource } from "./Upload.ts"

export type { Asset, AssetRef, AssetSummary, AssetUpload } from "./contract/Assets.ts"

/** The upload of an asset's content failed; the asset keeps its old content. */
export class AssetUploadFailed extends TaggedError<AssetUploadFailed>()("AssetUploadFailed", {
  /** The reason given by the service. */
  reason: Schema.String
}) {
  override get message(): string {
    return `the upload of the asset failed: ${this.reason}`
  }
}

const call = {
  get: returning<contract.Asset, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.AssetSummary>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.Asset, Conflict | InvalidRequest>()(inWorkspace(contract.create)),
  createUpload: inWorkspace(contract.createUpload),
  getUpload: returning<contract.AssetUpload, NotFound>()(inWorkspace(contract.getUpload)),
  remove: returning<unknown, NotFound>()(inWorkspace(contract.remove))
}

const isByName = Schema.is(contract.AssetNameRef)

export const get = Effect.fn("Assets.get")((asset: contract.AssetRef) => call.get({ params: { asset_id: asset } }))

/** Returns one page, newest first. */
export const list = Effect.fn("Assets.list")(
  (options: NamedListOptions = {}) => call.list({ query: options }),
  refusing("assets.list", { 0: namedPage })
)

/** Emits all assets, newest first. */
export const stream = (options: Omit<NamedListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("assets.stream", namedPageSize, options))

/** Creates an asset without content; fails with `Conflict` when the name is in use. */
export const create = Effect.fn("Assets.create")((name: string) => call.create({ payload: { name } }))

/** Deletes an asset. Irreversible. */
export const remove = Effect.fn("Assets.remove")((asset: contract.AssetRef) =>
  Effect.asVoid(call.remove({ params: { asset_id: asset } }))
)

export const getUpload = Effect.fn("Assets.getUpload")((asset: AssetId, upload: AssetUploadId) =>
  call.getUpload({ params: { asset_id: asset, upload_id: upload } })
)

/** Waits until an upload is `completed`; fails with `AssetUploadFailed` when it failed. */
export const awaitUpload = Effect.fn("Assets.awaitUpload")(function* (
  asset: AssetId,
  upload: AssetUploadId,
  options: AwaitOptions<contract.AssetUpload> = {}
) {
  const path = `/assets/${asset}/uploads/${upload}`
  const ended = yield* awaitUntil(
    getUpload(asset, upload),
    (seen) => seen.status === "completed" || seen.status === "failed",
    { of: "assets.awaitUpload", path, unfinished: "the upload did not end" },
    options
  )
  if ("reason" in ended) return yield* new AssetUploadFailed({ reason: ended.reason })
  return ended
})

/** Content with fewer characters of base64 is sent with the request. */
const maxDirectCharacters = 5_000_000

const base64Characters = (bytes: number) => Math.ceil(bytes / 3) * 4

export interface UploadOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string | undefined
  readonly onProgress?: OnProgress | undefined
}

const uploadOptions = names<UploadOptions>("option", { contentType: 1, onProgress: 1 })

/**
 * Uploads the content of an asset. Up to about 3.7 MB are sent with one request; more is sent to a signed address with
 * flat memory, and this waits until the service has all of it. The old content remains until then.
 *
 * ```ts
 * import * as Assets from "@signalbox/api/Assets"
 *
 * export const write = (text: string) =>
 *   Assets.upload(
 *     "name:rates",
 *     { name: "rates.csv", bytes: new TextEncoder().encode(text) },
 *     { contentType: "text/csv" }
 *   )
 * ```
 */
export const upload = Effect.fn("Assets.upload")(
  function* (asset: contract.AssetRef, source: UploadSource, options: UploadOptions = {}) {
    const room = yield* ControlRoom
    const file = yield* open(room.uploads, source)
    const params = { asset_id: asset }
    const contentType = { content_type: options.contentType ?? "application/octet-stream" }
    const direct = base64Characters(file.size) < maxDirectCharacters
    const created = yield* call.createUpload({
      params,
      payload: direct ? { ...contentType, data: yield* Stream.mkUint8Array(file.stream) } : contentType
    })
    if (created.status === "pending") {
      yield* direct ? Effect.void : sendRaw(room.transport.connection, created.upload_url, file, options.onProgress)
      const id = isByName(asset) ? (yield* get(asset)).id : asset
      yield* awaitUpload(id, created.id)
    }
    if (direct && options.onProgress !== undefined) yield* options.onProgress(file.size)
  },
  refusing("assets.upload", { 2: uploadOptions })
)

/**
 * Creates the asset if none has this name, and uploads its content. Safe to repeat.
 *
 * ```ts
 * import * as Assets from "@signalbox/api/Assets"
 *
 * export const publish = (json: string) =>
 *   Assets.put(
 *     "config",
 *     { name: "config.json", bytes: new TextEncoder().encode(json) },
 *     { contentType: "application/json" }
 *   )
 * ```
 */
export const put = Effect.fn("Assets.put")(
  function* (name: string, source: UploadSource, options: UploadOptions = {}) {
    const found = yield* get(`name:${name}`).pipe(
      Effect.catchTag("NotFound", () => create(name)),
      // Another client created it in between.
      Effect.catchTag("Conflict", () => get(`name:${name}`))
    )
    yield* upload(found.id, source, options)
    return found.id
  },
  refusing("assets.put", { 2: uploadOptions })
)

/** Emits the content of an asset as it arrives; nothing for an asset without content. */
export const download = (asset: contract.AssetRef): Stream.Stream<Uint8Array, DownloadError, ControlRoom> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const room = yield* ControlRoom
      const { payload } = yield* get(asset)
      if ("url" in payload) return fetchSigned(room.transport, payload.url)
      if (payload.type === "empty") return Stream.empty
      const reason = new Malformed({ message: `the content has the unknown type ${payload.type}` })
      return yield* new ControlRoomError({
        reason,
        request: { operation: "Assets.download", method: "GET", path: "/assets", attempts: 1, requestId: null }
      })
    })
  )
