/**
 * Virtual time of the control room for tests: what has nothing to do sleeps, and nothing is missed for it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as Workers from "@signalbox/api/Workers"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Task from "@signalbox/worker/Task"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Testing from "../src/Testing.ts"

const silent = Logger.layer([])

/** Days of sleep that its payload asks for. */
const sleeper = Task.make("sleeper", {
  input: Schema.Struct({ days: Schema.Finite }),
  output: Schema.Struct({ at: Schema.Finite }),
  run: Effect.fnUntraced(function* ({ payload: { days } }) {
    yield* Effect.sleep(`${days} days`)
    return { at: yield* Clock.currentTimeMillis }
  })
})

const process = Processes.put({ name: "sleepers", steps: [{ name: "sleep", task: { name: "sleeper" } }] })

const startedWith = Effect.fnUntraced(function* (days: number) {
  const run = yield* ProcessRuns.start((yield* process).id, { payloads: [{ days }] })
  return run.started ? run.id : yield* Effect.die("not started")
})

/** How often the clock was moved, and how many sleeps were begun on it, while an effect ran. */
const counted = <A, E, R>(effect: (counts: { moves: number; sleeps: number }) => Effect.Effect<A, E, R>) =>
  TestClock.testClockWith((clock) => {
    const counts = { moves: 0, sleeps: 0 }
    const counting = {
      ...clock,
      setTime: (millis: number) => Effect.suspend(() => (counts.moves++, clock.setTime(millis))),
      sleep: (duration: Parameters<typeof clock.sleep>[0]) =>
        Effect.suspend(() => (counts.sleeps++, clock.sleep(duration)))
    }
    return Effect.provideService(effect(counts), Clock.Clock, counting)
  })

describe("time in Testing", () => {
  it.effect("passes ten days of an idle room in a few steps", () =>
    counted((counts) =>
      Effect.gen(function* () {
        yield* startedWith(0)
        yield* Testing.settle
        Object.assign(counts, { moves: 0, sleeps: 0 })
        yield* Testing.advance("10 days")
        assert.isAtMost(counts.moves, 3)
        assert.isAtMost(counts.sleeps, 50)
        assert.strictEqual(yield* Clock.currentTimeMillis, 10 * 86_400_000)
        const lines = yield* Stream.runCollect(Workers.stream())
        assert.deepStrictEqual(
          lines.map(({ state }) => state),
          ["idle", "idle", "idle"]
        )
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [sleeper], workers: 3 }), silent)))
    )
  )

  it.effect("has workers that take what comes right after days of nothing", () =>
    Effect.gen(function* () {
      yield* Testing.advance("10 days")
      const run = yield* startedWith(0)
      yield* Testing.settle
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
    }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [sleeper] }), silent)))
  )

  it.effect("wakes a task at its moment, with its worker alive", () =>
    Effect.gen(function* () {
      const run = yield* startedWith(0.5)
      yield* Testing.advance("1 day")
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      const [item] = yield* Stream.runCollect(WorkItems.stream({ processRun: run }))
      assert.strictEqual(item?.state, "done")
      assert.strictEqual((yield* ProcessRuns.get(run)).duration, 43_200)
    }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [sleeper] }), silent)))
  )

  it.effect("retries, times out and delivers at the moment at which each is due", () => {
    let attempts: Array<number> = []
    const failing = Task.make("failing", {
      input: Schema.Json,
      output: Schema.Json,
      run: Effect.fnUntraced(function* () {
        attempts = [...attempts, yield* Clock.currentTimeMillis]
        return yield* new Task.ApplicationFailure({ code: "NO", message: "no" })
      })
    })
    const endless = Task.make("endless", { input: Schema.Json, output: Schema.Json, run: () => Effect.never })
    let tries: Array<number> = []
    const answerWebhook = () => {
      tries = [...tries, clock.currentTimeMillisUnsafe()]
      return 503
    }
    let clock: Clock.Clock
    return Effect.gen(function* () {
      clock = yield* Clock.Clock
      const delayed = yield* Processes.put({
        name: "delayed",
        steps: [{ name: "a", task: { name: "failing" }, retry: { max_attempts: 3, delay_seconds: 86_400 } }]
      })
      const limited = yield* Processes.put({
        name: "limited",
        steps: [{ name: "a", task: { name: "endless" }, timeout_seconds: 7200 }]
      })
      yield* Webhooks.create({ endpoint: "https://example.com/hook", events: ["process_run.started"] })
      yield* ProcessRuns.start(delayed.id, { payloads: [{}] })
      const run = yield* ProcessRuns.start(limited.id, { payloads: [{}] })
      if (!run.started) return assert.fail("not started")
      yield* Testing.advance("10 days")
      assert.deepStrictEqual(
        attempts.map((at) => at / 86_400_000),
        [0, 1, 2]
      )
      const [stepRun] = yield* Stream.runCollect(StepRuns.stream(run.id))
      assert.deepStrictEqual([stepRun?.error?.code, stepRun?.duration], ["TIMEOUT", 7200])
      // Two events, eight attempts each.
      assert.lengthOf(tries, 16)
      assert.isAtMost(tries[3] ?? Infinity, 6_000)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(Testing.layer({ tasks: [failing, endless], workers: 2, answerWebhook }), silent)
      )
    )
  })

  it.effect("goes to an instant, and refuses one that is over", () =>
    Effect.gen(function* () {
      yield* Testing.advanceTo("2026-12-01T06:00:00Z")
      assert.strictEqual(yield* Clock.currentTimeMillis, Date.parse("2026-12-01T06:00:00Z"))
      const over = yield* Effect.exit(Testing.advanceTo("2026-11-30T06:00:00Z"))
      assert.include(
        Exit.isFailure(over) ? Cause.pretty(over.cause) : "",
        "2026-11-30T06:00:00.000Z is before the time of the test, 2026-12-01T06:00:00.000Z"
      )
    }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [sleeper] }), silent)))
  )
})

describe("options of Testing", () => {
  const wrong = [
    [{ workers: -1 }, "Testing.layer: workers: expected a whole number from 0 to 1000, not -1"],
    [{ workers: 1.5 }, "Testing.layer: workers: expected a whole number from 0 to 1000, not 1.5"]
  ] as const
  for (const [options, message] of wrong) {
    it.effect(`refuse ${JSON.stringify(options)} with what is expected`, () =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(Layer.build(Testing.layer(options)))
        assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", message)
      })
    )
  }
})

describe("ids in Testing", () => {
  const ids = (seed: string | undefined) =>
    Effect.gen(function* () {
      const run = yield* startedWith(1)
      yield* Testing.advance("1 day")
      const items = yield* Stream.runCollect(WorkItems.stream({ processRun: run }))
      const stepRuns = yield* Stream.runCollect(StepRuns.stream(run))
      return [run, ...items.map(({ id }) => id), ...stepRuns.map(({ id }) => id)]
    }).pipe(
      Effect.provide(
        Testing.layer({ tasks: [sleeper], ...(seed === undefined ? {} : { seed }) }).pipe(
          Layer.provideMerge(silent),
          Layer.provideMerge(TestClock.layer())
        )
      )
    )

  it.effect("are the same in every run with a seed, and others with another", () =>
    Effect.gen(function* () {
      const first = yield* ids("a")
      assert.lengthOf(new Set(first), 3)
      assert.deepStrictEqual(yield* ids("a"), first)
      const other = yield* ids("b")
      for (const [index, id] of first.entries()) assert.notStrictEqual(other[index], id)
      assert.notDeepEqual(yield* ids(undefined), yield* ids(undefined))
    })
  )
})
