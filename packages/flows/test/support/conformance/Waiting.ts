/** Concurrency, sleeps, time limits and races. */
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Flow from "../../../src/Flow.ts"
import { Diary, flowOf, note, Refused } from "../Flows.ts"
import type { Bench } from "./Bench.ts"

export const waiting = <R>({ exitOf, resultOf, test, time, working }: Bench<R>) => {
  test(
    "run the members of forEach concurrently, with results in the order of the items",
    Effect.gen(function* () {
      const flow = flowOf(Schema.Array(Schema.String), () =>
        Flow.forEach("item", [3, 1, 2], { key: String, concurrency: 3 }, (seconds) => working(String(seconds), seconds))
      )
      assert.deepStrictEqual(yield* resultOf(flow), ["3", "1", "2"])
      assert.deepStrictEqual([...(yield* Diary.read)].sort(), [
        "1 begins",
        "1 ends",
        "2 begins",
        "2 ends",
        "3 begins",
        "3 ends"
      ])
    })
  )

  test(
    "wait and run steps concurrently, and repeat no step because of that",
    Effect.gen(function* () {
      const flow = flowOf(Schema.Struct({ slept: Schema.String, worked: Schema.String }), () =>
        Flow.all(
          "both",
          {
            slept: Effect.as(Flow.sleep("nap", time(2)), "slept"),
            worked: working("long", 30)
          },
          { concurrency: 2 }
        )
      )
      assert.deepStrictEqual(yield* resultOf(flow), { slept: "slept", worked: "long" })
      assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends"])
    })
  )

  test(
    "sleep as long as they say, and know the time of their steps",
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.gen(function* () {
          const before = yield* Flow.now("before")
          yield* note("once")
          yield* Flow.sleep("night", time(40))
          const after = yield* Flow.now("after")
          return DateTime.toEpochMillis(after) - DateTime.toEpochMillis(before)
        })
      )
      assert.isAtLeast(yield* resultOf(flow), time(40))
      assert.deepStrictEqual(yield* Diary.read, ["once"])
    })
  )

  test(
    "fail with FlowTimeout when a part takes too long, and continue",
    Effect.gen(function* () {
      const flow = flowOf(Schema.Array(Schema.Finite), () =>
        Effect.gen(function* () {
          const late = yield* Flow.timeout("limit", time(10), working("long", 600)).pipe(
            Effect.as(0),
            Effect.catchTag("FlowTimeout", (error) => Effect.succeed(error.afterMillis))
          )
          const inTime = yield* Flow.timeout("limit", time(100), note("quick"), { key: "2" })
          return [late, inTime]
        })
      )
      assert.deepStrictEqual(yield* resultOf(flow), [time(10), 5])
      assert.deepStrictEqual(yield* Diary.read, ["long begins", "quick"])
    })
  )

  test(
    "limit waiting in time, too",
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          yield* note("asked")
          return yield* Flow.timeout("decision", time(20), Effect.as(Flow.sleep("month", time(3_000)), "slept")).pipe(
            Effect.catchTag("FlowTimeout", () => Effect.succeed("nobody"))
          )
        })
      )
      assert.strictEqual(yield* resultOf(flow), "nobody")
      assert.deepStrictEqual(yield* Diary.read, ["asked"])
    })
  )

  test(
    "continue with the first member of a race, and interrupt the others",
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          const first = yield* Flow.race("which", {
            slow: working("slow", 300),
            quick: Effect.gen(function* () {
              yield* working("quick", 2)
              yield* Flow.sleep("nap", time(3))
              return "quick"
            })
          })
          yield* note("after")
          return first
        })
      )
      assert.strictEqual(yield* resultOf(flow), "quick")
      assert.deepStrictEqual([...(yield* Diary.read)].sort(), ["after", "quick begins", "quick ends", "slow begins"])
    })
  )

  test(
    "fail when the first member of a race to end fails",
    Effect.gen(function* () {
      const flow = flowOf(Schema.Union([Schema.String, Schema.Finite]), () =>
        Flow.race("which", [working("slow", 300), note("")])
      )
      const exit = yield* exitOf(flow)
      assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, Refused)
    })
  )
}
