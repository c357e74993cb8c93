import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import * as Flow from "../src/Flow.ts"
import { FlowEvents } from "../src/FlowEvents.ts"
import { Diary, Refused, note, flowOf, defectOf } from "./support/Flows.ts"

describe("run", () => {
  it.effect("returns the result of the body, with the services of the steps", () =>
    Effect.gen(function* () {
      const flow = Flow.make("sum", {
        version: 1,
        input: Schema.Array(Schema.String),
        success: Schema.Finite,
        error: Refused,
        idempotencyKey: (texts) => texts.join(),
        run: Effect.fnUntraced(function* ([first = "", second = ""]) {
          return (yield* note(first, { key: "1" })) + (yield* note(second, { key: "2" }))
        })
      })
      assert.strictEqual(yield* Flow.run(flow, ["ab", "cde"]), 5)
      assert.deepStrictEqual(yield* Diary.read, ["ab", "cde"])
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("fails with the very error of the step", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Flow.run(
          flowOf(Schema.Finite, () => note("")),
          undefined
        )
      )
      assert.instanceOf(error, Refused)
      assert.strictEqual(error.why, "nothing to note")
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("lets a body handle errors of steps", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.catchTag(note(""), "Refused", () => note("instead", { key: "2" }))
      )
      assert.strictEqual(yield* Flow.run(flow, undefined), 7)
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("creates a new execution each time", () =>
    Effect.gen(function* () {
      const ids = new Set<string>()
      const flow = flowOf(Schema.Finite, () => note("once"))
      const listener = {
        publish: (event: { executionId: string }) => Effect.sync(() => void ids.add(event.executionId))
      }
      yield* Effect.replicateEffect(Flow.run(flow, undefined), 3).pipe(Effect.provideService(FlowEvents, listener))
      assert.strictEqual(ids.size, 3)
      for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("has a span for the flow and one for each step below it", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      yield* Flow.run(
        flowOf(Schema.Finite, () => note("traced", { key: "k" })),
        undefined
      ).pipe(Effect.provideService(Tracer.Tracer, tracer))
      assert.deepStrictEqual(
        spans.map((span) => span.name),
        ["flow test", "step note"]
      )
      assert.strictEqual(spans[1]?.attributes.get("flow.path"), "note[k]")
      assert.strictEqual(spans[0]?.attributes.get("flow.execution_id"), spans[1]?.attributes.get("flow.execution_id"))
    }).pipe(Effect.provide(Diary.layer))
  )
})

describe("inputs and results of a step", () => {
  const giving = <S extends Schema.ConstraintCodec<unknown, unknown>>(success: S, value: S["Type"]) => {
    const give = Flow.step("give", {
      input: Schema.Void,
      success,
      error: Schema.Never,
      run: () => Effect.succeed(value)
    })
    return Flow.run(
      flowOf(Schema.Void, () => Effect.asVoid(give(undefined))),
      undefined
    )
  }

  it.effect("are what their JSON decodes to", () =>
    Effect.gen(function* () {
      const Day = Schema.Struct({ at: Schema.Date, name: Schema.String })
      const seen: Array<unknown> = []
      const today = Flow.step("today", {
        input: Day,
        success: Day,
        error: Schema.Never,
        run: (day) => {
          seen.push(day)
          return Effect.succeed(day)
        }
      })
      const at = new Date("2026-11-20T08:00:00.000Z")
      const day = { at, name: "Friday", extra: "not of the schema" }
      const flow = flowOf(Schema.Void, () => Effect.map(today(day), (result) => void seen.push(result)))
      yield* Flow.run(flow, undefined)
      assert.deepStrictEqual(seen, [
        { at, name: "Friday" },
        { at, name: "Friday" }
      ])
    })
  )

  it.effect("dies when the input does not fit", () =>
    Effect.gen(function* () {
      const short = Flow.step("short", {
        input: Schema.String.check(Schema.isMaxLength(3)),
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.void
      })
      const { message } = yield* defectOf(
        Flow.run(
          flowOf(Schema.Void, () => short("too long", { key: "a" })),
          undefined
        )
      )
      assert.match(message, /the input of the step short\[a\] does not fit/)
      assert.notMatch(message, /too long/)
    })
  )

  it.effect("dies when the result is no JSON", () =>
    Effect.gen(function* () {
      const { message } = yield* defectOf(giving(Schema.Unknown, () => "a function"))
      assert.match(message, /the result of the step give does not fit/)
    })
  )

  it.effect("takes a result of 1 MB and refuses a byte more", () =>
    Effect.gen(function* () {
      yield* giving(Schema.String, "x".repeat(999_998))
      const { message } = yield* defectOf(giving(Schema.String, "x".repeat(999_999)))
      assert.match(message, /the result of the step give is 1000001 bytes of JSON, more than 1000000: store large data/)
      const umlauts = yield* defectOf(giving(Schema.String, "ü".repeat(500_000)))
      assert.match(umlauts.message, /1000002 bytes/)
    })
  )

  it.effect("takes inputs and results of many parts", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 300_000 }, (_, index) => index % 10)
      yield* giving(Schema.Array(Schema.Finite), many)
    })
  )

  it.effect("refuses a secret, wherever it is in the result, the input or the error", () =>
    Effect.gen(function* () {
      const Key = Schema.Struct({ keys: Schema.Array(Schema.Redacted(Schema.String)) })
      const keys = { keys: [Redacted.make("hunter2")] }
      const result = yield* defectOf(giving(Key, keys))
      assert.match(result.message, /the result of the step give contains a Redacted/)
      for (const holder of [Option.some(keys), new Map([["a", keys]]), new Set([keys]), Redacted.make(keys)]) {
        const deep = yield* defectOf(giving(Schema.Unknown, holder))
        assert.match(deep.message, /the result of the step give contains a Redacted/)
      }

      class Leak extends Schema.TaggedError<Leak>()("Leak", { key: Schema.Redacted(Schema.String) }) {}
      const use = Flow.step("use", {
        input: Key,
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.void
      })
      const input = yield* defectOf(
        Flow.run(
          flowOf(Schema.Void, () => use(keys)),
          undefined
        )
      )
      assert.match(input.message, /the input of the step use contains a Redacted/)
      const fail = Flow.step("fail", {
        input: Schema.Void,
        success: Schema.Void,
        error: Leak,
        run: () => Effect.fail(new Leak({ key: Redacted.make("hunter2") }))
      })
      const error = yield* defectOf(
        Flow.run(
          flowOf(Schema.Void, () => Effect.orDie(fail(undefined))),
          undefined
        )
      )
      assert.match(error.message, /the error of the step fail contains a Redacted/)
    })
  )

  it.effect("dies with the original as the cause when an error does not fit", () =>
    Effect.gen(function* () {
      class Short extends Schema.TaggedError<Short>()("Short", { why: Schema.String }) {}
      const original = new Short({ why: "far too long" })
      const fail = Flow.step("fail", {
        input: Schema.Void,
        success: Schema.Void,
        error: Short.check(Schema.makeFilter((error) => error.why.length < 3)),
        run: () => Effect.fail(original)
      })
      const defect = yield* defectOf(
        Flow.run(
          flowOf(Schema.Void, () => Effect.orDie(fail(undefined))),
          undefined
        )
      )
      assert.match(defect.message, /the error of the step fail does not fit its schema/)
      assert.strictEqual(defect.cause, original)
    })
  )

  it.effect("does not let a step call a step", () =>
    Effect.gen(function* () {
      const outer = Flow.step("outer", {
        input: Schema.Void,
        success: Schema.DateTimeUtc,
        error: Schema.Never,
        run: () => Flow.now("inner")
      })
      const flow = flowOf(Schema.Void, () => Effect.asVoid(outer(undefined)))
      // @ts-expect-error the requirement that nothing provides shows up in the type
      // @effect-diagnostics-next-line missingEffectContext:off
      const ready: Effect.Effect<void, Refused | Flow.FlowTimeout | Flow.InvalidInput> = Flow.run(flow, undefined)
      assert.match((yield* defectOf(ready)).message, /a step was called outside the body of a flow/)
    })
  )
})

