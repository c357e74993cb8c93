/**
 * On Postgres, what happens while something is done and not yet committed.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Change, Write } from "../../../src/internal/model/Execution.ts"
import { until } from "../Polling.ts"
import {
  entry,
  found,
  historyOf,
  order,
  orders,
  owned,
  register,
  signal,
  type TheJournal,
  undo,
  write
} from "./Bench.ts"

/** A process: its journal, and the client of that. */
export interface Process {
  readonly journal: TheJournal
  readonly sql: SqlClient
}

interface Both {
  readonly one: Process
  readonly two: Process
}

/** Does something in a transaction that is open until the returned effect is run, which commits it. */
const hold = Effect.fnUntraced(function* <A, E>({ sql }: Process, effect: Effect.Effect<A, E>) {
  const done = Latch.makeUnsafe()
  const gate = Latch.makeUnsafe()
  const fiber = yield* Effect.forkScoped(
    sql.withTransaction(Effect.tap(effect, () => Effect.andThen(done.open, gate.await)))
  )
  yield* Effect.raceFirst(done.await, Fiber.join(fiber))
  return Effect.andThen(gate.open, Fiber.join(fiber))
})

/** Begins something, and returns when it waits for a lock that `by` has. */
const begun = Effect.fnUntraced(function* <A, E>({ sql }: Process, effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkScoped(effect)
  const waiting = sql<{ readonly waiting: number }>`
    SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query LIKE '%flow_%' AND datname = current_database()`
  yield* until(Effect.map(waiting, ([row]) => (row?.waiting ?? 0) > 0))
  return fiber
})

const kinds: Readonly<Record<string, Partial<Write>>> = {
  "of the execution": { execution: { state: "completed", result: 1, owner: null, endedAt: 1 } },
  "of entries": { entries: [entry("s", { state: "succeeded", ended: 2 }), entry("t", { begun: 3 })] },
  "of undos": { undos: [undo("s", { state: "done" }), undo("t")] },
  "that takes messages": { taken: [1], seen: 1 },
  "of tags": { execution: { tags: ["t"] } },
  "of a new chapter": { execution: { chapter: 1, input: 2 }, newChapter: true, seen: 1 },
  "of everything": {
    execution: { state: "waiting", wakeAt: 9, tags: ["t"] },
    entries: [entry("t", { begun: 3 })],
    undos: [undo("t")],
    taken: [1],
    seen: 1
  }
}

const burst = { key: "k", quietMillis: 1_000, mostMillis: 60_000 }
/** A call of a burst. */
const call = (key: string, more: Parameters<typeof order>[1] = {}) => {
  const { key: _key, messages: _messages, owner: _owner, state: _state, wakeAt: _wakeAt, ...made } = order(key, more)
  return made
}

const change = (more: Partial<Change>): Change => ({
  execution: {},
  aside: [],
  asideUndos: [],
  undos: [],
  taken: [],
  ...more
})

/** An execution of a process that is gone, with one row of each kind. */
const abandoned = Effect.fnUntraced(function* ({ one, two }: Both) {
  yield* register(two.journal, "two")
  yield* one.journal.create(order("a", { owner: "gone", messages: [signal("go")] }))
  const fence = { id: "id-a", epoch: 1 }
  yield* one.journal.write(fence, write({ entries: [entry("s")], undos: [undo("s")] }))
  return fence
})

