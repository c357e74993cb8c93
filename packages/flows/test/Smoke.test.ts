import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"

const add = Flow.step("add", {
  input: Schema.Finite, success: Schema.Finite, error: Schema.String,
  run: (n) => n < 0 ? Effect.fail("negative") : Effect.succeed(n + 1)
})
const price = Flow.signal("price", Schema.Finite)
const flow = Flow.make("smoke", {
  version: 1, input: Schema.Finite, success: Schema.Finite, error: Schema.String,
  idempotencyKey: (n) => `${n}`, signals: [price],
  run: Effect.fnUntraced(function* (n) {
    const one = yield* add(n)
    const two = yield* add(one)
    yield* Flow.sleep("nap", "10 hours")
    const all = yield* Flow.forEach("each", [1, 2, 3], { key: (x) => `${x}`, concurrency: 2 }, (x) => add(x + two))
    const p = yield* Flow.race("first", { signal: price.receive(), late: Effect.as(Flow.sleep("late", "2 days"), -5) })
    return all.reduce((a, b) => a + b, 0) + p
  })
})
describe("smoke", () => {
  it.effect("plain", () => Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Flow.run(Flow.make("p", { version: 1, input: Schema.Finite, success: Schema.Finite, error: Schema.String, idempotencyKey: String,
      run: Effect.fnUntraced(function* (n: number) { const a = yield* add(n); yield* Flow.sleep("x", "3 days"); return yield* add(a) }) }), 1))
    yield* TestClock.adjust("4 days")
    assert.strictEqual(yield* Fiber.join(fiber), 3)
    const failed = yield* Effect.exit(Flow.run(Flow.make("q", { version: 1, input: Schema.Finite, success: Schema.Finite, error: Schema.String, idempotencyKey: String, run: (n: number) => add(n) }), -1))
    assert.deepStrictEqual(failed, Exit.fail("negative"))
  }))
  it.effect("durable", () => Effect.gen(function* () {
    const id = yield* Flow.submit(flow, 1)
    const fiber = yield* Effect.forkChild(Flow.execute(flow, 1))
    yield* TestClock.adjust("11 hours")
    const seen = yield* FlowExecutions.inspect(id)
    console.log(seen.summary, seen.now.map((x) => x.path), seen.diagram)
    yield* FlowExecutions.signal(id, "price", 100)
    assert.strictEqual(yield* Fiber.join(fiber), 5 + 6 + 7 + 100)
    const failed = yield* Effect.exit(Flow.execute(flow, -2))
    assert.deepStrictEqual(failed, Exit.fail("negative"))
  }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(Flow.layer(flow), process.env.SQ ? FlowEngine.layerSqlite({ file: "/tmp/perf/smoke" + Math.random() + ".db" }) : FlowEngine.layerMemory)))))
})
