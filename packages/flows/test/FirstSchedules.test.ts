import { assert, describe, it } from "@effect/vitest"
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import * as FlowSchedules from "../src/FlowSchedules.ts"
import { layer as memory } from "../src/internal/journal/Memory.ts"
import * as Progress from "../src/internal/schedules/Progress.ts"
import { temporaryFile } from "./support/Files.ts"
import { suite } from "./support/FirstSchedulesSuite.ts"
import { alone, engineOver, journalOf } from "./support/Processes.ts"

suite(
  "on SQLite",
  Effect.map(temporaryFile, (filename) => Layer.orDie(SqliteClient.layer({ filename })))
)

const flow = Flow.make("nightly", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: (day) => day,
  run: (day) => Effect.as(Flow.sleep("work", "1 hour"), day)
})

const at = (day: number) => Date.parse(`2026-11-${day}T06:00:00.000Z`)

/** A program that defines the schedule, two days after the first design had carried it out for the last time. */
const after = Effect.fnUntraced(function* (
  options: { readonly missed: "all" | "last"; readonly overlap: "allow" | "skip" },
  running: (execution: string) => Progress.Progress["running"] = () => []
) {
  const journal = yield* journalOf(memory)
  const carried = yield* Effect.provide(
    Flow.submit(flow, "carried over"),
    Layer.provideMerge(Flow.layer(flow), engineOver(journal, alone))
  )
  yield* journal.swap(Progress.nameOf("daily"), null, {
    upTo: at(20),
    running: running(carried).map((one) => ({ ...one }))
  })
  yield* TestClock.setTime(at(22) + 60_000)
  const schedule = FlowSchedules.layer(flow, {
    name: "daily",
    cron: "0 6 * * *",
    input: (at) => `${at.epochMilliseconds}`,
    ...options
  }).pipe(Layer.provideMerge(Flow.layer(flow)), Layer.provideMerge(engineOver(journal, alone)))
  return { journal, schedule }
})

const outcomes = Effect.map(FlowSchedules.get("daily"), ({ recent }) =>
  recent.map(({ at, outcome, reason }) => `${new Date(at).getUTCDate()} ${reason ?? outcome}`)
)

describe("a schedule that the first design had carried out", () => {
  it.effect("continues after its last time, each time once", () =>
    Effect.gen(function* () {
      const { journal, schedule } = yield* after({ missed: "all", overlap: "allow" })
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("25 hours")
        assert.deepStrictEqual(yield* outcomes, ["21 started", "22 started", "23 started"])
      }).pipe(Effect.provide(schedule))
      assert.isNull(yield* Progress.read(journal, "daily"))
    })
  )

  it.effect("treats those that passed in between by its policy for missed ones", () =>
    Effect.gen(function* () {
      const { schedule } = yield* after({ missed: "last", overlap: "allow" })
      yield* Effect.andThen(
        TestClock.adjust("1 minute"),
        Effect.map(outcomes, (all) => assert.deepStrictEqual(all, ["21 missed", "22 started"]))
      ).pipe(Effect.provide(schedule))
    })
  )

  it.effect("knows what had begun and has not ended", () =>
    Effect.gen(function* () {
      const { journal, schedule } = yield* after({ missed: "last", overlap: "skip" }, (execution) => [
        { at: at(20), execution }
      ])
      const carried = yield* journal.findKey("nightly", "carried over")
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("1 minute")
        const { recent, running } = yield* FlowSchedules.get("daily")
        assert.deepStrictEqual(
          running.map(({ execution }) => execution),
          [carried?.id]
        )
        assert.match(recent.at(-1)?.why ?? "", /^the execution .* of 2026-11-20T06:00:00.000Z is (running|waiting)$/)
      }).pipe(Effect.provide(schedule))
    })
  )

  it.effect("that is removed and set again counts from then on", () =>
    Effect.gen(function* () {
      const { schedule } = yield* after({ missed: "all", overlap: "allow" })
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("1 minute")
        yield* FlowSchedules.remove("daily")
      }).pipe(Effect.provide(Layer.fresh(schedule)))
      yield* Effect.andThen(TestClock.adjust("1 minute"), outcomes).pipe(
        Effect.map((all) => assert.deepStrictEqual(all, [])),
        Effect.provide(Layer.fresh(schedule))
      )
    })
  )
})
