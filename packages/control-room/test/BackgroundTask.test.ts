/** What all tasks that the service repeats have in common. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { forEachIndependently, repeating } from "../src/internal/background/BackgroundTask.ts"
import { adjustable } from "./support/Service.ts"

describe("a task that is repeated", () => {
  it.effect("begins with what it does after a sleep of the machine, however long it takes itself", () =>
    Effect.gen(function* () {
      const reached: Array<string> = []
      const note = (what: string) => Effect.sync(() => void reached.push(what))
      let slept = 0
      const clock = adjustable(yield* Clock.Clock, () => slept)
      const task = Effect.andThen(note("task"), Effect.sleep("1 minute"))
      yield* repeating(task, { interval: "1 second", awoke: note("awoke") }).pipe(
        Effect.provideService(Clock.Clock, clock),
        Effect.forkChild
      )
      yield* TestClock.adjust("121 seconds")
      assert.deepStrictEqual(reached, ["task", "task"])
      slept = 12_000
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(reached, ["task", "task", "awoke", "task"])
    })
  )
})

describe("a tick over what is due", () => {
  it.effect("goes on after one that fails or dies, and then fails with the first failure", () =>
    Effect.gen(function* () {
      const reached: Array<number> = []
      const one = (n: number) =>
        Effect.suspend(() => {
          reached.push(n)
          return n === 2 ? Effect.fail("two") : n === 3 ? Effect.die("three") : Effect.void
        })
      assert.strictEqual(yield* Effect.flip(forEachIndependently([1, 2, 3, 4], one)), "two")
      assert.deepStrictEqual(reached, [1, 2, 3, 4])
      yield* forEachIndependently([1, 4], one)
    })
  )
})