describe("retry and timeout", () => {
  const failing = (times: number, options: { attempts: number; backoff?: number }) => {
    let calls = 0
    return Flow.step("failing", {
      input: Schema.Void,
      success: Schema.Finite,
      error: Refused,
      retry: { delay: "1 second", while: (error) => error.why === "busy", ...options },
      run: () =>
        Effect.suspend(() => (++calls <= times ? Effect.fail(new Refused({ why: "busy" })) : Effect.succeed(calls)))
    })
  }

  it.effect("runs a step again after growing pauses", () =>
    Effect.gen(function* () {
      const step = failing(2, { attempts: 3 })
      const fiber = yield* Effect.forkChild(
        Flow.run(
          flowOf(Schema.Finite, () => step(undefined)),
          undefined
        )
      )
      yield* TestClock.adjust(2_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(fiber), 3)
    })
  )

  it.effect("keeps pauses equal with a backoff of 1", () =>
    Effect.gen(function* () {
      const step = failing(3, { attempts: 4, backoff: 1 })
      const fiber = yield* Effect.forkChild(
        Flow.run(
          flowOf(Schema.Finite, () => step(undefined)),
          undefined
        )
      )
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), 4)
    })
  )

  it.effect("fails after the last attempt", () =>
    Effect.gen(function* () {
      const step = failing(9, { attempts: 2 })
      const flow = flowOf(Schema.Finite, () => step(undefined))
      const fiber = yield* Effect.forkChild(Effect.flip(Flow.run(flow, undefined)))
      yield* TestClock.adjust("1 second")
      assert.propertyVal(yield* Fiber.join(fiber), "why", "busy")
    })
  )

  it.effect("does not repeat what is not worth it, nor defects", () =>
    Effect.gen(function* () {
      let calls = 0
      const step = Flow.step("final", {
        input: Schema.Boolean,
        success: Schema.Void,
        error: Refused,
        retry: { attempts: 5, while: (error) => error.why === "busy" },
        run: (dies) => {
          calls++
          return dies ? Effect.die("broken") : Effect.fail(new Refused({ why: "never" }))
        }
      })
      yield* Effect.exit(
        Flow.run(
          flowOf(Schema.Void, () => step(false)),
          undefined
        )
      )
      yield* Effect.exit(
        Flow.run(
          flowOf(Schema.Void, () => step(true)),
          undefined
        )
      )
      assert.strictEqual(calls, 2)
    })
  )

  it.effect("interrupts an attempt that takes too long, and fails with StepTimeout", () =>
    Effect.gen(function* () {
      let interrupted = 0
      const slow = Flow.step("slow", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        timeout: "10 seconds",
        retry: { attempts: 2, delay: "1 second", while: (error) => error._tag === "StepTimeout" },
        run: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
      })
      const flow = Flow.make("test", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: slow.error,
        idempotencyKey: () => "one",
        run: () => slow(undefined)
      })
      const fiber = yield* Effect.forkChild(Effect.flip(Flow.run(flow, undefined)))
      yield* TestClock.adjust("21 seconds")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error.message, "the step slow took longer than 10000 ms")
      assert.strictEqual(interrupted, 2)
    })
  )
})
