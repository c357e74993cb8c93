import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  begin,
  create,
  end,
  found,
  historyOf,
  hour,
  message,
  order,
  orders,
  owned,
  part,
  register,
  signal,
  write
} from "./Bench.ts"

export const messages = part("messages", (test) => {
  test("a message is numbered in the order of arrival and has the time of its arrival", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a"))
      const sent = { outcome: "sent", owner: null } as const
      assert.deepStrictEqual(yield* journal.send("id-a", signal("x", { value: { n: [1, null] } })), sent)
      time.pass(5)
      const item = { kind: "inbox", name: "box", id: "m1", value: null } as const
      assert.deepStrictEqual(yield* journal.send("id-a", item), sent)
      const both = [message(1, signal("x", { value: { n: [1, null] } })), message(2, item, begin + 5)]
      assert.deepStrictEqual(yield* journal.messages("id-a", 0), both)
      assert.deepStrictEqual(yield* journal.messages("id-a", 1), both.slice(1))
      assert.deepStrictEqual(yield* journal.messages("id-a", 2), [])
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).messages, both)
      assert.strictEqual((yield* found(journal, "id-a")).mail, 2)
    }))

  test("a message wakes an execution that no process owns", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a", { wakeAt: begin + hour }))
      yield* create(journal, order("b", { wakeAt: null, state: "waiting" }))
      yield* create(journal, order("c", { wakeAt: begin - hour }))
      time.pass(5)
      for (const id of ["id-a", "id-b", "id-c"]) yield* journal.send(id, signal("go"))
      assert.strictEqual((yield* found(journal, "id-a")).wakeAt, begin + 5)
      assert.strictEqual((yield* found(journal, "id-b")).wakeAt, begin + 5)
      // What is due longer stays before the others.
      assert.strictEqual((yield* found(journal, "id-c")).wakeAt, begin - hour)
    }))

  test("of an owned execution, the owner is returned and nothing is woken", ({ journal }) =>
    Effect.gen(function* () {
      yield* register(journal, "me")
      yield* owned(journal, "a", { wakeAt: begin + hour })
      assert.deepStrictEqual(yield* journal.send("id-a", signal("go")), { outcome: "sent", owner: "me" })
      assert.strictEqual((yield* found(journal, "id-a")).wakeAt, begin + hour)
    }))

  test("a message is repeated with its value, whatever the order of its members, and in conflict with another", ({
    journal
  }) =>
    Effect.gen(function* () {
      yield* owned(journal, "a")
      yield* journal.send("id-a", signal("x", { value: { a: 1, b: { c: 2, d: 3 } } }))
      assert.deepStrictEqual(yield* journal.send("id-a", signal("x", { value: { b: { d: 3, c: 2 }, a: 1 } })), {
        outcome: "repeated",
        owner: "me"
      })
      for (const value of [{ a: 1 }, null, [1], "x"]) {
        const answer = yield* journal.send("id-a", signal("x", { value }))
        assert.deepStrictEqual(answer, { outcome: "conflict", owner: null })
      }
      // Another name, kind or id is another message.
      const others = [signal("y"), signal("x", { kind: "inbox" }), signal("x", { kind: "inbox", id: "1" })]
      for (const other of others) assert.strictEqual((yield* journal.send("id-a", other)).outcome, "sent")
      assert.lengthOf(yield* journal.messages("id-a", 0), 4)
      assert.strictEqual((yield* found(journal, "id-a")).mail, 4)
    }))

  test("a message that was taken can be sent again, and has a new number", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const cancel = { kind: "cancel", name: "", id: "", value: null } as const
      yield* journal.send("id-a", cancel)
      yield* journal.write(fence, write({ taken: [1], seen: 1 }))
      assert.strictEqual((yield* journal.send("id-a", cancel)).outcome, "sent")
      assert.deepStrictEqual(yield* journal.messages("id-a", 0), [message(2, cancel)])
    }))

  test("nothing is sent to an execution that does not exist or has ended, but repeats are still recognised", ({
    journal
  }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* journal.send("id-a", signal("go")), { outcome: "absent", owner: null })
      const fence = yield* owned(journal, "a")
      yield* journal.send("id-a", signal("go"))
      yield* end(journal, fence, begin)
      assert.deepStrictEqual(yield* journal.send("id-a", signal("late")), { outcome: "ended", owner: null })
      assert.deepStrictEqual(yield* journal.send("id-a", signal("go")), { outcome: "repeated", owner: null })
      assert.strictEqual((yield* journal.send("id-a", signal("go", { value: 2 }))).outcome, "conflict")
      assert.strictEqual((yield* found(journal, "id-a")).mail, 1)
    }))

  test("halted and suspended executions keep their messages and are not claimed for them", ({ journal, time }) =>
    Effect.gen(function* () {
      for (const state of ["halted", "suspended"] as const) {
        yield* create(journal, order(state, { state, wakeAt: null }))
        assert.strictEqual((yield* journal.send(`id-${state}`, signal("go"))).outcome, "sent")
        assert.lengthOf(yield* journal.messages(`id-${state}`, 0), 1)
      }
      assert.deepStrictEqual(yield* journal.claim("me", [orders], time.now(), 10), [])
      assert.isNull(yield* journal.nextDue([orders]))
    }))

  test("of equal messages that are sent at the same time, one is sent", ({ journal, open }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a"))
      const journals = [journal, yield* open, yield* open]
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) => (journals[n % 3] ?? journal).send("id-a", signal("go")),
        { concurrency: "unbounded" }
      )
      const sent = outcomes.filter(({ outcome }) => outcome === "sent")
      assert.lengthOf(sent, 1)
      for (const { outcome } of outcomes) assert.include(["sent", "repeated"], outcome)
      assert.lengthOf(yield* journal.messages("id-a", 0), 1)
      assert.strictEqual((yield* found(journal, "id-a")).mail, 1)
    }))

  test("messages that are sent at the same time are numbered without a gap", ({ journal, open }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a"))
      const journals = [journal, yield* open, yield* open]
      yield* Effect.forEach(
        Array.from({ length: 30 }, (_, n) => n),
        (n) => (journals[n % 3] ?? journal).send("id-a", signal(`s${n}`)),
        { concurrency: "unbounded", discard: true }
      )
      const seqs = (yield* journal.messages("id-a", 0)).map(({ seq }) => seq)
      assert.deepStrictEqual(
        seqs,
        Array.from({ length: 30 }, (_, n) => n + 1)
      )
      assert.strictEqual((yield* found(journal, "id-a")).mail, 30)
    }))

  test("no message is missed by an owner that releases its claim concurrently", ({ journal, open }) =>
    Effect.gen(function* () {
      const other = yield* open
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => `${n}`),
        Effect.fnUntraced(function* (key) {
          const fence = yield* owned(journal, key, { wakeAt: null })
          const released = { state: "waiting", owner: null, wakeAt: null } as const
          yield* Effect.all(
            [journal.write(fence, write({ execution: released })), other.send(fence.id, signal("go"))],
            { concurrency: "unbounded" }
          )
          assert.strictEqual((yield* found(journal, fence.id)).wakeAt, begin)
        }),
        { concurrency: 4, discard: true }
      )
    }))

  test("who has messages past what its last write has seen is unread", ({ journal }) =>
    Effect.gen(function* () {
      const fences = [yield* owned(journal, "a"), yield* owned(journal, "b"), yield* owned(journal, "c")]
      yield* owned(journal, "d", { owner: "you" })
      assert.deepStrictEqual(yield* journal.unread("me"), [])
      for (const id of ["id-c", "id-a", "id-d"]) yield* journal.send(id, signal("go"))
      assert.deepStrictEqual(yield* journal.unread("me"), ["id-a", "id-c"])
      assert.deepStrictEqual(yield* journal.unread("you"), ["id-d"])
      for (const fence of fences.slice(0, 1)) yield* journal.write(fence, write({ seen: 1 }))
      assert.deepStrictEqual(yield* journal.unread("me"), ["id-c"])
      yield* journal.leave("me")
      assert.deepStrictEqual(yield* journal.unread("me"), [])
    }))
})
