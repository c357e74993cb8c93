/** These tests are for the compiler: `tsc -b` fails when one of them is wrong. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { Declares, Failing } from "../src/FlowContext.ts"
import * as Flow from "../src/Flow.ts"

class Bad extends Schema.TaggedError<Bad>()("Bad", {}) {}
class Worse extends Schema.TaggedError<Worse>()("Worse", {}) {}
class Own extends Schema.TaggedError<Own>()("Own", {}) {}

const one = Flow.step("one", {
  input: Schema.String,
  success: Schema.Finite,
  error: Bad,
  run: (text) => (text === "" ? Effect.fail(new Bad()) : Effect.succeed(text.length))
})
const two = Flow.step("two", {
  input: Schema.String,
  success: Schema.Finite,
  error: Worse,
  run: () => Effect.fail(new Worse())
})
const common = {
  version: 1,
  input: Schema.String,
  success: Schema.Finite,
  idempotencyKey: (text: string) => text
} as const
const flow = Flow.make("f", {
  ...common,
  error: Flow.errorsOf(one, two, Own),
  run: Effect.fnUntraced(function* (text) {
    expectTypeOf(text).toEqualTypeOf<string>()
    if (text === "own") return yield* Effect.fail(new Own())
    return (yield* one(text)) + (yield* two(text))
  })
})

describe("errorsOf", () => {
  it("is the union of the errors of steps, flows and plain schemas", () => {
    expectTypeOf(Flow.errorsOf(one, two).Type).toEqualTypeOf<Bad | Worse>()
    expectTypeOf(Flow.errorsOf(flow, one, Own).Type).toEqualTypeOf<Bad | Worse | Own | Flow.InvalidInput>()
    expectTypeOf(Flow.errorsOf(two.with({ timeout: "1 second" })).Type).toEqualTypeOf<Worse | Flow.StepTimeout>()
    expectTypeOf(Flow.errorsOf().Type).toEqualTypeOf<never>()
    expectTypeOf(Flow.run(flow, "x")).toEqualTypeOf<Effect.Effect<number, Bad | Worse | Own | Flow.InvalidInput>>()
  })

  it.effect("takes the errors of all of them, and the body's own", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Effect.exit(Flow.run(flow, "")), Exit.fail(new Bad()))
      assert.deepStrictEqual(yield* Effect.exit(Flow.run(flow, "x")), Exit.fail(new Worse()))
      assert.deepStrictEqual(yield* Effect.exit(Flow.run(flow, "own")), Exit.fail(new Own()))
    })
  )
})

describe("a flow that lacks errors of its steps", () => {
  it("does not compile, and the message names the step", () => {
    Flow.make("wrong", {
      ...common,
      error: Flow.errorsOf(one),
      // @ts-expect-error the step two is missing
      run: Effect.fnUntraced(function* (text) {
        yield* one(text)
        return yield* two(text)
      })
    })
    Flow.make("wrong", {
      ...common,
      error: Flow.errorsOf(one),
      // @ts-expect-error Own is missing
      run: () => Effect.fail(new Own())
    })
    type Context = Flow.FlowContext<never, Failing<"one", Bad>> | Flow.FlowContext<never, Failing<"two", Worse>>
    expectTypeOf<
      Declares<Bad, Bad | Worse, Context>
    >().toEqualTypeOf<"the error schema of the flow lacks the errors of the step two: name it in Flow.errorsOf(...)">()
    expectTypeOf<
      Declares<Bad, Bad | Own, Context>
    >().toEqualTypeOf<"the error schema of the flow lacks Own, which its body fails with">()
    expectTypeOf<Declares<Bad | Worse, Bad | Worse, Context>>().toEqualTypeOf<unknown>()
  })

  it("compiles when its body catches them", () => {
    const caught = Flow.make("caught", {
      ...common,
      error: Flow.errorsOf(one),
      run: Effect.fnUntraced(function* (text) {
        yield* one(text)
        return yield* Effect.orElseSucceed(two(text), () => 0)
      })
    })
    expectTypeOf(Flow.run(caught, "x")).toEqualTypeOf<Effect.Effect<number, Bad | Flow.InvalidInput>>()
  })
})
