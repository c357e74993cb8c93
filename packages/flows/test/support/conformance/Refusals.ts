/** What halts a flow, and what it says. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Flow from "../../../src/Flow.ts"
import { Diary, flowOf, note } from "../Flows.ts"
import type { Bench } from "./Bench.ts"

export const refusals = <R>({ defectOf, runner, test }: Bench<R>) => {
  test(
    "die with the step and the original when a step fails with what it did not declare",
    Effect.gen(function* () {
      const error = { _tag: "Known" as const, secret: Number.NaN }
      const wrong = Flow.step("wrong", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Struct({ _tag: Schema.Literal("Known"), secret: Schema.Finite }),
        // What the compiler lets through: the right shape by type, not by value.
        run: () => Effect.fail(error)
      })
      const flow = flowOf(Schema.Void, () => Effect.catch(wrong(undefined), () => Effect.void))
      const defect = yield* defectOf(flow)
      assert.match(defect.message, /the error of the step wrong does not fit its schema/)
      if (!runner.halts) assert.propertyVal(defect, "cause", error)
    })
  )

  test(
    "refuse a path that is used twice, and say what to do",
    Effect.gen(function* () {
      const { message } = yield* defectOf(
        flowOf(Schema.Finite, () => Effect.andThen(note("a", { key: "k" }), note("b", { key: "k" })))
      )
      assert.match(message, /the path note\[k\] is used twice.*key/)
      assert.deepStrictEqual(yield* Diary.read, ["a"])
    })
  )

  test(
    "refuse results that are secret",
    Effect.gen(function* () {
      const secret = Flow.step("secret", {
        input: Schema.Void,
        success: Schema.Struct({ key: Schema.Redacted(Schema.String) }),
        error: Schema.Never,
        run: () => Effect.succeed({ key: Redacted.make("hush") })
      })
      const { message } = yield* defectOf(flowOf(Schema.Void, () => Effect.asVoid(secret(undefined))))
      assert.match(message, /the result of the step secret contains a Redacted/)
    })
  )

  test(
    "refuse results that are too large",
    Effect.gen(function* () {
      const large = Flow.step("large", {
        input: Schema.Void,
        success: Schema.String,
        error: Schema.Never,
        run: () => Effect.succeed("x".repeat(1_000_000))
      })
      const { message } = yield* defectOf(flowOf(Schema.Void, () => Effect.asVoid(large(undefined))))
      assert.match(message, /the result of the step large is 1000002 bytes of JSON/)
    })
  )
}
