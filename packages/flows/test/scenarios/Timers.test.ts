import { assert } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, pass, program, resultOf, say, scenario, scenarios, seconds } = S

const never = Flow.signal("never", Schema.String)
const nap = (count: number) => Flow.sleep("nap", seconds(count))

/** How long something took, by the recorded clock. */
const measured = <A, E, C extends Flow.FlowContext<unknown>>(effect: Effect.Effect<A, E, C>) =>
  Effect.gen(function* () {
    const before = yield* Flow.now("before")
    yield* effect
    const after = yield* Flow.now("after")
    return DateTime.toEpochMillis(after) - DateTime.toEpochMillis(before)
  })

scenarios("timers", () => {
  scenario(
    "temporal: timer",
    Effect.gen(function* () {
      const sleeps = S.flow("sleeps", () => measured(nap(5)))
      const took = yield* program(Flow.layer(sleeps), resultOf(sleeps, "x"))
      assert.isAtLeast(Number(took), seconds(5))
    })
  )

  scenario(
    "temporal: timer, cancelled",
    Effect.gen(function* () {
      const races = S.flow("races", () =>
        Flow.race("first", { timer: Effect.as(Flow.sleep("long", seconds(36_000)), "fired"), step: say("step") })
      )
      const lists = Effect.gen(function* () {
        assert.strictEqual(yield* resultOf(races, "x"), "step")
        const { id } = yield* Flow.handle(races, "x")
        assert.strictEqual(yield* S.stateOf(id), "completed")
        return (yield* FlowExecutions.inspect(id)).now
      })
      assert.deepStrictEqual(yield* program(Flow.layer(races), lists), [])
    })
  )

  scenario(
    "dbos: workflow-sleep-oaoo",
    Effect.gen(function* () {
      const sleeps = S.flow("sleeps", (text) => Effect.andThen(nap(36_000), say(text)))
      const due = Effect.gen(function* () {
        const id = yield* Flow.submit(sleeps, "x")
        yield* S.reaches(id, "waiting")
        const [sleep] = yield* FlowExecutions.steps(id)
        return sleep?.due
      })
      const before = yield* program(Flow.layer(sleeps), due)
      yield* pass(1)
      assert.isNumber(before)
      // A restart does not begin it again.
      assert.strictEqual(yield* program(Flow.layer(sleeps), due), before)
    })
  )

  scenario(
    "dbos: workflow-sleep-fractional-duration",
    Effect.gen(function* () {
      const sleeps = S.flow("sleeps", () => measured(Flow.sleep("nap", 10.4)))
      assert.isAtLeast(Number(yield* program(Flow.layer(sleeps), resultOf(sleeps, "x"))), 10)
    })
  )

  scenario(
    "dbos: sleep exceeding 32-bit max does not produce TimeoutOverflowWarning",
    Effect.gen(function* () {
      const sleeps = S.flow("sleeps", (text) => Effect.andThen(Flow.sleep("years", "1000 days"), say(text)))
      const waits = Effect.gen(function* () {
        const id = yield* Flow.submit(sleeps, "x")
        yield* S.reaches(id, "waiting")
        yield* pass(5)
        const { now } = yield* FlowExecutions.inspect(id)
        yield* FlowExecutions.cancel(id)
        yield* S.reaches(id, "cancelled")
        return now.map(({ kind, path }) => `${kind} ${path}`)
      })
      // A timer of Node that overflows fires after a millisecond.
      assert.deepStrictEqual(yield* program(Flow.layer(sleeps), waits), ["sleep years"])
      assert.deepStrictEqual(yield* Diary.read, [])
    })
  )

  scenario(
    "dbos: sleeping-workflow-timed-out",
    Effect.gen(function* () {
      const limited = S.flow("limited", () => Effect.as(Flow.timeout("limit", seconds(1), nap(36_000)), "slept"))
      const exit = yield* program(Flow.layer(limited), S.through(Flow.execute(limited, "x")))
      assert.deepStrictEqual(exit, Exit.fail(new Flow.FlowTimeout({ path: "limit", afterMillis: seconds(1) })))
    })
  )

  scenario(
    "dbos: sleeping-workflow-not-timed-out",
    Effect.gen(function* () {
      const limited = S.flow("limited", () => Effect.as(Flow.timeout("limit", seconds(36_000), nap(1)), "slept"))
      assert.strictEqual(yield* program(Flow.layer(limited), resultOf(limited, "x")), "slept")
    })
  )

  scenario(
    "restate: Sleep sleep",
    Effect.gen(function* () {
      const sleeps = S.flow("sleeps", (text) => Effect.andThen(nap(20), say(text)))
      const waits = Effect.gen(function* () {
        const id = yield* Flow.submit(sleeps, "x")
        yield* S.reaches(id, "waiting")
        return yield* resultOf(sleeps, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(sleeps), waits), "x")
    })
  )

  scenario(
    "restate: Sleep manySleeps",
    Effect.gen(function* () {
      const many = Array.from({ length: 50 }, (_, n) => n)
      const sleeps = S.flow("sleeps", () =>
        Effect.map(
          Flow.forEach("nap", many, { key: String, concurrency: "unbounded" }, (n) =>
            Effect.as(Flow.sleep("nap", seconds(1 + (n % 5))), n)
          ),
          (all) => all.length
        )
      )
      assert.strictEqual(yield* program(Flow.layer(sleeps), resultOf(sleeps, "x")), 50)
    })
  )

  scenario(
    "restate: SleepWithFailures sleepAndTerminateServiceEndpoint",
    Effect.gen(function* () {
      const sleeps = S.flow("sleeps", () => measured(nap(20)))
      yield* program(
        Flow.layer(sleeps),
        Effect.flatMap(Flow.submit(sleeps, "x"), (id) => S.reaches(id, "waiting"))
      )
      yield* program(Flow.layer(sleeps), pass(1))
      const took = yield* program(Flow.layer(sleeps), resultOf(sleeps, "x"))
      assert.isAtLeast(Number(took), seconds(20))
    })
  )

  for (const [name, wait] of [
    ["awaitableTimeout", nap(36_000)],
    ["signalTimeout", never.receive()]
  ] as const) {
    scenario(
      `restate: AwaitTimeout ${name}`,
      Effect.gen(function* () {
        const limited = S.flow(
          "limited",
          () =>
            Flow.timeout("limit", seconds(1), Effect.as(wait, "in time")).pipe(
              Effect.catchTag("FlowTimeout", () => Effect.succeed("too late"))
            ),
          { signals: [never] }
        )
        assert.strictEqual(yield* program(Flow.layer(limited), resultOf(limited, "x")), "too late")
      })
    )
  }
})
