import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, refuse, resultOf, say, scenario, scenarios, seconds } = S

/** An error of the caller's own, with what belongs to it. */
class OutOfStock extends Schema.TaggedError<OutOfStock>()("OutOfStock", {
  article: Schema.String,
  metadata: Schema.Record(Schema.String, Schema.String)
}) {}

const metadata = { key1: "value1", key2: "value2" }
const reserve = Flow.step("reserve", {
  input: Schema.String,
  success: Schema.String,
  error: OutOfStock,
  run: (article) => Effect.fail(new OutOfStock({ article, metadata }))
})
const common = {
  version: 1,
  input: Schema.String,
  success: Schema.Json,
  error: Flow.errorsOf(reserve),
  idempotencyKey: (text: string) => text
} as const

scenarios("errors and retries", () => {
  scenario(
    "dbos: dbos-error",
    Effect.gen(function* () {
      const fails = S.flow("fails", (text) => refuse(text))
      const twice = Effect.gen(function* () {
        // The class and its fields, from the step and from the record.
        assert.deepStrictEqual(yield* S.errorOf(fails, "no"), new S.Refused({ why: "no" }))
        assert.deepStrictEqual(yield* S.errorOf(fails, "no"), new S.Refused({ why: "no" }))
      })
      yield* program(Flow.layer(fails), twice)
      assert.deepStrictEqual(yield* Diary.read, ["no"])
    })
  )

  scenario(
    "dbos: failing-step",
    Effect.gen(function* () {
      const mends = S.flow("mends", () => S.flaky(2, { attempts: 3, delay: seconds(0.5) }))
      const lists = Effect.gen(function* () {
        assert.strictEqual(yield* resultOf(mends, "x"), 2)
        const { id } = yield* Flow.handle(mends, "x")
        return yield* FlowExecutions.steps(id)
      })
      const steps = yield* program(Flow.layer(mends), lists)
      assert.deepStrictEqual(
        steps.map(({ failure, state }) => [state, failure?.tag ?? null]),
        [
          ["retrying", "Refused"],
          ["succeeded", null]
        ]
      )
    })
  )

  scenario(
    "dbos: nonretry-step",
    Effect.gen(function* () {
      const fails = S.flow("fails", () => S.flaky(9))
      assert.deepStrictEqual(
        yield* program(Flow.layer(fails), S.errorOf(fails, "x")),
        new S.Refused({ why: "attempt 1" })
      )
    })
  )

  for (const [name, again, attempts] of [
    ["shouldRetry-false-stops-retried-runStep", false, 1],
    ["ordinary-error-exhausts-retried-runStep", true, 4]
  ] as const) {
    scenario(
      `dbos: ${name}`,
      Effect.gen(function* () {
        const fails = S.flow("fails", () => S.flaky(9, { attempts: 4, delay: seconds(0.2), while: () => again }))
        yield* program(Flow.layer(fails), S.errorOf(fails, "x"))
        assert.strictEqual((yield* Diary.read).length, attempts)
      })
    )
  }

  scenario(
    "dbos: shouldRetry-true-retries-until-success",
    Effect.gen(function* () {
      const mends = S.flow("mends", () => S.flaky(3, { attempts: 5, delay: seconds(0.2), while: () => true }))
      assert.strictEqual(yield* program(Flow.layer(mends), resultOf(mends, "x")), 3)
    })
  )

  scenario(
    "dbos: shouldRetry-throwing-error-is-recorded-and-propagated",
    Effect.gen(function* () {
      const throws = () => {
        throw new Error("no policy")
      }
      const halts = S.flow("halts", () => S.flaky(9, { attempts: 5, while: throws }))
      const { message } = yield* program(Flow.layer(halts), S.haltOf(halts, "x"))
      assert.include(message, "no policy")
      assert.deepStrictEqual(yield* Diary.read, ["attempt"])
    })
  )

  scenario(
    "dbos: no-registration-startwf",
    Effect.gen(function* () {
      const missing = S.flow("missing", (text) => say(text))
      const refused = yield* program(Layer.empty, Effect.flip(Flow.submit(missing, "x")))
      assert.strictEqual(refused._tag, "FlowNotRegistered")
      assert.strictEqual(yield* program(Flow.layer(missing), resultOf(missing, "x")), "x")
    })
  )

  scenario(
    "restate: UserErrors invokeTerminallyFailingCall",
    Effect.gen(function* () {
      const fails = S.flow("fails", (text) => Effect.fail(new S.Refused({ why: text })))
      const error = yield* program(Flow.layer(fails), S.errorOf(fails, "my error"))
      assert.propertyVal(error, "why", "my error")
    })
  )

  scenario(
    "restate: UserErrors failSeveralTimes",
    Effect.gen(function* () {
      const fails = S.flow("fails", (text) => refuse(text))
      const three = Effect.gen(function* () {
        for (const why of ["one", "two", "three"]) {
          assert.deepStrictEqual(yield* S.errorOf(fails, why), new S.Refused({ why }))
        }
      })
      yield* program(Flow.layer(fails), three)
    })
  )

  scenario(
    "restate: UserErrors internalCallFailurePropagation",
    Effect.gen(function* () {
      const inner = S.flow("inner", (text) => refuse(text))
      const outer = S.flow("outer", (text) => Flow.call(inner, text))
      const error = yield* program(Flow.layer(outer), S.errorOf(outer, "propagated"))
      assert.deepStrictEqual(error, new S.Refused({ why: "propagated" }))
    })
  )

  scenario(
    "restate: UserErrors sideEffectWithTerminalError",
    Effect.gen(function* () {
      const catches = S.flow("catches", (text) =>
        Effect.catchTag(refuse(text), "Refused", ({ why }) => Effect.succeed(`caught ${why}`))
      )
      assert.strictEqual(yield* program(Flow.layer(catches), resultOf(catches, "x")), "caught x")
    })
  )

  scenario(
    "restate: UserErrors invokeTerminallyFailingCallWithMetadata",
    Effect.gen(function* () {
      const fails = Flow.make("fails", { ...common, run: (article) => reserve(article) })
      const error = yield* program(Flow.layer(fails), S.errorOf(fails, "lamp"))
      assert.deepStrictEqual(error, new OutOfStock({ article: "lamp", metadata }))
    })
  )

  scenario(
    "restate: UserErrors internalCallFailurePropagationWithMetadata",
    Effect.gen(function* () {
      const inner = Flow.make("inner", { ...common, run: (article) => reserve(article) })
      const outer = Flow.make("outer", {
        ...common,
        error: Flow.errorsOf(inner, Flow.FlowCancelled),
        run: (article) => Effect.flatMap(Flow.start(inner, article), ({ result }) => result)
      })
      const error = yield* program([Flow.layer(inner), Flow.layer(outer)], S.errorOf(outer, "lamp"))
      assert.deepStrictEqual(error, new OutOfStock({ article: "lamp", metadata }))
    })
  )

  scenario(
    "restate: UserErrors setStateThenFailShouldPersistState",
    Effect.gen(function* () {
      const fails = S.flow("fails", (text) => Effect.andThen(say("set"), refuse(text)))
      const looks = Effect.gen(function* () {
        yield* S.errorOf(fails, "x")
        const { id } = yield* Flow.handle(fails, "x")
        return (yield* FlowExecutions.steps(id)).map(({ path, value }) => [path, value])
      })
      const [set] = yield* program(Flow.layer(fails), looks)
      assert.deepStrictEqual(set, ["say", "set"])
    })
  )

  scenario(
    "restate: UserErrors invocationWithEventualSuccess",
    Effect.gen(function* () {
      const mends = S.flow("mends", () => S.flaky(4, { attempts: 10, delay: seconds(0.2) }))
      assert.strictEqual(yield* program(Flow.layer(mends), resultOf(mends, "x")), 4)
    })
  )

  scenario(
    "temporal: data_converter/failure",
    Effect.gen(function* () {
      const broken = Flow.step("broken", {
        input: Schema.String,
        success: Schema.String,
        error: Schema.Never,
        run: (text) => Effect.die(new Error(text, { cause: new TypeError("the cause of it") }))
      })
      const halts = S.flow("halts", (text) => broken(text))
      const { message, tag } = yield* program(Flow.layer(halts), S.haltOf(halts, "main error"))
      assert.strictEqual(tag, "Error")
      assert.include(message, "main error")
    })
  )
})
