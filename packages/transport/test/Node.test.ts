/**
 * A proxy, certificates and a dispatcher of the program's own, with real servers on sockets.
 */
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpClient from "effect/http/HttpClient"
import type { RequestListener } from "node:http"
import { Agent } from "undici"
import * as NodeTransport from "../src/Node.ts"
import { meaning, proxy, serve, serveOwnTls } from "./support/Servers.ts"

const hello: RequestListener = (request, response) => void response.end(`hello ${request.headers.host}`)

const get = (url: string, options: NodeTransport.Options, variables: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(HttpClient.get(url), (response) => response.text).pipe(
    Effect.mapError(meaning(null)),
    Effect.provide(
      Layer.orDie(NodeTransport.layerWith(options)).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))
      )
    )
  )

describe("a request goes", () => {
  it.live("through the proxy of the program, rather than that of the environment", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* proxy({ hosts: { "room.test": yield* serve(hello) } })
      const variables = { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "room.test" }
      assert.strictEqual(yield* get("http://room.test/a", { proxy: url }, variables), "hello room.test")
      assert.deepStrictEqual(asked(), ["GET http://room.test/a"])
    }).pipe(Effect.scoped)
  )

  it.live("through no proxy, if it is empty", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* proxy({ hosts: { "room.test": yield* serve(hello) } })
      const reason = yield* Effect.flip(get("http://room.test/", { proxy: "" }, { HTTP_PROXY: url }))
      assert.strictEqual(reason._tag, "Unreachable")
      assert.deepStrictEqual(asked(), [])
    }).pipe(Effect.scoped)
  )

  it.live("to a server whose certificate the program trusts", () =>
    Effect.gen(function* () {
      const { cert, port } = yield* serveOwnTls(hello)
      const url = `https://localhost:${port}/`
      assert.include((yield* Effect.flip(get(url, {}))).message, "certificate of this address is not trusted")
      assert.strictEqual(yield* get(url, { ca: cert }), `hello localhost:${port}`)
    }).pipe(Effect.scoped)
  )

  it.live("to such a server through a tunnel: only its name is another one", () =>
    Effect.gen(function* () {
      const { cert, port } = yield* serveOwnTls(hello)
      // Only the proxy knows the name, so that nothing is sent directly.
      const { asked, url } = yield* proxy({ hosts: { "room.test": port } })
      const reason = yield* Effect.flip(get("https://room.test/", { proxy: url, ca: [cert] }))
      assert.include(reason.message, "ERR_TLS_CERT_ALTNAME_INVALID")
      assert.deepStrictEqual(asked(), ["CONNECT room.test:443"])
    }).pipe(Effect.scoped)
  )

  it.live("through the dispatcher of the program, which stays open", () =>
    Effect.gen(function* () {
      const port = yield* serve(hello)
      let sent = 0
      const agent = new Agent()
      const dispatcher = agent.compose((dispatch) => (options, handler) => {
        sent++
        return dispatch(options, handler)
      })
      yield* get(`http://127.0.0.1:${port}/`, { dispatcher })
      yield* get(`http://127.0.0.1:${port}/`, { dispatcher })
      assert.strictEqual(sent, 2)
      yield* Effect.promise(() => agent.close())
    }).pipe(Effect.scoped)
  )
})

describe("an option that cannot be is refused", () => {
  const refused: ReadonlyArray<readonly [string, object, string]> = [
    ["proxy", { proxy: "ftp://secret@proxy" }, "layer: proxy: expected the address of a proxy"],
    ["ca", { ca: [""] }, "layer: ca: expected a text that is not empty"],
    ["dispatcher", { dispatcher: {} }, "layer: dispatcher: expected a dispatcher of undici"]
  ]
  it.each(refused)("%s", (_, options, message) => {
    assert.throws(() => NodeTransport.layerWith(options), message)
  })
})
