/** Serves blobs: as files where they are on disk, which is the fastest way, else as they come from the store. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { BlobMissing, type BlobStore, type Range } from "../../BlobStore.ts"

interface Options {
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  /** With it the response is a 206; without `content-range`, which is one of the headers. */
  readonly range?: Range
}

/** The response with a blob of this size, or a range of it. */
export const blobResponse = Effect.fnUntraced(function* (
  blobs: BlobStore["Service"],
  { blob, size }: { readonly blob: string; readonly size: number },
  { contentType, headers, range }: Options
) {
  const status = range === undefined ? 200 : 206
  const path = blobs.pathOf(blob)
  if (path !== null) {
    const part = range === undefined ? {} : { offset: range.offset, bytesToRead: range.length }
    return yield* Effect.catch(HttpServerResponse.file(path, { status, contentType, headers, ...part }), (error) =>
      error.reason._tag === "NotFound" ? Effect.fail(new BlobMissing({ blob })) : Effect.die(error)
    )
  }
  const contentLength = range?.length ?? size
  // A blob never changes.
  const options = { status, contentLength, headers: { ...headers, "content-type": contentType, etag: `"${blob}"` } }
  const { method } = yield* HttpServerRequest.HttpServerRequest
  if (method !== "HEAD") return HttpServerResponse.stream(yield* blobs.read(blob, range), options)
  if ((yield* blobs.sizeOf(blob)) === null) return yield* new BlobMissing({ blob })
  return HttpServerResponse.stream(Stream.empty, options)
})
