/**
 * Large executions, many of them, and long ones: a fan-out whose branches each await a signal, executions that wait, and a
 * year of virtual time.
 */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine, type FlowEngineError } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { sqlite } from "../support/drills/Stores.ts"

const megabytes = Effect.sync(() => {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().heapUsed / 1_048_576)
})

const answer = Flow.signal("answer", Schema.Finite)

const double = Flow.step("double", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  run: (n) => Effect.succeed(n * 2)
})

const fanOut = Flow.make("fan-out", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: (size) => `${size}`,
  signals: [answer],
  run: Effect.fnUntraced(function* (size) {
    const keys = Array.from({ length: size }, (_, index) => `${index}`)
    const all = yield* Flow.forEach("part", keys, { key: (key) => key, concurrency: "unbounded" }, (key) =>
      Effect.flatMap(answer.receive({ key }), (value) => double(value))
    )
    return all.reduce((sum, value) => sum + value, 0)
  })
})

const fanOutOf = (size: number, engine: Layer.Layer<FlowEngine, FlowEngineError>) =>
  Effect.gen(function* () {
    const since = Date.now()
    const id = yield* Flow.submit(fanOut, size)
    yield* Effect.forEach(
      Array.from({ length: size }, (_, index) => index),
      (index) => FlowExecutions.signal(id, `answer[${index}]`, index),
      { concurrency: 32, discard: true }
    )
    const result = yield* Flow.execute(fanOut, size)
    assert.strictEqual(result, size * (size - 1))
    return (Date.now() - since) / 1_000
  }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(Flow.layer(fanOut), engine))))

it.live(`a fan-out of ${sized(1_000, 10_000)} with a signal each, in memory and on SQLite`, () =>
  Effect.gen(function* () {
    const size = sized(1_000, 10_000)
    const memory = yield* fanOutOf(size, FlowEngine.layerMemory)
    const onSqlite = yield* fanOutOf(size, FlowEngine.layerSqlite(yield* sqlite))
    yield* Effect.logInfo("fan-out", { size, secondsInMemory: memory, secondsOnSqlite: onSqlite })
  }).pipe(Effect.scoped)
)

const waiting = Flow.make("waiting", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: (n) => `${n}`,
  signals: [answer],
  run: () => answer.receive()
})

const manyWaiting = (
  store: string,
  engine: Effect.Effect<Layer.Layer<FlowEngine, FlowEngineError>, never, Scope.Scope>
) =>
  it.live(`${sized(2_000, 100_000)} waiting executions ${store} are each woken by their signal`, () =>
    Effect.gen(function* () {
      const count = sized(2_000, 100_000)
      const layer = Layer.provideMerge(Flow.layer(waiting), yield* engine)
      yield* Effect.gen(function* () {
        const before = yield* megabytes
        const since = Date.now()
        yield* Effect.forEach(
          Array.from({ length: count }, (_, n) => n),
          (n) => Flow.submit(waiting, n),
          { concurrency: 32, discard: true }
        )
        const submitted = (Date.now() - since) / 1_000
        while ((yield* FlowExecutions.list({ state: "running", limit: 1 })).executions.length > 0) {
          yield* Effect.sleep("200 millis")
        }
        const asleep = yield* megabytes
        // One in a hundred is woken.
        const woken = Array.from({ length: count / 100 }, (_, index) => index * 100)
        const fiber = yield* Effect.forkChild(
          Effect.forEach(woken, (n) => Flow.execute(waiting, n), { concurrency: "unbounded" })
        )
        yield* Effect.forEach(
          woken,
          (n) => Effect.flatMap(Flow.handle(waiting, `${n}`), (handle) => handle.signal(answer, n)),
          { concurrency: 32, discard: true }
        )
        assert.deepStrictEqual(yield* Fiber.join(fiber), woken)
        const seconds = (Date.now() - since) / 1_000
        yield* Effect.logInfo(`waiting executions ${store}`, { count, submitted, before, asleep, seconds })
      }).pipe(Effect.provide(Layer.fresh(layer)))
    }).pipe(Effect.scoped)
  )

manyWaiting("in memory", Effect.succeed(FlowEngine.layerMemory))
manyWaiting(
  "on SQLite",
  Effect.map(sqlite, (file) => FlowEngine.layerSqlite({ ...file, concurrency: 500 }))
)

const daily = Flow.make("daily", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: (days) => `${days}`,
  run: Effect.fnUntraced(function* (days) {
    let sum = 0
    for (let day = 0; day < days; day++) {
      yield* Flow.sleep("night", "1 day")
      sum += yield* double(day)
    }
    return sum
  })
})

it.effect("a year of virtual time takes seconds", () =>
  Effect.gen(function* () {
    const since = Date.now()
    const fiber = yield* Effect.forkChild(Flow.execute(daily, 365))
    for (let day = 0; day < 366 && fiber.pollUnsafe() === undefined; day++) yield* TestClock.adjust("1 day")
    assert.strictEqual(yield* Fiber.join(fiber), 365 * 364)
    yield* Effect.logInfo("a year", { seconds: (Date.now() - since) / 1_000 })
  }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(Flow.layer(daily), FlowEngine.layerMemory))))
)
