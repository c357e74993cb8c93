import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { runner, temporarySchema } from "./support/Engines.ts"

/** Where a step runs; `ran` is common to all. */
class Place extends Context.Service<Place, { readonly name: string; readonly ran: Set<string> }>()("test/Place") {}

const double = Flow.step("double", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  run: (n) =>
    Effect.map(Place, ({ name, ran }) => {
      ran.add(name)
      return 2 * n
    })
})

const sum = Flow.make("sum", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: String,
  run: Effect.fnUntraced(function* (n) {
    const parts = yield* Flow.forEach("part", [1, 2, 3], { key: String, concurrency: 3 }, (k) => double(n * k))
    yield* Flow.sleep("a moment", "100 millis")
    return parts.reduce((all, part) => all + part, yield* double(1))
  })
})

it.live("a flow gives the same outputs plainly and on two runners, which share the work", () =>
  Effect.gen(function* () {
    const ran = new Set<string>()
    const at = (name: string) => Layer.succeed(Place, { name, ran })
    const schema = yield* temporarySchema
    const start = (name: string) =>
      Layer.build(Layer.provideMerge(Flow.layer(sum), Layer.merge(Layer.fresh(runner(schema)), at(name))))
    const runners = [yield* start("first"), yield* start("second")] as const
    // A runner that has just joined takes its share after a while.
    for (let round = 0; !(ran.has("first") && ran.has("second")); round++) {
      const inputs = Array.from({ length: 24 }, (_, n) => 24 * round + n)
      const plain = yield* Effect.forEach(inputs, (n) => Flow.run(sum, n)).pipe(Effect.provide(at("nowhere")))
      const durable = yield* Effect.forEach(
        inputs,
        (n) => Effect.provideContext(Flow.execute(sum, n), n % 2 === 0 ? runners[0] : runners[1]),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(durable, plain)
    }
  }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
)
