/**
 * What every call does: tokens, retries, the gate, redirects, pages, errors.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { AccessTokens } from "../src/AccessTokens.ts"
import { Graph } from "../src/Graph.ts"
import type { GraphError } from "../src/GraphError.ts"
import { below, path } from "../src/Path.ts"
import { defaultPolicy, GraphPolicy } from "../src/Policy.ts"
import * as Raw from "../src/Raw.ts"
import { connect, connectWith, failure, json, make, type Reply, settle } from "./support/Server.ts"

const me = Raw.send({ path: "/me" })
const post = Raw.send({ method: "POST", path: "/me/things", json: { a: 1 } })

/** A server with these answers, one call, and what came of both. */
const run = <A>(replies: ReadonlyArray<Reply>, call: Effect.Effect<A, GraphError, Graph>) =>
  Effect.gen(function* () {
    const server = yield* make
    server.script(...replies)
    const result = yield* settle(server, Effect.result(Effect.provide(call, connect(server))))
    return { server, result, received: server.received() }
  })

describe("headers", () => {
  it.effect("a call names itself, and carries the token", () =>
    Effect.gen(function* () {
      const { received } = yield* run([json({})], me)
      const [request] = received
      assert.strictEqual(request?.url, "/v1.0/me")
      assert.strictEqual(request?.headers.authorization, "Bearer TOKEN-1")
      assert.match(String(request?.headers["client-request-id"]), /^[0-9a-f-]{36}$/)
      assert.include(request?.headers["user-agent"], "signalbox-graph")
    })
  )
})

describe("repeats", () => {
  const get = [408, 429, 500, 502, 503, 504, 509]
  it.effect.each(get)("a GET is sent again after %i", (status) =>
    Effect.gen(function* () {
      const { received, result } = yield* run([failure(status, "x"), json({ id: "u" })], me)
      assert.strictEqual(result._tag, "Success")
      assert.lengthOf(received, 2)
      // One call has one name, however often it is sent.
      assert.strictEqual(received[0]?.headers["client-request-id"], received[1]?.headers["client-request-id"])
    })
  )
  it.effect.each([400, 403, 404, 409, 412, 423, 501, 507])("nothing is sent again after %i", (status) =>
    Effect.gen(function* () {
      const { received } = yield* run([failure(status, "x"), json({})], me)
      assert.lengthOf(received, 1)
    })
  )
  const posts: ReadonlyArray<readonly [string, Reply, number]> = [
    ["a 429", failure(429, "x"), 2],
    ["a 429 with a time", failure(429, "x", { "retry-after": "1" }), 2],
    ["a 503 with a time", failure(503, "x", { "retry-after": "1" }), 2],
    ["a 503 without", failure(503, "x"), 1],
    ["a 500", failure(500, "x"), 1],
    ["a broken connection", "reset", 1]
  ]
  it.effect.each(posts)("a POST after %s", ([, reply, times]) =>
    Effect.gen(function* () {
      const { received } = yield* run([reply, json({})], post)
      assert.lengthOf(received, times)
    })
  )
  it.effect("a PATCH that may have worked is sent again only with If-Match", () =>
    Effect.gen(function* () {
      const call = { method: "PATCH", path: "/me", json: {} } as const
      const without = yield* run([failure(500, "x"), json({})], Raw.send(call))
      assert.lengthOf(without.received, 1)
      const withTag = yield* run([failure(500, "x"), json({})], Raw.send({ ...call, headers: { "If-Match": "e" } }))
      assert.lengthOf(withTag.received, 2)
    })
  )
  it.effect("a GET is sent again after a broken connection, and gives up after the policy's attempts", () =>
    Effect.gen(function* () {
      const { received, result } = yield* run(["reset"], me)
      assert.lengthOf(received, defaultPolicy.attempts)
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "Unreachable")
    })
  )
  it.effect("no answer in time is a Timeout", () =>
    Effect.gen(function* () {
      const { result } = yield* run(
        ["hang"],
        Effect.provideService(me, GraphPolicy, { ...defaultPolicy, attempts: 1, attemptTimeoutMillis: 500 })
      )
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "Timeout")
    })
  )
  it.effect("an address where nobody answers was not reached, so a POST is tried again", () =>
    Effect.gen(function* () {
      const server = yield* make
      const nobody = { ...server, origin: "http://127.0.0.1:1" }
      const error = yield* settle(server, Effect.flip(Effect.provide(post, connect(nobody))))
      assert.strictEqual(error.request.attempts, defaultPolicy.attempts)
      assert.strictEqual(error.reason._tag === "Unreachable" ? error.reason.sent : "", "no")
    })
  )
})

