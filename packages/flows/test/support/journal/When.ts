import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { rescheduled } from "../../../src/internal/model/Commands.ts"
import type { Change, ChangedTimes, Debounce, Execution, Limit } from "../../../src/internal/model/Execution.ts"
import {
  begin,
  create,
  created,
  end,
  found,
  historyOf,
  hour,
  idsOf,
  order,
  orders,
  part,
  signal,
  write
} from "./Bench.ts"

const whole: Limit = { keyed: false, concurrency: 1, rate: null }
const each: Limit = { keyed: true, concurrency: 1, rate: null }

/** An execution that starts in an hour. */
const later = (key: string, more: Parameters<typeof order>[1] = {}) =>
  order(key, { state: "queued", wakeAt: begin + hour, startsAt: begin + hour, ...more })

const change = (execution: Change["execution"]): Change => ({
  execution,
  aside: [],
  asideUndos: [],
  undos: [],
  taken: []
})

/** Reschedules an execution as the command does. */
const moving =
  (to: Partial<ChangedTimes>, now: number) =>
  ({ execution }: { readonly execution: Execution }) =>
    Effect.succeed(rescheduled(execution, { startsAt: null, priority: null, deadlineAt: null, ...to }, now))

const burst: Debounce = { key: "k", quietMillis: 1_000, mostMillis: 2_500 }
/** A call of a burst. */
const call = (id: string, more: Partial<ReturnType<typeof order>> = {}) => {
  const { key: _key, messages: _messages, owner: _owner, state: _state, wakeAt: _wakeAt, ...made } = order(id, more)
  return made
}

