/** What all tasks that the service repeats have in common. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { forEachIndependently } from "../src/internal/BackgroundTask.ts"

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
