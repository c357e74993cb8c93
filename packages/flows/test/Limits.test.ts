/** Executions that are queued behind the limits of their flow. */
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowDefect } from "../src/FlowDefect.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { Diary } from "./support/Flows.ts"
import { inProcess, Store } from "./support/Engines.ts"
import { memory, restarting, stateOf } from "./support/Running.ts"
import { throughTime } from "./support/Time.ts"

const write = Flow.step("write", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.String,
  run: Effect.fnUntraced(function* (text) {
    const at = DateTime.toEpochMillis(yield* DateTime.now)
    yield* Diary.write(`${text} ${at}`)
    return text.startsWith("bad") ? yield* Effect.fail("refused") : text
  })
})
const go = Flow.signal("go", Schema.String)

const Order = Schema.Struct({ customer: Schema.String, n: Schema.FiniteFromString })
type Order = typeof Order.Type

/** Takes an hour. */
const flowOf = (limit: ReadonlyArray<Flow.FlowLimit<Order>>, version = 1) =>
  Flow.make("limited", {
    version,
    input: Order,
    success: Schema.String,
    error: Schema.String,
    idempotencyKey: ({ customer, n }) => `${customer}${n}`,
    signals: [go],
    limit,
    run: Effect.fnUntraced(function* ({ customer, n }) {
      const text = yield* write(`${customer}${n}`)
      yield* Flow.sleep("hour", "1 hour")
      return text
    })
  })
const byCustomer = flowOf([{ key: ({ customer }) => customer, concurrency: 1 }])

const submitAll = (flow: ReturnType<typeof flowOf>, ...orders: ReadonlyArray<string>) =>
  Effect.forEach(orders, (order) =>
    Effect.andThen(
      TestClock.adjust("1 millis"),
      Flow.submit(flow, { customer: order.slice(0, -1), n: Number(order.slice(-1)) })
    )
  )
const ran = Effect.map(Diary.read, (lines) => lines.map((line) => line.split(" ")[0]))
const pass = TestClock.adjust

const on = <A, E, R>(flow: ReturnType<typeof flowOf>, effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, Layer.provideMerge(Flow.layer(flow), memory))