describe("Retry-After", () => {
  const forms: ReadonlyArray<readonly [string, string | undefined, number, number]> = [
    ["whole seconds", "3", 3_000, 3_500],
    ["decimals, as in the service's own sample", "2.128", 2_128, 2_600],
    ["zero", "0", 0, 400],
    ["a date", "Thu, 01 Jan 1970 00:00:10 GMT", 9_000, 10_500],
    ["a date in the past", "Wed, 31 Dec 1969 00:00:00 GMT", 0, 400],
    ["nothing", undefined, 0, 1_500],
    ["nonsense", "soon", 0, 1_500],
    ["a negative number", "-5", 0, 1_500]
  ]
  it.effect.each(forms)("%s", ([, value, least, most]) =>
    Effect.gen(function* () {
      const reply = failure(429, "TooManyRequests", value === undefined ? {} : { "retry-after": value })
      const { received } = yield* run([reply, json({})], me)
      assert.lengthOf(received, 2)
      const waited = (received[1]?.at ?? 0) - (received[0]?.at ?? 0)
      assert.isAtLeast(waited, least)
      assert.isAtMost(waited, most)
    })
  )
  it.effect("an absurd time fails at once, says so, and does not stop other calls", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(failure(429, "TooManyRequests", { "retry-after": "999999999" }), json({}))
      const layer = connect(server)
      yield* Effect.gen(function* () {
        const error = yield* Effect.flip(me)
        assert.strictEqual(error.reason._tag === "Throttled" ? error.reason.retryAfterMillis : 0, 999_999_999_000)
        yield* me
      }).pipe(Effect.provide(layer), (both) => settle(server, both))
      const [first, second] = server.received()
      assert.isBelow((second?.at ?? 0) - (first?.at ?? 0), 1000)
    })
  )
})

describe("the gate", () => {
  it.effect.each([429, 503])("one %i pauses every call of the client", (status) =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((request, index) =>
        index === 0 ? failure(status, "x", { "retry-after": "10" }) : json({ path: request.url })
      )
      const others = Effect.forEach([1, 2, 3], (n) => Raw.send({ path: path`/users/${String(n)}` }), { concurrency: 3 })
      yield* settle(
        server,
        Effect.provide(
          Effect.gen(function* () {
            const first = yield* Effect.forkChild(me)
            yield* Effect.sleep("1 second")
            yield* Effect.andThen(others, Fiber.join(first))
          }),
          connect(server)
        )
      )
      const times = server.received().map(({ at }) => at)
      assert.lengthOf(times, 5)
      for (const at of times.slice(1)) assert.isAtLeast(at - (times[0] ?? 0), 10_000)
    })
  )
})

describe("limits", () => {
  it.effect("told before they are reached are kept", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(json({}, 200, { "ratelimit-remaining": "0", "ratelimit-reset": "5" }), json({}))
      yield* settle(server, Effect.provide(Effect.andThen(me, me), connect(server)))
      const [first, second] = server.received()
      assert.isAtLeast((second?.at ?? 0) - (first?.at ?? 0), 5_000)
    })
  )
  it.effect("of the whole call end it between its attempts", () =>
    Effect.gen(function* () {
      const { received, result } = yield* run(
        [failure(429, "x", { "retry-after": "60" })],
        Effect.provideService(me, GraphPolicy, { ...defaultPolicy, totalTimeoutMillis: 10_000 })
      )
      assert.lengthOf(received, 1)
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "Timeout")
    })
  )
  it.live("of patience: an interrupted call closes its connection", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script("hang")
      const fiber = yield* Effect.forkChild(Effect.provide(me, connect(server)))
      while (server.received().length === 0) yield* Effect.sleep("5 millis")
      const closed = server.closed()
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => closed)
    }).pipe(Effect.scoped)
  )
})

describe("over fetch", () => {
  it.live("a redirect to another host goes without the token, and an error has its meaning", () =>
    Effect.gen(function* () {
      const server = yield* make
      const other = yield* make
      const graph = Graph.layer({ graphUrl: server.origin }).pipe(
        Layer.provide(AccessTokens.layerFixed(Redacted.make("TOKEN-1")))
      )
      server.script({ status: 302, headers: { location: `${other.origin}/file` } }, failure(404, "itemNotFound"))
      other.script(json({ from: "elsewhere" }))
      const both = Effect.all([me, Effect.flip(me)])
      const [answer, error] = yield* Effect.provide(both, graph)
      assert.deepStrictEqual(answer.body, { from: "elsewhere" })
      assert.strictEqual(server.received()[0]?.headers.authorization, "Bearer TOKEN-1")
      assert.isUndefined(other.received()[0]?.headers.authorization)
      assert.strictEqual(error.reason._tag, "NotFound")
    }).pipe(Effect.scoped)
  )
})

