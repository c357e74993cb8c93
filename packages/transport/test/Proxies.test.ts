/**
 * The proxies of the environment, with real ones on sockets. `room.test` is a name that only the proxy knows.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpClient from "effect/http/HttpClient"
import type { RequestListener } from "node:http"
import { IdleLimit } from "../src/IdleLimit.ts"
import { isLoopback } from "../src/internal/undici/Proxies.ts"
import { client, meaning, proxy, serve, serveTls } from "./support/Servers.ts"

const hello: RequestListener = (request, response) => void response.end(`hello ${request.headers.host}`)

const get = (url: string, variables: Readonly<Record<string, string>>) =>
  Effect.flatMap(HttpClient.get(url), (response) => response.text).pipe(
    Effect.mapError(meaning(300)),
    Effect.provideService(IdleLimit, 300),
    Effect.provide(Layer.orDie(client(variables)))
  )

describe("a request goes through the proxy", () => {
  it.live("of HTTPS_PROXY in a tunnel, encrypted from end to end", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* proxy({ hosts: { "room.test": yield* serveTls("room.test", hello) } })
      assert.strictEqual(yield* get("https://room.test/a?token=SECRET", { HTTPS_PROXY: url }), "hello room.test")
      assert.deepStrictEqual(asked(), ["CONNECT room.test:443"])
    }).pipe(Effect.scoped)
  )

  it.live("of HTTP_PROXY by its whole address", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* proxy({ hosts: { "room.test": yield* serve(hello) } })
      assert.strictEqual(yield* get("http://room.test/a", { HTTP_PROXY: url }), "hello room.test")
      assert.deepStrictEqual(asked(), ["GET http://room.test/a"])
    }).pipe(Effect.scoped)
  )

  it.live("that lower case names, rather than that of upper case", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* proxy({ hosts: { "room.test": yield* serve(hello) } })
      yield* get("http://room.test/", { http_proxy: url, HTTP_PROXY: "http://127.0.0.1:1" })
      assert.lengthOf(asked(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("that is named without http://", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* proxy({ hosts: { "room.test": yield* serve(hello) } })
      yield* get("http://room.test/", { HTTP_PROXY: url.slice("http://".length) })
      assert.lengthOf(asked(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("with the name and the password in its address", () =>
    Effect.gen(function* () {
      const port = yield* serveTls("room.test", hello)
      const { url } = yield* proxy({ hosts: { "room.test": port }, credentials: "ann:p@ss" })
      const address = url.replace("http://", "http://ann:p%40ss@")
      assert.strictEqual(yield* get("https://room.test/", { HTTPS_PROXY: address }), "hello room.test")
    }).pipe(Effect.scoped)
  )
})

describe("a request does not go through the proxy", () => {
  const hidden = ["room.test", ".room.test", "other.test,room.test", "*"]
  for (const noProxy of hidden) {
    it.live(`to a host that NO_PROXY names: ${noProxy}`, () =>
      Effect.gen(function* () {
        const { asked, url } = yield* proxy({ hosts: { "a.room.test": yield* serve(hello) } })
        // Only the proxy resolves this name.
        const reason = yield* Effect.flip(get("http://a.room.test/", { HTTP_PROXY: url, NO_PROXY: noProxy }))
        assert.strictEqual(reason._tag, "Unreachable")
        assert.deepStrictEqual(asked(), [])
      }).pipe(Effect.scoped)
    )
  }

  for (const host of ["127.0.0.1", "localhost", "127.1.2.3"]) {
    it.live(`to this computer: ${host}`, () =>
      Effect.gen(function* () {
        const port = yield* serve(hello)
        const { asked, url } = yield* proxy({ hosts: {} })
        // A server on 127.0.0.1 does not listen on other addresses of the loopback.
        const result = yield* Effect.result(get(`http://${host}:${port}/`, { HTTP_PROXY: url, HTTPS_PROXY: url }))
        if (host !== "127.1.2.3") assert.strictEqual(result._tag, "Success")
        assert.deepStrictEqual(asked(), [])
      }).pipe(Effect.scoped)
    )
  }

  const places: ReadonlyArray<readonly [string, boolean]> = [
    ["http://localhost:1", true],
    ["http://a.localhost:1", true],
    ["http://localhost.:1", true],
    ["http://127.0.0.53", true],
    ["http://[::1]:1", true],
    ["http://[::ffff:127.0.0.1]", true],
    ["http://128.0.0.1", false],
    ["http://localhost.example.com", false],
    ["http://mylocalhost", false],
    ["http://[::2]", false]
  ]
  for (const [url, expected] of places) {
    it(`${url} is ${expected ? "" : "not "}this computer`, () => {
      assert.strictEqual(isLoopback(url), expected)
    })
  }
})

describe("a proxy", () => {
  it.live("that refuses the credentials is named as the reason, without them", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* proxy({ hosts: {}, credentials: "ann:right" })
      const address = url.replace("http://", "http://ann:WRONGSECRET@")
      const variables = { HTTPS_PROXY: address, HTTP_PROXY: address }
      for (const scheme of ["https", "http"]) {
        const reason = yield* Effect.flip(get(`${scheme}://room.test/`, variables))
        assert.strictEqual(reason.message, "no server responds at this address (PROXY_ANSWERED_407)")
        assert.strictEqual(reason._tag === "Unreachable" ? reason.sent : "", "no")
        assert.notInclude(JSON.stringify(reason), "WRONGSECRET")
      }
      assert.lengthOf(asked(), 2)
    }).pipe(Effect.scoped)
  )

  it.live("that does not find the host, or is not there, has sent nothing", () =>
    Effect.gen(function* () {
      const { url } = yield* proxy({ hosts: {} })
      for (const HTTPS_PROXY of [url, "http://127.0.0.1:1"]) {
        const reason = yield* Effect.flip(get("https://room.test/", { HTTPS_PROXY }))
        assert.strictEqual(reason._tag === "Unreachable" ? reason.sent : "", "no")
        assert.strictEqual(reason.acted, "no")
      }
    }).pipe(Effect.scoped)
  )

  it.live("does not make a certificate trusted", () =>
    Effect.gen(function* () {
      const port = yield* serveTls("room.test", hello, { trusted: false })
      const { url } = yield* proxy({ hosts: { "room.test": port } })
      const reason = yield* Effect.flip(get("https://room.test/", { HTTPS_PROXY: url }))
      assert.match(reason.message, /^the certificate of this address is not trusted \(/)
      assert.isNull(reason.acted)
    }).pipe(Effect.scoped)
  )

  it.live("that stalls in the middle of a body is a Timeout", () =>
    Effect.gen(function* () {
      const port = yield* serveTls("room.test", (_, response) => {
        response.write("half")
      })
      const { url } = yield* proxy({ hosts: { "room.test": port } })
      const reason = yield* Effect.flip(get("https://room.test/", { HTTPS_PROXY: url }))
      assert.strictEqual(reason._tag, "Timeout")
    }).pipe(Effect.scoped)
  )
})

describe("a variable", () => {
  const wrong = ["ftp://ann:PROXYSECRET@proxy.test", "http://", "http://ann:PROXYSECRET@:80:80"]
  for (const value of wrong) {
    for (const name of ["HTTPS_PROXY", "http_proxy"]) {
      it.live(`${name} that is not the address of a proxy is refused: ${value}`, () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(Effect.provide(HttpClient.HttpClient, client({ [name]: value })))
          assert.include(error.message, name)
          assert.include(error.message, "such as http://proxy.example.com:3128")
          assert.notInclude(`${error.message}${JSON.stringify(error)}`, "PROXYSECRET")
        })
      )
    }
  }
})
