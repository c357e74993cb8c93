/**
 * Signing in from a script, with a real socket where the browser comes back.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as HttpClient from "effect/http/HttpClient"
import { connect } from "node:net"
import * as Loopback from "../src/Loopback.ts"
import { OAuth } from "../src/OAuth.ts"
import { TokenStore } from "../src/TokenStore.ts"
import { formOf, tokens } from "./support/IdentityProvider.ts"
import { make, type Server } from "./support/Server.ts"

const stack = (server: Server) =>
  OAuth.layer({ clientId: "app-1", loginUrl: server.origin, graphUrl: server.origin }).pipe(
    Layer.provideMerge(TokenStore.layerMemory()),
    Layer.provideMerge(NodeHttpClient.layerUndici)
  )

/** What a browser does once somebody has signed in at the address, or refused. */
const browse = (answer: (state: string) => string, seen: Array<readonly [number, string]>) => (url: string) =>
  Effect.gen(function* () {
    const query = new URL(url).searchParams
    const back = (query.get("redirect_uri") ?? "").replace("localhost", "127.0.0.1")
    for (const to of [`${back}favicon.ico`, `${back}`, `${back}?${answer(query.get("state") ?? "")}`]) {
      const response = yield* HttpClient.get(to)
      seen.push([response.status, yield* response.text])
      assert.strictEqual(response.headers["cache-control"], "no-store")
    }
  })

const statusOf = (url: string) => Effect.map(HttpClient.get(url), ({ status }) => status)

/** Sends a line that no client would send; the status of the answer. */
const raw = ({ hostname, port }: URL, line: string): Effect.Effect<number> =>
  Effect.callback((resume) => {
    let answer = ""
    const socket = connect(Number(port), hostname, () => socket.write(`${line}\r\nHost: localhost\r\n\r\n`))
    socket.setEncoding("utf8")
    socket.on("data", (text: string) => (answer += text))
    socket.once("close", () => resume(Effect.succeed(Number(answer.split(" ")[1]))))
  })

describe("the loopback page", () => {
  it.live("catches the code, says so to the person, and the tokens are stored", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(tokens(1))
      const pages: Array<readonly [number, string]> = []
      yield* Effect.gen(function* () {
        const got = yield* Loopback.signIn(browse((state) => `code=CODE-1&state=${state}`, pages))
        assert.strictEqual(got.refreshToken === null ? "" : Redacted.value(got.refreshToken), "RT-1")
        assert.isTrue(Option.isSome(yield* (yield* TokenStore).load))
      }).pipe(Effect.provide(stack(server)))
      assert.deepStrictEqual(
        pages.map(([status]) => status),
        [404, 404, 200]
      )
      assert.include(pages[2]?.[1], "Signed in")
      assert.notInclude(pages[2]?.[1], "CODE-1")
      const form = formOf(server.received()[0])
      assert.match(form["redirect_uri"] ?? "", /^http:\/\/localhost:\d+\/$/)
      assert.strictEqual(form["code"], "CODE-1")
    }).pipe(Effect.scoped)
  )

  const strays: ReadonlyArray<
    readonly [string, (back: string) => Effect.Effect<number, unknown, HttpClient.HttpClient>]
  > = [
    ["a code of another authorization", (back) => statusOf(`${back}?code=X&state=OTHER`)],
    ["a code without a state", (back) => statusOf(`${back}?code=X`)],
    ["a refusal of another authorization", (back) => statusOf(`${back}?error=access_denied&state=OTHER`)],
    ["what is no address", (back) => raw(new URL(back), "GET // HTTP/1.1")],
    ["an address of elsewhere", (back) => raw(new URL(back), "GET http://[ HTTP/1.1")]
  ]
  for (const [what, ask] of strays) {
    it.live(`answers ${what} with 404 and goes on waiting`, () =>
      Effect.gen(function* () {
        const server = yield* make
        server.script(tokens(1))
        const pages: Array<readonly [number, string]> = []
        const seen: Array<number> = []
        const browser = (url: string) =>
          Effect.gen(function* () {
            const back = (new URL(url).searchParams.get("redirect_uri") ?? "").replace("localhost", "127.0.0.1")
            seen.push(yield* ask(back))
            yield* browse((state) => `code=CODE-1&state=${state}`, pages)(url)
          })
        const got = yield* Effect.provide(Loopback.signIn(browser, { timeout: "5 seconds" }), stack(server))
        assert.isNotNull(got.refreshToken)
        assert.deepStrictEqual(seen, [404])
        assert.strictEqual(formOf(server.received()[0])["code"], "CODE-1")
      }).pipe(Effect.scoped)
    )
  }

  it.live("shows a refusal, which the program gets as an error", () =>
    Effect.gen(function* () {
      const server = yield* make
      const pages: Array<readonly [number, string]> = []
      const error = yield* Effect.flip(
        Loopback.signIn(browse((state) => `error=access_denied&error_description=no&state=${state}`, pages))
      ).pipe(Effect.provide(stack(server)))
      assert.strictEqual(error._tag === "OAuthError" ? error.reason._tag : "", "AccessDenied")
      assert.include(pages[2]?.[1], "Not signed in")
    }).pipe(Effect.scoped)
  )

  it.live("does not wait for ever, and is gone afterwards", () =>
    Effect.gen(function* () {
      const { expect, redirectUri } = yield* Loopback.listenForRedirect({ timeout: "50 millis", path: "/back" })
      const caught = yield* expect({ state: "s" })
      assert.isTrue(redirectUri.endsWith("/back"))
      const error = yield* Effect.flip(caught)
      assert.strictEqual(error.reason._tag, "Expired")
      return redirectUri
    }).pipe(
      Effect.scoped,
      Effect.flatMap((uri) => Effect.flip(HttpClient.get(uri.replace("localhost", "127.0.0.1")))),
      Effect.provide(NodeHttpClient.layerUndici),
      Effect.map((error) => assert.strictEqual(error.reason._tag, "TransportError"))
    )
  )

  it.live("a port that is taken is an error that names it", () =>
    Effect.gen(function* () {
      const { redirectUri } = yield* Loopback.listenForRedirect()
      const port = Number(new URL(redirectUri).port)
      const error = yield* Effect.flip(Loopback.listenForRedirect({ port }))
      assert.include(error.message, String(port))
    }).pipe(Effect.scoped)
  )
})
