/** Serves the files of the console, and leads browsers to it. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { ConsoleFile, ConsoleFiles } from "../../Options.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { pathOf } from "./Incoming.ts"
import * as StaticPages from "./StaticPages.ts"

export const consolePath = "/console"
const page = "index.html"

/** The page runs its own scripts alone, and talks to this service alone. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'"
].join("; ")

const headersOf = (name: string, { immutable }: ConsoleFile): Readonly<Record<string, string>> =>
  name === page
    ? {
        "content-security-policy": policy,
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin"
      }
    : immutable
      ? { "cache-control": "public, max-age=31536000, immutable" }
      : {}

export const layer = (files: ConsoleFiles) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const folder = `${new URL(yield* PublicUrl).pathname.replace(/\/+$/, "")}${consolePath}/`
      const toFolder = HttpServerResponse.redirect(folder, { status: 302 })
      for (const [name, file] of Object.entries(files)) {
        const handle = yield* StaticPages.handler(
          Effect.succeed({ body: file.bytes, contentType: file.contentType, headers: headersOf(name, file) })
        )
        if (name !== page) {
          yield* router.add("GET", `${consolePath}/${name}`, handle)
          continue
        }
        yield* router.add("GET", "/", Effect.succeed(toFolder))
        // Links of the page are relative to its folder.
        yield* router.add(
          "GET",
          consolePath,
          Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ originalUrl }) =>
            pathOf(originalUrl).endsWith("/") ? handle : Effect.succeed(toFolder)
          )
        )
      }
    })
  )
