/**
 * Many calls in few requests.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Batch from "../src/Batch.ts"
import { Drive } from "../src/model/Drive.ts"
import { User } from "../src/model/User.ts"
import { path } from "../src/Path.ts"
import { connect, json, make, type Received, type Server, settle } from "./support/Server.ts"

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
