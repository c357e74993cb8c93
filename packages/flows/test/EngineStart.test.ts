import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"

const price = Flow.signal("price", Schema.Finite)
const offer = Flow.make("offer", {
  version: 1,
  input: Schema.String,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: (id) => id,
  signals: [price],
  run: () => price.receive()
})
const engine = Layer.fresh(Layer.provideMerge(Flow.layer(offer), FlowEngine.layerMemory))

describe("an execution", () => {
  it.effect("can be awaited as the first thing that a program does", () =>
    Effect.gen(function* () {
      yield* Flow.signalWithStart(offer, "first", price, 3)
      assert.strictEqual(yield* Flow.execute(offer, "first"), 3)
    }).pipe(Effect.provide(engine))
  )
})

describe("a signal", () => {
  it.effect("that is sent right after the submit is received without a pause", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(offer, "a")
      yield* FlowExecutions.signal(id, "price", 7)
      // The clock of the test stands still.
      const fiber = yield* Effect.forkChild(Flow.execute(offer, "a"))
      for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
      const exit = fiber.pollUnsafe()
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(exit?._tag === "Success" ? exit.value : exit, 7)
    }).pipe(Effect.provide(engine))
  )
})
