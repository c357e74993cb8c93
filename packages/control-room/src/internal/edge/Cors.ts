/** Lets pages of other origins call the service: preflights, and headers on every response, including refusals. */
import { basePath } from "@signalbox/api/contract/Api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { transferPrefix } from "../transfers/FileLinks.ts"
import { pathOf } from "./Incoming.ts"

/** Headers that a page may read besides those that every page may read. */
export const exposedHeaders = [
  "x-request-id",
  "retry-after",
  "retry-after-ms",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "idempotent-replayed",
  "idempotency-key-ttl",
  "deprecation",
  "sunset",
  "allow",
  "content-disposition",
  "content-range",
  "accept-ranges",
  "etag"
] as const

const isOpen = (path: string) => [basePath, "/v1", transferPrefix].some((prefix) => path.startsWith(`${prefix}/`))

/** For these origins; `*` allows all. */
export const layer = (origins: ReadonlyArray<string>) => {
  const all = origins.includes("*")
  const cors = HttpMiddleware.cors({
    allowedOrigins: all ? [] : (origin: string) => origins.includes(origin),
    allowedMethods: ["GET", "HEAD", "POST", "PUT", "DELETE"],
    exposedHeaders,
    maxAge: 600
  })
  const warned = all
    ? Effect.logWarning(
        "CORS is open to every origin: a script injected into a page can read the keys that the page has"
      )
    : Effect.void
  const middleware = HttpRouter.middleware(
    (effect) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        isOpen(pathOf(request.url)) ? cors(effect) : effect
      ),
    { global: true }
  )
  return Layer.merge(middleware, Layer.effectDiscard(warned))
}
