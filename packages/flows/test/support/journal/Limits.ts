import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Change, Execution, Limit, NewExecution } from "../../../src/internal/model/Execution.ts"
import {
  begin,
  create,
  end,
  found,
  historyOf,
  hour,
  idsOf,
  order,
  orders,
  part,
  signal,
  type TheJournal,
  type Time,
  write
} from "./Bench.ts"

const whole = (concurrency: number): Limit => ({ keyed: false, concurrency, rate: null })
const each = (concurrency: number): Limit => ({ keyed: true, concurrency, rate: null })
const rate = (count: number, perMillis: number, keyed = false): Limit => ({
  keyed,
  concurrency: null,
  rate: { count, perMillis }
})

/** Queues executions, a millisecond after each other. */
const queue = Effect.fnUntraced(function* (
  journal: TheJournal,
  time: Time,
  keys: ReadonlyArray<string>,
  limits: (key: string) => NewExecution["limits"],
  more: Partial<NewExecution> = {}
) {
  const all: Array<Execution> = []
  for (const key of keys) {
    time.pass(1)
    all.push(yield* create(journal, order(key, { state: "queued", wakeAt: null, limits: limits(key), ...more })))
  }
  return all
})
const flowWide = () => [null]
/** The key of a limit is the first letter. */
const letter = (key: string) => [key.charAt(0)]

const admit = (journal: TheJournal, most = 100, process = "me", version = 1) =>
  Effect.map(journal.admit(process, { ...orders, version }, most), ({ executions }) => executions)
/** Which are admitted together: in no order, since a claim whose answer was lost finds them in any. */
const admitted = (journal: TheJournal, most?: number) =>
  Effect.map(admit(journal, most), (executions) => executions.map(({ key }) => key).toSorted())

const change = (execution: Change["execution"]): Change => ({
  execution,
  aside: [],
  asideUndos: [],
  undos: [],
  taken: []
})
const set = (journal: TheJournal, key: string, execution: Change["execution"]) =>
  journal.change(`id-${key}`, () => Effect.succeed(change(execution)))
const cancelled = (time: Time) => ({ state: "cancelled", endedAt: time.now(), wakeAt: null }) as const

