/** Inputs that do not fit their flow: nothing is started, however it would have been. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { maxResultBytes } from "../src/internal/model/Values.ts"
import { defineFlow, FlowError, InvalidInput, openFlows } from "../src/Promises.ts"
import { defectOf } from "./support/Flows.ts"

const Line = Schema.Struct({ sku: Schema.String, count: Schema.Finite.check(Schema.isLessThan(10)) })
const number = Flow.signal("number", Schema.Finite)
const order = Flow.make("order", {
  version: 1,
  input: Schema.Struct({ id: Schema.String, lines: Schema.Array(Line) }),
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: ({ id }) => id,
  signals: [number],
  run: () => Effect.void
})
const wrong = { id: "a", lines: [{ sku: "pen", count: 4_711 }] }

const engine = Layer.provideMerge(Flow.layer(order), Layer.fresh(FlowEngine.layerMemory))

describe("an input that does not fit", () => {
  const ways: ReadonlyArray<readonly [string, Effect.Effect<unknown, { readonly _tag: string }, FlowEngine>]> = [
    ["run", Flow.run(order, wrong)],
    ["stream", Stream.runDrain(Flow.stream(order, wrong))],
    ["execute", Flow.execute(order, wrong)],
    ["submit", Flow.submit(order, wrong, { key: "own" })],
    ["signalWithStart", Flow.signalWithStart(order, wrong, number, 1)]
  ]
  for (const [name, started] of ways) {
    it.effect(`fails ${name} with the field and what is expected there, without the value`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(started)
        assert.instanceOf(error, InvalidInput)
        assert.deepInclude(error, {
          flow: "order",
          path: "lines.0.count",
          expected: "Expected a value less than 10",
          message: "the input of the flow order: lines.0.count: Expected a value less than 10"
        })
        assert.deepStrictEqual((yield* FlowExecutions.list()).executions, [])
      }).pipe(Effect.provide(engine))
    )
  }

  it.effect("is also one that is too large for the record of an execution, of which a plain run has none", () =>
    Effect.gen(function* () {
      const large = { id: "x".repeat(maxResultBytes), lines: [] }
      const error = yield* Effect.flip(Flow.submit(order, large))
      assert.match(
        error.message,
        /^the input of the flow order: Expected at most 1000000 bytes of JSON, not 10000\d\d: store/
      )
      yield* Flow.run(order, large)
    }).pipe(Effect.provide(engine))
  )

  it.effect("is not one with a secret: that is a mistake in the program, and a defect", () =>
    Effect.gen(function* () {
      const secret = Flow.make("secret", {
        version: 1,
        input: Schema.Redacted(Schema.String),
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () => Effect.void
      })
      assert.match((yield* defectOf(Flow.run(secret, Redacted.make("x")))).message, /must not be secret/)
    })
  )
})

describe("an input that does not fit a flow in a body", () => {
  const ways: ReadonlyArray<readonly [string, Effect.Effect<unknown, InvalidInput, Flow.FlowContext<never>>]> = [
    ["call", Flow.call(order, wrong)],
    ["start", Flow.start(order, wrong)]
  ]
  for (const [name, begun] of ways) {
    it.effect(
      `is the failure of ${name}, also when the body is replayed, and of a body that does not handle it`,
      () => {
        const parent = Flow.make("parent", {
          version: 1,
          input: Schema.String,
          success: Schema.String,
          error: Flow.errorsOf(order),
          idempotencyKey: (text) => text,
          run: Effect.fnUntraced(function* (text) {
            if (text === "fails") yield* begun
            const caught = yield* Effect.catch(Effect.as(begun, ""), ({ message }) => Effect.succeed(message))
            yield* Flow.sleep("day", "1 day")
            return caught
          })
        })
        return Effect.gen(function* () {
          const handled = yield* Effect.forkChild(Flow.execute(parent, "handles"))
          yield* TestClock.adjust("2 days")
          assert.strictEqual(
            yield* Fiber.join(handled),
            "the input of the flow order: lines.0.count: Expected a value less than 10"
          )
          const failed = yield* Effect.flip(Flow.execute(parent, "fails"))
          assert.instanceOf(failed, InvalidInput)
          assert.strictEqual(failed.path, "lines.0.count")
          const { executions } = yield* FlowExecutions.list()
          assert.deepStrictEqual(
            executions.map(({ flow, state }) => [flow, state]),
            [
              ["parent", "failed"],
              ["parent", "completed"]
            ]
          )
          for (const { id } of executions) {
            const [first] = yield* FlowExecutions.steps(id)
            assert.deepInclude(first, { path: "order", state: "failed" })
          }
        }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(parent), engine)))
      }
    )
  }
})

describe("a signal that does not fit", () => {
  it.effect("fails its sender, and starts nothing", () =>
    Effect.gen(function* () {
      const good = { id: "a", lines: [] }
      const error = yield* Effect.flip(Flow.signalWithStart(order, good, number, Number.NaN))
      assert.strictEqual(error._tag, "InvalidSignal")
      assert.deepStrictEqual((yield* FlowExecutions.list()).executions, [])
      yield* Flow.submit(order, good)
      const handle = yield* Flow.handle(order, "a")
      assert.strictEqual((yield* Effect.flip(handle.signal(number, Number.NaN)))._tag, "InvalidSignal")
    }).pipe(Effect.provide(engine))
  )
})

describe("a flow of promises", () => {
  /** As another library of schemas would be. */
  const foreign: StandardSchemaV1<{ readonly id: string }, { readonly id: string }> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) =>
        typeof value === "object" && value !== null && "id" in value && typeof value.id === "string"
          ? { value: { id: value.id } }
          : { issues: [{ message: "Expected a text", path: ["id"] }] }
    }
  }
  const greet = defineFlow({
    name: "greet",
    input: foreign,
    output: Schema.String,
    key: ({ id }) => id,
    run: (_ctx, { id }) => id
  })

  it("rejects with InvalidInput, also for a schema of another library", async () => {
    const flows = await openFlows({ memory: true, flows: [greet] })
    const sent: { readonly id: string } = JSON.parse(`{ "id": 5 }`)
    for (const start of [() => flows.submit(greet, sent), () => flows.execute(greet, sent)]) {
      const error: unknown = await start().catch((thrown: unknown) => thrown)
      assert.instanceOf(error, InvalidInput)
      assert.deepInclude(error, { path: "id", expected: "Expected a text" })
      assert.strictEqual(error.message, "the input of the flow greet: id: Expected a text")
      assert.notInstanceOf(error, FlowError)
    }
    await flows.close()
  })
})
