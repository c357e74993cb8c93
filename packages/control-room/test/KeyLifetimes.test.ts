/** The lifetime of idempotency records, in virtual time. */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { IdempotencyRecords } from "../src/internal/store/access/IdempotencyRecords.ts"
import { database } from "./support/Storage.ts"

const workspace = WorkspaceId.make("01900000-0000-7000-8000-000000000000")
const record = (lifetime: number) => ({
  fingerprint: "f",
  status: 200,
  body: "b",
  lifetime,
  maker: null,
  permissions: [],
  seen: "none"
})
const start = Date.parse("2026-02-28T23:59:59.123Z")

/** A clock that the test advances. */
const inVirtualTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(start), effect).pipe(Effect.provide(TestClock.layer()))

const lifetimes = (keys: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const records = yield* IdempotencyRecords
    return yield* Effect.forEach(keys, (key) =>
      Effect.map(records.find(workspace, key), (found) => found?.lifetime ?? null)
    )
  })

// In this order: each test moves the clock of one database on.
describe("records", { shuffle: false }, () => {
  withLayer(database, { excludeTestServices: true, timeout: "4 minutes" })("an idempotency record", (it) => {
    it.effect("is found until it expires, whether it is swept by then or not", () =>
      Effect.gen(function* () {
        const records = yield* IdempotencyRecords
        for (const lifetime of [60, 86_400, 604_800]) yield* records.store(workspace, `${lifetime}`, record(lifetime))
        const left = lifetimes(["60", "86400", "604800"])
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(yield* left, [60, 86_400, 604_800])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* left, [null, 86_400, 604_800])
        assert.strictEqual(yield* records.sweep(10), 1)
        yield* TestClock.adjust("1 day")
        assert.deepStrictEqual(yield* left, [null, null, 604_800])
        yield* TestClock.adjust("6 days")
        assert.deepStrictEqual(yield* left, [null, null, null])
        assert.strictEqual(yield* records.sweep(10), 2)
      }).pipe(inVirtualTime)
    )

    it.effect("that has expired is replaced by a new one with the lifetime of that", () =>
      Effect.gen(function* () {
        const records = yield* IdempotencyRecords
        yield* records.store(workspace, "again", record(60))
        yield* TestClock.adjust("2 minutes")
        yield* records.store(workspace, "again", record(120))
        assert.deepStrictEqual(yield* lifetimes(["again"]), [120])
        assert.strictEqual(yield* records.sweep(10), 0)
      }).pipe(inVirtualTime)
    )
  })
})
