/** Limits of requests without a valid key: a budget for each address, and no query for text that cannot be a key. */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Statement from "effect/sql/Statement"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as TestClock from "effect/testing/TestClock"
import { ClientAddress, subscriberOf } from "../src/internal/edge/ClientAddress.ts"
import { Refusal } from "../src/internal/edge/Failures.ts"
import { UnauthenticatedRequests } from "../src/internal/edge/UnauthenticatedRequests.ts"
import * as Tokens from "../src/internal/vault/Tokens.ts"
import { bodyAs } from "./support/Http.ts"
import { layerIn, linkWorker, Service, temporaryFolder } from "./support/Service.ts"

const requestFrom = (address: string | null) =>
  HttpServerRequest.fromWeb(new Request("http://localhost/")).modify({ remoteAddress: Option.fromNullOr(address) })

/** The statuses of a number of requests from an address. */
const charge = Effect.fnUntraced(function* (address: string | null, count: number) {
  const unauthenticated = yield* UnauthenticatedRequests
  const statuses: Array<number> = []
  for (let n = 0; n < count; n++) {
    statuses.push(yield* statusOf(unauthenticated.charge(requestFrom(address))))
  }
  return statuses
})

const statusOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catch(Effect.as(effect, 200), (error) =>
    error instanceof Refusal ? Effect.succeed(error.status) : Effect.fail(error)
  )

const token = (): Tokens.Token =>
  Tokens.parse(Tokens.make("apiKey", crypto.randomUUID()).token) ?? assert.fail("no token")

describe("the budget of an address", () => {
  const small = UnauthenticatedRequests.layer({ perSecond: 1, burst: 3 }, 0).pipe(Layer.provide(ClientAddress.layer()))

  it.effect("ends with a 429, and fills again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* charge("192.0.2.1", 5), [200, 200, 200, 429, 429])
      assert.deepStrictEqual(yield* charge("192.0.2.2", 1), [200])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* charge("192.0.2.1", 3), [200, 200, 429])
    }).pipe(Effect.provide(small))
  )

  it.effect("is one for a /64 network of IPv6, and one for both spellings of IPv4", () =>
    Effect.gen(function* () {
      assert.strictEqual(subscriberOf("2001:db8:0:1::1"), subscriberOf("2001:db8:0:1:ffff::2"))
      assert.notStrictEqual(subscriberOf("2001:db8:0:1::1"), subscriberOf("2001:db8:0:2::1"))
      assert.strictEqual(subscriberOf("::ffff:192.0.2.1"), subscriberOf("192.0.2.1"))
      assert.strictEqual(subscriberOf("fe80::1%eth0"), subscriberOf("fe80::2"))
      assert.deepStrictEqual(yield* charge("2001:db8:0:1::1", 3), [200, 200, 200])
      assert.deepStrictEqual(yield* charge("2001:db8:0:1:ffff::2", 1), [429])
    }).pipe(Effect.provide(small))
  )

  it.effect("is not touched by what turns out to be valid, and not needed by what was valid before", () =>
    Effect.gen(function* () {
      const { lookUp } = yield* UnauthenticatedRequests
      const request = requestFrom("192.0.2.1")
      const [known, other] = [token(), token()]
      assert.strictEqual(yield* lookUp(request, known, Effect.succeed("it")), "it")
      for (let n = 0; n < 10; n++) assert.strictEqual(yield* lookUp(request, token(), Effect.succeed(n)), n)
      assert.deepStrictEqual(yield* charge("192.0.2.1", 4), [200, 200, 200, 429])
      assert.strictEqual(yield* lookUp(request, known, Effect.succeed("it")), "it")
      // Over the budget, unknown keys are not even looked up.
      assert.strictEqual(yield* statusOf(lookUp(request, other, Effect.die("looked up"))), 429)
      // Once it is revoked, it is as unknown as any other.
      assert.strictEqual(yield* statusOf(lookUp(request, known, Effect.succeed(null))), 429)
      assert.strictEqual(yield* statusOf(lookUp(request, known, Effect.die("looked up"))), 429)
    }).pipe(Effect.provide(small))
  )

  it.effect("is not touched by what anyone may ask for, when it succeeds", () =>
    Effect.gen(function* () {
      const { attempt } = yield* UnauthenticatedRequests
      const request = requestFrom("192.0.2.1")
      for (let n = 0; n < 10; n++) yield* attempt(request, Effect.succeed(n))
      yield* Effect.flip(attempt(request, Effect.fail("no")))
      assert.deepStrictEqual(yield* charge("192.0.2.1", 3), [200, 200, 429])
    }).pipe(Effect.provide(small))
  )

  it.effect("of wrong signatures is one for each address that is reached, and genuine requests cost nothing", () =>
    Effect.gen(function* () {
      const { verify } = yield* UnauthenticatedRequests
      const request = requestFrom("192.0.2.1")
      const genuine = Effect.succeed("genuine")
      const tries = (reached: string, count: number, check: Effect.Effect<string, string>) =>
        Effect.forEach(Array.from({ length: count }), () =>
          statusOf(verify(request, reached, check)).pipe(Effect.catch(() => Effect.succeed(401)))
        )
      assert.deepStrictEqual(new Set(yield* tries("one", 300, genuine)), new Set([200]))
      const statuses = yield* tries("one", 103, Effect.fail("wrong"))
      assert.deepStrictEqual(statuses.slice(98), [401, 401, 429, 429, 429])
      assert.deepStrictEqual(yield* tries("one", 1, Effect.die("checked")), [429])
      assert.deepStrictEqual(yield* tries("two", 1, genuine), [200])
      assert.strictEqual(yield* verify(requestFrom("192.0.2.2"), "one", genuine), "genuine")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* tries("one", 2, Effect.fail("wrong")), [401, 429])
    }).pipe(Effect.provide(small))
  )

  it.effect("is over for a while: a refusal comes after answers to others that have asked later", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* charge("192.0.2.1", 3), [200, 200, 200])
      const refused = yield* Effect.forkChild(charge("192.0.2.1", 1), { startImmediately: true })
      assert.deepStrictEqual(yield* charge("192.0.2.2", 3), [200, 200, 200])
      assert.isUndefined(refused.pollUnsafe())
      assert.deepStrictEqual(yield* Fiber.join(refused), [429])
    }).pipe(
      Effect.provide(
        UnauthenticatedRequests.layer({ perSecond: 1, burst: 3 }, 100).pipe(Layer.provide(ClientAddress.layer()))
      )
    )
  )

  it.effect("does not hold where the server around the service names no address", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* charge(null, 5), [200, 200, 200, 200, 200])
    }).pipe(Effect.provide(small))
  )
})

