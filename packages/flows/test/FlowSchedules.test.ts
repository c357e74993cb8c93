/** Flows by the clock, in a process or two, under virtual time. */
import { assert, describe } from "@effect/vitest"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowSchedules from "../src/FlowSchedules.ts"
import { alone, engineOver } from "./support/Processes.ts"
import {
  minuteOf,
  makeNoting,
  type Options,
  daily,
  scheduled,
  settle,
  process,
  test,
  outcomes,
  whys
} from "./support/Schedules.ts"
import { until } from "./support/Polling.ts"

describe("a schedule", () => {
  test("begins an execution at each of its times, with an input of that time", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      yield* process(journal, scheduled(noting, daily()), "2026-11-20T05:00Z", TestClock.adjust("49 hours"))
      assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00", "2026-11-21T06:00", "2026-11-22T06:00"])
    }))

  test("that is new begins with the next time, not with one before", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      yield* process(journal, scheduled(noting, daily()), "2026-11-20T06:00:01Z", TestClock.adjust("12 hours"))
      assert.deepStrictEqual(noting.diary, [])
    }))

  test("names its executions by its name and the time", (journal) =>
    Effect.gen(function* () {
      const body = Effect.andThen(TestClock.adjust("2 hours"), FlowExecutions.list())
      const { executions } = yield* process(journal, scheduled(makeNoting(), daily()), "2026-11-20T05:00Z", body)
      assert.deepStrictEqual(
        executions.map(({ key }) => key),
        ["daily 2026-11-20T06:00:00.000Z"]
      )
    }))

  test("follows the local time of its zone", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const options = daily({ cron: "30 2 * * *", zone: "Europe/Vienna" })
      yield* process(journal, scheduled(noting, options), "2026-03-28T00:00Z", TestClock.adjust("72 hours"))
      // On the 29th the hour from 2 to 3 is left out.
      assert.deepStrictEqual(noting.diary, ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"])
    }))

  test("takes six fields, the seconds first", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const options = daily({ cron: "*/20 * * * * *" })
      yield* process(journal, scheduled(noting, options), "2026-03-28T00:00Z", TestClock.adjust("1 minute"))
      assert.strictEqual(noting.diary.length, 3)
    }))

  test("with jitter starts later than its time, under the key of its time", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const body = Effect.gen(function* () {
        const { next } = yield* FlowSchedules.get("daily")
        yield* TestClock.setTime((next ?? 0) - 1)
        assert.deepStrictEqual(noting.diary, [])
        yield* TestClock.adjust("1 millis")
        return next ?? 0
      })
      const start = yield* process(journal, scheduled(noting, daily({ jitter: "3 hours" })), "2026-11-20T05:00Z", body)
      assert.isAbove(start, Date.parse("2026-11-20T06:00Z"))
      assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00"])
    }))

  test("is over at its end", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const body = Effect.andThen(TestClock.adjust("49 hours"), FlowSchedules.get("daily"))
      const options = daily({ until: "2026-11-21T06:00:00Z" })
      const { next } = yield* process(journal, scheduled(noting, options), "2026-11-20T05:00Z", body)
      assert.deepStrictEqual([next, noting.diary], [null, ["2026-11-20T06:00"]])
    }))

  test("waits with what is due until its flow is registered", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const alone = FlowSchedules.layer(noting.flow, daily())
      yield* process(journal, alone, "2026-11-20T05:00Z", TestClock.adjust("2 hours"))
      assert.deepStrictEqual(noting.diary, [])
      yield* process(journal, scheduled(noting, daily()), "2026-11-20T08:00Z", TestClock.adjust("1 minute"))
      assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00"])
    }))

  test("whose input cannot be made says so, and begins it with the build that can", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const input = (): string => {
        throw new Error("no holidays for 2026")
      }
      const body = Effect.andThen(TestClock.adjust("61 minutes"), FlowSchedules.get("daily"))
      const { problem } = yield* process(journal, scheduled(noting, daily({ input })), "2026-11-20T05:00Z", body)
      assert.deepStrictEqual(problem, {
        since: Date.parse("2026-11-20T06:00Z"),
        message: "input: of 2026-11-20T06:00:00.000Z: no holidays for 2026"
      })
      const after = yield* process(journal, scheduled(noting, daily()), "2026-11-20T08:00Z", body)
      assert.deepStrictEqual([after.problem, noting.diary], [null, ["2026-11-20T06:00"]])
    }))

  test("remembers what became of the last fifty", (journal) =>
    Effect.gen(function* () {
      const options = daily({ cron: "* * * * *" })
      const body = Effect.andThen(TestClock.adjust("1 hour"), FlowSchedules.get("daily"))
      const { recent } = yield* process(journal, scheduled(makeNoting(), options), "2026-11-20T05:00Z", body)
      assert.deepStrictEqual(
        recent.map(({ at }) => minuteOf(at)),
        Array.from({ length: 50 }, (_, n) => minuteOf(Date.parse("2026-11-20T05:11Z") + n * 60_000))
      )
      const ids = yield* Effect.forEach(recent, ({ execution }) => journal.find(execution ?? ""))
      assert.deepStrictEqual([...new Set(ids.map((found) => found?.state))], ["completed"])
    }))
})

