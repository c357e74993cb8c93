import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"

const none = {
  version: 1,
  input: Schema.Void,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: () => "one"
}
const echo = Flow.step("echo", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  run: (n) => Effect.succeed(n)
})

const runs = (flow: Flow.Flow<typeof Schema.Void, typeof Schema.Finite, typeof Schema.Never, never>) => {
  const durable = Layer.fresh(Layer.provideMerge(Flow.layer(flow), FlowEngine.layerMemory))
  return Effect.all([Flow.run(flow, undefined), Effect.provide(Flow.execute(flow, undefined), durable)])
}

describe("branches", () => {
  it.effect("a member of a race that ends immediately wins, also at the start of a body", () =>
    Effect.gen(function* () {
      const flow = Flow.make("at-once", {
        ...none,
        run: () => Flow.race("first", { step: echo(1), atOnce: Effect.succeed(2) })
      })
      assert.deepStrictEqual(yield* runs(flow), [2, 2])
    })
  )
})