describe("errors", () => {
  it.effect("have the meaning of the deepest code, the ids of the request, and no query", () =>
    Effect.gen(function* () {
      const body = {
        error: {
          code: "invalidRequest",
          message: "The name is taken",
          innererror: { code: "nameAlreadyExists", innerError: { code: "409" } }
        }
      }
      const { result } = yield* run(
        [json(body, 409, { "request-id": "srv-1" })],
        Raw.send({ path: path`/drives/${"d"}/root:${below("a b")}:/children`, query: { $filter: "QUERYSECRET" } })
      )
      const error = result._tag === "Failure" ? result.failure : undefined
      assert.strictEqual(error?.reason._tag, "NameAlreadyExists")
      assert.deepStrictEqual(error?.reason.codes, ["invalidRequest", "nameAlreadyExists"])
      assert.strictEqual(error?.code, "nameAlreadyExists")
      assert.strictEqual(error?.request.path, "/drives/d/root:/a%20b:/children")
      assert.strictEqual(error?.request.requestId, "srv-1")
      assert.strictEqual(error?.request.status, 409)
      assert.notInclude(`${error?.message}${JSON.stringify(error)}`, "QUERYSECRET")
    })
  )
  const statuses: ReadonlyArray<readonly [number, string, string]> = [
    [400, "invalidRequest", "InvalidRequest"],
    [403, "accessDenied", "Forbidden"],
    [404, "itemNotFound", "NotFound"],
    [409, "nameAlreadyExists", "NameAlreadyExists"],
    [409, "resourceBeingProvisioned", "Conflict"],
    [410, "resyncRequired", "Gone"],
    [412, "resourceModified", "PreconditionFailed"],
    [416, "invalidRange", "InvalidRange"],
    [423, "lockMismatch", "Locked"],
    [429, "TooManyRequests", "Throttled"],
    [503, "serviceNotAvailable", "Unavailable"],
    [507, "quotaLimitReached", "QuotaExceeded"],
    [418, "teapot", "Unexpected"]
  ]
  it.effect.each(statuses)("%i %s is %s", ([status, code, tag]) =>
    Effect.gen(function* () {
      const { result } = yield* run([failure(status, code)], me)
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", tag)
    })
  )
  it.effect("B8: when it stays throttled, the service's own error is not lost", () =>
    Effect.gen(function* () {
      const { result } = yield* run([failure(429, "TooManyRequests", { "retry-after": "2.128" })], me)
      const error = result._tag === "Failure" ? result.failure : undefined
      assert.strictEqual(error?.code, "TooManyRequests")
      assert.strictEqual(error?.request.attempts, defaultPolicy.attempts)
    })
  )
  it.effect("a page of HTML is no reason to break", () =>
    Effect.gen(function* () {
      const { result } = yield* run([{ status: 502, headers: { "content-type": "text/html" }, body: "<html>" }], me)
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "Unavailable")
    })
  )
  it.effect("a name that would make another address is refused before anything is sent", () =>
    Effect.gen(function* () {
      const { received, result } = yield* run([json({})], Raw.send({ path: path`/users/${".."}/drive` }))
      assert.lengthOf(received, 0)
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "InvalidRequest")
    })
  )
})