describe("occurrences that passed while no process ran", () => {
  const away: ReadonlyArray<readonly [Partial<Options>, ReadonlyArray<string>]> = [
    [{}, ["2026-11-23T06:00"]],
    [{ missed: "last" }, ["2026-11-23T06:00"]],
    [{ missed: "all", overlap: "allow" }, ["2026-11-21T06:00", "2026-11-22T06:00", "2026-11-23T06:00"]],
    [{ missed: "none" }, []]
  ]
  for (const [options, missed] of away) {
    test(`begin as defined: ${JSON.stringify(options)}`, (journal) =>
      Effect.gen(function* () {
        const noting = makeNoting()
        const program = scheduled(noting, daily(options))
        yield* process(journal, program, "2026-11-20T05:00Z", TestClock.adjust("2 hours"))
        yield* process(journal, program, "2026-11-23T08:00Z", TestClock.adjust("1 hour"))
        const all = yield* process(
          journal,
          program,
          "2026-11-24T05:00Z",
          Effect.andThen(TestClock.adjust("2 hours"), outcomes())
        )
        assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00", ...missed, "2026-11-24T06:00"])
        const days = ["20", "21", "22", "23", "24"].map((day) => `2026-11-${day}T06:00`)
        assert.deepStrictEqual(
          all.toSorted(),
          days.map((day) => `${day} ${noting.diary.includes(day) ? "started" : "missed"}`)
        )
      }))
  }

  test("begin with none when they came a moment ago", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const program = scheduled(noting, daily({ missed: "none" }))
      yield* process(journal, program, "2026-11-20T05:00Z", Effect.void)
      yield* process(journal, program, "2026-11-20T06:00:20Z", settle)
      assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00"])
    }))

  test("begin all, in their order, when they are more than are begun at a time", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const program = scheduled(noting, daily({ cron: "* * * * *", missed: "all", overlap: "allow" }))
      yield* process(journal, program, "2026-11-20T05:00:30Z", TestClock.adjust("1 second"))
      const all = until(Effect.sync(() => noting.diary.length >= 300))
      yield* process(journal, program, "2026-11-20T10:00:30Z", all)
      const first = Date.parse("2026-11-20T05:01Z")
      assert.deepStrictEqual(
        noting.diary,
        Array.from({ length: 300 }, (_, n) => minuteOf(first + n * 60_000))
      )
    }))
})

describe("an occurrence that meets an earlier execution", () => {
  const met: ReadonlyArray<readonly [Options["overlap"], ReadonlyArray<string>]> = [
    ["skip", ["06:00", "08:00"]],
    ["queue", ["06:00", "07:00", "08:00"]],
    ["allow", ["06:00", "07:00", "08:00"]],
    ["stop", ["06:00", "undid 06:00", "07:00", "undid 07:00", "08:00"]]
  ]
  for (const [overlap, diary] of met) {
    test(`applies its policy: ${overlap}`, (journal) =>
      Effect.gen(function* () {
        const noting = makeNoting("80 minutes")
        const options = daily({ cron: "0 6-8 * * *", ...(overlap === undefined ? {} : { overlap }) })
        yield* process(journal, scheduled(noting, options), "2026-11-20T05:00Z", TestClock.adjust("6 hours"))
        assert.deepStrictEqual(
          noting.diary.map((line) => line.replace("2026-11-20T", "")),
          diary
        )
      }))
  }

  test("and is skipped says what runs", (journal) =>
    Effect.gen(function* () {
      const body = Effect.gen(function* () {
        yield* TestClock.adjust("150 minutes")
        const [execution] = (yield* FlowExecutions.list()).executions
        const { recent, running } = yield* FlowSchedules.get("daily")
        assert.deepStrictEqual(running, [
          { at: Date.parse("2026-11-20T06:00Z"), execution: execution?.id ?? "", state: "waiting" }
        ])
        assert.deepStrictEqual(recent.at(-1), {
          at: Date.parse("2026-11-20T07:00Z"),
          outcome: "skipped",
          reason: "overlap",
          why: `the execution ${execution?.id} of 2026-11-20T06:00:00.000Z is waiting`,
          execution: null
        })
      })
      yield* process(
        journal,
        scheduled(makeNoting("2 hours"), daily({ cron: "0 6-7 * * *" })),
        "2026-11-20T05:00Z",
        body
      )
    }))

  test("that is halted is skipped until a person has looked after it, and says so", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const input = ({ epochMilliseconds }: DateTime.Utc) =>
        minuteOf(epochMilliseconds).endsWith("06:00") ? "broken" : minuteOf(epochMilliseconds)
      const body = Effect.gen(function* () {
        yield* TestClock.adjust("150 minutes")
        const [execution] = (yield* FlowExecutions.list({ state: "halted" })).executions
        const id = execution?.id ?? ""
        assert.deepStrictEqual(yield* whys, [
          `the execution ${id} of 2026-11-20T06:00:00.000Z is halted: resume or cancel it`
        ])
        yield* FlowExecutions.terminate(id)
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(noting.diary, ["2026-11-20T08:00"])
      })
      yield* process(journal, scheduled(noting, daily({ cron: "0 6-8 * * *", input })), "2026-11-20T05:00Z", body)
    }))

  test("waits in the queue over a restart", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting("80 minutes")
      const program = scheduled(noting, daily({ cron: "0 6-7 * * *", overlap: "queue" }))
      yield* process(journal, program, "2026-11-20T05:00Z", TestClock.adjust("125 minutes"))
      const waiting = yield* process(
        journal,
        program,
        "2026-11-20T07:10Z",
        Effect.map(FlowSchedules.get("daily"), ({ waiting }) => waiting.map(minuteOf))
      )
      assert.deepStrictEqual([waiting, noting.diary], [["2026-11-20T07:00"], ["2026-11-20T06:00"]])
      yield* process(journal, program, "2026-11-20T09:00Z", TestClock.adjust("1 minute"))
      assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00", "2026-11-20T07:00"])
    }))
})

