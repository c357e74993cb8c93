/** These tests are for the compiler: `tsc -b` fails when one of them is wrong. */
// What is wrong here is wrong on purpose.
// @effect-diagnostics missingEffectContext:off missingEffectError:off
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as Stream from "effect/Stream"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ControlRoomError, InvalidRequest, NotFound } from "@signalbox/api/ControlRoomError"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Flow from "../src/Flow.ts"
import type { FlowEngine } from "../src/FlowEngine.ts"
import type {
  DeadlineExceeded,
  FlowCancelled,
  FlowDraining,
  FlowExpired,
  FlowHalted,
  FlowNotRegistered
} from "../src/FlowErrors.ts"
import type { FlowEvent } from "../src/FlowEvents.ts"
import * as Retry from "../src/Retry.ts"

class One extends Context.Service<One, { readonly value: number }>()("test/One") {}
class Two extends Context.Service<Two, { readonly value: number }>()("test/Two") {}
class Bad extends Schema.TaggedError<Bad>()("Bad", {}) {}
class Worse extends Schema.TaggedError<Worse>()("Worse", {}) {}

const one = Flow.step("one", {
  input: Schema.String,
  success: Schema.Finite,
  error: Bad,
  run: Effect.fnUntraced(function* (text) {
    expectTypeOf(text).toEqualTypeOf<string>()
    return (yield* One).value + text.length
  })
})
const two = Flow.step("two", {
  input: Schema.Struct({ at: Schema.Date }),
  success: Schema.Struct({ value: Schema.Finite }),
  error: Worse,
  run: () => Effect.map(Two, ({ value }) => ({ value }))
})
const pure = Flow.step("pure", {
  input: Schema.Void,
  success: Schema.Boolean,
  error: Schema.Never,
  run: () => Effect.succeed(true)
})

const common = {
  version: 1,
  input: Schema.String,
  success: Schema.Finite,
  idempotencyKey: (text: string) => text
} as const

describe("a step", () => {
  it("has exact types, and the phantom requirement", () => {
    expectTypeOf(one("x")).toEqualTypeOf<Effect.Effect<number, Bad, Flow.FlowContext<One, Flow.Failing<"one", Bad>>>>()
    expectTypeOf(two({ at: new Date() })).toEqualTypeOf<
      Effect.Effect<{ readonly value: number }, Worse, Flow.FlowContext<Two, Flow.Failing<"two", Worse>>>
    >()
    expectTypeOf(pure(undefined, { key: "k" })).toEqualTypeOf<
      Effect.Effect<boolean, never, Flow.FlowContext<never, Flow.Failing<"pure", never>>>
    >()
    expectTypeOf(one.error).toEqualTypeOf<typeof Bad>()
    // @ts-expect-error the input has the type of its schema
    assert.isDefined(one(1))
    assert.strictEqual(one.name, "one")
  })

  it("has StepTimeout only with a timeout", () => {
    const slow = Flow.step("slow", {
      input: Schema.Void,
      success: Schema.Void,
      error: Bad,
      timeout: "1 second",
      retry: {
        attempts: 2,
        while: (error) => {
          expectTypeOf(error).toEqualTypeOf<Bad | Flow.StepTimeout>()
          return true
        }
      },
      run: () => Effect.void
    })
    expectTypeOf(slow(undefined)).toEqualTypeOf<
      Effect.Effect<void, Bad | Flow.StepTimeout, Flow.FlowContext<never, Flow.Failing<"slow", Bad | Flow.StepTimeout>>>
    >()
    const repeated = Flow.step("repeated", {
      input: Schema.Void,
      success: Schema.Void,
      error: Bad,
      retry: {
        attempts: 2,
        while: (error) => {
          expectTypeOf(error).toEqualTypeOf<Bad>()
          return true
        }
      },
      run: () => Effect.void
    })
    expectTypeOf(repeated.error).toEqualTypeOf<typeof Bad>()
  })

  it("passes its errors to the functions of its retry, with StepTimeout if it has a timeout", () => {
    const slow = Flow.step("slow", {
      input: Schema.Void,
      success: Schema.Void,
      error: Bad,
      timeout: "1 second",
      retry: {
        attempts: 2,
        delay: (error, attempt) => {
          expectTypeOf(error).toEqualTypeOf<Bad | Flow.StepTimeout>()
          expectTypeOf(attempt).toEqualTypeOf<number>()
          return error._tag === "Bad" ? null : { seconds: 3 }
        },
        max: "1 minute",
        jitter: 0.5,
        within: { hours: 1 }
      },
      run: () => Effect.void
    })
    slow.with({ retry: { attempts: 2, delay: Retry.http } })
    expectTypeOf(Retry.http).toEqualTypeOf<(error: unknown, attempt: number) => Duration.Duration | null>()
    // @ts-expect-error a pause is a length of time
    slow.with({ retry: { attempts: 2, delay: () => "soon" } })
    // @ts-expect-error a share is a number
    assert.throws(() => slow.with({ retry: { attempts: 2, jitter: true } }), /retry\.jitter/)
    const response = new Response()
    expectTypeOf(Retry.afterMillis(response.headers)).toEqualTypeOf<number | null>()
  })

  it("does not fail with or return what it does not declare", () => {
    Flow.step("wrong", {
      input: Schema.Void,
      success: Schema.Void,
      error: Bad,
      // @ts-expect-error Worse is not declared
      run: () => Effect.fail(new Worse())
    })
    Flow.step("wrong", {
      input: Schema.Void,
      success: Schema.String,
      error: Bad,
      // @ts-expect-error a number is no string
      run: () => Effect.succeed(1)
    })
  })

  it("takes only schemas that need no services", () => {
    const lookedUp = Schema.String.pipe(
      Schema.decode({
        decode: SchemaGetter.transformEffect((text) => Effect.map(One, ({ value }) => `${text}${value}`)),
        encode: SchemaGetter.passthrough()
      })
    )
    Flow.step("wrong", {
      // @ts-expect-error decoding needs the service One
      input: lookedUp,
      success: Schema.Void,
      error: Schema.Never,
      run: () => Effect.void
    })
  })
})

