/** Flows by the clock, in a process or two, under virtual time. */
import { assert, describe, it } from "@effect/vitest"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine, type FlowEngineError } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowSchedules from "../src/FlowSchedules.ts"
import type { Journal } from "../src/internal/Journal.ts"
import { layer as memory } from "../src/internal/journal/Memory.ts"
import * as Row from "../src/internal/schedules/Row.ts"
import { alone, engineOver, journalOf } from "./support/Processes.ts"

const minuteOf = (at: number): string => new Date(at).toISOString().slice(0, 16)

/** A flow that notes its input, outside of the journal. By its input it dies, or its undo fails at first. */
const makeNoting = (work: Duration.Input | null = null) => {
  const diary: Array<string> = []
  const note = Flow.step("note", {
    input: Schema.String,
    success: Schema.Void,
    error: Schema.Never,
    run: (text) => Effect.sync(() => void diary.push(text))
  })
  const flow = Flow.make("noting", {
    version: 1,
    input: Schema.String,
    success: Schema.Void,
    error: Schema.Never,
    idempotencyKey: () => "always the same",
    run: Effect.fnUntraced(function* (text) {
      if (text.startsWith("broken")) return yield* Effect.die(new Error("no such table"))
      yield* Flow.compensate(note(text), () =>
        Effect.andThen(Flow.sleep("slowly", "10 minutes"), note(`undid ${text}`))
      )
      if (work !== null) yield* Flow.sleep("work", work)
    })
  })
  return { diary, flow }
}
type Noting = ReturnType<typeof makeNoting>

type Options = FlowSchedules.Options<string>
const daily = (options: Partial<Options> = {}): Options => ({
  name: "daily",
  cron: "0 6 * * *",
  input: ({ epochMilliseconds }: DateTime.Utc) => minuteOf(epochMilliseconds),
  ...options
})

const scheduled = ({ flow }: Noting, options: Options) =>
  FlowSchedules.layer(flow, options).pipe(Layer.provide(Flow.layer(flow)))

/** Lets what is due begin. */
const settle = Effect.repeat(TestClock.adjust("1 second"), { times: 19 })

/** A process on the journal, from a time on. */
const process = Effect.fnUntraced(function* <A, E>(
  journal: Journal["Service"],
  program: Layer.Layer<never, FlowSchedules.InvalidSchedule, FlowEngine>,
  from: string,
  body: Effect.Effect<A, E, FlowEngine>
) {
  yield* TestClock.setTime(Date.parse(from))
  return yield* Effect.andThen(TestClock.adjust("1 second"), body).pipe(
    Effect.provide(Layer.provideMerge(program, engineOver(journal, alone)))
  )
})

const test = (title: string, body: (journal: Journal["Service"]) => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.effect(title, () => Effect.flatMap(journalOf(memory), body))

/** What became of the occurrences, by their time. */
const outcomes = (name = "daily") =>
  Effect.map(FlowSchedules.get(name), ({ recent }) =>
    recent.map(({ at, outcome, reason }) => `${minuteOf(at)} ${reason ?? outcome}`)
  )
const whys = Effect.map(FlowSchedules.get("daily"), ({ recent }) =>
  recent.flatMap(({ outcome, why }) => (outcome === "skipped" ? [why] : []))
)

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
      yield* process(journal, program, "2026-11-20T10:00:30Z", settle)
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
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(diary.length, 80)
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
    [{ zone: "Mars/Olympus" }, "zone", /zone: Expected a zone of the IANA database .*, not Mars\/Olympus/],
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
      assert.match(Exit.isFailure(exit) ? String(exit.cause) : "", /another schedule of this program has it/)
    })
  )
})