describe("an execution behind a limit", () => {
  it.effect("is queued until one that sleeps has ended, and the keys do not wait for each other", () =>
    on(
      byCustomer,
      Effect.gen(function* () {
        const ids = yield* submitAll(byCustomer, "a1", "a2", "b1")
        yield* pass("1 minute")
        assert.deepStrictEqual(yield* ran, ["a1", "b1"])
        assert.deepStrictEqual(yield* Effect.forEach(ids, stateOf), ["waiting", "queued", "waiting"])
        yield* pass("1 hour")
        assert.deepStrictEqual(yield* ran, ["a1", "b1", "a2"])
        yield* pass("1 hour")
        assert.deepStrictEqual(yield* Effect.forEach(ids, stateOf), ["completed", "completed", "completed"])
      })
    )
  )

  it.effect("begins immediately when there is room, and its caller gets its result", () =>
    on(
      byCustomer,
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Flow.execute(byCustomer, { customer: "a", n: 1 }))
        yield* pass("2 hours")
        assert.strictEqual(yield* Fiber.join(fiber), "a1")
      })
    )
  )

  it.effect("is cancelled and terminated immediately, and never runs", () =>
    on(
      byCustomer,
      Effect.gen(function* () {
        const [, second = "", third = ""] = yield* submitAll(byCustomer, "a1", "a2", "a3")
        const caller = yield* Effect.forkChild(Effect.exit(Flow.execute(byCustomer, { customer: "a", n: 2 })))
        yield* pass("1 minute")
        yield* FlowExecutions.cancel(second)
        yield* FlowExecutions.terminate(third)
        yield* pass("1 minute")
        assert.strictEqual(yield* stateOf(second), "cancelled")
        assert.strictEqual(yield* stateOf(third), "cancelled")
        assert.isTrue(Exit.isFailure(yield* Fiber.join(caller)))
        yield* pass("5 hours")
        assert.deepStrictEqual(yield* ran, ["a1"])
      })
    )
  )

  it.effect("is suspended in its queue, and keeps its place", () =>
    on(
      byCustomer,
      Effect.gen(function* () {
        const [, second = "", third = ""] = yield* submitAll(byCustomer, "a1", "a2", "a3")
        yield* FlowExecutions.suspend(second)
        yield* FlowExecutions.suspend(third)
        assert.strictEqual(yield* stateOf(second), "suspended")
        yield* pass("2 hours")
        assert.deepStrictEqual(yield* ran, ["a1"])
        yield* FlowExecutions.resume(third)
        yield* FlowExecutions.resume(second)
        yield* pass("30 minutes")
        assert.deepStrictEqual(yield* ran, ["a1", "a3"])
        assert.strictEqual(yield* stateOf(second), "queued")
        yield* FlowExecutions.suspend(second)
        yield* FlowExecutions.cancel(second)
        yield* pass("5 hours")
        assert.strictEqual(yield* stateOf(second), "cancelled")
        assert.deepStrictEqual(yield* ran, ["a1", "a3"])
      })
    )
  )

  it.effect("stores the signals sent to it", () => {
    const flow = Flow.make("answered", {
      version: 1,
      input: Schema.String,
      success: Schema.String,
      error: Schema.Never,
      idempotencyKey: (text) => text,
      signals: [go],
      limit: [{ concurrency: 1 }],
      run: (text) => (text === "first" ? Effect.as(Flow.sleep("hour", "1 hour"), text) : go.receive())
    })
    return Effect.gen(function* () {
      yield* Flow.submit(flow, "first")
      const id = yield* Flow.submit(flow, "second")
      yield* FlowExecutions.signal(id, "go", "yes")
      assert.strictEqual(yield* stateOf(id), "queued")
      yield* pass("2 hours")
      assert.strictEqual((yield* FlowExecutions.get(id)).result, "yes")
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), memory)))
  })

  it.effect("leaves its slot to the next when it fails, and queues again when it is retried", () =>
    on(
      byCustomer,
      Effect.gen(function* () {
        const [bad = "", next = ""] = yield* submitAll(byCustomer, "bad1", "bad2")
        yield* pass("1 second")
        assert.strictEqual(yield* stateOf(bad), "failed")
        assert.strictEqual(yield* stateOf(next), "failed")
        yield* Flow.submit(byCustomer, { customer: "a", n: 1 })
        yield* pass("1 second")
        yield* FlowExecutions.retry(bad)
        yield* pass("1 second")
        assert.deepStrictEqual(yield* ran, ["bad1", "bad2", "a1", "bad1"])
      })
    )
  )

  it.effect("that is retried while its key is full waits for its turn", () => {
    const flow = Flow.make("once", {
      version: 1,
      input: Schema.String,
      success: Schema.String,
      error: Schema.String,
      idempotencyKey: (text) => text,
      limit: [{ concurrency: 1 }],
      run: Effect.fnUntraced(function* (text) {
        yield* write(text)
        yield* Flow.sleep("hour", "1 hour")
        return text
      })
    })
    return Effect.gen(function* () {
      const bad = yield* Flow.submit(flow, "bad")
      yield* pass("1 second")
      yield* Flow.submit(flow, "good")
      yield* pass("1 second")
      yield* FlowExecutions.retry(bad)
      assert.strictEqual(yield* stateOf(bad), "queued")
      yield* pass("1 minute")
      assert.deepStrictEqual(yield* ran, ["bad", "good"])
      yield* pass("2 hours")
      assert.deepStrictEqual(yield* ran, ["bad", "good", "bad"])
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), memory)))
  })

  it.effect("that holds its slot while it is suspended or halted keeps the others waiting", () =>
    on(
      byCustomer,
      Effect.gen(function* () {
        const [first = ""] = yield* submitAll(byCustomer, "a1", "a2")
        yield* pass("1 minute")
        yield* FlowExecutions.suspend(first)
        yield* pass("5 hours")
        assert.strictEqual(yield* stateOf(first), "suspended")
        assert.deepStrictEqual(yield* ran, ["a1"])
        yield* FlowExecutions.terminate(first)
        yield* pass("1 second")
        assert.deepStrictEqual(yield* ran, ["a1", "a2"])
      })
    )
  )
})