describe("the address of a client", () => {
  const through = (peer: string | null, forwarded: string | undefined, trusted: ReadonlyArray<string>) => {
    const request = HttpServerRequest.fromWeb(
      new Request("http://localhost/", { headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded } })
    ).modify({ remoteAddress: Option.fromNullOr(peer) })
    return Effect.map(ClientAddress, ({ subscriber }) => subscriber(request)).pipe(
      Effect.provide(ClientAddress.layer(trusted))
    )
  }

  it.effect("is what the last trusted proxy says, and nothing that a client can invent", () =>
    Effect.gen(function* () {
      const table = [
        // Nobody is trusted: the peer.
        ["192.0.2.1", "198.51.100.7", [], "192.0.2.1"],
        // The peer is no proxy.
        ["192.0.2.1", "198.51.100.7", ["127.0.0.1"], "192.0.2.1"],
        ["127.0.0.1", "198.51.100.7", ["127.0.0.1"], "198.51.100.7"],
        ["::ffff:127.0.0.1", "198.51.100.7", ["127.0.0.1"], "198.51.100.7"],
        ["10.1.2.3", "198.51.100.7, 10.9.9.9", ["10.0.0.0/8"], "198.51.100.7"],
        // What the client sent stands first.
        ["127.0.0.1", "203.0.113.9, 198.51.100.7", ["127.0.0.1"], "198.51.100.7"],
        ["127.0.0.1", undefined, ["127.0.0.1"], "127.0.0.1"],
        ["127.0.0.1", "2001:db8:0:1::5", ["127.0.0.1"], "2001:db8:0:1::/64"],
        [null, "198.51.100.7", ["127.0.0.1"], null]
      ] as const
      for (const [peer, forwarded, trusted, client] of table) {
        assert.strictEqual(yield* through(peer, forwarded, trusted), client, `${peer} ${forwarded}`)
      }
    })
  )
})

const statements: Array<string> = []
const recording = Layer.succeed(Statement.CurrentTransformer, (statement) =>
  Effect.sync(() => {
    statements.push(statement.compile()[0])
    return statement
  })
)

const serving = Layer.unwrap(Effect.map(temporaryFolder, (folder) => layerIn(folder, {}))).pipe(
  Layer.provide(recording)
)

withLayer(serving, { excludeTestServices: true, timeout: "4 minutes" })("over HTTP", (it) => {
  it.effect("what cannot be a key costs no query, and one that could be costs one", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      // The service polls in the background: only queries for keys count.
      const queries = () =>
        statements.filter((statement) =>
          /FROM (api_key LEFT JOIN .* WHERE api_key\.|(worker|link_token) WHERE )id = /s.test(statement)
        )
      const before = queries()
      for (const key of [null, "nonsense", "sbk_1_2"]) {
        assert.strictEqual((yield* raw("GET", "processes", { key })).status, 401)
      }
      const link = { link_token: "nonsense", name: "n", tasks: [] }
      assert.strictEqual((yield* raw("POST", "/worker-v1/link", { key: null, json: link })).status, 403)
      assert.deepStrictEqual(queries(), before)
      const unknown = Tokens.make("apiKey", crypto.randomUUID()).token
      assert.strictEqual((yield* raw("GET", "processes", { key: unknown })).status, 403)
      assert.deepStrictEqual(queries().length, before.length + 1)
    })
  )

  it.effect("clients without a key over their budget get a 429; probes, keys and workers continue", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const worker = yield* linkWorker(["nothing"])
      yield* worker.protocol.heartbeat([])
      const knock = raw("GET", "processes", { key: null })
      let last = yield* knock
      for (let n = 0; n < 200 && last.status !== 429; n++) {
        const answers = yield* Effect.all(
          Array.from({ length: 50 }, () => knock),
          { concurrency: 50 }
        )
        last = answers.at(-1) ?? last
      }
      assert.strictEqual(last.status, 429)
      assert.strictEqual(last.headers["retry-after"], "1")
      const Failure = Schema.Struct({ error: Schema.Struct({ code: Schema.String }) })
      assert.strictEqual(bodyAs(Failure, last).error.code, "RATE_LIMITED")
      assert.strictEqual((yield* raw("GET", "processes")).status, 200)
      assert.strictEqual((yield* raw("GET", "/healthz", { key: null })).status, 200)
      yield* worker.protocol.heartbeat([])
    })
  )
})