export const when = part("when executions start", (test) => {
  test("one that starts later is claimed at its time, and not before", ({ journal, time }) =>
    Effect.gen(function* () {
      const made = yield* create(journal, later("a", { limits: ["x"], priority: 7, deadlineAt: begin + 2 * hour }))
      const times = { startsAt: begin + hour, priority: 7, deadlineAt: begin + 2 * hour } as const
      const { messages: _, ...row } = later("a", { limits: ["x"] })
      assert.deepStrictEqual(made, created("a", { ...row, ...times }))
      assert.deepStrictEqual(yield* journal.find("id-a"), made)
      assert.strictEqual(yield* journal.nextDue([orders]), begin + hour)
      assert.isNull(yield* journal.queuePlace("id-a"))
      assert.isNull(yield* journal.claimOne("me", "id-a"))
      time.pass(hour - 1)
      assert.deepStrictEqual(yield* journal.claim("me", [orders], time.now(), 5), [])
      time.pass(1)
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 5)
      assert.deepInclude(claimed, { ...times, id: "id-a", state: "queued", owner: "me", epoch: 1 })
    }))

  test("a message and a command that is sent do not start it earlier", ({ journal }) =>
    Effect.gen(function* () {
      yield* create(journal, later("a"))
      yield* journal.send("id-a", signal("go"))
      yield* journal.change("id-a", () => Effect.succeed({ ...change({}), keepsOwner: true, command: "suspend" }))
      assert.deepInclude(yield* found(journal, "id-a"), { wakeAt: begin + hour, mail: 2 })
      assert.deepStrictEqual(yield* journal.claim("me", [orders], begin, 5), [])
    }))

  test("a suspended one comes back to its time, and enters no queue before", ({ journal }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole])
      yield* create(journal, later("a", { limits: [null] }))
      yield* journal.change("id-a", () => Effect.succeed(change({ state: "suspended", wakeAt: null })))
      assert.isNull(yield* journal.nextDue([orders]))
      yield* journal.change("id-a", () => Effect.succeed(change({ state: "queued", wakeAt: begin + hour })))
      assert.deepInclude(yield* found(journal, "id-a"), { queuedAt: null, startsAt: begin + hour })
      assert.deepStrictEqual((yield* journal.admit("me", orders, 5)).executions, [])
      assert.strictEqual(yield* journal.nextDue([orders]), begin + hour)
    }))

  test("the first write of its owner says that it has begun", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* create(journal, later("a"))
      time.pass(hour)
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 5)
      assert(claimed !== undefined)
      yield* journal.write(claimed, write({ execution: { state: "running", startsAt: null } }))
      assert.deepInclude(yield* found(journal, "id-a"), { state: "running", startsAt: null })
    }))

  test("one with limits is put into its queue by its owner", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole])
      yield* create(journal, later("a", { limits: [null], deadlineAt: begin + 3 * hour }))
      time.pass(hour)
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 5)
      assert(claimed !== undefined)
      yield* journal.enqueue({ ...claimed, epoch: 0 })
      assert.deepInclude(yield* found(journal, "id-a"), { queuedAt: null, owner: "me" })
      yield* journal.enqueue(claimed)
      const queued = {
        state: "queued",
        owner: null,
        startsAt: null,
        queuedAt: time.now(),
        wakeAt: begin + 3 * hour
      } as const
      assert.deepInclude(yield* found(journal, "id-a"), queued)
      time.pass(1)
      yield* journal.enqueue(claimed)
      assert.deepInclude(yield* found(journal, "id-a"), queued)
      assert.deepStrictEqual(idsOf((yield* journal.admit("me", orders, 5)).executions), ["id-a"])
    }))

  test("what is queued is due at its deadline, and leaves its queue when it ends", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole])
      const queued = { state: "queued", limits: [null] } as const
      yield* create(journal, order("a", { ...queued, wakeAt: begin + hour, deadlineAt: begin + hour }))
      time.pass(1)
      yield* create(journal, order("b", { ...queued, wakeAt: null }))
      assert.strictEqual((yield* journal.queuePlace("id-b"))?.place, 2)
      time.pass(hour)
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 5)
      assert.deepInclude(claimed, { id: "id-a", state: "queued", queuedAt: begin })
      assert(claimed !== undefined)
      const over = { state: "failed", owner: null, wakeAt: null, endedAt: time.now(), queuedAt: null } as const
      yield* journal.write(claimed, write({ execution: over }))
      assert.deepInclude(yield* found(journal, "id-a"), over)
      assert.strictEqual((yield* journal.queuePlace("id-b"))?.place, 1)
      assert.deepStrictEqual(idsOf((yield* journal.admit("me", orders, 5)).executions), ["id-b"])
    }))

  test("priorities order the executions of a lane, and no lane before another", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each, whole])
      const keys: ReadonlyArray<readonly [string, number]> = [
        ["a1", -1],
        ["b1", 0],
        ["a2", 0],
        ["a3", 1_000],
        ["b2", 5],
        ["a4", 0]
      ]
      for (const [key, priority] of keys) {
        time.pass(1)
        const limits = [key.charAt(0), null]
        yield* create(journal, order(key, { state: "queued", wakeAt: null, limits, priority }))
      }
      assert.strictEqual((yield* journal.queuePlace("id-a1"))?.place, 4)
      assert.strictEqual((yield* journal.queuePlace("id-a4"))?.place, 3)
      const all: Array<string> = []
      for (const _ of keys) {
        const [next] = (yield* journal.admit("me", orders, 5)).executions
        assert(next !== undefined)
        all.push(next.key)
        time.pass(1)
        yield* end(journal, next, time.now())
      }
      assert.deepStrictEqual(all, ["a3", "b2", "a2", "b1", "a4", "a1"])
    }))

  test("what is rescheduled to a later time leaves its queue, and is due then", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole])
      const queued = { state: "queued", wakeAt: null, limits: [null] } as const
      yield* create(journal, order("a", queued))
      time.pass(1)
      yield* create(journal, order("b", queued))
      yield* journal.change("id-a", moving({ startsAt: begin + hour }, time.now()))
      const moved = { state: "queued", queuedAt: null, startsAt: begin + hour, wakeAt: begin + hour } as const
      assert.deepInclude(yield* found(journal, "id-a"), moved)
      assert.strictEqual((yield* journal.queuePlace("id-b"))?.place, 1)
      assert.deepStrictEqual(idsOf((yield* journal.admit("me", orders, 5)).executions), ["id-b"])
      assert.strictEqual(yield* journal.nextDue([orders]), begin + hour)
      time.pass(hour)
      assert.deepStrictEqual(idsOf(yield* journal.claim("me", [orders], time.now(), 5)), ["id-a"])
    }))

  test("what is rescheduled to a time that has passed is due now, and keeps its place in a queue", ({
    journal,
    time
  }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole])
      const queued = { state: "queued", wakeAt: null, limits: [null] } as const
      yield* create(journal, order("a", queued))
      time.pass(1)
      yield* create(journal, order("b", queued))
      yield* create(journal, later("c"))
      yield* journal.change("id-a", moving({ startsAt: begin }, time.now()))
      yield* journal.change("id-c", moving({ startsAt: begin }, time.now()))
      assert.deepInclude(yield* found(journal, "id-a"), { queuedAt: begin, startsAt: null })
      assert.strictEqual((yield* journal.queuePlace("id-a"))?.place, 1)
      assert.deepInclude(yield* found(journal, "id-c"), { startsAt: time.now(), wakeAt: time.now() })
      assert.deepStrictEqual(idsOf(yield* journal.claim("me", [orders], time.now(), 5)), ["id-c"])
    }))

  test("a priority that is changed changes the order of a queue", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [whole])
      for (const key of ["a", "b", "c"]) {
        time.pass(1)
        yield* create(journal, order(key, { state: "queued", wakeAt: null, limits: [null] }))
      }
      yield* journal.change("id-c", moving({ priority: 5, deadlineAt: begin + hour }, time.now()))
      yield* journal.change("id-a", moving({ priority: -5 }, time.now()))
      assert.deepInclude(yield* found(journal, "id-c"), { priority: 5, wakeAt: begin + hour, queuedAt: begin + 3 })
      const all: Array<string> = []
      for (const _ of "abc") {
        const [next] = (yield* journal.admit("me", orders, 5)).executions
        assert(next !== undefined)
        all.push(next.key)
        yield* end(journal, next, time.now())
      }
      assert.deepStrictEqual(all, ["c", "b", "a"])
    }))

  test("the process that has claimed what is rescheduled writes nothing of it", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* create(journal, later("a"))
      time.pass(hour)
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 5)
      assert(claimed !== undefined)
      yield* journal.change("id-a", moving({ startsAt: begin + 2 * hour }, time.now()))
      const begins = write({ execution: { state: "running", startsAt: null } })
      assert.strictEqual((yield* Effect.flip(journal.write(claimed, begins)))._tag, "OwnershipLost")
      assert.deepStrictEqual(yield* journal.claim("me", [orders], time.now(), 5), [])
      assert.deepInclude(yield* found(journal, "id-a"), { state: "queued", owner: null, startsAt: begin + 2 * hour })
    }))

  test("what is rescheduled while it is suspended stays so, and comes back at its new time", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* create(journal, later("a"))
      yield* journal.change("id-a", () => Effect.succeed(change({ state: "suspended", wakeAt: null })))
      yield* journal.change("id-a", moving({ startsAt: begin + 2 * hour }, time.now()))
      const held = { state: "suspended", wakeAt: null, startsAt: begin + 2 * hour } as const
      assert.deepInclude(yield* found(journal, "id-a"), held)
      assert.isNull(yield* journal.nextDue([orders]))
    }))

  test("a retry has no start and no deadline", ({ journal }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a", { deadlineAt: begin + hour }))
      yield* journal.change("id-a", () =>
        Effect.succeed(change({ state: "waiting", deadlineAt: null, startsAt: null }))
      )
      assert.deepInclude(yield* found(journal, "id-a"), { deadlineAt: null, startsAt: null })
    }))
})

