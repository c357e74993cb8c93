/** What people do to schedules of flows, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { FlowEngine, type FlowEngineError } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowSchedules from "../src/FlowSchedules.ts"
import * as Row from "../src/internal/schedules/Row.ts"
import {
  makeNoting,
  type Noting,
  type Options,
  daily,
  scheduled,
  process,
  test,
  outcomes,
  whys
} from "./support/Schedules.ts"
import { until } from "./support/Polling.ts"

describe("a person", () => {
  const served = (
    title: string,
    options: Partial<Options>,
    work: Duration.Input | null,
    body: (noting: Noting) => Effect.Effect<void, unknown, FlowEngine>
  ) =>
    test(title, (journal) => {
      const noting = makeNoting(work)
      return process(journal, scheduled(noting, daily(options)), "2026-11-20T05:00Z", body(noting))
    })

  served("pauses and resumes a schedule, and occurrences in between are skipped with the note", {}, null, ({ diary }) =>
    Effect.gen(function* () {
      yield* FlowSchedules.pause("daily", "the ERP is down", { by: "Ada" })
      assert.deepStrictEqual((yield* FlowSchedules.get("daily")).paused, {
        at: Date.parse("2026-11-20T05:00:01Z"),
        by: "Ada",
        note: "the ERP is down"
      })
      yield* TestClock.adjust("12 hours")
      yield* FlowSchedules.resume("daily")
      assert.isNull((yield* FlowSchedules.get("daily")).paused)
      yield* TestClock.adjust("24 hours")
      assert.deepStrictEqual(diary, ["2026-11-21T06:00"])
      assert.deepStrictEqual(yield* outcomes(), ["2026-11-20T06:00 paused", "2026-11-21T06:00 started"])
      assert.deepStrictEqual(yield* whys, ["paused: the ERP is down"])
    })
  )

  served("begins one now, also when the schedule is paused", {}, null, ({ diary }) =>
    Effect.gen(function* () {
      yield* FlowSchedules.pause("daily", "")
      const begun = yield* FlowSchedules.runNow("daily")
      assert.deepStrictEqual(begun, { at: Date.parse("2026-11-20T05:00:01Z"), outcome: "begins", why: null })
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(diary, ["2026-11-20T05:00"])
    })
  )

  served("begins one now, which is skipped when an earlier one has not ended", {}, "2 hours", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hour")
      const [execution] = (yield* FlowExecutions.list()).executions
      const { outcome, why } = yield* FlowSchedules.runNow("daily")
      assert.deepStrictEqual(
        [outcome, why],
        ["skipped", `the execution ${execution?.id} of 2026-11-20T06:00:00.000Z is waiting`]
      )
    })
  )

  for (const overlap of ["queue", "stop"] as const) {
    served(
      `begins one now, which waits for the end of an earlier one: ${overlap}`,
      { overlap },
      "2 hours",
      ({ diary }) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("61 minutes")
          assert.strictEqual((yield* FlowSchedules.runNow("daily")).outcome, "waits")
          assert.deepStrictEqual(diary, ["2026-11-20T06:00"])
          yield* TestClock.adjust("2 hours")
          assert.deepStrictEqual(
            diary,
            overlap === "queue"
              ? ["2026-11-20T06:00", "2026-11-20T06:01"]
              : ["2026-11-20T06:00", "undid 2026-11-20T06:00", "2026-11-20T06:01"]
          )
        })
    )
  }

  served("begins what a span of the past has left out, one after another", {}, "1 hour", ({ diary }) =>
    Effect.gen(function* () {
      const asked = yield* FlowSchedules.backfill("daily", Date.parse("2026-11-17"), Date.parse("2026-11-20"))
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual([asked, diary], [3, ["2026-11-17T06:00"]])
      assert.strictEqual((yield* FlowSchedules.get("daily")).backfill.length, 2)
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(diary.slice(0, 3), ["2026-11-17T06:00", "2026-11-18T06:00", "2026-11-19T06:00"])
    })
  )

  served("begins a whole backfill immediately where runs may overlap", { overlap: "allow" }, "1 hour", ({ diary }) =>
    Effect.gen(function* () {
      yield* FlowSchedules.backfill("daily", Date.parse("2026-09-01"), Date.parse("2026-11-20"))
      yield* until(Effect.sync(() => diary.length === 80))
    })
  )

  served("does not begin again what began in its time", {}, null, ({ diary }) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("2 days")
      const asked = yield* FlowSchedules.backfill("daily", Date.parse("2026-11-19"), Date.parse("2026-11-22"))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([asked, diary], [1, ["2026-11-20T06:00", "2026-11-21T06:00", "2026-11-19T06:00"]])
    })
  )

  test("loses no command to another one that changes the schedule at the same time", (journal) =>
    Effect.gen(function* () {
      const body = Effect.gen(function* () {
        // Both have read the row before one of them writes it.
        const add = (at: number) =>
          Row.update(journal, "daily", (row) =>
            row === null
              ? Effect.die("none")
              : Effect.as(Effect.yieldNow, [{ ...row, backfill: [...row.backfill, at] }, undefined] as const)
          )
        yield* FlowSchedules.pause("daily", "")
        yield* Effect.all([add(1), add(2), add(3)], { concurrency: "unbounded" })
        return (yield* Row.read(journal, "daily"))?.backfill.toSorted()
      })
      const alone = FlowSchedules.layer(makeNoting().flow, daily())
      assert.deepStrictEqual(yield* process(journal, alone, "2026-11-20T05:00Z", body), [1, 2, 3])
    }))

  test("that is removed begins nothing, until a program that defines it starts: then it is a new one", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting("2 hours")
      const removed = Effect.gen(function* () {
        yield* TestClock.adjust("61 minutes")
        yield* FlowSchedules.remove("daily")
        yield* TestClock.adjust("2 days")
        assert.deepStrictEqual(yield* FlowSchedules.list, [])
        assert.strictEqual((yield* Effect.flip(FlowSchedules.remove("daily")))._tag, "ScheduleNotFound")
        // What it began continues.
        const { executions } = yield* FlowExecutions.list()
        assert.deepStrictEqual(
          executions.map(({ state }) => state),
          ["completed"]
        )
      })
      const program = scheduled(noting, daily())
      yield* process(journal, program, "2026-11-20T05:00Z", removed)
      const again = Effect.andThen(TestClock.adjust("1 day"), outcomes())
      assert.deepStrictEqual(yield* process(journal, program, "2026-11-23T07:00Z", again), ["2026-11-24T06:00 started"])
      assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00", "2026-11-24T06:00"])
    }))

  served("sees all schedules", {}, null, () =>
    Effect.gen(function* () {
      const [schedule, ...others] = yield* FlowSchedules.list
      const { definition, flow, local, name, next, version } = schedule ?? (yield* Effect.die("none"))
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(
        { cron: definition.cron, flow, local, name, next, version },
        {
          cron: "0 6 * * *",
          flow: "noting",
          local: true,
          name: "daily",
          next: Date.parse("2026-11-20T06:00Z"),
          version: 1
        }
      )
    })
  )
})

describe("bad input is refused, and nothing is recorded:", () => {
  const refused: ReadonlyArray<
    readonly [
      string,
      Effect.Effect<unknown, { readonly _tag: string; readonly message: string }, FlowEngine>,
      string,
      RegExp
    ]
  > = [
    [
      "get",
      FlowSchedules.get("weekly"),
      "ScheduleNotFound",
      /^name: the schedule weekly does not exist; the first start/
    ],
    ["pause", FlowSchedules.pause("weekly", ""), "ScheduleNotFound", /weekly/],
    ["resume", FlowSchedules.resume("weekly"), "ScheduleNotFound", /weekly/],
    ["runNow", FlowSchedules.runNow("weekly"), "ScheduleNotFound", /weekly/],
    ["backfill", FlowSchedules.backfill("weekly", 0, 1), "ScheduleNotFound", /weekly/],
    ["from", FlowSchedules.backfill("daily", Number.NaN, 1), "InvalidBackfill", /daily: from: Expected milliseconds/],
    ["empty", FlowSchedules.backfill("daily", 2, 2), "InvalidBackfill", /to: Expected to be later than from/],
    ["future", FlowSchedules.backfill("daily", 0, 1e15), "InvalidBackfill", /to: Expected at most now, 2026-11-20T05/],
    [
      "large",
      FlowSchedules.backfill("daily", 0, Date.parse("2026-01-01")),
      "InvalidBackfill",
      /to: Expected at most 1000 occurrences: end at 1972-09-27T06:00:00.000Z/
    ]
  ]
  for (const [title, operation, tag, message] of refused) {
    test(title, (journal) =>
      Effect.gen(function* () {
        const body = Effect.gen(function* () {
          const before = yield* FlowSchedules.list
          const error = yield* Effect.flip(operation)
          assert.strictEqual(error._tag, tag)
          assert.match(error.message, message)
          assert.deepStrictEqual(yield* FlowSchedules.list, before)
        })
        yield* process(journal, scheduled(makeNoting(), daily()), "2026-11-20T05:00Z", body)
      })
    )
  }

  const invalid: ReadonlyArray<readonly [Partial<Options>, string, RegExp]> = [
    [{ name: " " }, "name", /name: Expected a name of 1 to 200 characters/],
    [{ cron: "0 25 * * *" }, "cron", /^the schedule daily: cron: /],
    [{ cron: "often" }, "cron", /cron: /],
    [{ cron: "0 0 30 2 *" }, "cron", /cron: no year has such a day/],
    [{ zone: "Mars/Olympus" }, "zone", /zone: invalid time zone "Mars\/Olympus": use an IANA time zone/],
    [{ jitter: "-1 second" }, "jitter", /jitter: Expected/],
    [{ queue: 0 }, "queue", /queue: Expected a whole number from 1 to 1000/]
  ]
  for (const [options, field, message] of invalid) {
    it.effect(JSON.stringify(options), () =>
      Effect.gen(function* () {
        const layer = scheduled(makeNoting(), daily(options)).pipe(Layer.provide(Layer.fresh(FlowEngine.layerMemory)))
        const error: FlowSchedules.InvalidSchedule | FlowEngineError = yield* Effect.flip(
          Effect.scoped(Layer.build(layer))
        )
        assert.strictEqual(error._tag === "InvalidSchedule" ? error.field : error._tag, field)
        assert.match(error.message, message)
      })
    )
  }

  it.effect("a name that another schedule of the program has", () =>
    Effect.gen(function* () {
      const both = Layer.merge(
        FlowSchedules.layer(makeNoting().flow, daily()),
        FlowSchedules.layer(makeNoting().flow, daily({ cron: "0 7 * * *" }))
      ).pipe(Layer.provide(Layer.fresh(FlowEngine.layerMemory)))
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(both)))
      assert.match(Exit.isFailure(exit) ? String(exit.cause) : "", /another schedule of this program has the name/)
    })
  )
})
