/**
 * Many calls in few requests.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Batch from "../src/Batch.ts"
import { type GraphError, transient } from "../src/GraphError.ts"
import * as Lists from "../src/Lists.ts"
import { SiteId } from "../src/model/Common.ts"
import * as Users from "../src/Users.ts"
import { Drive } from "../src/model/Drive.ts"
import { User } from "../src/model/User.ts"
import { path } from "../src/Path.ts"
import { connect, failure, json, make, type Received, type Reply, type Server, settle } from "./support/Server.ts"

interface WirePart {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly dependsOn?: ReadonlyArray<string>
}

const partsOf = (request: Received | undefined): ReadonlyArray<WirePart> =>
  JSON.parse(request?.body ?? "{}").requests ?? []

const throttled = (seconds: string) => ({
  status: 429,
  headers: { "Retry-After": seconds },
  body: { error: { code: "TooManyRequests", message: "x" } }
})

/** Answers each part by itself, as the service does: in another order, and 424 for what depends on a part that failed. */
const answering = (server: Server, answer: (part: WirePart, times: number) => object) => {
  const times = new Map<string, number>()
  server.respond((request) => {
    const failed = new Set<string>()
    const responses = partsOf(request).map((part) => {
      if (part.dependsOn?.some((id) => failed.has(id)) === true) {
        failed.add(part.id)
        return { id: part.id, status: 424 }
      }
      const count = (times.get(part.id) ?? 0) + 1
      times.set(part.id, count)
      const made: { readonly status?: number } = answer(part, count)
      if ((made.status ?? 200) >= 400) failed.add(part.id)
      return { id: part.id, status: 200, ...made }
    })
    return json({ responses: responses.toReversed() })
  })
}

const run = <P extends Readonly<Record<string, Batch.Part<unknown>>>>(server: Server, parts: P) =>
  settle(server, Effect.provide(Batch.send(parts), connect(server)))

