import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../src/Flow.ts"
import { FlowEvent, FlowEvents } from "../src/FlowEvents.ts"
import { advance } from "./support/Time.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String, payload: Schema.String }) {}

const Order = Schema.Struct({ customer: Schema.String, day: Schema.Date })

/** Reports twice, then fails as often as its input says, then succeeds. */
const makeWork = (failures: number) => {
  let calls = 0
  return Flow.step("work", {
    input: Order,
    success: Order,
    error: Refused,
    retry: { attempts: 2, delay: "3 seconds" },
    run: (order) =>
      Effect.gen(function* () {
        yield* Flow.progress({ done: 0, total: 2 })
        yield* Effect.sleep("1 second")
        if (++calls <= failures) return yield* new Refused({ message: "no stock", payload: "secret payload" })
        yield* Flow.progress({ done: 1, message: "half" })
        return order
      })
  })
}

const flowOf = (failures: number) => {
  const work = makeWork(failures)
  return Flow.make("orders", {
    version: 7,
    input: Order,
    success: Order,
    error: Refused,
    idempotencyKey: (order) => order.customer,
    run: (order) => work(order)
  })
}

const order = { customer: "secret customer", day: new Date("2026-11-20T00:00:00.000Z") }

/** What a listener hears, with the flow's exit, while virtual time passes. */
const heard = Effect.fnUntraced(function* <A, E>(flow: Effect.Effect<A, E>) {
  const events: Array<FlowEvent> = []
  const fiber = yield* Effect.forkChild(
    Effect.exit(
      Effect.provideService(flow, FlowEvents, { publish: (event) => Effect.sync(() => void events.push(event)) })
    )
  )
  yield* advance("1 minute")
  return { events, exit: yield* Fiber.join(fiber) }
})

/** An event without the id of its execution. */
const short = (event: FlowEvent): object => {
  const { executionId: _, ...rest } = event
  return rest
}

const refused = { kind: "failed", tag: "Refused", message: "no stock" }

describe("the events of a run", () => {
  it.effect("report attempts, progress, retries and the result, with times", () =>
    Effect.gen(function* () {
      const { events } = yield* heard(Flow.run(flowOf(1), order))
      assert.deepStrictEqual(events.map(short), [
        { _tag: "FlowStarted", flow: "orders", version: 7, at: 0 },
        { _tag: "StepStarted", path: "work", attempt: 1, at: 0 },
        { _tag: "StepProgress", path: "work", attempt: 1, at: 0, done: 0, total: 2, message: null },
        { _tag: "StepRetrying", path: "work", attempt: 1, at: 1_000, failure: refused, delayMillis: 3_000 },
        { _tag: "StepStarted", path: "work", attempt: 2, at: 4_000 },
        { _tag: "StepProgress", path: "work", attempt: 2, at: 4_000, done: 0, total: 2, message: null },
        { _tag: "StepProgress", path: "work", attempt: 2, at: 5_000, done: 1, total: null, message: "half" },
        { _tag: "StepSucceeded", path: "work", attempt: 2, at: 5_000 },
        {
          _tag: "FlowCompleted",
          flow: "orders",
          at: 5_000,
          result: { customer: "secret customer", day: "2026-11-20T00:00:00.000Z" }
        }
      ])
      assert.strictEqual(new Set(events.map((event) => event.executionId)).size, 1)
    })
  )

  it.effect("hold no input, no result of a step and no field of an error but its message", () =>
    Effect.gen(function* () {
      const { events, exit } = yield* heard(Flow.run(flowOf(2), order))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(events.slice(-2).map(short), [
        { _tag: "StepFailed", path: "work", attempt: 2, at: 5_000, failure: refused },
        { _tag: "FlowFailed", flow: "orders", at: 5_000, failure: refused }
      ])
      assert.notMatch(JSON.stringify(events), /secret/)
    })
  )

  it.effect("do not quote defects that are not ours", () =>
    Effect.gen(function* () {
      const broken = Flow.step("broken", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.die(new TypeError("secret"))
      })
      const flow = Flow.make("f", {
        version: 1,
        input: Schema.Boolean,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: String,
        run: (twice) =>
          twice
            ? Effect.andThen(Flow.sleep("nap", 0, { key: "a" }), Flow.sleep("nap", 0, { key: "a" }))
            : broken(undefined)
      })
      const { events } = yield* heard(Flow.run(flow, false))
      const died = { kind: "died", tag: "TypeError", message: "TypeError" }
      assert.deepStrictEqual(events.slice(-2).map(short), [
        { _tag: "StepFailed", path: "broken", attempt: 1, at: 0, failure: died },
        { _tag: "FlowFailed", flow: "f", at: 0, failure: died }
      ])
      const ours = (yield* heard(Flow.run(flow, true))).events.at(-1)
      assert.match(ours?._tag === "FlowFailed" ? ours.failure.message : "", /the path nap\[a\] is used twice/)
    })
  )

  it.effect("report branches that a failure interrupts, and an interrupted flow", () =>
    Effect.gen(function* () {
      const flow = Flow.make("f", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Refused,
        idempotencyKey: () => "one",
        run: () =>
          Effect.asVoid(
            Flow.all("both", { work: makeWork(9)(order), nap: Flow.sleep("nap", "1 hour") }, { concurrency: 2 })
          )
      })
      const { events } = yield* heard(Flow.run(flow, undefined))
      const ends = events.flatMap((event) => (event._tag === "StepFailed" ? [[event.path, event.failure.kind]] : []))
      assert.deepStrictEqual(ends, [
        ["both[work]/work", "failed"],
        ["both[nap]/nap", "interrupted"]
      ])
      const stopped = yield* heard(Effect.timeout(Flow.run(flowOf(0), order), "10 millis"))
      assert.deepStrictEqual(
        stopped.events.slice(-2).map((event) => [event._tag, "failure" in event ? event.failure.kind : null]),
        [
          ["StepFailed", "interrupted"],
          ["FlowFailed", "interrupted"]
        ]
      )
    })
  )

  it.effect("are JSON by their schema", () =>
    Effect.gen(function* () {
      const { events } = yield* heard(Flow.run(flowOf(2), order))
      const codec = Schema.toCodecJson(Schema.Array(FlowEvent))
      const json = JSON.stringify(yield* Schema.encodeEffect(codec)(events))
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(codec)(JSON.parse(json)), events)
    })
  )
})

