import { assert } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowSchedules from "../../src/FlowSchedules.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, say, scenario, scenarios, seconds } = S

const ticks = S.flow("ticks", (text) => say(text))
const input = (at: DateTime.Utc) => `at ${DateTime.formatIso(at)}`
const scheduled = (options: Partial<FlowSchedules.Options<string>> = { every: "1 second" }, flow = ticks) =>
  FlowSchedules.layer(flow, { name: "ticks", input, ...options }).pipe(Layer.provide(Flow.layer(flow)))
/** None of its occurrences comes by itself in the time of a scenario. */
const rare = { every: "1000 days" } as const

const lines = Effect.map(Diary.read, (all) => all.length)
const ticked = (count: number) => S.eventually(Effect.map(lines, (there) => there >= count))
const now = Effect.map(DateTime.now, DateTime.toEpochMillis)

scenarios("schedules", () => {
  scenario(
    "temporal: schedule/basic",
    Effect.gen(function* () {
      yield* program(scheduled(), ticked(1))
      // The next build has another input.
      yield* program(scheduled({ every: "1 second", input: () => "changed" }), S.says("changed"))
      assert.match((yield* Diary.read)[0] ?? "", /^at 20/)
    })
  )

  scenario(
    "temporal: schedule/cron",
    Effect.gen(function* () {
      yield* program(scheduled({ cron: "* * * * * *", overlap: "allow", missed: "all" }), ticked(2))
      const [first = "", second = ""] = yield* Diary.read
      assert.strictEqual(Date.parse(second.slice(3)) - Date.parse(first.slice(3)), 1_000)
    })
  )

  scenario(
    "temporal: schedule/backfill",
    Effect.gen(function* () {
      const fills = Effect.gen(function* () {
        const at = yield* now
        const asked = yield* FlowSchedules.backfill("ticks", at - 180_000, at - 1)
        yield* ticked(3)
        return asked
      })
      const minutes = scheduled({ every: "1 minute", overlap: "allow" })
      assert.strictEqual(yield* program(minutes, Effect.andThen(FlowSchedules.pause("ticks", ""), fills)), 3)
    })
  )

  scenario(
    "temporal: schedule/duplicate_error",
    Effect.gen(function* () {
      const other = S.flow("other", (text) => say(text))
      const twice = Layer.merge(scheduled(rare), scheduled(rare, other))
      const error = yield* Effect.flip(program(twice, Effect.void))
      assert.instanceOf(error, FlowSchedules.InvalidSchedule)
      assert.match(error.message, /another schedule of this program has the name/)
    })
  )

  scenario(
    "temporal: schedule/pause",
    Effect.gen(function* () {
      const pauses = Effect.gen(function* () {
        yield* FlowSchedules.pause("ticks", "first note", { by: "Ada" })
        const first = (yield* FlowSchedules.get("ticks")).paused
        yield* FlowSchedules.resume("ticks")
        yield* FlowSchedules.resume("ticks")
        const resumed = (yield* FlowSchedules.get("ticks")).paused
        return [first?.by, first?.note, resumed]
      })
      assert.deepStrictEqual(yield* program(scheduled(rare), pauses), ["Ada", "first note", null])
    })
  )

  scenario(
    "temporal: schedule/trigger",
    Effect.gen(function* () {
      const triggers = Effect.gen(function* () {
        yield* FlowSchedules.pause("ticks", "")
        for (const count of [1, 2]) {
          const { outcome } = yield* FlowSchedules.runNow("ticks")
          assert.strictEqual(outcome, "begins")
          yield* ticked(count)
          yield* S.pass(1)
        }
      })
      yield* program(scheduled({ ...rare, overlap: "allow" }), triggers)
      assert.strictEqual(yield* lines, 2)
    })
  )

  scenario(
    "dbos: schedule-crud",
    Effect.gen(function* () {
      const changes = Effect.gen(function* () {
        const names = (yield* FlowSchedules.list).map(({ name }) => name)
        yield* FlowSchedules.remove("ticks")
        const missing = yield* Effect.flip(FlowSchedules.get("ticks"))
        return [names, missing._tag, (yield* FlowSchedules.list).length]
      })
      assert.deepStrictEqual(yield* program(scheduled(rare), changes), [["ticks"], "ScheduleNotFound", 0])
    })
  )

  scenario(
    "dbos: update-schedule-live-update",
    Effect.gen(function* () {
      yield* program(scheduled(rare), S.pass(1))
      assert.strictEqual(yield* lines, 0)
      yield* program(scheduled(), ticked(1))
    })
  )

  scenario(
    "dbos: apply-schedules-preserves-runtime-state",
    Effect.gen(function* () {
      yield* program(scheduled(rare), FlowSchedules.pause("ticks", "until noon"))
      const paused = yield* program(scheduled(), FlowSchedules.get("ticks"))
      assert.strictEqual(paused.paused?.note, "until noon")
      assert.strictEqual(yield* lines, 0)
    })
  )

  scenario(
    "dbos: dynamic-scheduler-fires",
    Effect.gen(function* () {
      const started = Effect.map(FlowSchedules.get("ticks"), ({ recent }) =>
        recent.flatMap(({ execution, outcome }) => (outcome === "started" ? [execution] : []))
      )
      const fires = Effect.gen(function* () {
        yield* S.eventually(Effect.map(started, (all) => all.length > 1))
        const [first, second] = yield* started
        for (const id of [first, second]) yield* S.reaches(id ?? "", "completed")
        return first !== second
      })
      assert.isTrue(yield* program(scheduled(), fires))
    })
  )

  scenario(
    "dbos: dynamic-scheduler-delete-stops-firing",
    Effect.gen(function* () {
      const deletes = Effect.gen(function* () {
        yield* ticked(1)
        yield* FlowSchedules.remove("ticks")
        // What had begun ends, however slow the storage is.
        yield* S.eventually(
          Effect.map(FlowExecutions.list(), ({ executions }) => executions.every(({ endedAt }) => endedAt !== null))
        )
        const before = yield* lines
        yield* S.pass(30)
        return (yield* lines) - before
      })
      assert.strictEqual(yield* program(scheduled(), deletes), 0)
    })
  )

  scenario(
    "dbos: dynamic-scheduler-pause-resume",
    Effect.gen(function* () {
      const pauses = Effect.gen(function* () {
        yield* FlowSchedules.pause("ticks", "")
        yield* S.pass(25)
        const before = yield* lines
        yield* FlowSchedules.resume("ticks")
        yield* ticked(before + 1)
        return before
      })
      assert.isAtMost(yield* program(scheduled(), pauses), 1)
    })
  )

  scenario(
    "dbos: trigger-schedule",
    Effect.gen(function* () {
      const triggers = Effect.gen(function* () {
        const { at } = yield* FlowSchedules.runNow("ticks")
        yield* ticked(1)
        const { executions } = yield* FlowExecutions.list()
        return executions.map(({ key }) => key === `ticks ${new Date(at).toISOString()}`)
      })
      assert.deepStrictEqual(yield* program(scheduled(rare), triggers), [true])
    })
  )

  scenario(
    "dbos: list-workflows-by-schedule-name",
    Effect.gen(function* () {
      const lists = Effect.gen(function* () {
        yield* FlowSchedules.runNow("ticks")
        yield* ticked(1)
        const started = (yield* FlowSchedules.get("ticks")).recent.map(({ execution }) => execution)
        const { executions } = yield* FlowExecutions.list({ flow: "ticks" })
        assert.deepStrictEqual(
          started,
          executions.map(({ id }) => id)
        )
        return started.length
      })
      assert.strictEqual(yield* program(scheduled(rare), lists), 1)
    })
  )

  scenario(
    "dbos: backfill-with-timezone",
    Effect.gen(function* () {
      const options = { cron: "0 6 * * *", zone: "America/New_York", overlap: "allow" } as const
      const fills = Effect.gen(function* () {
        // The clocks of New York change on the first of November.
        yield* FlowSchedules.backfill("ticks", Date.parse("2025-11-01T00:00Z"), Date.parse("2025-11-03T00:00Z"))
        yield* ticked(2)
      })
      yield* program(scheduled(options), fills)
      assert.sameMembers([...(yield* Diary.read)], ["at 2025-11-01T10:00:00.000Z", "at 2025-11-02T11:00:00.000Z"])
    })
  )

  for (const missed of ["all", "last"] as const) {
    scenario(
      `dbos: automatic-backfill-on-restart, ${missed}`,
      Effect.gen(function* () {
        const restarted = scheduled({ every: "1 second", missed, overlap: "allow" })
        yield* program(restarted, FlowSchedules.get("ticks"))
        const stopped = yield* now
        yield* S.elapse(2_500)
        const outcomes = Effect.map(FlowSchedules.get("ticks"), ({ recent }) =>
          recent.flatMap(({ at, outcome, reason }) => (at > stopped ? [reason ?? outcome] : []))
        )
        const [first, second] = yield* program(
          restarted,
          Effect.andThen(
            S.eventually(Effect.map(outcomes, (all) => all.length > 1 && all.includes("started"))),
            outcomes
          )
        )
        // Two at least have passed: the first of them is not the last one.
        assert.strictEqual(first, missed === "all" ? "started" : "missed")
        assert.isDefined(second)
      })
    )
  }

  scenario(
    "dbos: wf-scheduled-recover",
    Effect.gen(function* () {
      const slow = S.flow("slow", (text) => Effect.andThen(Flow.sleep("nap", seconds(20)), say(text)))
      const slowly = scheduled(rare, slow)
      const begins = Effect.gen(function* () {
        yield* FlowSchedules.runNow("ticks")
        yield* S.reaches(yield* S.firstOf(), "waiting")
      })
      yield* program(slowly, begins)
      yield* program(slowly, ticked(1))
      assert.strictEqual(yield* lines, 1)
    })
  )

  scenario(
    "dbos: schedule-with-queue-name",
    Effect.gen(function* () {
      const limited = S.flow(
        "limited",
        (text) => Effect.andThen(say(text), Effect.as(Flow.sleep("nap", seconds(36_000)), text)),
        {
          limit: [{ concurrency: 1 }]
        }
      )
      const queues = Effect.gen(function* () {
        yield* FlowSchedules.runNow("ticks")
        yield* ticked(1)
        yield* S.pass(1)
        yield* FlowSchedules.runNow("ticks")
        const states = Effect.map(FlowExecutions.list(), ({ executions }) => executions.map(({ state }) => state))
        yield* S.eventually(Effect.map(states, (all) => all.includes("queued")))
      })
      yield* program(scheduled({ ...rare, overlap: "allow" }, limited), queues)
      assert.strictEqual(yield* lines, 1)
    })
  )
})
