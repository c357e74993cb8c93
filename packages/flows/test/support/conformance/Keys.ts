/** The idempotency keys of requests of steps. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as Flow from "../../../src/Flow.ts"
import { Diary, flowOf, Refused } from "../Flows.ts"
import type { Bench } from "./Bench.ts"

export const keys = <R>({ resultOf, test, time }: Bench<R>) => {
  test(
    "send the same idempotency keys when a step is tried again",
    Effect.gen(function* () {
      const posting = Flow.step("posting", {
        input: Schema.Void,
        success: Schema.Void,
        error: Refused,
        retry: { attempts: 2, delay: time(1) },
        run: Effect.fnUntraced(function* () {
          const keys = yield* IdempotencyKeys
          yield* Diary.write(yield* keys.next)
          yield* Diary.write(yield* keys.next)
          if ((yield* Diary.read).length === 2) return yield* new Refused({ why: "lost" })
        })
      })
      yield* resultOf(flowOf(Schema.Void, () => posting(undefined, { key: "a" })))
      const [first = "", second = "", ...again] = yield* Diary.read
      assert.deepStrictEqual(again, [first, second])
      assert.match(first, /^[0-9a-f-]{36}\/posting\[a\]\/1$/)
      assert.match(second, /^[0-9a-f-]{36}\/posting\[a\]\/2$/)
    })
  )

  test(
    "make a key that a header can hold of any path",
    Effect.gen(function* () {
      const posting = Flow.step("posting", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.flatMap(IdempotencyKeys, (keys) => Effect.flatMap(keys.next, Diary.write))
      })
      yield* resultOf(
        flowOf(Schema.Void, () =>
          Effect.andThen(posting(undefined, { key: "ö und ü" }), posting(undefined, { key: "x".repeat(400) }))
        )
      )
      const keys = yield* Diary.read
      assert.strictEqual(new Set(keys).size, 2)
      for (const key of keys) assert.match(key, /^[!-~]{1,255}$/)
    })
  )
}