describe("a batch", () => {
  it.effect("gives each part its own type and its own outcome", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ id }) =>
        id === "me"
          ? { body: { id: "u1", displayName: "Ann" } }
          : id === "drive"
            ? { body: { id: "d1" } }
            : id === "content"
              ? { status: 302, headers: { Location: "https://dl.example/1" } }
              : {
                  status: 404,
                  headers: { "request-id": "r-7" },
                  body: { error: { code: "itemNotFound", message: "no" } }
                }
      )
      const results = yield* run(server, {
        me: Batch.part(User, { path: "/me" }),
        drive: Batch.part(Drive, { path: "/me/drive", query: { $select: "id" } }),
        content: Batch.raw({ path: "/me/drive/items/1/content" }),
        none: Batch.part(User, { path: path`/users/${"a/b"}` })
      })
      const me: Result.Result<User, unknown> = results.me
      assert.strictEqual(Result.getOrThrow(me).displayName, "Ann")
      assert.strictEqual(String(Result.getOrThrow(results.drive).id), "d1")
      assert.strictEqual(Result.getOrThrow(results.content).headers["location"], "https://dl.example/1")
      const error = Result.isFailure(results.none) ? results.none.failure : undefined
      assert.strictEqual(error?.reason._tag, "NotFound")
      assert.strictEqual(error?.request.requestId, "r-7")
      assert.deepStrictEqual(
        partsOf(server.received()[0]).map(({ url }) => url),
        ["/me", "/me/drive?$select=id", "/me/drive/items/1/content", "/users/a%2Fb"]
      )
      assert.strictEqual(server.received()[0]?.url, "/v1.0/$batch")
    })
  )

  it.effect("a body says that it is JSON", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, () => ({ status: 201, body: {} }))
      yield* run(server, { a: Batch.raw({ method: "POST", path: "/x", json: { b: 1 }, headers: { Prefer: "p" } }) })
      const [part] = partsOf(server.received()[0])
      assert.deepStrictEqual(part?.headers, { "Content-Type": "application/json", Prefer: "p" })
      assert.deepStrictEqual(part?.body, { b: 1 })
    })
  )

  it.effect("of more than twenty parts is several requests", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ id }) => ({ body: { id } }))
      const parts = Object.fromEntries(
        Array.from({ length: 45 }, (_, n) => [`p${n}`, Batch.part(User, { path: "/me" })])
      )
      const results = yield* run(server, parts)
      assert.deepStrictEqual(
        server.received().map((request) => partsOf(request).length),
        [20, 20, 5]
      )
      for (const [id, result] of Object.entries(results)) assert.strictEqual(String(Result.getOrThrow(result).id), id)
    })
  )

  it.effect("repeats a throttled part alone, when its own answer says", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ id }, times) =>
        id === "slow" && times === 1
          ? throttled("7.5")
          : id === "soon" && times === 1
            ? throttled("2")
            : { body: { id } }
      )
      const results = yield* run(server, {
        fine: Batch.part(User, { path: "/me" }),
        slow: Batch.part(User, { method: "POST", path: "/me" }),
        soon: Batch.part(User, { path: "/me" })
      })
      for (const result of Object.values(results)) assert.isTrue(Result.isSuccess(result))
      const rounds = server.received().map((request) => partsOf(request).map(({ id }) => id))
      assert.deepStrictEqual(rounds, [["fine", "slow", "soon"], ["soon"], ["slow"]])
      const [first, second, third] = server.received().map(({ at }) => at)
      assert.isAtLeast((second ?? 0) - (first ?? 0), 2_000)
      assert.isAtLeast((third ?? 0) - (first ?? 0), 7_500)
    })
  )

  it.effect("a part that stays throttled is Throttled, and a POST that failed is not repeated", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ id }) => (id === "a" ? throttled("1") : { status: 500, body: {} }))
      const results = yield* run(server, {
        a: Batch.raw({ path: "/a" }),
        b: Batch.raw({ method: "POST", path: "/b", json: {} })
      })
      const a = Result.isFailure(results.a) ? results.a.failure : undefined
      assert.strictEqual(a?.reason._tag, "Throttled")
      assert.strictEqual(a?.request.attempts, 5)
      assert.strictEqual(Result.isFailure(results.b) ? results.b.failure.request.attempts : 0, 1)
    })
  )

  it.effect("what depends on a repeated part follows it, and is not tried when that fails for good", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ id }, times) =>
        id === "first" && times === 1 ? throttled("1") : id === "bad" ? { status: 400, body: {} } : { body: { id } }
      )
      const results = yield* run(server, {
        first: Batch.raw({ path: "/a" }),
        second: Batch.raw({ path: "/b", dependsOn: ["first"] }),
        third: Batch.raw({ path: "/c", dependsOn: ["second"] }),
        bad: Batch.raw({ path: "/d" }),
        never: Batch.raw({ path: "/e", dependsOn: ["bad"] })
      })
      for (const id of ["first", "second", "third"] as const) assert.isTrue(Result.isSuccess(results[id]), id)
      assert.strictEqual(Result.isFailure(results.never) ? results.never.failure.request.status : 0, 424)
      assert.deepStrictEqual(
        partsOf(server.received()[1]).map(({ dependsOn, id }) => [id, dependsOn]),
        [
          ["first", undefined],
          ["second", ["first"]],
          ["third", ["second"]]
        ]
      )
    })
  )

  it.effect("dependencies across requests hold", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ id }) => ({ body: { id } }))
      const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, Batch.raw({ path: "/x" })]))
      const results = yield* run(server, { last: Batch.raw({ path: "/y", dependsOn: ["p19"] }), ...many })
      assert.isTrue(Object.values(results).every(Result.isSuccess))
      const [, second] = server.received()
      assert.deepStrictEqual(
        partsOf(second).map(({ dependsOn, id }) => [id, dependsOn]),
        [["last", undefined]]
      )
    })
  )

  it.effect.each([
    ["an unknown part", { a: Batch.raw({ path: "/a", dependsOn: ["b"] }) }],
    ["a circle", { a: Batch.raw({ path: "/a", dependsOn: ["b"] }), b: Batch.raw({ path: "/b", dependsOn: ["a"] }) }],
    ["a path that is none", { a: Batch.raw({ path: path`/users/${".."}` }) }]
  ] satisfies ReadonlyArray<readonly [string, Readonly<Record<string, Batch.Part<unknown>>>]>)(
    "%s is refused before anything is sent",
    ([, parts]) =>
      Effect.gen(function* () {
        const server = yield* make
        const given: Readonly<Record<string, Batch.Part<unknown>>> = parts
        const error = yield* settle(server, Effect.flip(Effect.provide(Batch.send(given), connect(server))))
        assert.strictEqual(error.reason._tag, "InvalidRequest")
        assert.lengthOf(server.received(), 0)
      })
  )
})

/** Answers each batch by a function of its number, and well where that says nothing. */
const breaking = (server: Server, reply: (index: number) => Reply | undefined) =>
  server.respond((request, index) => {
    const parts = partsOf(request)
    return reply(index) ?? json({ responses: parts.map(({ id, body }) => ({ id, status: 201, body: body ?? { id } })) })
  })

const write = (n: number) => Batch.raw({ method: "POST", path: "/x", json: { n } })

const Row = Schema.Struct({ n: Schema.Finite })

