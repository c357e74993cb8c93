/**
 * Signing in from a script: a page on this computer catches the browser when it comes back. Register `http://localhost` as a
 * redirect URI of the app (platform "Mobile and desktop"; the port does not matter there).
 */
import { check, text, time, whole } from "@signalbox/transport/OptionError"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type Server } from "node:http"
import { Expired, InvalidRequest, OAuthError, own } from "./OAuthError.ts"
import { type AuthorizationOptions, OAuth, type PendingAuthorization } from "./OAuth.ts"

export interface Options {
  /** Default: a free one. Name one when the app has a redirect URI with a port. */
  readonly port?: number | undefined
  /** The path of the redirect URI, default `/`. */
  readonly path?: string | undefined
  /** How long to wait for the browser, default five minutes. */
  readonly timeout?: Duration.Input | undefined
}

export interface Catcher {
  readonly redirectUri: string
  /**
   * Begins to wait for the answer to this authorization; do so before the user gets its address. The inner effect resolves to the
   * address that the browser came back with, which holds a code.
   */
  readonly expect: (
    pending: Pick<PendingAuthorization, "state">
  ) => Effect.Effect<Effect.Effect<Redacted.Redacted, OAuthError>>
}

const page = (title: string, text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body style="font-family:system-ui;margin:4rem"><h1>${title}</h1><p>${text}</p></body></html>`

const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  "referrer-policy": "no-referrer",
  connection: "close"
}

const listen = (server: Server, port: number): Effect.Effect<number, OAuthError> =>
  Effect.callback((resume) => {
    server.once("error", (error) => {
      const reason = new InvalidRequest(own(`cannot listen on 127.0.0.1:${port}: ${error.message}`))
      resume(Effect.fail(new OAuthError({ reason })))
    })
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/** The address of a request, when it is an answer to the authorization with this state. */
const answerOf = (request: IncomingMessage, path: string, state: string | undefined): URL | undefined => {
  const target = request.url ?? ""
  // Anything on this computer may ask for anything, also for what is no address.
  if (request.method !== "GET" || !target.startsWith("/") || !URL.canParse(`http://localhost${target}`))
    return undefined
  const url = new URL(`http://localhost${target}`)
  const { searchParams } = url
  const isAnswer = searchParams.has("code") || searchParams.has("error")
  return url.pathname === path && isAnswer && state !== undefined && searchParams.get("state") === state
    ? url
    : undefined
}

/**
 * Listens on 127.0.0.1 until the scope closes, and receives the response to one authorization. Other requests, with responses to other
 * authorizations among them, get a 404, and change nothing.
 */
export const listenForRedirect = Effect.fn("Loopback.listenForRedirect")(function* (
  options: Options = {}
): Effect.fn.Return<Catcher, OAuthError, Scope.Scope> {
  check("Loopback", options, { port: whole(0, 65_535), path: text, timeout: time })
  const path = options.path ?? "/"
  const caught = yield* Deferred.make<Redacted.Redacted>()
  let state: string | undefined
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createServer((request, response) => {
        const url = answerOf(request, path, state)
        if (url === undefined) {
          response.writeHead(404, headers).end(page("Nothing here", "This page only waits for a sign-in."))
          return
        }
        const [title, text] = url.searchParams.has("error")
          ? ["Not signed in", "The sign-in was refused. The program says why. You may close this page."]
          : ["Signed in", "You may close this page and go back to the program."]
        response.writeHead(200, headers).end(page(title, text), () => {
          Deferred.doneUnsafe(caught, Effect.succeed(Redacted.make(url.href)))
        })
      })
    ),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const port = yield* listen(server, options.port ?? 0)
  const tooLate = new OAuthError({ reason: new Expired(own("the sign-in was not completed in time: start again")) })
  return {
    redirectUri: `http://localhost:${port}${path}`,
    expect: (pending) =>
      Effect.sync(() => {
        state = pending.state
        return Effect.timeoutOrElse(Deferred.await(caught), {
          duration: options.timeout ?? "5 minutes",
          orElse: () => Effect.fail(tooLate)
        })
      })
  }
})

/**
 * The whole sign-in of a script: `show` shows the address to the user (prints it, opens a browser); the tokens are stored.
 *
 * ```ts
 * import * as Console from "effect/Console"
 * import * as Loopback from "@signalbox/graph/Loopback"
 *
 * export const signIn = Loopback.signIn((url) =>
 *   Console.log(`Open this in a browser:\n${url}`)
 * )
 * ```
 */
export const signIn = Effect.fn("Loopback.signIn")(function* <E, R>(
  show: (url: string) => Effect.Effect<unknown, E, R>,
  options: Options & AuthorizationOptions = {}
) {
  const oauth = yield* OAuth
  const { expect, redirectUri } = yield* listenForRedirect(options)
  const { pending, url } = yield* oauth.authorize({ ...options, redirectUri, responseMode: "query" })
  const caught = yield* expect(pending)
  yield* show(url)
  return yield* oauth.exchange(yield* caught, pending)
}, Effect.scoped)
