/** What is undone when a flow fails. */
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Flow from "../../../src/Flow.ts"
import { Diary, flowOf, note, Refused } from "../Flows.ts"
import type { Bench } from "./Bench.ts"

export const compensation = <R>({ exitOf, resultOf, runner, test, time, working }: Bench<R>) => {
  test(
    "undo in reverse order when they fail, what concurrent and raced parts did included",
    Effect.gen(function* () {
      const done = (name: string) =>
        Flow.compensate(note(name, { key: name }), (length) => note(`undo ${name} (${length})`))
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* done("one")
          yield* Flow.forEach("item", ["a", "b"], { key: (item) => item }, (item) => done(item))
          yield* Flow.race("race", [done("won")])
          yield* note("")
        })
      )
      const exit = yield* exitOf(flow)
      assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, Refused)
      assert.deepStrictEqual(yield* Diary.read, [
        "one",
        "a",
        "b",
        "won",
        "undo won (3)",
        "undo b (1)",
        "undo a (1)",
        "undo one (3)"
      ])
    })
  )

  test(
    "undo nothing when they succeed, and not what failed",
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.gen(function* () {
          yield* Effect.ignore(Flow.compensate(note(""), () => note("undone", { key: "never" })))
          return yield* Flow.compensate(note("kept", { key: "2" }), () => note("undone"))
        })
      )
      assert.strictEqual(yield* resultOf(flow), 4)
      assert.deepStrictEqual(yield* Diary.read, ["kept"])
    })
  )

  test(
    "continue undoing when an undo fails",
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* Flow.compensate(note("one", { key: "1" }), () => note("undo one"))
          yield* Flow.compensate(note("two", { key: "2" }), () => note(""))
          yield* Flow.timeout("limit", time(10), working("three", 200))
        })
      )
      const exit = yield* exitOf(flow)
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      // A script ends then; an execution is halted until a person has fixed the cause.
      if (runner.halts) assert.propertyVal(error, "tag", "UndoFailed")
      else assert.instanceOf(error, Flow.FlowTimeout)
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "three begins", "undo one"])
    })
  )
}
