import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds, take } = S

const attempts = Effect.map(Diary.read, (lines) => lines.length)

scenarios("activities with a time limit", () => {
  const limited = take.with({ timeout: seconds(2), retry: { attempts: 3, delay: seconds(1) } })

  scenario(
    "dbos: timeout-attempt-is-retried-then-succeeds",
    Effect.gen(function* () {
      const second = Flow.step("second", {
        input: Schema.Void,
        success: Schema.Finite,
        error: Schema.Never,
        timeout: seconds(2),
        retry: { attempts: 2, delay: seconds(1) },
        run: Effect.fnUntraced(function* () {
          yield* Diary.write("attempt")
          const attempt = yield* S.countOf("attempt")
          if (attempt === 1) yield* Effect.sleep(seconds(3_600))
          return attempt
        })
      })
      const mends = S.flow("mends", () => second(undefined))
      assert.strictEqual(yield* program(Flow.layer(mends), resultOf(mends, "x")), 2)
    })
  )

  scenario(
    "dbos: timeouts-exhaust-retries",
    Effect.gen(function* () {
      const never = S.flow("never", () => limited({ name: "long", seconds: 3_600 }))
      const error = yield* program(Flow.layer(never), S.errorOf(never, "x"))
      assert.deepStrictEqual(error, new Flow.StepTimeout({ step: "take", afterMillis: seconds(2) }))
      assert.strictEqual(yield* attempts, 3)
    })
  )

  scenario(
    "dbos: shouldRetry-can-opt-out-of-timeouts",
    Effect.gen(function* () {
      const once = limited.with({
        timeout: seconds(2),
        retry: { attempts: 3, while: ({ _tag }) => _tag !== "StepTimeout" }
      })
      const never = S.flow("never", () => once({ name: "long", seconds: 3_600 }))
      yield* program(Flow.layer(never), S.errorOf(never, "x"))
      assert.deepStrictEqual(yield* Diary.read, ["long begins"])
    })
  )

  scenario(
    "dbos: timeout-applies-without-retries",
    Effect.gen(function* () {
      const once = S.flow("once", () => take.with({ timeout: seconds(1) })({ name: "long", seconds: 3_600 }))
      const error = yield* program(Flow.layer(once), S.errorOf(once, "x"))
      assert.instanceOf(error, Flow.StepTimeout)
      assert.deepStrictEqual(yield* Diary.read, ["long begins"])
    })
  )

  scenario(
    "dbos: fast-step-is-unaffected",
    Effect.gen(function* () {
      const quick = S.flow("quick", () => take.with({ timeout: seconds(3_600) })({ name: "quick", seconds: 1 }))
      assert.strictEqual(yield* program(Flow.layer(quick), resultOf(quick, "x")), "quick")
    })
  )

  scenario(
    "dbos: uncooperative-zombie-resolution-is-discarded",
    Effect.gen(function* () {
      const zombie = Flow.step("zombie", {
        input: Schema.Void,
        success: Schema.String,
        error: Schema.Never,
        timeout: seconds(1),
        run: () => Effect.uninterruptible(Effect.as(Effect.sleep(seconds(3)), "late"))
      })
      const given = S.flow("given up", () => Effect.catchTag(zombie(undefined), "StepTimeout", () => say("gone")))
      assert.strictEqual(yield* program(Flow.layer(given), resultOf(given, "x")), "gone")
    })
  )

  scenario(
    "dbos: invalid-timeoutMS-is-rejected",
    Effect.sync(() => {
      assert.throws(() => take.with({ timeout: -1 }), /timeout/)
    })
  )

  scenario(
    "dbos: workflow-deadline-wins-over-step-timeout",
    Effect.gen(function* () {
      const outer = S.flow("outer", () =>
        Flow.timeout("whole", seconds(1), take.with({ timeout: seconds(60) })({ name: "long", seconds: 3_600 }))
      )
      const exit = yield* program(Flow.layer(outer), S.through(Flow.execute(outer, "x")))
      assert.deepStrictEqual(exit, Exit.fail(new Flow.FlowTimeout({ path: "whole", afterMillis: seconds(1) })))
    })
  )
})