export const limits = part("limits", (test) => {
  test("as many are admitted as a limit has room for, the first in the queue first", ({ journal, time }) =>
    Effect.gen(function* () {
      assert.isTrue(yield* journal.limit(orders, [whole(2)]))
      const [a] = yield* queue(journal, time, ["a", "b", "c"], flowWide)
      assert.deepInclude(a, { state: "queued", queuedAt: begin + 1, limits: [null], owner: null, epoch: 0 })
      time.pass(1)
      const [first, second, ...others] = yield* admit(journal)
      assert.deepStrictEqual(others, [])
      const claimed = { owner: "me", epoch: 1, queuedAt: null, limits: [null], wakeAt: time.now() }
      assert.deepInclude(first, { ...claimed, id: "id-a", state: "running" })
      assert.deepInclude(second, { ...claimed, id: "id-b", state: "running" })
      assert.deepStrictEqual(yield* journal.find("id-a"), first)
      assert.deepInclude(yield* found(journal, "id-c"), { state: "queued", owner: null })
      assert.deepStrictEqual(yield* journal.claim("me", [orders], time.now() + hour, 10), [])
      assert.isNull(yield* journal.nextDue([orders]))
      assert.isNull(yield* journal.claimOne("me", "id-c"))
    }))

  test("a flow that never had a limit queues nothing", ({ journal }) =>
    Effect.gen(function* () {
      assert.isFalse(yield* journal.limit(orders, []))
      assert.deepStrictEqual(yield* journal.admit("me", orders, 10), { executions: [], more: false, next: null })
      assert.isNull(yield* journal.queuePlace("id-a"))
    }))

  test("a slot is held until the end, by what is parked, halted and suspended too", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole(3)])
      yield* queue(journal, time, ["a", "b", "c", "d", "e"], flowWide)
      const [a, b, c] = yield* admit(journal)
      assert(a !== undefined && b !== undefined && c !== undefined)
      yield* journal.write(a, write({ execution: { state: "waiting", owner: null, wakeAt: null } }))
      yield* journal.write(b, write({ execution: { state: "halted", owner: null, wakeAt: null } }))
      yield* journal.write(c, write({ execution: { state: "suspended", owner: null, wakeAt: null } }))
      assert.deepStrictEqual(yield* admitted(journal), [])
      yield* set(journal, "b", cancelled(time))
      assert.deepStrictEqual(yield* admitted(journal), ["d"])
      const [again] = yield* Effect.map(journal.claimOne("me", "id-a"), (one) => [one])
      assert(again !== null && again !== undefined)
      yield* end(journal, again, time.now())
      assert.deepStrictEqual(yield* admitted(journal), ["e"])
    }))

  test("keys take turns, and a full one does not delay the others", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each(1), whole(3)])
      const keys = ["a1", "a2", "a3", "b1", "b2", "c1", "d1"]
      yield* queue(journal, time, keys, (key) => [key.charAt(0), null])
      const first = yield* admit(journal)
      assert.deepStrictEqual(new Set(first.map(({ key }) => key)), new Set(["a1", "b1", "c1"]))
      const endOf = Effect.fnUntraced(function* (key: string, all: ReadonlyArray<Execution>) {
        const execution = all.find((one) => one.key === key)
        assert(execution !== undefined)
        yield* end(journal, execution, time.now())
      })
      yield* endOf("a1", first)
      // The one that was not served yet.
      const second = yield* admit(journal)
      assert.deepStrictEqual(idsOf(second), ["id-d1"])
      yield* endOf("c1", first)
      assert.deepStrictEqual(yield* admitted(journal), ["a2"])
      yield* endOf("d1", second)
      assert.deepStrictEqual(yield* admitted(journal), [])
      yield* endOf("b1", first)
      assert.deepStrictEqual(yield* admitted(journal), ["b2"])
    }))

  test("of a flow with room for some, each key gets one before any gets a second", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole(4), each(9)])
      const many = Array.from({ length: 30 }, (_, n) => `a${n}`)
      yield* queue(journal, time, [...many, "b0", "c0"], (key) => [null, key.charAt(0)])
      const first = yield* admitted(journal)
      assert.deepStrictEqual([...first].sort(), ["a0", "a1", "b0", "c0"])
    }))

  test("all limits must admit it", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each(2), each(1)])
      // By customer, and by region.
      const keys = ["ax1", "ax2", "ay1", "by1", "bx1", "bz1"]
      yield* queue(journal, time, keys, (key) => [key.charAt(0), key.charAt(1)])
      const first = yield* admit(journal)
      assert.deepStrictEqual(first.map(({ key }) => key).sort(), ["ax1", "ay1", "bz1"])
      const x = first.find(({ key }) => key === "ax1")
      assert(x !== undefined)
      yield* end(journal, x, time.now())
      const second = yield* admitted(journal)
      assert.lengthOf(second, 1)
      assert.include(["ax2", "bx1"], second[0])
    }))

  test("what waits at a full limit leaves the room of another limit to others", ({ journal, time }) =>
    Effect.gen(function* () {
      // By customer, and by region.
      yield* journal.limit(orders, [each(1), each(1)])
      const both = (key: string) => [key.charAt(0), key.charAt(1)]
      yield* queue(journal, time, ["cx"], both)
      const [first] = yield* admit(journal)
      yield* queue(journal, time, ["ax", "bx"], both)
      assert.deepStrictEqual(yield* admitted(journal), [])
      yield* queue(journal, time, ["ay"], both)
      assert.deepStrictEqual(yield* admitted(journal), ["ay"])
      assert(first !== undefined)
      yield* end(journal, first, time.now())
      // `a` has its turn in the region `x`, and is full by now.
      assert.deepStrictEqual(yield* admitted(journal), ["bx"])
    }))

  test("what left the queue leaves its turn to others", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each(9), each(1)])
      yield* queue(journal, time, ["cx", "ax", "bx"], (key) => [key.charAt(0), key.charAt(1)])
      const [first, ...others] = yield* admit(journal)
      assert.deepStrictEqual(others, [])
      yield* set(journal, "ax", cancelled(time))
      assert(first !== undefined)
      yield* end(journal, first, time.now())
      assert.deepStrictEqual(yield* admitted(journal), ["bx"])
    }))

  test("a rate admits so many together, then one at a time, and says when", ({ journal, losesAnswers, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [rate(2, 1_000)])
      yield* queue(journal, time, ["a", "b", "c", "d", "e"], flowWide)
      const at = time.now()
      const first = yield* journal.admit("me", orders, 10)
      assert.deepStrictEqual(idsOf(first.executions), ["id-a", "id-b"])
      // After a lost response it is called again.
      assert.isTrue(first.next === at + 500 || (losesAnswers && first.more))
      time.pass(499)
      assert.deepStrictEqual(yield* admitted(journal), [])
      time.pass(1)
      assert.deepStrictEqual(yield* admitted(journal), ["c"])
      const place = { limit: 0, key: null, place: 1, holders: [], admitsAt: at + 1_000 }
      assert.deepStrictEqual(yield* journal.queuePlace("id-d"), place)
      time.pass(10_000)
      assert.deepStrictEqual(yield* admitted(journal), ["d", "e"])
    }))

  test("each key has its rate", ({ journal, losesAnswers, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [rate(3, 1_000, true)])
      yield* queue(journal, time, ["a1", "a2", "a3", "a4", "a5"], letter)
      yield* admit(journal)
      const at = time.now()
      yield* queue(journal, time, ["b1"], letter)
      const second = yield* journal.admit("me", orders, 10)
      assert.deepStrictEqual(idsOf(second.executions), ["id-b1"])
      assert.isTrue(second.next === at + 334 || (losesAnswers && second.more))
      time.pass(333)
      assert.deepStrictEqual(yield* admitted(journal), ["a4"])
      time.pass(333)
      assert.deepStrictEqual(yield* admitted(journal), ["a5"])
    }))

  test("of many processes that admit at the same time none exceeds a limit", ({ journal, open, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each(2), whole(7)])
      const keys = ["a", "b", "c", "d", "e"].flatMap((letter) => Array.from({ length: 8 }, (_, n) => `${letter}${n}`))
      yield* queue(journal, time, keys, (key) => [key.charAt(0), null])
      const journals = [journal, yield* open, yield* open]
      const running = new Map<string, Execution>()
      let begun = 0
      const work = Effect.fnUntraced(function* (mine: TheJournal, n: number) {
        for (let misses = 0; misses < 20 && begun < keys.length;) {
          const executions = yield* admit(mine, 3, `process ${n}`)
          for (const execution of executions) {
            assert.strictEqual(execution.owner, `process ${n}`)
            assert.isFalse(running.has(execution.id))
            running.set(execution.id, execution)
          }
          begun += executions.length
          misses = executions.length === 0 ? misses + 1 : 0
          const counts = Map.groupBy(running.values(), ({ key }) => key.charAt(0))
          for (const [key, { length }] of counts) assert.isAtMost(length, 2, key)
          assert.isAtMost(running.size, 7)
          for (const execution of executions) {
            running.delete(execution.id)
            yield* end(mine, execution, time.now())
          }
        }
      })
      yield* Effect.forEach(journals, work, { concurrency: "unbounded", discard: true })
      yield* work(journal, 9)
      assert.strictEqual(begun, keys.length)
    }))

  test("one that leaves the queue is never admitted, and one that is suspended keeps its place", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each(1)])
      yield* queue(journal, time, ["a1", "a2", "a3", "a4"], letter)
      const [first] = yield* admit(journal)
      assert(first !== undefined)
      yield* set(journal, "a2", cancelled(time))
      const paused = yield* set(journal, "a3", { state: "suspended", wakeAt: null })
      assert.deepInclude(paused, { state: "suspended", queuedAt: begin + 3 })
      assert.deepInclude(yield* found(journal, "id-a2"), { state: "cancelled", queuedAt: null })
      assert.deepInclude(yield* journal.queuePlace("id-a4"), { place: 1 })
      assert.isNull(yield* journal.queuePlace("id-a3"))
      const back = yield* set(journal, "a3", { state: "queued", wakeAt: null })
      assert.deepInclude(back, { state: "queued", queuedAt: begin + 3 })
      assert.deepInclude(yield* journal.queuePlace("id-a4"), { place: 2 })
      yield* end(journal, first, time.now())
      const [second] = yield* admit(journal)
      assert.strictEqual(second?.id, "id-a3")
      assert(second !== undefined)
      yield* set(journal, "a4", { state: "suspended", wakeAt: null })
      yield* end(journal, second, time.now())
      assert.deepStrictEqual(yield* admitted(journal), [])
      yield* set(journal, "a4", { state: "queued", wakeAt: null })
      assert.deepStrictEqual(yield* admitted(journal), ["a4"])
    }))

  test("one that has ended and is retried queues again, at the end", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each(1)])
      yield* queue(journal, time, ["a1", "a2"], letter)
      const [first] = yield* admit(journal)
      assert(first !== undefined)
      yield* end(journal, first, time.now())
      time.pass(1)
      const again = yield* set(journal, "a1", { state: "queued", wakeAt: null, endedAt: null })
      assert.deepInclude(again, { queuedAt: time.now(), owner: null })
      const [second] = yield* admit(journal)
      assert.strictEqual(second?.id, "id-a2")
      assert(second !== undefined)
      yield* end(journal, second, time.now())
      assert.deepStrictEqual(yield* admitted(journal), ["a1"])
    }))

  test("the limits of the newest version hold for what is admitted from then on", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit({ ...orders, version: 2 }, [each(2)])
      yield* journal.limit(orders, [each(9)])
      yield* queue(journal, time, ["a1", "a2", "a3", "a4", "a5"], letter)
      assert.deepStrictEqual(yield* admitted(journal), ["a1", "a2"])
      yield* journal.limit({ ...orders, version: 2 }, [each(3)])
      assert.deepStrictEqual(yield* admitted(journal), ["a3"])
      assert.isTrue(yield* journal.limit({ ...orders, version: 3 }, []))
      assert.deepStrictEqual(yield* admitted(journal), ["a4", "a5"])
    }))

  test("only executions of the version are admitted, and all versions share the limits", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each(2)])
      yield* queue(journal, time, ["a1", "a2"], letter, { version: 2 })
      yield* queue(journal, time, ["a3", "a4"], letter)
      const [one] = yield* admit(journal, 1)
      assert.strictEqual(one?.id, "id-a3")
      assert.deepStrictEqual(idsOf(yield* admit(journal, 9, "me", 2)), ["id-a1"])
      assert.deepStrictEqual(yield* admitted(journal), [])
      assert(one !== undefined)
      yield* end(journal, one, time.now())
      assert.deepStrictEqual(idsOf(yield* admit(journal, 9, "me", 2)), ["id-a2"])
    }))

  test("a message to a queued one is stored, and wakes no process", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole(1)])
      yield* queue(journal, time, ["a", "b"], flowWide, { messages: [signal("first")] })
      assert.deepStrictEqual(yield* admitted(journal), ["a"])
      assert.deepStrictEqual(yield* journal.send("id-b", signal("go")), { outcome: "sent", owner: null })
      assert.deepInclude(yield* found(journal, "id-b"), { state: "queued", wakeAt: null, mail: 2 })
      assert.isNull(yield* journal.nextDue([orders]))
      assert.lengthOf((yield* historyOf(journal, "id-b")).messages, 2)
    }))

  test("the place in the queue: the limit, the key, who is ahead and who holds it", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole(9), each(1)])
      yield* queue(journal, time, ["a1", "a2", "a3", "b1"], (key) => [null, key.charAt(0)])
      yield* admit(journal)
      const place = { limit: 1, key: "a", holders: ["id-a1"], admitsAt: null }
      assert.deepStrictEqual(yield* journal.queuePlace("id-a2"), { ...place, place: 1 })
      assert.deepStrictEqual(yield* journal.queuePlace("id-a3"), { ...place, place: 2 })
      assert.isNull(yield* journal.queuePlace("id-a1"))
      assert.isNull(yield* journal.queuePlace("id-none"))
      yield* queue(journal, time, ["c1"], (key) => [null, key.charAt(0)])
      const free = { limit: null, key: null, place: 1, holders: [], admitsAt: null }
      assert.deepStrictEqual(yield* journal.queuePlace("id-c1"), free)
    }))

  test("one that expires after its end holds no slot", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole(1)])
      const [a] = yield* queue(journal, time, ["a"], flowWide)
      const [first] = yield* admit(journal)
      assert(a !== undefined && first !== undefined)
      yield* end(journal, first, time.now())
      yield* queue(journal, time, ["b"], flowWide)
      time.pass(hour)
      yield* journal.expire(["completed"], time.now(), 10)
      yield* journal.forget(time.now(), 10)
      assert.deepStrictEqual(yield* admitted(journal), ["b"])
    }))

  test("a slot that a process leaves behind is held by who takes its execution over", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole(1)])
      yield* queue(journal, time, ["a", "b"], flowWide)
      yield* admit(journal, 9, "dead")
      yield* journal.reap()
      assert.deepStrictEqual(yield* admitted(journal), [])
      const [again] = yield* journal.claim("me", [orders], time.now(), 9)
      assert(again !== undefined)
      yield* end(journal, again, time.now())
      assert.deepStrictEqual(yield* admitted(journal), ["b"])
    }))
})
