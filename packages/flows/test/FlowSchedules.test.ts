/** Flows by the clock. */
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowSchedules from "../src/FlowSchedules.ts"
import { Diary, note, Refused } from "./support/Conformance.ts"
import { temporaryFile } from "./support/Engines.ts"
import { breathe } from "./support/Polling.ts"

const noting = Flow.make("noting", {
  version: 1,
  input: Schema.String,
  success: Schema.Finite,
  error: Refused,
  idempotencyKey: () => "always the same",
  run: (time) => note(time)
})

const daily = (options: Partial<FlowSchedules.Options<string>> = {}) => ({
  name: "daily",
  cron: "0 6 * * *",
  input: (at: DateTime.Utc) => DateTime.formatIso(at).slice(0, 16),
  ...options
})

/** Lets what has begun end. */
const settle = Effect.gen(function* () {
  for (let lines = -1, running = 1; running > 0 || lines !== (yield* Diary.read).length;) {
    lines = (yield* Diary.read).length
    for (let pass = 0; pass < 10; pass++) yield* Effect.andThen(TestClock.adjust("100 millis"), breathe)
    running = (yield* FlowExecutions.list({ state: "running" })).executions.length
  }
})

/** A process on the file with a schedule, from a time on and for a while. */
const process = Effect.fnUntraced(function* (
  file: string,
  options: FlowSchedules.Options<string>,
  from: string,
  hours: number
) {
  yield* TestClock.setTime(Date.parse(from))
  const layer = FlowSchedules.layer(noting, options).pipe(
    Layer.provide(Flow.layer(noting)),
    Layer.provideMerge(FlowEngine.layerSqlite({ file }))
  )
  yield* Effect.gen(function* () {
    // A file answers when the disk has stored what was written, for which virtual time does not wait.
    yield* Effect.repeat(breathe, { times: 20 })
    for (let hour = 0; hour < hours; hour++) {
      yield* TestClock.adjust("1 hour")
      yield* Effect.repeat(breathe, { times: 5 })
    }
    yield* settle
  }).pipe(Effect.provide(Layer.fresh(layer)))
})

const test = (title: string, body: (file: string) => Effect.Effect<void, unknown, Diary>) =>
  it.effect(title, () => Effect.flatMap(temporaryFile, body).pipe(Effect.provide(Layer.fresh(Diary.layer))))

