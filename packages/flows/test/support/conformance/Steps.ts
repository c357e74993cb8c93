/** How bodies and steps return, fail and are retried. */
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Flow from "../../../src/Flow.ts"
import { Diary, flowOf, note, Refused } from "../Flows.ts"
import type { Bench } from "./Bench.ts"

export const steps = <R>({ exitOf, resultOf, runner, test, through, time }: Bench<R>) => {
  test(
    "return the result of the body, decoded by their schemas",
    Effect.gen(function* () {
      const flow = Flow.make("sum", {
        version: 1,
        input: Schema.Struct({ texts: Schema.Array(Schema.String), day: Schema.Date }),
        success: Schema.Struct({ sum: Schema.Finite, day: Schema.Date }),
        error: Refused,
        idempotencyKey: ({ texts }) => texts.join(),
        run: Effect.fnUntraced(function* ({ day, texts: [first = "", second = ""] }) {
          const sum = (yield* note(first, { key: "1" })) + (yield* note(second, { key: "2" }))
          return { sum, day }
        })
      })
      const day = new Date("2026-11-20T08:00:00.000Z")
      const exit = yield* through(runner.run(flow, { texts: ["ab", "cde"], day }))
      assert.deepStrictEqual(exit, Exit.succeed({ sum: 5, day }))
      assert.deepStrictEqual(yield* Diary.read, ["ab", "cde"])
    })
  )

  test(
    "fail with the very error of the step",
    Effect.gen(function* () {
      const failing = yield* exitOf(flowOf(Schema.Finite, () => note("")))
      const error = Exit.isFailure(failing) ? Cause.squash(failing.cause) : undefined
      assert.instanceOf(error, Refused)
      assert.strictEqual(error.why, "nothing to note")
    })
  )

  test(
    "let a body handle the error of a step",
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.catchTag(note(""), "Refused", () => note("instead", { key: "2" }))
      )
      assert.strictEqual(yield* resultOf(flow), 7)
    })
  )

  test(
    "repeat a step after growing pauses, as often as it says",
    Effect.gen(function* () {
      const flaky = Flow.step("flaky", {
        input: Schema.Void,
        success: Schema.String,
        error: Refused,
        retry: { attempts: 4, delay: time(10), while: ({ why }) => why !== "never" },
        run: Effect.fnUntraced(function* () {
          yield* Diary.write(`${yield* Clock.currentTimeMillis}`)
          const tries = (yield* Diary.read).length
          return tries < 3 ? yield* new Refused({ why: `try ${tries}` }) : "well"
        })
      })
      assert.strictEqual(yield* resultOf(flowOf(Schema.String, () => flaky(undefined))), "well")
      const [first = "", second = "", third = ""] = yield* Diary.read
      assert.isAtLeast(Number(second) - Number(first), time(10))
      assert.isAtLeast(Number(third) - Number(second), time(20))
      assert.strictEqual((yield* Diary.read).length, 3)
    })
  )

  test(
    "tell the next attempt of a step what the last one has recorded, after a failure and a timeout",
    Effect.gen(function* () {
      const counts = Flow.step("counts", {
        input: Schema.Void,
        success: Schema.Finite,
        error: Refused,
        retry: { attempts: 3, delay: time(1) },
        timeout: time(20),
        run: Effect.fnUntraced(function* () {
          const { last, record } = yield* Flow.details(Schema.Finite)
          const first = Option.getOrElse(last, () => 0)
          yield* record(first + 1)
          yield* record(first + 10)
          if (first === 0) return yield* new Refused({ why: "first" })
          return first === 10 ? yield* Effect.never : first
        })
      })
      const flow = flowOf(Schema.Finite, () => Effect.catchTag(counts(undefined), "StepTimeout", () => note("")))
      assert.strictEqual(yield* resultOf(flow), 20)
    })
  )

  test(
    "do not repeat what is not worth it",
    Effect.gen(function* () {
      const flaky = Flow.step("flaky", {
        input: Schema.Void,
        success: Schema.Void,
        error: Refused,
        retry: { attempts: 4, while: ({ why }) => why !== "never" },
        run: () => Effect.andThen(Diary.write("tried"), Effect.fail(new Refused({ why: "never" })))
      })
      assert.isTrue(Exit.isFailure(yield* exitOf(flowOf(Schema.Void, () => flaky(undefined)))))
      assert.deepStrictEqual(yield* Diary.read, ["tried"])
    })
  )

  test(
    "may repeat a step themselves, by another call with a number",
    Effect.gen(function* () {
      const again = flowOf(Schema.Finite, () => Effect.retry(note(""), { times: 2 }))
      const exit = yield* exitOf(again)
      assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, Refused)
    })
  )

  test(
    "limit the attempts of a step in time",
    Effect.gen(function* () {
      const slow = Flow.step("slow", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        timeout: time(5),
        run: () => Effect.sleep("1 hour")
      })
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          const result = yield* Effect.result(slow(undefined))
          return Result.isFailure(result) ? result.failure.step : "in time"
        })
      )
      assert.strictEqual(yield* resultOf(flow), "slow")
    })
  )

  test(
    "contain other flows",
    Effect.gen(function* () {
      const inner = Flow.make("inner", {
        version: 3,
        input: Schema.Struct({ day: Schema.Date }),
        success: Schema.Date,
        error: Refused,
        idempotencyKey: () => "any",
        run: Effect.fnUntraced(function* ({ day }) {
          yield* note(day.toISOString().slice(0, 10))
          yield* Flow.sleep("nap", time(30))
          return day
        })
      })
      const day = new Date("2026-11-20T00:00:00.000Z")
      const flow = flowOf(Schema.Array(Schema.Date), () =>
        Flow.all("both", [Flow.call(inner, { day }), Flow.call(inner, { day }, { key: "again" })])
      )
      assert.deepStrictEqual(yield* resultOf(flow), [day, day])
      assert.deepStrictEqual(yield* Diary.read, ["2026-11-20", "2026-11-20"])
    })
  )
}