describe("progress", () => {
  it.effect("does nothing outside a step", () => Flow.progress({ done: 1 }))

  it.effect("is heard from fibers that a step forks", () =>
    Effect.gen(function* () {
      const forking = Flow.step("forking", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        run: () =>
          Effect.forEach([1, 2], (done) => Flow.progress({ done, total: 2 }), { concurrency: 2, discard: true })
      })
      const flow = Flow.make("f", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () => forking(undefined)
      })
      const { events } = yield* heard(Flow.run(flow, undefined))
      assert.strictEqual(events.filter((event) => event._tag === "StepProgress").length, 2)
    })
  )
})

describe("stream", () => {
  it.effect("ends with the result, and listeners outside hear the same", () =>
    Effect.gen(function* () {
      const { events, exit } = yield* heard(Stream.runCollect(Flow.stream(flowOf(1), order)))
      assert.isTrue(Exit.isSuccess(exit))
      if (Exit.isSuccess(exit)) assert.deepStrictEqual(exit.value, events)
      assert.strictEqual(events.at(-1)?._tag, "FlowCompleted")
    })
  )

  it.effect("fails with the error of the flow after its last event", () =>
    Effect.gen(function* () {
      const seen: Array<FlowEvent> = []
      const stream = Flow.stream(flowOf(2), order).pipe(
        Stream.tap((event) => Effect.sync(() => void seen.push(event))),
        Stream.runDrain
      )
      const { events, exit } = yield* heard(stream)
      assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, Refused)
      assert.deepStrictEqual(seen, events)
      assert.strictEqual(seen.at(-1)?._tag, "FlowFailed")
    })
  )

  it.effect("interrupts the flow when its consumer stops, and runs it again each time", () =>
    Effect.gen(function* () {
      const events: Array<FlowEvent> = []
      const stream = Flow.stream(flowOf(0), order)
      for (let run = 0; run < 2; run++) {
        yield* Stream.runDrain(Stream.take(stream, 2)).pipe(
          Effect.provideService(FlowEvents, { publish: (event) => Effect.sync(() => void events.push(event)) })
        )
      }
      const ends = events.flatMap((event) => (event._tag === "FlowFailed" ? [event] : []))
      assert.deepStrictEqual(
        ends.map((event) => event.failure.kind),
        ["interrupted", "interrupted"]
      )
      assert.strictEqual(new Set(ends.map((event) => event.executionId)).size, 2)
    })
  )
})
