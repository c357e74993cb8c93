import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, pass, program, resultOf, say, scenario, scenarios, seconds, take } = S

const concurrently = { key: (item: string) => item, concurrency: 5 }
const attempts = Effect.map(Diary.read, (lines) => lines.length)

scenarios("activities", () => {
  scenario(
    "temporal: activity/basic_no_workflow_timeout",
    Effect.gen(function* () {
      const basic = S.flow("basic", (text) => say(text))
      const lists = Effect.gen(function* () {
        assert.strictEqual(yield* resultOf(basic, "hello"), "hello")
        const { id } = yield* Flow.handle(basic, "hello")
        return yield* FlowExecutions.steps(id)
      })
      const steps = yield* program(Flow.layer(basic), lists)
      // The step alone: nothing limits it that its author did not name.
      assert.deepStrictEqual(
        steps.map(({ kind, path, state }) => [kind, path, state]),
        [["step", "say", "succeeded"]]
      )
    })
  )

  scenario(
    "temporal: activity/heartbeating",
    Effect.gen(function* () {
      const rows = Flow.step("rows", {
        input: Schema.Void,
        success: Schema.Finite,
        error: S.Refused,
        retry: { attempts: 3, delay: seconds(20) },
        run: Effect.fnUntraced(function* () {
          const { last, record } = yield* Flow.details(Schema.Struct({ row: Schema.Int }))
          const first = Option.match(last, { onNone: () => 0, onSome: ({ row }) => row })
          yield* Diary.write(`from ${first}`)
          for (let row = first + 1; row <= first + 1_000; row++) yield* record({ row })
          return first < 2_000 ? yield* new S.Refused({ why: "no" }) : first
        })
      })
      const heartbeats = S.flow("heartbeats", () => rows(undefined))
      const begins = Effect.tap(Flow.submit(heartbeats, "x"), () => S.says("from 0"))
      const id = yield* program(Flow.layer(heartbeats), begins)
      assert.strictEqual(yield* program(Flow.layer(heartbeats), resultOf(heartbeats, "x")), 2_000)
      assert.deepStrictEqual(yield* Diary.read, ["from 0", "from 1000", "from 2000"])
      const steps = yield* program(Flow.layer(heartbeats), FlowExecutions.steps(id))
      assert.isTrue(steps.every(({ details }) => details === undefined))
    })
  )

  scenario(
    "temporal: activity/retry_on_error",
    Effect.gen(function* () {
      const fails = S.flow("fails", () => S.flaky(9, { attempts: 5, delay: seconds(1), backoff: 1 }))
      const error = yield* program(Flow.layer(fails), S.errorOf(fails, "x"))
      assert.deepStrictEqual(error, new S.Refused({ why: "attempt 5" }))
      assert.strictEqual(yield* attempts, 5)
    })
  )

  scenario(
    "temporal: activity/running_concurrently",
    Effect.gen(function* () {
      const both = S.flow("both", () =>
        Flow.forEach("name", ["a", "b"], concurrently, (name) => take({ name, seconds: 10 }))
      )
      assert.deepStrictEqual(yield* program(Flow.layer(both), resultOf(both, "x")), ["a", "b"])
      assert.sameMembers((yield* Diary.read).slice(0, 2), ["a begins", "b begins"])
    })
  )

  scenario(
    "temporal: activity/cancel_try_cancel",
    Effect.gen(function* () {
      const tries = S.flow("tries", () =>
        Flow.timeout("limit", seconds(10), take({ name: "long", seconds: 3_600 })).pipe(
          Effect.catchTag("FlowTimeout", () => say("continues"))
        )
      )
      assert.strictEqual(yield* program(Flow.layer(tries), resultOf(tries, "x")), "continues")
      assert.deepStrictEqual(yield* Diary.read, ["long begins", "continues"])
    })
  )

  scenario(
    "temporal: activity/cancel_wait_cancel",
    Effect.gen(function* () {
      const { held, open } = S.gated()
      const waits = S.flow("waits", () => Effect.andThen(held, say("never")))
      const cancels = Effect.gen(function* () {
        const id = yield* Flow.submit(waits, "x")
        yield* S.says("held begins")
        yield* FlowExecutions.cancel(id)
        assert.strictEqual(yield* S.stateOf(id), "running")
        yield* open
        yield* S.reaches(id, "cancelled")
      })
      yield* program(Flow.layer(waits), cancels)
      assert.deepStrictEqual(yield* Diary.read, ["held begins", "held ends"])
    })
  )

  scenario(
    "temporal: activity/shutdown",
    Effect.gen(function* () {
      const long = S.flow("long", () => Effect.map(take({ name: "long", seconds: 3 }), (name) => `${name} ended`))
      yield* program(Flow.layer(long), Effect.andThen(Flow.submit(long, "x"), S.says("long begins")))
      assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends"])
      assert.strictEqual(yield* program(Flow.layer(long), resultOf(long, "x")), "long ended")
      assert.strictEqual(yield* attempts, 2)
    })
  )

  scenario(
    "temporal: local_activity/backoff_with_persistent_timer",
    Effect.gen(function* () {
      const fails = S.flow("fails", () => S.flaky(3, { attempts: 3, delay: seconds(20), backoff: 1 }))
      yield* program(Flow.layer(fails), Effect.andThen(Flow.submit(fails, "x"), S.says("attempt")))
      assert.strictEqual(yield* attempts, 1)
      assert.strictEqual(yield* program(Flow.layer(fails), resultOf(fails, "x")), 3)
      const steps = yield* program(
        Flow.layer(fails),
        Effect.flatMap(Flow.handle(fails, "x"), ({ id }) => FlowExecutions.steps(id))
      )
      assert.deepStrictEqual(
        steps.map(({ attempt }) => attempt),
        [1, 2, 3]
      )
    })
  )

  scenario(
    "temporal: local_activity/cancel_failing",
    Effect.gen(function* () {
      const fails = S.flow("fails", () => S.flaky(9, { attempts: 9, delay: seconds(3_600) }))
      const cancels = Effect.gen(function* () {
        const id = yield* Flow.submit(fails, "x")
        yield* S.says("attempt")
        yield* pass(1)
        yield* FlowExecutions.cancel(id)
        yield* S.reaches(id, "cancelled")
      })
      yield* program(Flow.layer(fails), cancels)
      assert.strictEqual(yield* attempts, 1)
    })
  )

  scenario(
    "temporal: local_activity/complete_after_shutdown",
    Effect.gen(function* () {
      const long = S.flow("long", () => Effect.andThen(take({ name: "long", seconds: 3 }), say("next")))
      yield* program(Flow.layer(long), Effect.andThen(Flow.submit(long, "x"), S.says("long begins")))
      // What ended within the grace is kept; nothing more has begun.
      assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends"])
      yield* program(Flow.layer(long), resultOf(long, "x"))
      assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends", "next"])
    })
  )

  scenario(
    "temporal: local_activity/complete_eventually",
    Effect.gen(function* () {
      const long = S.flow("long", () => take({ name: "long", seconds: 20 }))
      assert.strictEqual(yield* program(Flow.layer(long), resultOf(long, "x")), "long")
      assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends"])
    })
  )

  scenario(
    "temporal: local_activity/complete_immediately",
    Effect.gen(function* () {
      const quick = S.flow("quick", (text) => Effect.map(say(text), (said) => said.toUpperCase()))
      assert.strictEqual(yield* program(Flow.layer(quick), resultOf(quick, "x")), "X")
    })
  )

  scenario(
    "temporal: local_activity/concurrent",
    Effect.gen(function* () {
      const names = ["a", "b", "c", "d", "e"]
      const all = S.flow("all", () =>
        Flow.forEach("name", names, concurrently, (name) => take({ name, seconds: name === "a" ? 20 : 1 }))
      )
      assert.deepStrictEqual(yield* program(Flow.layer(all), resultOf(all, "x")), names)
      assert.strictEqual((yield* Diary.read).at(-1), "a ends")
    })
  )

  scenario(
    "temporal: local_activity/non_retryable_error_from_activity",
    Effect.gen(function* () {
      const lasts = (why: string) => (why.startsWith("attempt") ? null : seconds(1))
      const fails = S.flow("fails", () => S.flaky(9, { attempts: 5, delay: ({ why }) => lasts(why) }))
      const error = yield* program(Flow.layer(fails), S.errorOf(fails, "x"))
      assert.deepStrictEqual(error, new S.Refused({ why: "attempt 1" }))
    })
  )

  scenario(
    "temporal: local_activity/non_retryable_error_in_options",
    Effect.gen(function* () {
      const picky = S.refuse.with({ retry: { attempts: 5, while: ({ why }) => why !== "for good" } })
      const fails = S.flow("fails", (text) => picky(text))
      yield* program(Flow.layer(fails), S.errorOf(fails, "for good"))
      assert.deepStrictEqual(yield* Diary.read, ["for good"])
    })
  )

  scenario(
    "temporal: local_activity/one_success_one_fail",
    Effect.gen(function* () {
      const both = S.flow("both", () =>
        Flow.all("both", [say("well"), Effect.andThen(Flow.sleep("nap", seconds(5)), S.flaky(2))], { concurrency: 2 })
      )
      const retries = Effect.gen(function* () {
        assert.deepStrictEqual(yield* S.errorOf(both, "x"), new S.Refused({ why: "attempt 1" }))
        const { retry } = yield* Flow.handle(both, "x")
        yield* retry()
        assert.deepStrictEqual(yield* resultOf(both, "x"), ["well", 2])
      })
      yield* program(Flow.layer(both), retries)
      assert.deepStrictEqual(yield* Diary.read, ["well", "attempt", "attempt"])
    })
  )

  scenario(
    "temporal: local_activity/retry_on_error",
    Effect.gen(function* () {
      const mends = S.flow("mends", () => S.flaky(3, { attempts: 5, delay: seconds(1) }))
      assert.strictEqual(yield* program(Flow.layer(mends), resultOf(mends, "x")), 3)
    })
  )

  scenario(
    "temporal: local_activity/serial",
    Effect.gen(function* () {
      const serial = S.flow("serial", () => Effect.andThen(say("a"), Effect.andThen(say("b"), say("c"))))
      const listed = Effect.gen(function* () {
        yield* resultOf(serial, "x")
        const { id } = yield* Flow.handle(serial, "x")
        return (yield* FlowExecutions.steps(id)).map(({ path }) => path)
      })
      assert.deepStrictEqual(yield* program(Flow.layer(serial), listed), ["say", "say#2", "say#3"])
      assert.deepStrictEqual(yield* Diary.read, ["a", "b", "c"])
    })
  )

  scenario(
    "restate: RunRetry withSuccess",
    Effect.gen(function* () {
      const mends = S.flow("mends", () => S.flaky(4, { attempts: 9, delay: seconds(0.5) }))
      assert.strictEqual(yield* program(Flow.layer(mends), resultOf(mends, "x")), 4)
    })
  )

  scenario(
    "restate: RunRetry executedOnlyOnce",
    Effect.gen(function* () {
      const once = S.flow("once", () => Effect.catchTag(S.flaky(9, { attempts: 1 }), "Refused", ({ why }) => say(why)))
      assert.strictEqual(yield* program(Flow.layer(once), resultOf(once, "x")), "attempt 1")
    })
  )

  scenario(
    "restate: RunRetry withExhaustedAttempts",
    Effect.gen(function* () {
      const gives = S.flow("gives up", () =>
        Effect.catchTag(S.flaky(9, { attempts: 3, delay: seconds(0.5) }), "Refused", ({ why }) => say(why))
      )
      assert.strictEqual(yield* program(Flow.layer(gives), resultOf(gives, "x")), "attempt 3")
    })
  )

  scenario(
    "restate: RunFlush flush",
    Effect.gen(function* () {
      // What begins later sees that what came before it is stored.
      const looks = Flow.step("looks", {
        input: Schema.Void,
        success: Schema.Array(Schema.String),
        error: Schema.Never,
        run: () =>
          Effect.gen(function* () {
            const { id } = yield* Flow.handle(flush, "x")
            return (yield* FlowExecutions.steps(id)).map(({ path, state }) => `${path} ${state}`)
          }).pipe(Effect.orDie)
      })
      const flush: Flow.Flow<typeof Schema.String, typeof Schema.Json, typeof S.Failure, FlowEngine | S.Diary> = S.flow(
        "flush",
        () => Effect.andThen(say("one"), looks(undefined))
      )
      const seen = yield* program(Flow.layer(flush), resultOf(flush, "x"))
      assert.deepStrictEqual(seen, ["say succeeded", "looks running"])
    })
  )
})
