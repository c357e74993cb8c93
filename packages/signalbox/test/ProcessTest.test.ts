/**
 * A process in a test: in memory, in virtual time.
 */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Process from "@signalbox/api/Process"
import * as Task from "@signalbox/worker/Task"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ProcessTest from "../src/ProcessTest.ts"

const Count = Schema.Struct({ to: Schema.Int })
const Number = Schema.Struct({ n: Schema.Int })

const count = Task.make("count", {
  input: Count,
  output: Number,
  run: ({ payload }) => Stream.map(Stream.range(1, payload.to), (n) => ({ n }))
})

const picky = Task.make("picky", {
  input: Number,
  output: Number,
  run: ({ payload: { n } }) =>
    n === 2 ? Effect.fail(new Task.BusinessFailure({ code: "TWO", message: "no twos" })) : Effect.succeed({ n: n * 10 })
})

describe("a process in a test", () => {
  it.effect("has outputs, failures, and what each step saw", () =>
    Effect.gen(function* () {
      const numbers = Process.make("numbers", { steps: [count, picky] })
      const { failures, outputs, seen } = yield* ProcessTest.test(numbers, [{ to: 3 }])
      assert.deepStrictEqual(outputs, [{ n: 10 }, { n: 30 }])
      assert.deepStrictEqual(
        failures.map(({ exception, step }) => [step, exception?.code]),
        [["picky", "TWO"]]
      )
      assert.deepStrictEqual(seen, { count: [{ to: 3 }], picky: [{ n: 1 }, { n: 2 }, { n: 3 }] })
      expectTypeOf(outputs).toEqualTypeOf<ReadonlyArray<{ readonly n: number }>>()
      expectTypeOf(failures[0]?.step).toEqualTypeOf<"count" | "picky" | null | undefined>()
    })
  )

  it.effect("lets the delays of retries pass", () =>
    Effect.gen(function* () {
      let attempts = 0
      const flaky = Task.make("flaky", {
        input: Number,
        output: Number,
        run: ({ payload }) => (++attempts < 3 ? Effect.fail("not yet") : Effect.succeed(payload))
      })
      const process = Process.make("flaky", {
        steps: [Process.step(flaky, { retry: { max_attempts: 3, delay_seconds: 120 } })]
      })
      const { outputs, seen } = yield* ProcessTest.test(process, [{ n: 1 }])
      assert.deepStrictEqual(outputs, [{ n: 1 }])
      assert.deepStrictEqual(seen.flaky, [{ n: 1 }, { n: 1 }, { n: 1 }])
    })
  )

  it.effect("puts functions in the place of tasks of packages, and takes groups and labels for granted", () =>
    Effect.gen(function* () {
      const post = Process.packageTask({ package: "erp", task: "Post to ERP", input: Number, output: Schema.Null })
      const process = Process.make("posts", {
        steps: [count, Process.step(post, { name: "post", worker_group: "erp", worker: { labels: ["gpu"] } })]
      })
      const { outputs, seen } = yield* ProcessTest.test(process, [{ to: 2 }], {
        stubs: { post: () => Effect.succeed(null) }
      })
      assert.deepStrictEqual(outputs, [null, null])
      assert.deepStrictEqual(seen.post, [{ n: 1 }, { n: 2 }])
      // @ts-expect-error there is no function for the step "post"
      const error = yield* Effect.flip(ProcessTest.test(process, [{ to: 2 }], { stubs: {} }))
      assert.match(error.message, /the step "post" runs a task of a package/)
      const stubs = { post: () => Effect.succeed(null) }
      // @ts-expect-error payloads are those of the first step
      const wrong = yield* Effect.flip(ProcessTest.test(process, [{ n: 1 }], { stubs }))
      assert.strictEqual(wrong.message, "payloads.0: to: Missing key")
    })
  )

  it.effect("runs two steps of one task apart, and needs the services of its tasks", () =>
    Effect.gen(function* () {
      class Rate extends Context.Service<Rate, number>()("test/Rate") {}
      const times = Task.make("times", {
        input: Number,
        output: Number,
        run: ({ payload: { n } }) => Effect.map(Rate, (rate) => ({ n: n * rate }))
      })
      const process = Process.make("twice", { steps: [times, Process.step(times, { name: "again" })] })
      const tested = ProcessTest.test(process, [{ n: 1 }])
      expectTypeOf<Effect.Services<typeof tested>>().toEqualTypeOf<Rate>()
      const { outputs, seen } = yield* Effect.provideService(tested, Rate, 3)
      assert.deepStrictEqual(outputs, [{ n: 9 }])
      assert.deepStrictEqual(seen, { times: [{ n: 1 }], again: [{ n: 3 }] })
    })
  )
})
