/** Many executions submitted together, and bursts of calls that become one. */
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { OptionError } from "@signalbox/transport/OptionError"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowSchedules from "../src/FlowSchedules.ts"
import { defineFlow, json, openFlows } from "../src/Promises.ts"
import { Diary } from "./support/Flows.ts"
import { errorOf, memory, stateOf } from "./support/Running.ts"

const pass = TestClock.adjust
const hour = 3_600_000

const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.Void,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (text) {
    yield* Diary.write(`${text} ${DateTime.toEpochMillis(yield* DateTime.now)}`)
  })
})

const Order = Schema.Struct({ customer: Schema.String, amount: Schema.Finite.check(Schema.isGreaterThan(0)) })

const flowOf = (limit: ReadonlyArray<Flow.FlowLimit<typeof Order.Type>> = []) =>
  Flow.make("order", {
    version: 1,
    input: Order,
    success: Schema.Void,
    error: Schema.Never,
    idempotencyKey: ({ amount, customer }) => `${customer} ${amount}`,
    tags: ({ customer }) => [customer],
    limit,
    run: Effect.fnUntraced(function* ({ amount, customer }) {
      yield* note(`${customer}${amount}`)
      yield* Flow.sleep("hour", "1 hour")
    })
  })
const flow = flowOf()

const on = <A, E, R>(one: typeof flow, effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, Layer.provideMerge(Flow.layer(one), memory))

const orders = (...amounts: ReadonlyArray<number>) => amounts.map((amount) => ({ customer: "a", amount }))

describe("many inputs that are submitted together", () => {
  it.effect("begin, those that exist are joined, and the ids are in their order", () =>
    on(
      flow,
      Effect.gen(function* () {
        const there = yield* Flow.submit(flow, { customer: "a", amount: 2 })
        yield* pass(1)
        const ids = yield* Flow.submitMany(flow, orders(3, 2, 1, 3))
        assert.strictEqual(ids[1], there)
        assert.strictEqual(ids[0], ids[3])
        assert.strictEqual(new Set(ids).size, 3)
        yield* pass("1 hour")
        assert.deepStrictEqual((yield* Diary.read).toSorted(), ["a1 1", "a2 0", "a3 1"])
        assert.deepStrictEqual(yield* Flow.submitMany(flow, []), [])
        assert.lengthOf((yield* FlowExecutions.list({ tag: "a" })).executions, 3)
      })
    )
  )

  it.effect("start none when one does not fit, which the error names", () =>
    on(
      flow,
      Effect.gen(function* () {
        const error = yield* Effect.flip(Flow.submitMany(flow, orders(1, 2, 3, -1)))
        assert.instanceOf(error, Flow.InvalidInput)
        assert.deepInclude(error, { path: "3.amount" })
        assert.deepStrictEqual((yield* FlowExecutions.list()).executions, [])
      })
    )
  )

  it.effect("are a thousand at most", () =>
    on(
      flow,
      Effect.gen(function* () {
        const many = Array.from({ length: 1_001 }, (_, n) => n + 1)
        const error = errorOf(yield* Effect.exit(Flow.submitMany(flow, orders(...many))))
        assert.instanceOf(error, OptionError)
        const ids = yield* Flow.submitMany(flow, orders(...many.slice(1)), { after: "1 day" })
        assert.strictEqual(new Set(ids).size, 1_000)
        assert.strictEqual(yield* stateOf(ids[999] ?? ""), "queued")
      })
    )
  )

  it.effect("go through the queue of their limits", () => {
    const limited = flowOf([{ key: ({ customer }) => customer, concurrency: 1 }])
    return on(
      limited,
      Effect.gen(function* () {
        const inputs = [...orders(1, 2), { customer: "b", amount: 1 }]
        const ids = yield* Flow.submitMany(limited, inputs, { deadline: "90 minutes" })
        yield* pass(1)
        assert.deepStrictEqual((yield* Diary.read).toSorted(), ["a1 0", "b1 0"])
        yield* pass("2 hours")
        assert.deepStrictEqual(yield* Effect.forEach(ids, stateOf), ["completed", "failed", "completed"])
      })
    )
  })
})

