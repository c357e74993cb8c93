/** What a browser requests and checks before it lets a page of another origin call the service. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { exposedHeaders } from "../src/internal/edge/Cors.ts"
import { send } from "./support/Http.ts"
import type { RawRequest } from "./support/Service.ts"
import { layerIn, Service, temporaryFolder } from "./support/Service.ts"

const app = "https://app.example.com"

const serving = <A, E>(cors: ReadonlyArray<string>, effect: Effect.Effect<A, E, Service>) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    return yield* Effect.provide(effect, layerIn(folder, { rateLimit: { perSecond: 1, burst: 3 }, cors }))
  })

const Document = Schema.Struct({
  paths: Schema.Record(
    Schema.String,
    Schema.Record(
      Schema.String,
      Schema.Struct({
        responses: Schema.Record(
          Schema.String,
          Schema.Struct({ headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)) })
        )
      })
    )
  )
})

const bodyOf = Schema.decodeSync(Schema.fromJsonString(Document))

const from = (origin: string, request: RawRequest = {}): RawRequest => ({
  ...request,
  headers: { ...request.headers, origin }
})

const preflight = (origin: string) =>
  from(origin, {
    key: null,
    headers: {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,idempotency-key"
    }
  })

describe("CORS", () => {
  it.live("responds to the preflight of an allowed origin with what it may send", () =>
    serving(
      [app, "http://127.0.0.1:5173"],
      Effect.gen(function* () {
        const { raw } = yield* Service
        const { headers, status } = yield* raw("OPTIONS", "work-items", preflight(app))
        assert.strictEqual(status, 204)
        assert.strictEqual(headers["access-control-allow-origin"], app)
        assert.match(headers["access-control-allow-methods"] ?? "", /POST/)
        assert.strictEqual(headers["access-control-allow-headers"], "authorization,content-type,idempotency-key")
        assert.match(headers["vary"] ?? "", /Origin/)
        assert.isUndefined(headers["access-control-allow-credentials"])
        const transfer = yield* raw("OPTIONS", "/transfer/v1/uploads", preflight("http://127.0.0.1:5173"))
        assert.strictEqual(transfer.headers["access-control-allow-origin"], "http://127.0.0.1:5173")
      })
    )
  )

  it.live("lets a generated client in a page use every operation of the document, which declares the header", () =>
    serving(
      [app],
      Effect.gen(function* () {
        const { raw } = yield* Service
        const { text } = yield* raw("GET", "/api/v1/openapi.json", { key: null })
        const operations = Object.entries(bodyOf(text).paths)
          .filter(([path]) => path.startsWith("/api/v1/"))
          .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ method, operation, path })))
        assert.isAbove(operations.length, 56)
        for (const { method, operation, path } of operations) {
          const ok = operation.responses["200"]
          assert.property(ok?.headers ?? {}, "access-control-allow-origin", `${method} ${path}`)
        }
        const { origin } = yield* Service
        for (const method of new Set(operations.map(({ method }) => method.toUpperCase()))) {
          const headers = { origin: app, "access-control-request-method": method }
          const answer = yield* send(origin, "OPTIONS", "/api/v1/workspaces/w/worker-groups/g/workers", { headers })
          assert.strictEqual(answer.status, 204)
          assert.include(answer.headers["access-control-allow-methods"]?.split(/, ?/) ?? [], method)
        }
      })
    )
  )

  it.live("lets it read responses and refusals of every kind, with their headers", () =>
    serving(
      [app],
      Effect.gen(function* () {
        const { raw } = yield* Service
        const answers = [
          [200, yield* raw("GET", "processes", from(app))],
          [400, yield* raw("POST", "processes", from(app, { json: {} }))],
          [401, yield* raw("GET", "processes", from(app, { key: null }))],
          [403, yield* raw("GET", "/api/v1/workspaces/other/processes", from(app))],
          [404, yield* raw("GET", "processes/none", from(app))],
          [404, yield* raw("GET", "/api/v1/nothing", from(app))],
          [405, yield* raw("DELETE", "processes", from(app))],
          [429, yield* raw("GET", "processes", from(app))]
        ] as const
        for (const [status, answer] of answers) {
          assert.strictEqual(answer.status, status, answer.text)
          assert.strictEqual(answer.headers["access-control-allow-origin"], app, `${status}`)
          assert.match(answer.headers["vary"] ?? "", /Origin/)
          const exposed = (answer.headers["access-control-expose-headers"] ?? "").split(",")
          for (const name of exposedHeaders) assert.include(exposed, name)
          // Headers that our client reads are exposed.
          for (const name of Object.keys(answer.headers)) {
            if (/^(x-request|ratelimit-|retry-|idempot|allow$)/.test(name)) assert.include(exposed, name)
          }
        }
      })
    )
  )

  it.live("allows nothing to other origins, and does not affect other paths", () =>
    serving(
      [app],
      Effect.gen(function* () {
        const { raw } = yield* Service
        for (const origin of ["https://evil.example.com", "https://app.example.com.evil.com", "null"]) {
          for (const method of ["OPTIONS", "GET"]) {
            const { headers } = yield* raw(method, "processes", preflight(origin))
            assert.isUndefined(headers["access-control-allow-origin"], `${method} ${origin}`)
          }
        }
        const health = yield* raw("OPTIONS", "/healthz", preflight(app))
        assert.strictEqual(health.status, 405)
        assert.isUndefined(health.headers["access-control-allow-origin"])
      })
    )
  )

  it.live("is open to all with `*`, and closed unless asked for", () =>
    Effect.gen(function* () {
      const headersWith = (cors: ReadonlyArray<string>) =>
        serving(
          cors,
          Effect.gen(function* () {
            const { raw } = yield* Service
            return (yield* raw("GET", "processes", from("https://any.example.com"))).headers
          })
        )
      assert.strictEqual((yield* headersWith(["*"]))["access-control-allow-origin"], "*")
      const closed = yield* headersWith([])
      assert.deepStrictEqual(
        Object.keys(closed).filter((name) => name.startsWith("access-control")),
        []
      )
    })
  )
})