describe("a schedule", () => {
  test("begins an execution at each of its times, with an input of that time", (file) =>
    Effect.gen(function* () {
      yield* process(file, daily(), "2026-11-20T05:00Z", 49)
      assert.deepStrictEqual(yield* Diary.read, ["2026-11-20T06:00", "2026-11-21T06:00", "2026-11-22T06:00"])
    }))

  test("that is new begins with the next time, not with one before", (file) =>
    Effect.gen(function* () {
      yield* process(file, daily(), "2026-11-20T06:00:01Z", 12)
      assert.deepStrictEqual(yield* Diary.read, [])
    }))

  const away: ReadonlyArray<readonly [FlowSchedules.CatchUp | undefined, ReadonlyArray<string>]> = [
    [undefined, ["2026-11-23T06:00"]],
    ["latest", ["2026-11-23T06:00"]],
    ["all", ["2026-11-21T06:00", "2026-11-22T06:00", "2026-11-23T06:00"]],
    ["none", []]
  ]
  for (const [catchUp, missed] of away) {
    test(`that was away for three times catches up as told: ${catchUp ?? "by default"}`, (file) =>
      Effect.gen(function* () {
        const options = daily(catchUp === undefined ? {} : { catchUp })
        yield* process(file, options, "2026-11-20T05:00Z", 2)
        yield* process(file, options, "2026-11-23T08:00Z", 1)
        yield* process(file, options, "2026-11-24T05:00Z", 2)
        assert.deepStrictEqual(yield* Diary.read, ["2026-11-20T06:00", ...missed, "2026-11-24T06:00"])
      }))
  }

  test("with none still begins what came due a moment ago", (file) =>
    Effect.gen(function* () {
      yield* process(file, daily({ catchUp: "none" }), "2026-11-20T05:00Z", 0)
      yield* process(file, daily({ catchUp: "none" }), "2026-11-20T06:00:20Z", 0)
      assert.deepStrictEqual(yield* Diary.read, ["2026-11-20T06:00"])
    }))

  test("catches up with more times than it takes at once", (file) =>
    Effect.gen(function* () {
      const minutely = daily({ cron: "* * * * *", catchUp: "all" })
      yield* process(file, minutely, "2026-11-20T05:00:30Z", 0)
      yield* process(file, minutely, "2026-11-20T10:00:30Z", 0)
      const diary = yield* Diary.read
      const first = Date.parse("2026-11-20T05:01Z")
      assert.deepStrictEqual(
        // On a busy machine the next minute may have come too.
        diary.slice(0, 300),
        Array.from({ length: 300 }, (_, n) => new Date(first + n * 60_000).toISOString().slice(0, 16))
      )
      assert.strictEqual(new Set(diary).size, diary.length)
    }))

  test("keeps to the clock on the wall of its time zone", (file) =>
    Effect.gen(function* () {
      const options = daily({ cron: "30 2 * * *", timeZone: "Europe/Vienna" })
      yield* process(file, options, "2026-03-28T00:00Z", 72)
      // On the 29th the hour from 2 to 3 is left out.
      assert.deepStrictEqual(yield* Diary.read, ["2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"])
    }))

  test("begins one execution for a time, however often it is looked at, and a process that dies between loses none", (file) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-11-20T05:00Z"))
      yield* Effect.gen(function* () {
        const next = yield* FlowSchedules.tick(noting, daily())
        assert.strictEqual(new Date(next).toISOString(), "2026-11-20T06:00:00.000Z")
        yield* TestClock.setTime(next)
        const both = yield* Effect.all([FlowSchedules.tick(noting, daily()), FlowSchedules.tick(noting, daily())], {
          concurrency: 2
        })
        assert.deepStrictEqual(both, [next + 86_400_000, next + 86_400_000])
        yield* TestClock.adjust("1 second")
        const { executions } = yield* FlowExecutions.list()
        assert.deepStrictEqual(
          executions.map(({ key }) => key),
          ["daily at 2026-11-20T06:00:00.000Z"]
        )
      }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(noting), FlowEngine.layerSqlite({ file }))))
    }))

  test("waits with what is due until its flow is registered", (file) =>
    Effect.gen(function* () {
      const engine = FlowEngine.layerSqlite({ file })
      yield* TestClock.setTime(Date.parse("2026-11-20T05:00Z"))
      yield* Effect.gen(function* () {
        yield* FlowSchedules.tick(noting, daily())
        yield* TestClock.adjust("2 hours")
        const error = yield* Effect.flip(FlowSchedules.tick(noting, daily()))
        assert.strictEqual(error._tag, "FlowNotRegistered")
      }).pipe(Effect.provide(Layer.fresh(engine)))
      yield* process(file, daily(), "2026-11-20T08:00Z", 1)
      assert.deepStrictEqual(yield* Diary.read, ["2026-11-20T06:00"])
    }))

  const invalid: ReadonlyArray<readonly [Partial<FlowSchedules.Options<string>>, RegExp]> = [
    [{ name: " " }, /^name: Expected/],
    [{ cron: "0 25 * * *" }, /^the schedule daily: cron: Expected a value between 0 and 23/],
    [{ cron: "often" }, /cron: Invalid number of segments/],
    [{ cron: "0 0 30 2 *" }, /cron: 0 0 30 2 \* never comes/],
    [{ timeZone: "Mars/Olympus" }, /timeZone: Expected a name such as Europe\/Vienna, not Mars\/Olympus/]
  ]
  for (const [options, message] of invalid) {
    it.effect(`that can not be is refused at once: ${JSON.stringify(options)}`, () =>
      Effect.gen(function* () {
        const layer = FlowSchedules.layer(noting, daily(options)).pipe(Layer.provide(FlowEngine.layerMemory))
        assert.match((yield* Effect.flip(Effect.scoped(Layer.build(layer)))).message, message)
      })
    )
  }
})