export const many = part("many executions", (test) => {
  const all = (keys: ReadonlyArray<string>, more: Parameters<typeof order>[1] = {}) =>
    keys.map((key) => {
      const { flow: _flow, messages: _messages, owner: _owner, ...made } = order(key, more)
      return made
    })

  test("are created together, in order, and those that exist are joined", ({ journal }) =>
    Effect.gen(function* () {
      yield* create(journal, order("b"))
      const given = all(["c", "b", "a"], { tags: ["t"] }).map((one) => ({ ...one, id: `new-${one.key}` }))
      const answer = yield* journal.createMany("orders", [
        ...given,
        ...given.slice(0, 1).map((one) => ({ ...one, id: "new-c2" }))
      ])
      assert(answer._tag === "Created")
      assert.deepStrictEqual(idsOf(answer.executions), ["new-c", "id-b", "new-a", "new-c"])
      assert.deepStrictEqual(idsOf(answer.created).toSorted(), ["new-a", "new-c"])
      assert.deepStrictEqual(yield* found(journal, "new-a"), created("a", { id: "new-a", tags: ["t"] }))
      assert.deepStrictEqual(idsOf(yield* journal.list({ tag: "t", limit: 9 })), ["new-c", "new-a"])
      assert.isNull(yield* journal.find("new-b"))
    }))

  test("a thousand are queued and admitted", ({ journal, losesAnswers }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [{ keyed: false, concurrency: 2_000, rate: null }])
      const keys = Array.from({ length: losesAnswers ? 30 : 1_000 }, (_, n) => `${n}`)
      const answer = yield* journal.createMany("orders", all(keys, { state: "queued", wakeAt: null, limits: [null] }))
      assert(answer._tag === "Created")
      assert.deepStrictEqual(
        idsOf(answer.executions),
        keys.map((key) => `id-${key}`)
      )
      let count = 0
      for (let more = true; more;) {
        const admitted = yield* journal.admit("me", orders, 300)
        count += admitted.executions.length
        more = admitted.executions.length > 0
      }
      assert.strictEqual(count, keys.length)
    }))

  test("none is created when the execution of one has expired", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* create(journal, order("b", { owner: "me" }))
      yield* end(journal, { id: "id-b", epoch: 1 }, time.now())
      time.pass(1)
      yield* journal.expire(["completed"], time.now(), 5)
      const answer = yield* journal.createMany("orders", all(["a", "b"]))
      assert.strictEqual(answer._tag, "Expired")
      assert.isNull(yield* journal.find("id-a"))
    }))

  test("calls with the same keys in another order do not hinder each other", ({ open }) =>
    Effect.gen(function* () {
      const [one, two] = [yield* open, yield* open]
      const keys = Array.from({ length: 60 }, (_, n) => `${n}`)
      const limited = { state: "queued", wakeAt: null } as const
      const given = (prefix: string, list: ReadonlyArray<string>) =>
        all(list, limited).map((made) => ({ ...made, id: `${prefix}-${made.key}`, limits: [made.key] }))
      const answers = yield* Effect.all(
        [one.createMany("orders", given("one", keys)), two.createMany("orders", given("two", keys.toReversed()))],
        { concurrency: 2 }
      )
      const ids = answers.map((answer) => (answer._tag === "Created" ? new Set(idsOf(answer.executions)) : new Set()))
      assert.deepStrictEqual(ids[0], ids[1])
      assert.strictEqual(ids[0]?.size, keys.length)
    }))
})