/** How many of each kind there are, in their order. */
const outcomes = (results: ReadonlyArray<Result.Result<unknown, GraphError>>) =>
  results.map(Batch.outcomeOf).reduce<ReadonlyArray<readonly [string, number]>>((counts, one) => {
    const last = counts.at(-1)
    return last?.[0] === one ? [...counts.slice(0, -1), [one, last[1] + 1]] : [...counts, [one, 1]]
  }, [])

const rows = (count: number) => Array.from({ length: count }, (_, n) => n)

const all = (server: Server, count: number, toPart: (n: number) => Batch.Part<unknown> = write) =>
  settle(server, Effect.provide(Batch.all(rows(count), toPart), connect(server)))

describe("a batch loses no result", () => {
  it.effect("when the connection breaks: what was in that request is unknown, and the rest is sent", () =>
    Effect.gen(function* () {
      const server = yield* make
      breaking(server, (index) => (index === 2 ? "reset" : undefined))
      const parts = Object.fromEntries(rows(100).map((n) => [`p${n}`, write(n)]))
      const results = Object.values(yield* run(server, parts))
      assert.deepStrictEqual(outcomes(results), [
        ["done", 40],
        ["unknown", 20],
        ["done", 40]
      ])
      const lost = results[40]
      const error = lost !== undefined && Result.isFailure(lost) ? lost.failure : undefined
      assert.strictEqual(error?.reason._tag, "OutcomeUnknown")
      assert.include(error?.message, "look whether it did before you send this again")
      assert.strictEqual(error?.request.attempts, 1)
      assert.strictEqual(error?.request.operation, "Batch.send")
    })
  )

  it.effect("reads of a request that broke are sent again", () =>
    Effect.gen(function* () {
      const server = yield* make
      breaking(server, (index) => (index === 0 ? "reset" : undefined))
      const results = yield* all(server, 30, (n) => (n % 2 === 0 ? write(n) : Batch.raw({ path: `/y/${n}` })))
      assert.deepStrictEqual(results.slice(0, 4).map(Batch.outcomeOf), ["unknown", "done", "unknown", "done"])
      const sent = server.received().map((request) => partsOf(request).map(({ id }) => id))
      assert.isTrue(sent.flat().filter((id) => id === "0").length === 1, "a write is sent once")
    })
  )

  it.effect("after two requests in a row that broke, the rest is not sent", () =>
    Effect.gen(function* () {
      const server = yield* make
      breaking(server, (index) => (index >= 1 ? "reset" : undefined))
      assert.deepStrictEqual(outcomes(yield* all(server, 100)), [
        ["done", 20],
        ["unknown", 40],
        ["notSent", 40]
      ])
      assert.lengthOf(server.received(), 3)
    })
  )

  it.effect("a request that is refused as a whole ends it: nothing of it was done", () =>
    Effect.gen(function* () {
      const server = yield* make
      breaking(server, (index) => (index === 1 ? failure(403, "accessDenied") : undefined))
      const results = yield* all(server, 60)
      assert.deepStrictEqual(outcomes(results), [
        ["done", 20],
        ["refused", 20],
        ["notSent", 20]
      ])
      const [refused, left] = [results[20], results[40]].map((one) =>
        one !== undefined && Result.isFailure(one) ? one.failure : undefined
      )
      assert.strictEqual(refused?.reason._tag, "Forbidden")
      assert.strictEqual(refused?.request.status, 403)
      assert.include(left?.message, "Forbidden")
      assert.deepStrictEqual(left === undefined ? null : transient(left), { retryAfterMillis: null, acted: "no" })
    })
  )

  it.effect("a service that nobody reaches was sent nothing", () =>
    Effect.gen(function* () {
      const server = yield* make
      const nobody = { ...server, origin: "http://127.0.0.1:1" }
      const results = yield* settle(server, Effect.provide(Batch.all(rows(25), write), connect(nobody)))
      assert.deepStrictEqual(outcomes(results), [["notSent", 25]])
    })
  )

  it.effect("a write without an answer in the batch is unknown", () =>
    Effect.gen(function* () {
      const server = yield* make
      breaking(server, () => json({ responses: [] }))
      assert.deepStrictEqual(outcomes(yield* all(server, 2)), [["unknown", 2]])
    })
  )

  it.effect("three thousand rows, in their order", () =>
    Effect.gen(function* () {
      const server = yield* make
      breaking(server, () => undefined)
      const results = yield* all(server, 3000, (n) => Batch.part(Row, { method: "POST", path: "/x", json: { n } }))
      assert.deepStrictEqual(
        results.map(Result.getOrThrow),
        rows(3000).map((n) => ({ n }))
      )
      assert.lengthOf(server.received(), 150)
    })
  )

  it.effect("items of a list have a result each", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ body, id }) =>
        id === "1"
          ? { status: 400, body: { error: { code: "invalidRequest", message: "Field 'Nr' is not recognized" } } }
          : { status: 201, body: { id: `i${id}`, ...Object(body) } }
      )
      const fields = [{ Title: "a" }, { Nr: 1 }, { Title: "c" }]
      const created = Lists.createItems(SiteId.make("s"), "Books", fields)
      const results = yield* settle(server, Effect.provide(created, connect(server)))
      assert.deepStrictEqual(outcomes(results), [
        ["done", 1],
        ["refused", 1],
        ["done", 1]
      ])
      assert.strictEqual(partsOf(server.received()[0])[2]?.url, "/sites/s/lists/Books/items")
    })
  )

  it.effect("a body that is not JSON is refused by name, before anything is sent", () =>
    Effect.gen(function* () {
      const server = yield* make
      const part = Batch.raw({ method: "POST", path: "/x", json: { n: 1n } })
      const error = yield* settle(server, Effect.flip(Effect.provide(Batch.send({ a: part }), connect(server))))
      assert.include(error.message, "a: n: a bigint, which JSON does not have")
      assert.lengthOf(server.received(), 0)
    })
  )
})

