import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { begin, create, found, idsOf, order, orders, part } from "./Bench.ts"

/** An execution that was created without its flow. */
const unprepared = (key: string) => order(key, { state: "queued" })

export const prepared = part("executions that were created without their flow", (test) => {
  test("one is due, and runs with the tags that its flow gives it", ({ journal }) =>
    Effect.gen(function* () {
      yield* create(journal, unprepared("a"))
      const [claimed] = yield* journal.claim("me", [orders], begin, 10)
      assert.deepInclude(claimed, { id: "id-a", state: "queued", queuedAt: null, owner: "me", epoch: 1 })
      yield* journal.prepare({ id: "id-a", epoch: 1 }, { tags: ["red"], limits: [] })
      assert.deepInclude(yield* found(journal, "id-a"), { state: "running", owner: "me", tags: ["red"], epoch: 1 })
      assert.deepStrictEqual(idsOf(yield* journal.list({ tag: "red", limit: 10 })), ["id-a"])
    }))

  test("one with keys for limits is put into its queue, without an owner", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [{ keyed: true, concurrency: 1, rate: null }])
      for (const key of ["a", "b"]) {
        yield* create(journal, unprepared(key))
        yield* journal.claim("me", [orders], begin, 10)
        time.pass(1)
        yield* journal.prepare({ id: `id-${key}`, epoch: 1 }, { tags: [], limits: ["k"] })
      }
      const queued = { state: "queued", owner: null, wakeAt: null, limits: ["k"], queuedAt: begin + 1 } as const
      assert.deepInclude(yield* found(journal, "id-a"), queued)
      assert.deepStrictEqual(yield* journal.claim("me", [orders], begin + 10, 10), [])
      assert.deepInclude(yield* journal.queuePlace("id-b"), { place: 2 })
      assert.deepStrictEqual(idsOf((yield* journal.admit("me", orders, 10)).executions), ["id-a"])
      assert.deepInclude(yield* found(journal, "id-a"), { state: "running", epoch: 2 })
    }))

  test("a former owner writes nothing", ({ journal }) =>
    Effect.gen(function* () {
      yield* create(journal, unprepared("a"))
      yield* journal.claim("me", [orders], begin, 10)
      const error = yield* Effect.flip(journal.prepare({ id: "id-a", epoch: 0 }, { tags: ["red"], limits: ["k"] }))
      assert.strictEqual(error._tag, "OwnershipLost")
      assert.deepInclude(yield* found(journal, "id-a"), { tags: [], limits: [], owner: "me" })
    }))
})
