import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { begin, create, historyOf, order, orders, part, signal, succeeded, undo } from "./Bench.ts"

export const forks = part("forks", (test) => {
  test("an execution is created with a record, and who claims it reads that", ({ journal }) =>
    Effect.gen(function* () {
      const entries = [succeeded("reserve", 1), succeeded("approval", 3, { kind: "signal", subject: "1" })]
      const undos = [undo("reserve")]
      const messages = [signal("approval")]
      const made = yield* create(journal, order("a", { tags: ["fork"], messages, record: { entries, undos } }))
      assert.deepStrictEqual([made.epoch, made.mail], [1, 1])
      const [claimed] = yield* journal.claim("me", [orders], begin, 10)
      assert.strictEqual(claimed?.epoch, 2)
      const history = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual(history.entries, entries)
      assert.deepStrictEqual(history.undos, undos)
      assert.lengthOf(history.messages, 1)
      assert.deepStrictEqual(history.redos, new Map())
    }))

  test("an existing execution does not get the record of another one", ({ journal }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a"))
      const record = { entries: [succeeded("reserve", 1)], undos: [] }
      assert.strictEqual((yield* journal.create(order("a", { id: "other", record })))._tag, "Existing")
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).entries, [])
      assert.isNull(yield* journal.history("other"))
    }))

  test("a queued one begins with its record", ({ journal }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [{ keyed: false, concurrency: 1, rate: null }])
      const record = { entries: [succeeded("reserve", 1)], undos: [] }
      yield* create(journal, order("a", { state: "queued", limits: [null], wakeAt: null, record }))
      const { executions } = yield* journal.admit("me", orders, 10)
      assert.deepStrictEqual(
        executions.map(({ epoch, id }) => [id, epoch]),
        [["id-a", 2]]
      )
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).entries, record.entries)
    }))
})
