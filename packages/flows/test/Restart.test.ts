/** Executions whose process ends, at any point, and begins again. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as Flow from "../src/Flow.ts"
import type { Codec } from "../src/internal/model/Values.ts"
import { Diary, flowOf, note, Refused, work } from "./support/Flows.ts"
import { inProcess, Store } from "./support/Engines.ts"
import { errorOf } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

/** A process, for as long as the effect runs. */
const process = <S extends Codec, E extends Codec, A, E2, R>(
  flow: Flow.Flow<typeof Schema.Void, S, E, Diary>,
  effect: Effect.Effect<A, E2, R>
) => inProcess(Flow.layer(flow), effect)

/** Lets virtual time go by until the diary has so many lines. */
const until = Effect.fnUntraced(function* (lines: number) {
  for (let step = 0; (yield* Diary.read).length < lines; step++) {
    if (step > 5_000) return yield* Effect.die(new Error(`there are only ${(yield* Diary.read).length} lines`))
    yield* advance("1 second")
  }
})

for (const [name, store] of [
  ["in memory", Store.memory],
  ["on SQLite", Store.sqlite]
] as const) {
  const test = (title: string, body: () => Effect.Effect<void, unknown, Diary | Store>) =>
    it.effect(title, () => body().pipe(Effect.provide(Layer.merge(Layer.fresh(store), Layer.fresh(Diary.layer)))))

  describe(`after a restart, ${name}`, () => {
    const never = Flow.signal("never", Schema.String)
    const long = flowOf(
      Schema.String,
      () =>
        Effect.gen(function* () {
          yield* note("one", { key: "1" })
          yield* Flow.forEach("item", ["a", "b"], { key: (item) => item, concurrency: 2 }, (item) =>
            Effect.andThen(
              note(item),
              Effect.andThen(Flow.sleep("nap", "10 seconds"), note(`${item} again`, { key: "2" }))
            )
          )
          yield* Flow.sleep("nap", "20 seconds")
          yield* note("two", { key: "2" })
          const first = yield* Flow.race("race", {
            never: never.receive(),
            soon: Effect.as(Flow.sleep("soon", "5 seconds"), "soon")
          })
          yield* note("three", { key: "3" })
          return first
        }),
      [never]
    )

    test("an execution continues from any point, and repeats no step that has ended", () =>
      Effect.gen(function* () {
        yield* process(long, Flow.submit(long, undefined))
        for (let lines = 1; lines <= 7; lines++) yield* process(long, until(lines))
        const result = yield* process(long, throughTime(Flow.execute(long, undefined)))
        assert.deepStrictEqual(result, Exit.succeed("soon"))
        const diary = yield* Diary.read
        assert.deepStrictEqual([...diary].sort(), ["a", "a again", "b", "b again", "one", "three", "two"])
        assert.deepStrictEqual([diary[0], ...diary.slice(-2)], ["one", "two", "three"])
      }))

    test("an execution continues without a caller", () =>
      Effect.gen(function* () {
        yield* process(long, Flow.submit(long, undefined))
        yield* TestClock.adjust("1 day")
        yield* process(long, until(7))
      }))

    test("an interrupted step runs again, with the same idempotency keys", () =>
      Effect.gen(function* () {
        const posting = Flow.step("posting", {
          input: Schema.Void,
          success: Schema.Void,
          error: Schema.Never,
          run: Effect.fnUntraced(function* () {
            const keys = yield* IdempotencyKeys
            yield* Diary.write(yield* keys.next)
            yield* Effect.sleep("1 minute")
          })
        })
        const flow = flowOf(Schema.Void, () => posting(undefined))
        yield* process(flow, Effect.andThen(Flow.submit(flow, undefined), until(1)))
        yield* process(flow, throughTime(Flow.execute(flow, undefined)))
        const [first, second, ...more] = yield* Diary.read
        assert.strictEqual(first, second)
        assert.deepStrictEqual(more, [])
      }))

    test("a pause between attempts is not restarted", () =>
      Effect.gen(function* () {
        const flaky = Flow.step("flaky", {
          input: Schema.Void,
          success: Schema.Finite,
          error: Refused,
          retry: { attempts: 2, delay: "1 hour" },
          run: Effect.fnUntraced(function* () {
            yield* Diary.write("tried")
            const tries = (yield* Diary.read).length
            return tries < 2 ? yield* new Refused({ why: "first" }) : tries
          })
        })
        const flow = flowOf(Schema.Finite, () => flaky(undefined))
        yield* process(flow, Effect.andThen(Flow.submit(flow, undefined), until(1)))
        yield* TestClock.adjust("2 hours")
        yield* process(flow, until(2))
        assert.deepStrictEqual(yield* process(flow, Effect.exit(Flow.execute(flow, undefined))), Exit.succeed(2))
      }))

    test("an end of the process undoes nothing", () =>
      Effect.gen(function* () {
        const flow = flowOf(Schema.String, () =>
          Effect.gen(function* () {
            yield* Flow.compensate(note("done"), () => note("undone"))
            return yield* work({ name: "long", seconds: 60 })
          })
        )
        yield* process(flow, Effect.andThen(Flow.submit(flow, undefined), until(2)))
        const exit = yield* process(flow, throughTime(Flow.execute(flow, undefined)))
        assert.deepStrictEqual(exit, Exit.succeed("long"))
        assert.deepStrictEqual(yield* Diary.read, ["done", "long begins", "long begins", "long ends"])
      }))

    test("undoing continues where it stopped, with what ran concurrently with the failure", () =>
      Effect.gen(function* () {
        const flow = flowOf(Schema.Void, () =>
          Effect.gen(function* () {
            yield* Flow.compensate(note("one", { key: "1" }), () => work({ name: "undo one", seconds: 60 }))
            yield* Flow.forEach("item", ["bad", "good"], { key: (item) => item, concurrency: 2 }, (item) =>
              Effect.gen(function* () {
                if (item === "bad") {
                  yield* Flow.sleep("nap", "10 seconds")
                  yield* note("")
                } else {
                  yield* Flow.compensate(note("good"), () => note("undo good"))
                  yield* work({ name: "rest", seconds: 600 })
                }
              })
            )
          })
        )
        yield* process(flow, Effect.andThen(Flow.submit(flow, undefined), until(5)))
        assert.deepStrictEqual(yield* Diary.read, ["one", "good", "rest begins", "undo good", "undo one begins"])
        const exit = yield* process(flow, throughTime(Flow.execute(flow, undefined)))
        assert.instanceOf(errorOf(exit), Refused)
        const after = (yield* Diary.read).slice(4)
        assert.isAbove(after.length, 1)
        assert.strictEqual(after.at(-1), "undo one ends")
        assert.strictEqual((yield* Diary.read).filter((line) => line === "undo good").length, 1)
      }))

    test("a race keeps its winner", () =>
      Effect.gen(function* () {
        const flow = flowOf(Schema.String, () =>
          Effect.gen(function* () {
            const first = yield* Flow.race("race", {
              slow: work({ name: "slow", seconds: 20 }),
              quick: work({ name: "quick", seconds: 2 })
            })
            yield* Flow.sleep("nap", "1 hour")
            return first
          })
        )
        yield* process(flow, Effect.andThen(Flow.submit(flow, undefined), until(3)))
        yield* TestClock.adjust("1 hour")
        const exit = yield* process(flow, throughTime(Flow.execute(flow, undefined)))
        assert.deepStrictEqual(exit, Exit.succeed("quick"))
        assert.deepStrictEqual([...(yield* Diary.read)].sort(), ["quick begins", "quick ends", "slow begins"])
      }))
  })
}