describe("a burst of calls", () => {
  const debounce = { key: "a", quiet: "10 seconds", most: "25 seconds" } as const
  const call = (amount: number, one = flow) => Flow.submit(one, { customer: "a", amount }, { debounce })

  it.effect("is one execution with its last input, when it is quiet", () =>
    on(
      flow,
      Effect.gen(function* () {
        const first = yield* call(1)
        yield* pass("5 seconds")
        assert.strictEqual(yield* call(2), first)
        yield* pass("9 seconds")
        assert.deepStrictEqual(yield* Diary.read, [])
        yield* pass("1 seconds")
        assert.deepStrictEqual(yield* Diary.read, ["a2 15000"])
        assert.deepInclude(yield* FlowExecutions.get(first), { key: "a 1970-01-01T00:00:00.000Z", tags: ["a"] })
        const second = yield* call(3)
        assert.notStrictEqual(second, first)
        yield* pass("1 hour")
        assert.deepStrictEqual(yield* Diary.read, ["a2 15000", "a3 25000"])
      })
    )
  )

  it.effect("that does not end starts at the latest after `most`", () =>
    on(
      flow,
      Effect.gen(function* () {
        for (let amount = 1; amount <= 6; amount++) {
          yield* call(amount)
          yield* pass("5 seconds")
        }
        yield* pass("1 hour")
        assert.deepStrictEqual(yield* Diary.read, ["a5 25000", "a6 35000"])
      })
    )
  )

  it.effect("is awaited by those who execute it", () =>
    on(
      flow,
      Effect.gen(function* () {
        const running = yield* Effect.forkChild(Flow.execute(flow, { customer: "a", amount: 1 }, { debounce }))
        yield* pass("2 hours")
        yield* Fiber.join(running)
        assert.deepStrictEqual(yield* Diary.read, ["a1 10000"])
      })
    )
  )

  it.effect("replaces what waits in the queue of its limits", () => {
    const limited = flowOf([{ concurrency: 1 }])
    return on(
      limited,
      Effect.gen(function* () {
        yield* Flow.submit(limited, { customer: "x", amount: 1 })
        const first = yield* call(1, limited)
        yield* pass("30 minutes")
        assert.strictEqual(yield* call(2, limited), first)
        yield* pass("2 hours")
        assert.deepStrictEqual(yield* Diary.read, ["x1 0", `a2 ${hour}`])
      })
    )
  })

  it.effect("has no other start and no key", () =>
    on(
      flow,
      Effect.gen(function* () {
        const input = { customer: "a", amount: 1 }
        // @ts-expect-error the debounce decides
        const late = errorOf(yield* Effect.exit(Flow.submit(flow, input, { debounce, after: "1 hour" })))
        assert.deepInclude(late, { option: "after" })
        // @ts-expect-error the debounce decides
        const named = errorOf(yield* Effect.exit(Flow.submit(flow, input, { debounce, key: "k" })))
        assert.deepInclude(named, { option: "key" })
        const never = { ...debounce, quiet: 0 }
        const none = errorOf(yield* Effect.exit(Flow.submit(flow, input, { debounce: never })))
        assert.deepInclude(none, { option: "debounce.quiet" })
      })
    )
  )
})

describe("an execution of a schedule", () => {
  const hourly = { name: "hourly", cron: "0 * * * *", zone: "UTC" } as const
  const scheduled = flowOf([{ concurrency: 1 }])
  const input = () => ({ customer: "s", amount: 1 })

  it.effect("has its priority and its deadline", () =>
    Effect.gen(function* () {
      yield* pass("1 hour")
      const { executions } = yield* FlowExecutions.list()
      assert.deepInclude(executions[0], { priority: 5, deadlineAt: hour + 600_000 })
    }).pipe(
      Effect.provide(
        FlowSchedules.layer(scheduled, { ...hourly, input, priority: 5, deadline: "10 minutes" }).pipe(
          Layer.provide(Flow.layer(scheduled)),
          Layer.provideMerge(memory)
        )
      )
    )
  )

  it.effect("is refused with options that cannot be", () =>
    Effect.gen(function* () {
      const layer = FlowSchedules.layer(scheduled, { ...hourly, input, priority: 5_000 })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.deepInclude(error, { _tag: "InvalidSchedule", field: "priority" })
    }).pipe(Effect.provide(memory))
  )
})

describe("flows of promises", () => {
  const slow = defineFlow({
    name: "slow",
    input: Schema.String,
    output: json,
    key: (text) => text,
    run: async (ctx, text) => {
      await ctx.sleep("for long", "1 day")
      return text
    }
  })

  it("take the same options", async () => {
    const flows = await openFlows({ memory: true, flows: [slow] })
    const ids = await flows.submitMany(slow, ["a", "b"], { after: "1 hour", priority: 1 })
    const { execution } = await flows.run(FlowExecutions.inspect(ids[1] ?? ""))
    assert.deepInclude(execution, { key: "b", state: "queued", priority: 1 })
    const error = await flows.execute(slow, "c", { deadline: 20 }).then(
      () => null,
      (thrown: unknown) => thrown
    )
    assert.instanceOf(error, Flow.DeadlineExceeded)
    const burst = { key: "d", quiet: "1 hour", most: "2 hours" } as const
    const first = await flows.submit(slow, "d", { debounce: burst })
    assert.strictEqual(await flows.submit(slow, "e", { debounce: burst }), first)
    await flows.close()
  })
})
