/**
 * Pages that are the same for every client: built and compressed once, on the first request, and not sent again to a
 * client that has them in its cache.
 */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { UnauthenticatedRequests } from "./UnauthenticatedRequests.ts"

export interface Page {
  readonly body: string | Uint8Array
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
}

const encoders = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: 9 })
} as const
type Encoding = keyof typeof encoders

/** The first of our encodings that a client accepts; `q=0` refuses one. */
const encodingFor = (accepted: string | undefined): Encoding | null => {
  const taken = new Set(
    (accepted ?? "")
      .toLowerCase()
      .split(",")
      .filter((coding) => !/;\s*q=0(\.0*)?\s*$/.test(coding))
      .map((coding) => coding.split(";", 1)[0]?.trim())
  )
  return taken.has("br") ? "br" : taken.has("gzip") ? "gzip" : null
}

/** Whether `If-None-Match` names this tag, in whichever encoding. */
const isKnown = (tags: string | undefined, tag: string) =>
  (tags ?? "").split(",").some((known) => [tag, "*"].includes(known.trim().replace(/^W\//, "")))

const answers = Effect.fnUntraced(function* (made: Effect.Effect<Page>) {
  const { body, contentType, headers } = yield* made
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  const tag = `"${createHash("sha256").update(bytes).digest("base64url")}"`
  const common = {
    // Cached, and revalidated each time: a newer service has newer pages.
    "cache-control": "public, no-cache",
    ...headers,
    etag: `W/${tag}`,
    vary: "accept-encoding"
  }
  const unchanged = HttpServerResponse.empty({ status: 304, headers: common })
  const plain = HttpServerResponse.uint8Array(bytes, { contentType, headers: common })
  const compressed = (encoding: Encoding) =>
    Effect.cached(
      Effect.map(
        Effect.promise(() => encoders[encoding](bytes)),
        (body) =>
          HttpServerResponse.uint8Array(body, { contentType, headers: { ...common, "content-encoding": encoding } })
      )
    )
  const byEncoding = { br: yield* compressed("br"), gzip: yield* compressed("gzip") }
  return (request: HttpServerRequest.HttpServerRequest) => {
    if (isKnown(request.headers["if-none-match"], tag)) return { known: true, response: Effect.succeed(unchanged) }
    const encoding = encodingFor(request.headers["accept-encoding"])
    return { known: false, response: encoding === null ? Effect.succeed(plain) : byEncoding[encoding] }
  }
})

/** Creates the handler of a page. It needs no key, so a page that is sent counts against the budget of the client's address. */
export const handler = Effect.fnUntraced(function* (made: Effect.Effect<Page>) {
  const limiter = yield* UnauthenticatedRequests
  const cached = yield* Effect.cached(answers(made))
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { known, response } = (yield* cached)(request)
    if (!known) yield* limiter.charge(request)
    return yield* response
  })
})

/** Serves a page at a path. */
export const layer = (path: HttpRouter.PathInput, made: Effect.Effect<Page>) =>
  HttpRouter.use((router) => Effect.flatMap(handler(made), (handle) => router.add("GET", path, handle)))
