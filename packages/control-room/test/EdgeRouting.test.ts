/** How the edge treats addresses and methods, at every endpoint of the contract. */
import { assert, layer as withLayer } from "@effect/vitest"
import { basePath } from "@signalbox/api/contract/Api"
import * as Effect from "effect/Effect"
import { type Endpoint, endpoints, fill } from "./support/Endpoints.ts"
import { type Answer, assertError, sendRaw } from "./support/Http.ts"
import { headersOf, quiet, seed, type Seed } from "./support/Seed.ts"
import { Service } from "./support/Service.ts"

/** The address of an endpoint in a seeded workspace, without required queries. */
const addressOf = (endpoint: Endpoint, of: Seed): string =>
  fill(endpoint.path, (name) => (endpoint.door === "run" ? of.robotIds : of.ids)[name] ?? "")

/**
 * Responses without values that differ each time, such as signatures with a time, and without the progress of
 * deliveries.
 */
const comparable = ({ status, text }: Answer) => {
  const moving =
    /"(url|next|policy|signature|state|attempts|error|[a-z]+_attempt_at|last_seen_at)":("[^"]*"|[0-9]+|null)/g
  return `${status} ${text.replace(moving, "").replace(/(expires|signature)=[\w-]+/g, "")}`
}

const reading = endpoints.filter(({ method }) => method === "GET")

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("at every endpoint", (it) => {
  it.effect("a slash at the end, and slashes twice, change nothing", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      for (const endpoint of reading) {
        const path = addressOf(endpoint, of)
        const request = { key: null, headers: headersOf(endpoint.door, of.tokens[endpoint.door]) }
        const plain = comparable(yield* raw("GET", path, request))
        for (const other of [`${path}/`, `${path}//`, path.replace("/workspaces/", "//workspaces//")]) {
          assert.strictEqual(comparable(yield* raw("GET", other, request)), plain, other)
        }
      }
    })
  )

  it.effect("of the public interface `/v1` is the same as `/api/v1`", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      const ofApi = reading.filter(({ path }) => path.startsWith(basePath))
      assert.isAtLeast(ofApi.length, 30)
      for (const endpoint of ofApi) {
        const path = addressOf(endpoint, of)
        const older = path.replace(basePath, "/v1")
        assert.strictEqual(comparable(yield* raw("GET", older)), comparable(yield* raw("GET", path)), older)
      }
    })
  )

  it.effect("an address in another case is none", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      for (const endpoint of endpoints) {
        const path = addressOf(endpoint, of)
        // The first segment, and the last one that is not a parameter.
        const last = endpoint.path.split("/").findLast((part) => !part.startsWith(":")) ?? ""
        const at = endpoint.path.split("/").lastIndexOf(last)
        const others = [
          path.replace(/^\/[a-z]/, (start) => start.toUpperCase()),
          path
            .split("/")
            .map((part, index) => (index === at ? part.toUpperCase() : part))
            .join("/")
        ]
        for (const other of others) {
          const answer = yield* raw(endpoint.method, other)
          // A name in upper case may be read as an id, which then does not exist.
          assert.include([400, 404, 405], answer.status, `${endpoint.method} ${other}: ${answer.text}`)
        }
      }
    })
  )

  it.effect("another method is a 405 that names those that it has", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      for (const { method, path } of endpoints) {
        const address = fill(path, (name) => of.ids[name] ?? "")
        for (const other of ["PATCH", "OPTIONS", "TRACE", "PROPFIND"]) {
          const answer = yield* raw(other, address)
          assertError(answer, 405, "METHOD_NOT_ALLOWED", new RegExp(`${other} is not allowed`))
          const allowed = (answer.headers["allow"] ?? "").split(", ")
          assert.include(allowed, method, `${other} ${path}`)
          if (method === "GET") assert.include(allowed, "HEAD", path)
        }
      }
    })
  )

  it.effect("HEAD is GET without a body", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      for (const endpoint of reading) {
        const path = addressOf(endpoint, of)
        const request = { key: null, headers: headersOf(endpoint.door, of.tokens[endpoint.door]) }
        const [get, head] = [yield* raw("GET", path, request), yield* raw("HEAD", path, request)]
        assert.strictEqual(head.status, get.status, path)
        assert.strictEqual(head.text, "", path)
      }
    })
  )

  it.effect("PUT is POST where something is updated or a worker is added to a group, and nowhere else", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      const isAlsoPut = (identifier: string) => identifier.startsWith("update") || identifier === "addWorkerToGroup"
      const updates = endpoints.filter(({ identifier, method }) => method === "POST" && isAlsoPut(identifier))
      assert.isAtLeast(updates.length, 7)
      const puts = new Set(endpoints.filter(({ method }) => method === "PUT").map(({ path }) => path))
      for (const endpoint of endpoints.filter(({ method }) => method === "POST")) {
        if (puts.has(endpoint.path)) continue
        const path = addressOf(endpoint, of)
        // A body that no endpoint accepts.
        const answer = yield* raw("PUT", path, { body: "[1", headers: { "content-type": "application/json" } })
        const isUpdate = updates.includes(endpoint)
        assert.strictEqual(answer.status, isUpdate ? 400 : 405, `PUT ${path}: ${answer.text}`)
        if (isUpdate) assert.strictEqual(comparable(answer), comparable(yield* raw("POST", path, { body: "[1" })))
      }
    })
  )

  it.effect("the response has the id of the request, also when Node itself refuses it", () =>
    Effect.gen(function* () {
      const { origin, raw } = yield* Service
      const of = yield* seed
      for (const endpoint of endpoints) {
        const path = addressOf(endpoint, of)
        const given = `of-${endpoint.identifier}`
        // Without a key, so that nothing happens.
        const answer = yield* raw(endpoint.method, path, { key: null, headers: { "x-request-id": given } })
        assert.strictEqual(answer.headers["x-request-id"], given, path)
      }
      const refused = [
        "GET / HTTP/1.1\r\nhost: localhost\r\nx-bad: a\0b\r\n\r\n",
        "GET /\0 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: localhost\r\nbad header: x\r\n\r\n",
        `GET / HTTP/1.1\r\nhost: localhost\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`,
        `GET /?${"p=1&".repeat(10_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`
      ]
      for (const text of refused) {
        const answer = yield* sendRaw(origin, text)
        assert.match(answer, /^HTTP\/1\.1 4\d\d /, text.slice(0, 60))
        assert.match(answer, /\r\nx-request-id: [0-9a-f-]{36}\r\n/, text.slice(0, 60))
        assert.include(answer, '"error":{"code":"INVALID_REQUEST"', text.slice(0, 60))
      }
    })
  )

  it.effect("an unknown key is a 403 under either scheme, and no key a 401 under any", () =>
    Effect.gen(function* () {
      const { key, raw } = yield* Service
      const of = yield* seed
      const unknown = key.slice(0, -43) + key.slice(-43).split("").toReversed().join("")
      for (const endpoint of endpoints.filter(({ door }) => door === "key")) {
        const path = addressOf(endpoint, of)
        for (const scheme of ["RC-WSKEY", "Bearer", "rc-wskey", "BEARER"]) {
          const headers = { authorization: `${scheme} ${unknown}` }
          assertError(yield* raw(endpoint.method, path, { key: null, headers }), 403, "FORBIDDEN", /unknown/)
        }
        for (const authorization of ["Basic abc", "RC-WSKEY", "Bearer ", unknown]) {
          const answer = yield* raw(endpoint.method, path, { key: null, headers: { authorization } })
          assertError(answer, 401, "UNAUTHENTICATED", /RC-WSKEY/)
        }
      }
    })
  )
})
