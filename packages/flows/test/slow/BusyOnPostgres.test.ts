/** Steps that keep the event loop of their process for longer than its lease, and processes that end while steps run. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Busy from "../support/drills/BusySuite.ts"

describe("a step that computes", () => {
  it.live("for twelve seconds in one of three processes ends once, and its process warns once", () =>
    Effect.scoped(Busy.endsOnce(12_000))
  )

  it.live("without end is halted after its third process, and costs its neighbours only time", () =>
    Effect.scoped(Busy.isHalted(6_000))
  )

  it.live("is seen from other processes, as are its neighbours; when its process is killed, others continue", () =>
    Effect.gen(function* () {
      const { all, store, watcher } = yield* Busy.fleet(1)
      const [owner = assert.fail()] = all
      yield* owner.ask({ do: "submit", n: 2, how: "idle", millis: 1_000 })
      yield* owner.ask({ do: "submit", n: 1, how: "native", millis: 12_000 })
      // Longer than the lease, which the thread renews.
      const [seen, neighbour] = yield* Effect.all([
        Busy.until(watcher, 1, ({ summary }) => /late by (8|9|10) s/.test(summary)),
        Busy.until(watcher, 2, ({ summary }) => /late by (8|9|10) s/.test(summary))
      ])
      assert.match(
        seen.summary,
        /runs pay, attempt 1, on .*; late by \d+ s: the event loop of the process on .* is blocked by the step pay$/
      )
      assert.match(neighbour.summary, /is blocked by the step pay of the execution /)
      yield* owner.kill
      const next = yield* Busy.start(store)
      const ended = yield* Busy.until(watcher, 1, ({ state }) => state === "completed")
      assert.deepStrictEqual(
        ended.steps.map(({ attempt, stalled }) => [attempt, stalled?.times]),
        [[1, 1]]
      )
      assert.strictEqual(Busy.begun([owner, next], 1), 2)
    }).pipe(Effect.scoped)
  )
})

describe("without its thread", () => {
  it.live("a process says so once, and a step may compute for 30 seconds", () =>
    Effect.gen(function* () {
      const { all, watcher } = yield* Busy.fleet(2, { thread: "missing" })
      const [owner = assert.fail()] = all
      yield* Busy.printed([owner], "does not run")
      yield* owner.ask({ do: "submit", n: 1, how: "sync", millis: 12_000 })
      yield* Busy.until(watcher, 1, ({ state }) => state === "completed")
      assert.strictEqual(Busy.begun(all, 1), 1)
      yield* Busy.printed([owner], "was blocked for")
      for (const process of all) assert.lengthOf(Busy.linesWith(process, "does not run"), 1)
      assert.match(Busy.linesWith(owner, "does not run")[0] ?? "", /set `leaseThread`/)
    }).pipe(Effect.scoped)
  )
})

describe("a process that is stopped", () => {
  it.live("loses its executions, since its thread is stopped too, and no step is blamed", () =>
    Effect.gen(function* () {
      const { all, watcher } = yield* Busy.fleet(2)
      const [owner = assert.fail()] = all
      yield* owner.ask({ do: "submit", n: 1, how: "idle", millis: 2_000 })
      yield* Busy.printed([owner], "begun 1")
      yield* owner.signal("SIGSTOP")
      const ended = yield* Busy.until(watcher, 1, ({ state }) => state === "completed")
      assert.deepStrictEqual(
        ended.steps.map(({ attempt, stalled }) => [attempt, stalled]),
        [[1, undefined]]
      )
      assert.strictEqual(Busy.begun(all, 1), 2)
      yield* owner.signal("SIGCONT")
      // It goes on with others.
      yield* owner.ask({ do: "submit", n: 2, how: "idle", millis: 1 })
      yield* Busy.until(watcher, 2, ({ state }) => state === "completed")
    }).pipe(Effect.scoped)
  )
})

describe("a process that is told to end", () => {
  it.live("lets a step end that takes longer than the lease", () =>
    Effect.gen(function* () {
      const { all, watcher } = yield* Busy.fleet(2)
      const [owner = assert.fail()] = all
      yield* owner.ask({ do: "submit", n: 1, how: "idle", millis: 9_000 })
      yield* Busy.printed([owner], "begun 1")
      yield* owner.signal("SIGTERM")
      const ended = yield* Busy.until(watcher, 1, ({ state }) => state === "completed")
      assert.deepStrictEqual(
        ended.steps.map(({ attempt }) => attempt),
        [1]
      )
      assert.strictEqual(Busy.begun(all, 1), 1)
    }).pipe(Effect.scoped)
  )

  it.live("interrupts one that takes longer than its grace, which costs no attempt", () =>
    Effect.gen(function* () {
      const { all, watcher } = yield* Busy.fleet(2)
      const [owner = assert.fail()] = all
      yield* owner.ask({ do: "submit", n: 1, how: "idle", millis: 13_000 })
      yield* Busy.printed([owner], "begun 1")
      yield* owner.signal("SIGTERM")
      const ended = yield* Busy.until(watcher, 1, ({ state }) => state === "completed")
      assert.deepStrictEqual(
        ended.steps.map(({ attempt, stalled }) => [attempt, stalled]),
        [[1, undefined]]
      )
      assert.strictEqual(Busy.begun(all, 1), 2)
    }).pipe(Effect.scoped)
  )
})
