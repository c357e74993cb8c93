/** What listeners are told of calls against a server on a socket, in virtual time, and what errors say of the function that was called. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import manifest from "../package.json" with { type: "json" }
import { AccessTokens } from "../src/AccessTokens.ts"
import { GraphLibrary } from "../src/Compat.ts"
import * as Credentials from "../src/Credentials.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import type { Listeners } from "../src/Events.ts"
import { Graph, type Options } from "../src/Graph.ts"
import { GraphError } from "../src/GraphError.ts"
import { operationOf } from "../src/internal/requests/Operation.ts"
import { OAuth } from "../src/OAuth.ts"
import { TokenStore } from "../src/TokenStore.ts"
import * as Uploads from "../src/Uploads.ts"
import * as Users from "../src/Users.ts"
import { failure, json, make, type Reply, type Server, settle } from "./support/Server.ts"

const connect = (server: Server, options: Options) =>
  Graph.layerHttpClient({ graphUrl: server.origin, ...options }).pipe(
    Layer.provide(AccessTokens.layerFixed(Redacted.make("TOKEN-1"))),
    Layer.provide(server.http)
  )

/** One call against these replies, and what its listeners were told, as `name: operation method path attempt`. */
const run = Effect.fnUntraced(function* <A, E>(replies: ReadonlyArray<Reply>, call: Effect.Effect<A, E, Graph>) {
  const server = yield* make
  server.script(...replies)
  const told: Array<string> = []
  const on: Listeners = {
    onRequest: ({ attempt, method, operation, path }) => told.push(`${operation} ${method} ${path} attempt ${attempt}`),
    onResponse: ({ requestId, status }) => told.push(`${status} ${requestId}`),
    onRetry: ({ attempt, pauseMillis, status }) => told.push(`retry ${attempt} after ${status} in ${pauseMillis}`),
    onPause: ({ millis, why }) => told.push(`${why} ${millis}`)
  }
  const result = yield* settle(server, Effect.result(Effect.provide(call, connect(server, { on }))))
  return { told, result, received: server.received() }
}, Effect.scoped)

describe("the listeners of a connection", () => {
  it.effect("are told of requests, responses, retries and pauses", () =>
    Effect.gen(function* () {
      const { told } = yield* run([failure(429, "x", { "retry-after": "3" }), json({ id: "u" })], Users.me())
      assert.deepStrictEqual(told, [
        "Users.me GET /me attempt 1",
        "429 r-1",
        "retry 2 after 429 in 3000",
        "rateLimit 3000",
        "Users.me GET /me attempt 2",
        "200 null"
      ])
    })
  )

  it.effect("are told of each page of a list", () =>
    Effect.gen(function* () {
      const server = yield* make
      const told: Array<string> = []
      const on: Listeners = { onRequest: ({ operation, path }) => told.push(`${operation} ${path}`) }
      server.script(
        json({ value: [], "@odata.nextLink": `${server.origin}/v1.0/next?$skiptoken=secret` }),
        json({ value: [] })
      )
      const list = Stream.runDrain(Drives.children(Drive.me, Drive.root))
      yield* settle(server, Effect.provide(list, connect(server, { on })))
      assert.deepStrictEqual(told, ["Drives.children /me/drive/root/children", "Drives.children /v1.0/next"])
    }).pipe(Effect.scoped)
  )

  it.effect("are told of the parts of an upload", () =>
    Effect.gen(function* () {
      const server = yield* make
      const told: Array<string> = []
      const on: Listeners = { onRequest: ({ method, operation }) => told.push(`${operation} ${method}`) }
      const fragment = 320 * 1024
      const size = 2 * fragment
      server.script(
        json({ uploadUrl: `${server.origin}/session?tempauth=secret`, expirationDateTime: "2030-01-01T00:00:00Z" }),
        json({ nextExpectedRanges: [`${fragment}-`] }, 202),
        json({ id: "file", name: "a", size }, 201)
      )
      const source = { size, from: (at: number) => Stream.make(new Uint8Array(size - at)) }
      const upload = Uploads.upload(Drive.me, { path: "/a" }, source, {
        fragmentBytes: fragment,
        keep: () => Effect.void,
        verify: false
      })
      yield* settle(server, Effect.provide(Effect.ignore(upload), connect(server, { on })))
      assert.deepStrictEqual(told, ["Uploads.upload POST", "Uploads.upload PUT", "Uploads.upload PUT"])
    }).pipe(Effect.scoped)
  )
})

