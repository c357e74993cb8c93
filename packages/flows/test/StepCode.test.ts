/** Which step's code runs, as a thread sees it. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { setTimeout as pause } from "node:timers/promises"
import type { Keeper } from "../src/internal/model/Execution.ts"
import * as Marks from "../src/internal/ownership/thread/Marks.ts"
import * as StepCode from "../src/internal/ownership/StepCode.ts"

const bench = () => {
  const memory = Marks.makeMemory()
  const { within } = StepCode.make(Marks.makeWriter(memory))
  const { keeper } = Marks.makeReader(memory)
  const start = (path: string, effect: Effect.Effect<unknown>, isSuspect = false) =>
    within({ execution: "e", path, isSuspect }, Context.empty(), (context) => Effect.runForkWith(context)(effect))
  const step = (path: string): Keeper => ({ _tag: "Step", step: { execution: "e", path } })
  return { keeper, start, step }
}

const other: Keeper = { _tag: "Other" }

describe("the code of a step", () => {
  it.live("is known at each operation of its effect, beside other steps", () =>
    Effect.gen(function* () {
      const { keeper, start, step } = bench()
      const seen: Array<Keeper> = []
      const note = Effect.sync(() => void seen.push(keeper()))
      const busy = (path: string) =>
        start(
          path,
          Effect.gen(function* () {
            yield* note
            yield* Effect.yieldNow
            yield* note
            yield* Effect.promise(() => pause(5))
            yield* note
            yield* Effect.all([Effect.andThen(Effect.sleep(1), note), Effect.andThen(Effect.yieldNow, note)], {
              concurrency: 2
            })
          })
        )
      assert.deepStrictEqual(keeper(), other)
      const fibers = [busy("a"), busy("b")]
      yield* Effect.forEach(fibers, Fiber.await)
      const of = (path: string) => seen.filter((one) => one._tag === "Step" && one.step.path === path).length
      assert.deepStrictEqual([seen.length, of("a"), of("b")], [10, 5, 5])
      assert.deepStrictEqual(keeper(), other)
      assert.deepStrictEqual(step("a"), seen[0])
    })
  )

  it.live("after an await is that of the only step, or unknown, and followed for suspects", () =>
    Effect.gen(function* () {
      const { keeper, start, step } = bench()
      const noted = (path: string, isSuspect = false, until = Promise.resolve()) => {
        const seen: Array<Keeper> = []
        const fiber = start(
          path,
          Effect.promise(async () => {
            await until
            await pause(1)
            seen.push(keeper())
          }),
          isSuspect
        )
        return Effect.as(Fiber.await(fiber), seen)
      }
      assert.deepStrictEqual(yield* noted("a"), [step("a")])
      const neighbour = start("b", Effect.never)
      yield* Effect.yieldNow
      assert.deepStrictEqual(yield* noted("a"), [{ _tag: "Unknown" }])
      const { promise, resolve } = Promise.withResolvers<void>()
      const followed = noted("a", true, promise)
      // Of which it is known that it is no code of a step.
      yield* Effect.promise(() => pause(1))
      assert.deepStrictEqual(keeper(), other)
      resolve()
      assert.deepStrictEqual(yield* followed, [step("a")])
      assert.deepStrictEqual(keeper(), step("b"))
      yield* Fiber.interrupt(neighbour)
      assert.deepStrictEqual(keeper(), other)
    })
  )

  it.live("is unknown when its name is too long", () =>
    Effect.gen(function* () {
      const { keeper, start } = bench()
      const fiber = start("x".repeat(2_000), Effect.never)
      yield* Effect.yieldNow
      assert.deepStrictEqual(keeper(), { _tag: "Unknown" })
      yield* Fiber.interrupt(fiber)
    })
  )
})
