/**
 * Scenarios of steps that take longer than the ten seconds that a process gives them at its end: in virtual time on SQLite, and in
 * real time among the slow tests.
 */
import { defined } from "@signalbox/transport/Defined"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "./Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios } = S

/** Hangs in its first attempt, whatever the clock. */
const hanging = (repeat?: "never") =>
  Flow.step("hanging", {
    input: Schema.Void,
    success: Schema.Finite,
    error: Schema.Never,
    ...defined({ repeat }),
    run: Effect.fnUntraced(function* () {
      yield* Diary.write("begins")
      const begun = yield* S.countOf("begins")
      if (begun === 1) return yield* Effect.onInterrupt(Effect.never, () => Diary.write("interrupted"))
      return begun
    })
  })(undefined)

export const cutOff = () =>
  scenarios("steps that are cut off", () => {
    scenario(
      "temporal: local_activity/shutdown_sends_cancellation",
      Effect.gen(function* () {
        const hangs = S.flow("hangs", () => hanging())
        yield* program(Flow.layer(hangs), Effect.andThen(Flow.submit(hangs, "x"), S.says("begins")))
        assert.deepStrictEqual(yield* Diary.read, ["begins", "interrupted"])
        assert.strictEqual(yield* program(Flow.layer(hangs), resultOf(hangs, "x")), 2)
      })
    )

    scenario(
      "dbos: shutdown-waits-for-workflow-then-times-out",
      Effect.gen(function* () {
        const hangs = S.flow("hangs", () => Effect.andThen(hanging(), say("after")))
        yield* program(Flow.layer(hangs), Effect.andThen(Flow.submit(hangs, "x"), S.says("begins")))
        const attempts = Effect.gen(function* () {
          yield* resultOf(hangs, "x")
          const { id } = yield* Flow.handle(hangs, "x")
          return (yield* FlowExecutions.steps(id)).map(({ attempt, path, state }) => [path, attempt, state])
        })
        // What the process cut off does not count as an attempt that failed.
        assert.deepStrictEqual(yield* program(Flow.layer(hangs), attempts), [
          ["hanging", 1, "succeeded"],
          ["say", 1, "succeeded"]
        ])
      })
    )

    scenario(
      "temporal: an activity of one attempt whose worker is gone",
      Effect.gen(function* () {
        const once = S.flow("once", () => hanging("never"))
        yield* program(Flow.layer(once), Effect.andThen(Flow.submit(once, "x"), S.says("begins")))
        const halt = yield* program(Flow.layer(once), S.haltOf(once, "x"))
        // It may have acted: a person decides.
        assert.strictEqual(halt.tag, "StepCutOff")
        assert.deepStrictEqual(yield* Diary.read, ["begins", "interrupted"])
      })
    )
  })