describe("the token", () => {
  /** Tokens that count up, each time one is refused. */
  const counting = Layer.sync(AccessTokens, () => {
    let n = 1
    const token = () => Redacted.make(`TOKEN-${n}`)
    return {
      current: Effect.sync(token),
      renew: () => Effect.sync(() => (n++, token()))
    }
  })

  it.effect("B9: a 401 is answered by one fresh token and one repeat, for a POST too", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((request) =>
        request.headers.authorization === "Bearer TOKEN-2"
          ? json({ ok: true })
          : failure(401, "InvalidAuthenticationToken")
      )
      yield* settle(server, Effect.provide(post, connectWith(server, counting)))
      assert.deepStrictEqual(
        server.received().map(({ body, headers }) => [headers.authorization, body]),
        [
          ["Bearer TOKEN-1", '{"a":1}'],
          ["Bearer TOKEN-2", '{"a":1}']
        ]
      )
    })
  )
  it.effect("a second 401 is the answer", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(failure(401, "InvalidAuthenticationToken"))
      const error = yield* settle(server, Effect.flip(Effect.provide(me, connectWith(server, counting))))
      assert.strictEqual(error.reason._tag, "Unauthenticated")
      assert.lengthOf(server.received(), 2)
    })
  )
  it.effect("goes with a redirect within the host, and never to another one", () =>
    Effect.gen(function* () {
      const server = yield* make
      const other = yield* make
      server.respond((request) =>
        request.url === "/v1.0/me"
          ? { status: 302, headers: { location: "/v1.0/there" } }
          : { status: 307, headers: { location: `${other.origin}/file?sig=1` } }
      )
      other.script(json({ from: "elsewhere" }))
      const answer = yield* settle(server, Effect.provide(me, connect(server)))
      assert.deepStrictEqual(answer.body, { from: "elsewhere" })
      assert.strictEqual(server.received()[1]?.headers.authorization, "Bearer TOKEN-1")
      assert.isUndefined(other.received()[0]?.headers.authorization)
    })
  )
  it.effect("redirects in a circle end", () =>
    Effect.gen(function* () {
      const { received, result } = yield* run([{ status: 302, headers: { location: "/v1.0/me" } }], me)
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "Malformed")
      assert.lengthOf(received, 6)
    })
  )
})

describe("pages", () => {
  const all = Stream.runCollect(Raw.stream({ path: "/users", headers: { ConsistencyLevel: "eventual" } }))

  it.effect("links go back byte for byte, headers with every page, an empty page is no end", () =>
    Effect.gen(function* () {
      const server = yield* make
      const link = "/v1.0/users?$search=%22displayName:Jo%22&$skiptoken=m~AQ%27x"
      server.respond((_, index) =>
        index === 0
          ? json({ value: [1], "@odata.nextLink": `${server.origin}${link}` })
          : index === 1
            ? json({ value: [], "@odata.nextLink": `${server.origin}/v1.0/users?p=3` })
            : json({ value: [2] })
      )
      const items = yield* settle(server, Effect.provide(all, connect(server)))
      assert.deepStrictEqual([...items], [1, 2])
      assert.strictEqual(server.received()[1]?.url, link)
      for (const { headers } of server.received()) assert.strictEqual(headers["consistencylevel"], "eventual")
    })
  )
  it.effect("are fetched as the consumer wants them", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((_, index) =>
        json({ value: [index], "@odata.nextLink": `${server.origin}/v1.0/users?p=${index}` })
      )
      const two = Stream.runCollect(Stream.take(Raw.stream({ path: "/users" }), 2))
      assert.deepStrictEqual([...(yield* settle(server, Effect.provide(two, connect(server))))], [0, 1])
      assert.lengthOf(server.received(), 2)
    })
  )
  it.effect("a link to another host is an error, and is not followed", () =>
    Effect.gen(function* () {
      const other = yield* make
      const { result } = yield* run([json({ value: [1], "@odata.nextLink": `${other.origin}/v1.0/users?p=2` })], all)
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "Malformed")
      assert.lengthOf(other.received(), 0)
    })
  )
  it.effect("a page that names itself is an error, not a loop", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond(() => json({ value: [1], "@odata.nextLink": `${server.origin}/v1.0/users?p=2` }))
      const error = yield* settle(server, Effect.flip(Effect.provide(all, connect(server))))
      assert.strictEqual(error.reason._tag, "Malformed")
    })
  )
  it.effect("pages that lead back to one that came before are an error, and each comes once", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((_, index) =>
        json({ value: [index], "@odata.nextLink": `${server.origin}/v1.0/users?p=${index % 3}` })
      )
      const seen: Array<unknown> = []
      const watched = Stream.runForEach(Stream.take(Raw.stream({ path: "/users" }), 20), (item) =>
        Effect.sync(() => seen.push(item))
      )
      const error = yield* settle(server, Effect.flip(Effect.provide(watched, connect(server))))
      assert.strictEqual(error.reason._tag, "Malformed")
      assert.deepStrictEqual(seen, [0, 1, 2])
      assert.lengthOf(server.received(), 4)
    })
  )
  it.effect("an answer that the service broke off says with what", () =>
    Effect.gen(function* () {
      const broken = '{"value":[{"error":{"code":"InternalServerError","message":"x"}}'
      const { result } = yield* run([{ status: 200, body: broken }], all)
      assert.strictEqual(result._tag === "Failure" ? result.failure.code : "", "InternalServerError")
    })
  )
})