describe("a changed definition", () => {
  test("counts from the change, and what passed before is skipped as changed", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      yield* process(journal, scheduled(noting, daily()), "2026-11-20T05:00Z", TestClock.adjust("2 hours"))
      const all = yield* process(
        journal,
        scheduled(noting, daily({ cron: "0 5 * * *" })),
        "2026-11-21T08:00Z",
        Effect.andThen(TestClock.adjust("24 hours"), outcomes())
      )
      assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00", "2026-11-22T05:00"])
      assert.deepStrictEqual(all, ["2026-11-20T06:00 started", "2026-11-21T06:00 changed", "2026-11-22T05:00 started"])
    }))

  test("of policies alone makes up for what passed, as it says", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      yield* process(journal, scheduled(noting, daily({ missed: "none" })), "2026-11-20T05:00Z", Effect.void)
      yield* process(journal, scheduled(noting, daily({ missed: "last" })), "2026-11-20T08:00Z", settle)
      assert.deepStrictEqual(noting.diary, ["2026-11-20T06:00"])
    }))

  test("is set by the build that starts last, and the older one that still runs leaves the schedule alone", (journal) =>
    Effect.gen(function* () {
      const [older, newer] = [makeNoting(), makeNoting()]
      const body = Effect.gen(function* () {
        yield* TestClock.adjust("2 hours")
        yield* Effect.gen(function* () {
          yield* TestClock.adjust("24 hours")
          assert.isTrue((yield* FlowSchedules.get("daily")).local)
        }).pipe(
          Effect.provide(
            Layer.provideMerge(scheduled(newer, daily({ cron: "30 6 * * *" })), engineOver(journal, alone))
          )
        )
        yield* TestClock.adjust("48 hours")
        assert.isFalse((yield* FlowSchedules.get("daily")).local)
      })
      yield* process(journal, scheduled(older, daily()), "2026-11-20T05:00Z", body)
      const began = (yield* journal.list({ limit: 10 })).map(({ key }) => key).toSorted()
      assert.deepStrictEqual(began, ["daily 2026-11-20T06:00:00.000Z", "daily 2026-11-21T06:30:00.000Z"])
    }))

  test("of the flow forgets what was to begin of the other one", (journal) =>
    Effect.gen(function* () {
      const noting = makeNoting()
      const input = (): string => {
        throw new Error("no holidays for 2026")
      }
      yield* process(journal, scheduled(noting, daily({ input })), "2026-11-20T05:00Z", TestClock.adjust("61 minutes"))
      const other = { ...noting, flow: { ...noting.flow, name: "other" } }
      const all = yield* process(
        journal,
        scheduled(other, daily()),
        "2026-11-20T08:00Z",
        Effect.andThen(TestClock.adjust("24 hours"), outcomes())
      )
      assert.deepStrictEqual(all, ["2026-11-20T06:00 changed", "2026-11-21T06:00 started"])
    }))

  test("that is none changes nothing at a restart", (journal) =>
    Effect.gen(function* () {
      const program = scheduled(makeNoting(), daily())
      const setAt = Effect.map(FlowSchedules.get("daily"), ({ setAt }) => setAt)
      const first = yield* process(journal, program, "2026-11-20T05:00Z", setAt)
      assert.strictEqual(yield* process(journal, program, "2026-11-20T05:10Z", setAt), first)
    }))
})
