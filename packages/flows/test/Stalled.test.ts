/** Executions with a step that has kept the event loop of its processes before. */
import { assert, describe, it } from "@effect/vitest"
import { OptionError } from "@signalbox/transport/OptionError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import { Journal } from "../src/internal/journal/Journal.ts"
import * as Sqlite from "../src/internal/journal/Sqlite.ts"
import { temporaryFile } from "./support/Engines.ts"
import { entry, order, owned, write } from "./support/journal/Bench.ts"

const pay = Flow.step("pay", {
  input: Schema.Void,
  success: Schema.Void,
  error: Schema.Never,
  run: () => Effect.void
})
const orders = Flow.make("orders", {
  version: 1,
  input: Schema.Struct({ order: Schema.String }),
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: ({ order }) => order,
  run: () => Effect.as(pay(undefined), "paid")
})

/** A database with an execution whose step was lost so often. */
const after = Effect.fnUntraced(function* (times: number) {
  const file = yield* temporaryFile
  yield* Effect.gen(function* () {
    const journal = Context.get(yield* Layer.build(Layer.fresh(Sqlite.layer(file))), Journal)
    const fence = yield* owned(journal, "a")
    const stalled = { times, host: "elsewhere", millis: 120_000 }
    yield* journal.write(
      fence,
      write({
        execution: { owner: null, wakeAt: order("a").wakeAt },
        entries: [entry("pay", { input: null, startedAt: yield* journal.now, stalled })]
      })
    )
  }).pipe(Effect.scoped)
  return Layer.fresh(Layer.provideMerge(Flow.layer(orders), FlowEngine.layerSqlite({ file })))
})

describe("an execution whose step has kept the event loop", () => {
  it.live("twice runs it again", () =>
    Effect.gen(function* () {
      const program = yield* after(2)
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* Flow.execute(orders, { order: "a" }), "paid")
        const handle = yield* Flow.handle(orders, "a")
        const { steps } = yield* handle.describe
        assert.deepStrictEqual(
          steps.map(({ attempt, stalled }) => [attempt, stalled]),
          [[1, { times: 2, host: "elsewhere", millis: 120_000 }]]
        )
      }).pipe(Effect.provide(program))
    }).pipe(Effect.scoped)
  )

  it.live("three times halts, and begins another attempt when it is resumed", () =>
    Effect.gen(function* () {
      const program = yield* after(3)
      yield* Effect.gen(function* () {
        const halted = yield* Effect.flip(Flow.execute(orders, { order: "a" }))
        assert(halted._tag === "FlowHalted")
        assert.deepStrictEqual([halted.tag, halted.code], ["StepStalled", "STALLED"])
        assert.match(
          halted.message,
          /the step pay .* 3 times; the last time on elsewhere for 120 s: let it compute in a worker/
        )
        const handle = yield* Flow.handle(orders, "a")
        const { halt, remedy, summary } = yield* handle.describe
        assert.strictEqual(halt?.code, "STALLED")
        assert.match(summary, /^halted in pay, attempt 1/)
        assert.match(remedy ?? "", /worker thread or in smaller pieces, start the program as orders@1, then resume/)
        yield* handle.resume()
        assert.strictEqual(yield* handle.result, "paid")
        const { steps } = yield* handle.describe
        assert.deepStrictEqual(
          steps.map(({ attempt, stalled, state }) => [attempt, state, stalled?.times]),
          [
            [1, "retrying", 3],
            [2, "succeeded", undefined]
          ]
        )
      }).pipe(Effect.provide(program))
    }).pipe(Effect.scoped)
  )
})

describe("the limit of a stall", () => {
  it("is at most ten minutes", () => {
    const url = Redacted.make("postgres://localhost/nothing")
    const engine = (stallLimit: string) => () => FlowEngine.layerPostgres({ url, stallLimit: stallLimit as "1 minute" }) // checked below
    engine("10 minutes")
    assert.throws(engine("11 minutes"), OptionError, "at most 10 minutes")
    assert.throws(engine("soon"), OptionError, "stallLimit")
  })
})