export const held = (make: Effect.Effect<Both, never, Scope.Scope>): void => {
  const test = (title: string, body: (both: Both) => Effect.Effect<void, unknown, Scope.Scope>) =>
    it.live(title, () => Effect.scoped(Effect.flatMap(make, body)))

  describe("the journal on Postgres: what is not yet committed", () => {
    for (const [name, more] of Object.entries(kinds)) {
      test(`a write ${name} that waits for a claim is refused, and changes nothing`, ({ one, two }) =>
        Effect.gen(function* () {
          const fence = yield* abandoned({ one, two })
          const before = yield* historyOf(one.journal, "id-a")
          const commit = yield* hold(two, two.journal.claimOne("two", "id-a"))
          const writing = yield* begun(two, Effect.flip(one.journal.write(fence, write(more))))
          yield* commit
          assert.strictEqual((yield* Fiber.join(writing))._tag, "OwnershipLost")
          const after = yield* historyOf(one.journal, "id-a")
          const { changedAt } = after.execution
          assert.deepStrictEqual(after, {
            ...before,
            execution: { ...before.execution, owner: "two", epoch: 2, changedAt }
          })
          assert.deepStrictEqual(yield* one.journal.aside("id-a"), [])
        }))

      test(`a claim waits for a write ${name} that is in progress, and sees all of it`, ({ one, two }) =>
        Effect.gen(function* () {
          const fence = yield* abandoned({ one, two })
          yield* two.journal.send("id-a", signal("more"))
          const commit = yield* hold(one, one.journal.write(fence, write(more)))
          assert.deepStrictEqual(yield* two.journal.claim("two", [orders], Date.now() + 1e9, 5), [])
          assert.strictEqual((yield* historyOf(two.journal, "id-a")).execution.epoch, 1)
          const reaped = yield* two.journal.reap()
          assert.strictEqual(reaped, 0)
          const claiming = yield* begun(two, two.journal.claimOne("two", "id-a"))
          yield* commit
          const claimed = yield* Fiber.join(claiming)
          const history = yield* historyOf(two.journal, "id-a")
          if (more.execution?.state === "completed") {
            assert.isNull(claimed)
            return
          }
          assert.deepInclude(claimed, { owner: "two", epoch: 2, ...more.execution })
          for (const put of more.entries ?? []) assert.deepInclude(history.entries, put)
          for (const put of more.undos ?? []) assert.deepInclude(history.undos, put)
          for (const seq of more.taken ?? [])
            assert.notInclude(
              history.messages.map((message) => message.seq),
              seq
            )
          const error = yield* Effect.flip(one.journal.write(fence, write()))
          assert.strictEqual(error._tag, "OwnershipLost")
        }))
    }

    test("a write that waits for a change is refused", ({ one, two }) =>
      Effect.gen(function* () {
        const fence = yield* abandoned({ one, two })
        const halted = two.journal.change("id-a", () => Effect.succeed(change({ execution: { state: "halted" } })))
        const commit = yield* hold(two, halted)
        const writing = yield* begun(two, Effect.flip(one.journal.write(fence, write({ entries: [entry("t")] }))))
        yield* commit
        assert.strictEqual((yield* Fiber.join(writing))._tag, "OwnershipLost")
        assert.deepInclude(yield* found(one.journal, "id-a"), { state: "halted", owner: null, epoch: 2 })
      }))

    test("a write by which steps begin waits for a command, and is refused", ({ one, two }) =>
      Effect.gen(function* () {
        const fence = yield* abandoned({ one, two })
        const suspended = two.journal.change("id-a", () =>
          Effect.succeed(change({ keepsOwner: true, command: "suspend" }))
        )
        const commit = yield* hold(two, suspended)
        const beginning = write({ entries: [entry("t", { begun: 3 })], begins: true, seen: 1 })
        const writing = yield* begun(two, one.journal.write(fence, beginning))
        yield* commit
        assert.isFalse(yield* Fiber.join(writing))
        const { entries, execution } = yield* historyOf(one.journal, "id-a")
        assert.deepStrictEqual(
          entries.map(({ path }) => path),
          ["s"]
        )
        assert.deepInclude(execution, { owner: "gone", epoch: 1 })
      }))

    test("a change waits for a write in progress, and decides on its result", ({ one, two }) =>
      Effect.gen(function* () {
        const fence = yield* abandoned({ one, two })
        const commit = yield* hold(one, one.journal.write(fence, write({ entries: [entry("t", { begun: 2 })] })))
        const counted = two.journal.change("id-a", ({ entries }) =>
          Effect.succeed(change({ execution: { round: entries.length } }))
        )
        const changing = yield* begun(two, counted)
        yield* commit
        assert.deepInclude(yield* Fiber.join(changing), { round: 2, epoch: 2 })
      }))

    test("a message that waits for the release of a claim wakes the execution", ({ one, two }) =>
      Effect.gen(function* () {
        const fence = yield* abandoned({ one, two })
        const released = { owner: null, wakeAt: null, state: "waiting" } as const
        const commit = yield* hold(one, one.journal.write(fence, write({ execution: released, seen: 1 })))
        const sending = yield* begun(two, two.journal.send("id-a", signal("late")))
        yield* commit
        assert.deepStrictEqual(yield* Fiber.join(sending), { outcome: "sent", owner: null })
        assert.isNotNull((yield* found(one.journal, "id-a")).wakeAt)
      }))

    test("a release of a claim that waits for a message wakes the execution", ({ one, two }) =>
      Effect.gen(function* () {
        const fence = yield* abandoned({ one, two })
        const commit = yield* hold(two, two.journal.send("id-a", signal("late")))
        const released = { owner: null, wakeAt: null, state: "waiting" } as const
        const releasing = yield* begun(two, one.journal.write(fence, write({ execution: released, seen: 1 })))
        yield* commit
        yield* Fiber.join(releasing)
        assert.isNotNull((yield* found(one.journal, "id-a")).wakeAt)
      }))

    test("a message that waits for an equal one is repeated, and no number is left out", ({ one, two }) =>
      Effect.gen(function* () {
        yield* abandoned({ one, two })
        const commit = yield* hold(one, one.journal.send("id-a", signal("late")))
        const sending = yield* begun(two, two.journal.send("id-a", signal("late")))
        yield* commit
        assert.strictEqual((yield* Fiber.join(sending)).outcome, "repeated")
        assert.strictEqual((yield* found(one.journal, "id-a")).mail, 2)
      }))

    test("of writes that come together, one waits for its row, one is refused, and the others do not wait", ({
      one,
      two
    }) =>
      Effect.gen(function* () {
        yield* register(one.journal, "one")
        const fences = yield* Effect.forEach(["a", "b", "c", "d"], (key) => owned(one.journal, key, { owner: "one" }))
        const [held, lost, ...others] = fences
        assert(held !== undefined && lost !== undefined)
        const step = write({ entries: [entry("s", { state: "succeeded", ended: 2 })], seen: 0 })
        const commit = yield* hold(two, two.journal.send(held.id, signal("late")))
        const waiting = yield* Effect.forkScoped(one.journal.write(held, step))
        const refused = yield* Effect.forkScoped(Effect.flip(one.journal.write({ ...lost, epoch: 7 }, step)))
        const written = yield* Effect.forkScoped(
          Effect.forEach(others, (fence) => one.journal.write(fence, step), { concurrency: "unbounded" })
        )
        assert.deepStrictEqual(yield* Fiber.join(written), [true, true])
        assert.strictEqual((yield* Fiber.join(refused))._tag, "OwnershipLost")
        for (const [n, { id }] of fences.entries()) {
          const { entries } = yield* historyOf(two.journal, id)
          assert.lengthOf(entries, n < 2 ? 0 : 1)
        }
        yield* commit
        assert.isTrue(yield* Fiber.join(waiting))
        assert.lengthOf((yield* historyOf(two.journal, held.id)).entries, 1)
      }))

    test("of executions that are created together, only one whose key is held waits for it", ({ one, two }) =>
      Effect.gen(function* () {
        const commit = yield* hold(two, two.journal.create(order("a", { id: "other" })))
        const waiting = yield* Effect.forkScoped(one.journal.create(order("a")))
        const answers = yield* Effect.forEach(["b", "c"], (key) => one.journal.create(order(key)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          answers.map(({ _tag }) => _tag),
          ["Created", "Created"]
        )
        yield* commit
        const answer = yield* Fiber.join(waiting)
        assert(answer._tag === "Existing")
        assert.strictEqual(answer.execution.id, "other")
      }))

    test("an execution that is being created is created once", ({ one, two }) =>
      Effect.gen(function* () {
        const commit = yield* hold(one, one.journal.create(order("a")))
        const creating = yield* begun(two, two.journal.create(order("a", { id: "other", tags: ["t"] })))
        yield* commit
        const answer = yield* Fiber.join(creating)
        assert(answer._tag === "Existing")
        assert.strictEqual(answer.execution.id, "id-a")
        assert.deepStrictEqual(yield* two.journal.list({ tag: "t", limit: 1 }), [])
      }))

    test("the key of an execution that is about to expire belongs to it at every moment", ({ one, two }) =>
      Effect.gen(function* () {
        const fence = yield* abandoned({ one, two })
        yield* one.journal.write(fence, write({ execution: { state: "completed", owner: null, endedAt: 1 } }))
        const commit = yield* hold(one, one.journal.expire(["completed"], 2, 10))
        const creating = yield* begun(two, two.journal.create(order("a", { id: "other" })))
        yield* commit
        assert.strictEqual((yield* Fiber.join(creating))._tag, "Expired")
      }))

    test("a call of a burst waits for a claim of its execution, and begins another one", ({ one, two }) =>
      Effect.gen(function* () {
        yield* one.journal.debounce(call("a"), burst)
        const commit = yield* hold(one, one.journal.claim("one", [orders], Date.now() + 60_000, 5))
        const calling = yield* begun(two, two.journal.debounce(call("b"), burst))
        yield* commit
        assert.deepInclude(yield* Fiber.join(calling), { isNew: true })
        assert.deepInclude(yield* found(one.journal, "id-a"), { input: { order: "a" }, owner: "one" })
        assert.deepInclude(yield* found(one.journal, "id-b"), { input: { order: "b" }, owner: null })
      }))

    test("a claim passes over an execution whose burst goes on, and gets its last input later", ({ one, two }) =>
      Effect.gen(function* () {
        yield* one.journal.debounce(call("a"), burst)
        const commit = yield* hold(one, one.journal.debounce(call("b"), burst))
        assert.deepStrictEqual(yield* two.journal.claim("two", [orders], Date.now() + 60_000, 5), [])
        yield* commit
        const [claimed] = yield* two.journal.claim("two", [orders], Date.now() + 60_000, 5)
        assert.deepInclude(claimed, { id: "id-a", input: { order: "b" } })
      }))

    test("a call of a burst waits for an admission, and an admission for a call", ({ one, two }) =>
      Effect.gen(function* () {
        yield* one.journal.limit(orders, [{ keyed: true, concurrency: 1, rate: null }])
        const queued = Effect.fnUntraced(function* (key: string) {
          yield* one.journal.debounce(call(key, { limits: ["x"] }), burst)
          const [claimed] = yield* one.journal.claim("one", [orders], Date.now() + 60_000, 5)
          assert(claimed !== undefined)
          yield* one.journal.enqueue(claimed)
        })
        yield* queued("a")
        const admitted = yield* hold(one, one.journal.admit("one", orders, 5))
        const calling = yield* begun(two, two.journal.debounce(call("b", { limits: ["x"] }), burst))
        yield* admitted
        assert.deepInclude(yield* Fiber.join(calling), { isNew: true })
        yield* one.journal.change("id-b", () =>
          Effect.succeed(change({ execution: { state: "cancelled", endedAt: 1, wakeAt: null } }))
        )
        yield* queued("c")
        const called = yield* hold(one, one.journal.debounce(call("d", { limits: ["y"] }), burst))
        const admitting = yield* begun(two, two.journal.admit("two", orders, 5))
        yield* called
        assert.deepStrictEqual((yield* Fiber.join(admitting)).executions, [])
        assert.deepInclude(yield* found(one.journal, "id-c"), { limits: ["y"], queuedAt: null })
      }))
  })
}