describe("collect", () => {
  const people = (ids: ReadonlyArray<string>) =>
    Effect.forEach(ids, (id) => Effect.result(Users.get(id)), { concurrency: "unbounded" })

  const collected = (server: Server, ids: ReadonlyArray<string>) =>
    settle(server, Effect.provide(Batch.collect(people(ids)), connect(server)))

  it.effect("a batch waits while calls still come", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ url }) => ({ body: { id: url.slice("/users/".length) } }))
      const late = Effect.forEach([0, 2, 4, 6], (after) => Effect.delay(Users.get(`u${after}`), after), {
        concurrency: "unbounded"
      })
      yield* settle(server, Effect.provide(Batch.collect(late), connect(server)), 1)
      assert.deepStrictEqual(
        server.received().map((request) => partsOf(request).length),
        [4]
      )
    })
  )

  it.effect("calls at the same time travel together, each with its own answer", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ url }) =>
        url === "/users/u3"
          ? { status: 404, body: { error: { code: "itemNotFound", message: "no" } } }
          : { body: { id: url.slice("/users/".length) } }
      )
      const results = yield* collected(
        server,
        rows(30).map((n) => `u${n}`)
      )
      assert.isTrue(server.received().every(({ url }) => url === "/v1.0/$batch"))
      const sizes = server.received().map((request) => partsOf(request).length)
      assert.strictEqual(
        sizes.reduce((sum, size) => sum + size, 0),
        30
      )
      assert.deepStrictEqual(sizes, [20, 10])
      assert.strictEqual(server.received()[0]?.headers.authorization, "Bearer TOKEN-1")
      assert.notInclude(server.received()[0]?.body, "TOKEN-1")
      const [first, , , fourth] = results
      assert.strictEqual(String(first === undefined ? "" : Result.getOrThrow(first).id), "u0")
      const error = fourth !== undefined && Result.isFailure(fourth) ? fourth.failure : undefined
      assert.strictEqual(error?.reason._tag, "NotFound")
    })
  )

  it.effect("a call that is throttled is repeated by its own policy", () =>
    Effect.gen(function* () {
      const server = yield* make
      answering(server, ({ url }) => ({ body: { id: url } }))
      const well = server.received
      let first = true
      server.respond((request) => {
        const parts = partsOf(request)
        const isFirst = first
        first = false
        return json({
          responses: parts.map(({ id, url }) => ({
            id,
            status: 200,
            ...(isFirst && url.endsWith("b") ? throttled("2") : { body: { id: url } })
          }))
        })
      })
      const results = yield* collected(server, ["a", "b"])
      assert.deepStrictEqual(outcomes(results), [["done", 2]])
      assert.deepStrictEqual(
        well().map((request) => partsOf(request).length),
        [2, 1]
      )
    })
  )

  it.effect("bytes come as they are, and a broken connection fails each call by itself", () =>
    Effect.gen(function* () {
      const server = yield* make
      const photo = Users.photo("u1")
      const get = (effect: typeof photo) => settle(server, Effect.provide(Batch.collect(effect), connect(server)))
      answering(server, () => ({ headers: { "Content-Type": "image/png" }, body: "iVBORw==" }))
      assert.deepStrictEqual([...(yield* get(photo))], [0x89, 0x50, 0x4e, 0x47])
      server.script("reset", "reset", "reset", "reset", "reset")
      assert.strictEqual((yield* Effect.flip(get(photo))).reason._tag, "Unreachable")
    })
  )
})