describe("a flow", () => {
  it("hands on the union of what its steps need, and the declared error", () => {
    const flow = Flow.make("f", {
      ...common,
      error: Schema.Union([Bad, Worse]),
      run: Effect.fnUntraced(function* (text) {
        expectTypeOf(text).toEqualTypeOf<string>()
        yield* pure(undefined)
        yield* Flow.sleep("nap", "1 second")
        expectTypeOf(yield* Flow.now("t")).toEqualTypeOf<DateTime.Utc>()
        return (yield* one(text)) + (yield* two({ at: new Date(0) })).value
      })
    })
    expectTypeOf(Flow.run(flow, "x")).toEqualTypeOf<Effect.Effect<number, Bad | Worse | Flow.InvalidInput, One | Two>>()
    expectTypeOf(Flow.stream(flow, "x")).toEqualTypeOf<
      Stream.Stream<FlowEvent, Bad | Worse | Flow.InvalidInput, One | Two>
    >()
    expectTypeOf(Flow.call(flow, "x")).toEqualTypeOf<
      Effect.Effect<number, Bad | Worse | Flow.InvalidInput, Flow.FlowContext<One | Two>>
    >()
    // @ts-expect-error the input has the type of its schema
    assert.isDefined(Flow.run(flow, 1))
  })

  it("needs nothing when its steps need nothing", () => {
    const flow = Flow.make("f", { ...common, error: Schema.Never, run: () => Effect.as(pure(undefined), 1) })
    expectTypeOf(Flow.run(flow, "x")).toEqualTypeOf<Effect.Effect<number, Flow.InvalidInput>>()
    const empty = Flow.make("f", { ...common, error: Schema.Never, run: () => Effect.succeed(1) })
    expectTypeOf(Flow.run(empty, "x")).toEqualTypeOf<Effect.Effect<number, Flow.InvalidInput>>()
  })

  it("keeps types through forEach and all", () => {
    const each = Flow.forEach("n", ["a"], { key: (text) => text }, (text) => one(text))
    expectTypeOf(each).toEqualTypeOf<
      Effect.Effect<Array<number>, Bad, Flow.FlowContext<One, Flow.Failing<"one", Bad>> | Flow.FlowContext<never>>
    >()
    const record = Flow.all("r", { a: one("x"), b: two({ at: new Date() }) })
    expectTypeOf<Effect.Success<typeof record>>().toEqualTypeOf<{ a: number; b: { readonly value: number } }>()
    expectTypeOf<Effect.Error<typeof record>>().toEqualTypeOf<Bad | Worse>()
    const tuple = Flow.all("t", [one("x"), pure(undefined)])
    expectTypeOf<Effect.Success<typeof tuple>>().toEqualTypeOf<[number, boolean]>()
    const flow = Flow.make("f", {
      ...common,
      error: Schema.Union([Bad, Worse]),
      run: Effect.fnUntraced(function* () {
        yield* record
        yield* each
        return (yield* tuple)[0]
      })
    })
    expectTypeOf(Flow.run(flow, "x")).toEqualTypeOf<Effect.Effect<number, Bad | Worse | Flow.InvalidInput, One | Two>>()
  })

  it("does not compile when its body uses a service", () => {
    Flow.make("wrong", {
      ...common,
      error: Schema.Never,
      // @ts-expect-error One is used directly
      run: Effect.fnUntraced(function* () {
        return (yield* One).value
      })
    })
    Flow.make("wrong", {
      ...common,
      error: Bad,
      // @ts-expect-error One is used directly, next to a step
      run: Effect.fnUntraced(function* (text) {
        yield* one(text)
        return (yield* One).value
      })
    })
    Flow.make("wrong", {
      ...common,
      error: Schema.Never,
      // @ts-expect-error the control room is used directly
      run: Effect.fnUntraced(function* () {
        yield* ControlRoom
        return 1
      })
    })
    Flow.make("wrong", {
      ...common,
      input: ProcessId,
      error: Schema.Union([InvalidRequest, NotFound, ControlRoomError]),
      idempotencyKey: String,
      // @ts-expect-error a client function is called outside a step
      run: Effect.fnUntraced(function* (process) {
        yield* WorkItems.create({ process })
        return 1
      })
    })
    Flow.make("wrong", {
      ...common,
      error: Bad,
      // @ts-expect-error another flow is run instead of called
      run: (text) => Flow.run(oneFlow, text)
    })
    // @ts-expect-error nor in the function of a loop
    assert.isDefined(Flow.forEach("n", ["a"], { key: String }, () => One))
    // @ts-expect-error nor as a member of all
    assert.isDefined(Flow.all("n", { a: One }))
  })

  it("does not compile when its body fails with what it does not declare", () => {
    Flow.make("wrong", {
      ...common,
      error: Bad,
      // @ts-expect-error Worse is not declared
      run: Effect.fnUntraced(function* () {
        return (yield* two({ at: new Date(0) })).value
      })
    })
    Flow.make("wrong", {
      ...common,
      error: Schema.Never,
      // @ts-expect-error the result is no number
      run: () => pure(undefined)
    })
  })

  it("has exact types in races, limits, signals and undos", () => {
    expectTypeOf(Flow.race("n", { a: one("x"), b: two({ at: new Date(0) }) })).toEqualTypeOf<
      Effect.Effect<
        number | { readonly value: number },
        Bad | Worse,
        | Flow.FlowContext<One, Flow.Failing<"one", Bad>>
        | Flow.FlowContext<Two, Flow.Failing<"two", Worse>>
        | Flow.FlowContext<never>
      >
    >()
    expectTypeOf(Flow.timeout("n", "1 day", one("x"))).toEqualTypeOf<
      Effect.Effect<
        number,
        Bad | Flow.FlowTimeout,
        Flow.FlowContext<One, Flow.Failing<"one", Bad>> | Flow.FlowContext<never>
      >
    >()
    expectTypeOf(Flow.signal("n", Schema.Date).receive()).toEqualTypeOf<
      Effect.Effect<Date, never, Flow.FlowContext<never>>
    >()
    expectTypeOf(Flow.compensate(one("x"), (value) => two({ at: new Date(value) }))).toEqualTypeOf<
      Effect.Effect<
        number,
        Bad,
        Flow.FlowContext<One, Flow.Failing<"one", Bad>> | Flow.FlowContext<Two, Flow.Failing<"two", Worse>>
      >
    >()
    // @ts-expect-error a service is used directly in an undo
    assert.isDefined(Flow.compensate(one("x"), () => One))
    // @ts-expect-error nor in what is limited in time
    assert.isDefined(Flow.timeout("n", "1 day", One))
    // @ts-expect-error nor as a member of a race
    assert.isDefined(Flow.race("n", { a: One }))
  })

  it("needs the services of its steps where it is registered, and the engine alone where it is executed", () => {
    expectTypeOf(Flow.layer(oneFlow)).toEqualTypeOf<Layer.Layer<never, never, One | FlowEngine>>()
    expectTypeOf(Flow.execute(oneFlow, "x")).toEqualTypeOf<
      Effect.Effect<
        number,
        | Bad
        | Flow.InvalidInput
        | FlowCancelled
        | DeadlineExceeded
        | FlowHalted
        | FlowExpired
        | FlowNotRegistered
        | FlowDraining,
        FlowEngine
      >
    >()
    expectTypeOf(Flow.submit(oneFlow, "x")).toEqualTypeOf<
      Effect.Effect<string, Flow.InvalidInput | FlowNotRegistered | FlowExpired | FlowDraining, FlowEngine>
    >()
    const handled = Flow.handle(oneFlow, "x")
    expectTypeOf<Effect.Error<Effect.Success<typeof handled>["result"]>>().toEqualTypeOf<
      Bad | FlowCancelled | DeadlineExceeded | FlowHalted | FlowExpired | FlowNotRegistered
    >()
  })

  it("cannot be run without the services of its steps", () => {
    // @ts-expect-error One is missing
    assert.isFunction(() => Effect.runPromise(Flow.run(oneFlow, "x")))
  })
})

const oneFlow = Flow.make("f", { ...common, error: Bad, run: (text) => one(text) })