describe("a limit", () => {
  it.effect("of a rate spaces begins, and inspect says when the next one comes", () => {
    const flow = flowOf([{ rate: "2/min" }])
    return on(
      flow,
      Effect.gen(function* () {
        const ids = yield* submitAll(flow, "a1", "a2", "a3", "a4", "a5")
        const { queue, summary } = yield* FlowExecutions.inspect(ids[4] ?? "")
        assert.deepStrictEqual(queue, { limit: 0, key: null, place: 3, holders: [], admitsAt: 30_001 })
        assert.strictEqual(
          summary,
          "queued: number 3 in the queue, at limit 1 of its flow, which admits the next one at " +
            "1970-01-01T00:00:30.001Z, since 1970-01-01T00:00:00.005Z"
        )
        yield* pass("10 minutes")
        assert.deepStrictEqual(yield* Diary.read, ["a1 1", "a2 2", "a3 30001", "a4 60001", "a5 90001"])
      })
    )
  })

  it.effect("is said by inspect, with the place and those that hold it", () =>
    on(
      byCustomer,
      Effect.gen(function* () {
        const [first = "", , third = ""] = yield* submitAll(byCustomer, "a1", "a2", "a3")
        const { execution, queue, remedy, summary } = yield* FlowExecutions.inspect(third)
        assert.deepInclude(execution, { state: "queued", limits: ["a"], queuedAt: 3, owner: null })
        assert.deepStrictEqual(queue, { limit: 0, key: "a", place: 2, holders: [first], admitsAt: null })
        assert.isNull(remedy)
        assert.include(summary, `number 2 in the queue, at limit 1 of its flow (a), held by ${first}`)
      })
    )
  )

  it.effect("does not hold for Flow.call and Flow.run, and does for Flow.start", () => {
    const parent = Flow.make("parent", {
      version: 1,
      input: Schema.String,
      success: Schema.String,
      error: Flow.errorsOf(byCustomer),
      idempotencyKey: (text) => text,
      run: Effect.fnUntraced(function* (text) {
        for (const n of [1, 2]) yield* Flow.start(byCustomer, { customer: text, n })
        return yield* Flow.call(byCustomer, { customer: text, n: 3 })
      })
    })
    return Effect.gen(function* () {
      yield* Flow.submit(parent, "a")
      yield* pass("1 minute")
      assert.deepStrictEqual((yield* ran).toSorted(), ["a1", "a3"])
      const plain = yield* Effect.forkChild(Flow.run(byCustomer, { customer: "a", n: 4 }))
      yield* pass("1 minute")
      assert.include(yield* ran, "a4")
      yield* Fiber.interrupt(plain)
    }).pipe(Effect.provide(Layer.provideMerge(Layer.merge(Flow.layer(byCustomer), Flow.layer(parent)), memory)))
  })

  it.effect("that is changed in a new build counts from then on", () =>
    Effect.gen(function* () {
      const tight = flowOf([{ concurrency: 1 }])
      const wide = flowOf([{ concurrency: 2 }])
      yield* inProcess(Flow.layer(tight), submitAll(tight, "a1", "a2", "a3"))
      assert.deepStrictEqual(yield* ran, ["a1"])
      yield* inProcess(Flow.layer(wide), pass("1 minute"))
      assert.deepStrictEqual(yield* ran, ["a1", "a2"])
      const none = flowOf([])
      yield* inProcess(Flow.layer(none), pass("1 minute"))
      assert.deepStrictEqual(yield* ran, ["a1", "a2", "a3"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("is counted among the states that executions came into", () =>
    on(
      byCustomer,
      Effect.gen(function* () {
        yield* submitAll(byCustomer, "a1", "a2")
        yield* pass("1 minute")
        const snapshot = yield* Metric.snapshot
        const count = (state: string) =>
          snapshot.find(
            ({ attributes, id }) =>
              id === "signalbox_flow_executions_total" &&
              attributes?.["flow"] === "limited" &&
              attributes["state"] === state
          )?.state
        assert.deepStrictEqual(count("queued"), { count: 2, incremental: true })
        assert.deepStrictEqual(count("running"), { count: 1, incremental: true })
      })
    ).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})

describe("a limit with a mistake", () => {
  const refused = (limit: Flow.FlowLimit<Order>, message: string) =>
    assert.throws(() => flowOf([{ concurrency: 1 }, limit]), FlowDefect, `the flow limited: ${message}`)
  const rates = `a number per second, minute, hour or day, such as "10/s", "100/min", "5/h" or "2/d"`

  it("is refused with the field and what is expected", () => {
    refused({}, "limit[1]: Expected concurrency, rate or both")
    refused({ concurrency: 0 }, "limit[1].concurrency: Expected a whole number above 0")
    refused({ concurrency: 1.5 }, "limit[1].concurrency: Expected a whole number above 0")
    for (const rate of ["0/s", "1.5/h"] as const) refused({ rate }, `limit[1].rate: Expected ${rates}`)
    // As a program without types would write it.
    refused({ rate: "ten per second" as "10/s" }, `limit[1].rate: Expected ${rates}`)
  })
})

const many = Array.from({ length: 24 }, (_, n) => n)

/** Ends with its process in the middle of things, again and again. */
const lives = Effect.gen(function* () {
  let running = 0
  let most = 0
  const held = Flow.step("held", {
    input: Schema.Finite,
    success: Schema.Void,
    error: Schema.Never,
    run: () =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          most = Math.max(most, ++running)
        }),
        () => Effect.sleep("1 second"),
        () => Effect.sync(() => running--)
      )
  })
  const flow = Flow.make("lived", {
    version: 1,
    input: Schema.Finite,
    success: Schema.Finite,
    error: Schema.Never,
    idempotencyKey: String,
    limit: [{ concurrency: 3 }, { key: (n) => `${n % 4}`, concurrency: 1 }],
    run: (n) => Effect.as(held(n), n)
  })
  yield* inProcess(
    Flow.layer(flow),
    Effect.forEach(many, (n) => Flow.submit(flow, n), { discard: true })
  )
  for (let life = 0; life < 3; life++) yield* inProcess(Flow.layer(flow), Effect.sleep("1500 millis").pipe(throughTime))
  const results = yield* inProcess(
    Flow.layer(flow),
    throughTime(Effect.forEach(many, (n) => Flow.execute(flow, n), { concurrency: "unbounded" }))
  )
  assert.deepStrictEqual(yield* results, many)
  assert.strictEqual(most, 3)
})

describe("over restarts of the process, a limit is not exceeded and nothing stays queued", () => {
  it.effect("in memory", () => Effect.provide(lives, Layer.fresh(Store.memory)))
  it.effect("on SQLite", () => Effect.scoped(Effect.provide(lives, Layer.fresh(Store.sqlite))))
})