export const debounces = part("bursts of calls", (test) => {
  test("are one execution with the last input, that starts when they are quiet, or at the latest", ({
    journal,
    time
  }) =>
    Effect.gen(function* () {
      const first = yield* journal.debounce(call("a", { tags: ["x"], priority: 3 }), burst)
      assert.isTrue(first.isNew || first.execution.id === "id-a")
      const key = `k ${new Date(begin).toISOString()}`
      assert.deepStrictEqual(
        yield* found(journal, "id-a"),
        created("a", { key, tags: ["x"], priority: 3, state: "queued", startsAt: begin + 1_000, wakeAt: begin + 1_000 })
      )
      time.pass(900)
      const second = yield* journal.debounce(call("b", { input: 2, tags: ["y"] }), burst)
      const now = { id: "id-a", input: 2, tags: ["y"], startsAt: begin + 1_900, wakeAt: begin + 1_900 } as const
      assert.deepInclude(second, { isNew: false })
      assert.deepInclude(second.execution, now)
      assert.deepInclude(yield* found(journal, "id-a"), { ...now, priority: 3 })
      assert.deepStrictEqual(idsOf(yield* journal.list({ tag: "x", limit: 9 })), [])
      assert.deepStrictEqual(idsOf(yield* journal.list({ tag: "y", limit: 9 })), ["id-a"])
      time.pass(900)
      yield* journal.debounce(call("c"), burst)
      assert.deepInclude(yield* found(journal, "id-a"), { startsAt: begin + 2_500 })
      assert.isNull(yield* journal.find("id-c"))
    }))

  test("begin another one after the first has been claimed or has ended", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.debounce(call("a"), burst)
      time.pass(1_000)
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 5)
      assert.strictEqual(claimed?.id, "id-a")
      yield* journal.debounce(call("b"), burst)
      assert.deepInclude(yield* found(journal, "id-b"), { startsAt: time.now() + 1_000 })
      assert.deepStrictEqual((yield* found(journal, "id-a")).input, { order: "a" })
      yield* journal.change("id-b", () =>
        Effect.succeed(change({ state: "cancelled", endedAt: time.now(), wakeAt: null }))
      )
      time.pass(1)
      yield* journal.debounce(call("c"), burst)
      assert.deepInclude(yield* found(journal, "id-c"), { state: "queued" })
    }))

  test("with other keys and of other flows are others", ({ journal }) =>
    Effect.gen(function* () {
      yield* journal.debounce(call("a"), burst)
      yield* journal.debounce(call("b"), { ...burst, key: "K" })
      yield* journal.debounce(call("c", { flow: "others" }), burst)
      for (const key of ["a", "b", "c"]) assert.deepInclude(yield* found(journal, `id-${key}`), { state: "queued" })
    }))

  test("leave and change the queue of their limits", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each])
      yield* journal.debounce(call("a", { limits: ["x"] }), burst)
      time.pass(1_000)
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 5)
      assert(claimed !== undefined)
      yield* journal.enqueue(claimed)
      yield* journal.debounce(call("b", { limits: ["y"] }), burst)
      assert.deepInclude(yield* found(journal, "id-a"), { limits: ["y"], queuedAt: null, startsAt: begin + 2_000 })
      assert.deepStrictEqual((yield* journal.admit("me", orders, 5)).executions, [])
      time.pass(1_000)
      const [again] = yield* journal.claim("me", [orders], time.now(), 5)
      assert(again !== undefined)
      yield* journal.enqueue(again)
      time.pass(600)
      // At the latest was 100 ms ago: it keeps its place, under its new key.
      yield* journal.debounce(call("c", { limits: ["z"] }), burst)
      assert.deepInclude(yield* found(journal, "id-a"), { limits: ["z"], queuedAt: begin + 2_000, startsAt: null })
      assert.deepStrictEqual(idsOf((yield* journal.admit("me", orders, 5)).executions), ["id-a"])
    }))

  test("replace one that a process is about to queue, which then no longer does", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.limit(orders, [each])
      yield* journal.debounce(call("a", { limits: ["x"] }), burst)
      time.pass(1_000)
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 5)
      assert(claimed !== undefined)
      const { execution } = yield* journal.debounce(call("b", { input: 2, limits: ["x"] }), burst)
      assert.strictEqual(execution.id, "id-a")
      yield* journal.enqueue(claimed)
      const delayed = { input: 2, owner: null, state: "queued", queuedAt: null, startsAt: begin + 2_000 } as const
      assert.deepInclude(yield* found(journal, "id-a"), delayed)
      time.pass(1_000)
      const [again] = yield* journal.claim("me", [orders], time.now(), 5)
      assert(again !== undefined)
      yield* journal.enqueue(again)
      assert.deepStrictEqual(idsOf((yield* journal.admit("me", orders, 5)).executions), ["id-a"])
    }))

  test("keep a suspended one suspended", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.debounce(call("a"), burst)
      yield* journal.change("id-a", () => Effect.succeed(change({ state: "suspended", wakeAt: null })))
      time.pass(500)
      yield* journal.debounce(call("b", { input: 2 }), burst)
      const paused = { state: "suspended", input: 2, wakeAt: null, startsAt: begin + 1_500 } as const
      assert.deepInclude(yield* found(journal, "id-a"), paused)
    }))

  test("that come together from several processes are one", ({ open }) =>
    Effect.gen(function* () {
      const [one, two] = [yield* open, yield* open]
      const ids = Array.from({ length: 20 }, (_, n) => `${n}`)
      const made = yield* Effect.forEach(ids, (id, n) => (n % 2 === 0 ? one : two).debounce(call(id), burst), {
        concurrency: 8
      })
      assert.strictEqual(new Set(made.map(({ execution }) => execution.id)).size, 1)
      const history = yield* historyOf(one, made[0]?.execution.id ?? "")
      assert.strictEqual(history.execution.state, "queued")
    }))

  test("are forgotten a day after the last one, unless it waits", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* journal.debounce(call("a"), burst)
      yield* journal.debounce(call("b"), { ...burst, key: "held" })
      yield* journal.change("id-b", () => Effect.succeed(change({ state: "suspended", wakeAt: null })))
      yield* journal.change("id-a", () => Effect.succeed(change({ state: "cancelled", endedAt: begin, wakeAt: null })))
      time.pass(25 * hour)
      yield* journal.debounce(call("c"), { ...burst, key: "other" })
      yield* journal.debounce(call("d"), { ...burst, key: "held" })
      assert.isNull(yield* journal.find("id-d"))
    }))
})