describe("a call", () => {
  it.effect("names the client with the version of the package, and the runtime", () =>
    Effect.gen(function* () {
      const { received } = yield* run([json({ id: "u" })], Users.me())
      const named = `signalbox-graph/${manifest.version} node/${process.versions.node}`
      assert.strictEqual(received[0]?.headers["user-agent"], named)
    })
  )

  it.effect("that fails says which function was called", () =>
    Effect.gen(function* () {
      const { result } = yield* run([failure(404, "itemNotFound")], Users.get("u"))
      if (Result.isSuccess(result)) return assert.fail("it succeeded")
      assert.strictEqual(result.failure.request.operation, "Users.get")
      assert.include(result.failure.message, "NotFound: told to fail, in Users.get, on GET /users/u (status 404")
    })
  )

  it.effect("of a list that is refused before it is sent says so too", () =>
    Effect.gen(function* () {
      const { result } = yield* run([], Stream.runDrain(Drives.children(Drive.me, { path: "/../a" })))
      if (Result.isSuccess(result)) return assert.fail("it succeeded")
      assert.strictEqual(result.failure.request.operation, "Drives.children")
      assert.strictEqual(result.failure.request.attempts, 0)
    })
  )
})

describe("what is refused before it is sent", () => {
  const bytes = new Uint8Array(1)
  const refusals: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown, Graph>]> = [
    ["Uploads.upload", Uploads.upload(Drive.me, { path: "/a" }, bytes, { fragmentBytes: 1 })],
    ["Drives.search", Stream.runDrain(Drives.search(Drive.me, " "))]
  ]
  it.effect.each(refusals)("names %s", ([operation, call]) =>
    Effect.gen(function* () {
      const { received, result } = yield* run([], call)
      const error = Result.isFailure(result) ? result.failure : undefined
      assert.instanceOf(error, GraphError)
      assert.strictEqual(error.request.operation, operation)
      assert.lengthOf(received, 0)
    })
  )

  it.effect("and what the older interface calls, under its own name", () =>
    Effect.gen(function* () {
      const server = yield* make
      const library = new GraphLibrary(
        { client_id: "app", token: { access_token: "AT-1", expires_at: 4_000_000_000 } },
        { graphUrl: server.origin, loginUrl: server.origin }
      )
      const error = yield* Effect.promise(() => library.find_drive_file(" ").catch((error: unknown) => error))
      assert.instanceOf(error, GraphError)
      assert.strictEqual(error.request.operation, "Compat.find_drive_file")
      yield* Effect.promise(() => library.close())
    }).pipe(Effect.scoped)
  )
})

describe("the listeners of who signs in", () => {
  const provider = (server: Server) =>
    server.script(json({ token_type: "Bearer", access_token: "AT-1", expires_in: 3599 }), json({ id: "u" }))

  it.effect.each(["OAuth", "Credentials"] as const)("%s are told of requests for tokens", (kind) =>
    Effect.gen(function* () {
      const server = yield* make
      provider(server)
      const told: Array<string> = []
      const on: Listeners = { onRequest: ({ method, operation, path }) => told.push(`${operation} ${method} ${path}`) }
      const app = { clientId: "app", clientSecret: Redacted.make("s3cret"), tenant: "contoso.test", on }
      const tokens =
        kind === "Credentials"
          ? Credentials.layerClientSecret({ ...app, loginUrl: server.origin })
          : OAuth.layerAccessTokens.pipe(
              Layer.provide(OAuth.layer({ ...app, loginUrl: server.origin, actsAs: "app" })),
              Layer.provide(TokenStore.layerMemory())
            )
      const graph = Graph.layerHttpClient({ graphUrl: server.origin }).pipe(
        Layer.provide(tokens),
        Layer.provide(server.http)
      )
      yield* settle(server, Effect.provide(Users.me(), graph))
      assert.deepStrictEqual(told, ["Users.me POST /contoso.test/oauth2/v2.0/token"])
    }).pipe(Effect.scoped)
  )

  it.effect("are refused by name when they are no functions", () =>
    Effect.gen(function* () {
      const server = yield* make
      // What the compiler refuses in TypeScript.
      const on = { onRequest: "loudly" } as object
      const layer = OAuth.layer({ clientId: "app", on }).pipe(
        Layer.provide(TokenStore.layerMemory()),
        Layer.provide(server.http)
      )
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(layer)))
      assert.include(String(exit), "on.onRequest")
    }).pipe(Effect.scoped)
  )
})

/** Modules with functions that have spans, except what is of this machine alone. */
const source = join(import.meta.dirname, "../src")
const modules = readdirSync(source)
  .filter((file) => file.endsWith(".ts") && file !== "Loopback.ts")
  .map((file) => file.slice(0, -".ts".length))
  .filter((name) => readFileSync(join(source, `${name}.ts`), "utf8").includes(`Effect.fn("${name}.`))

it.effect.each(modules)("the functions of %s are known", (name) =>
  Effect.gen(function* () {
    assert.strictEqual(yield* Effect.withSpan(operationOf(null), `${name}.fn`), `${name}.fn`)
  })
)
