/** What is special about durable executions. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as Flow from "../src/Flow.ts"
import { type FlowEvent, FlowEvents } from "../src/FlowEvents.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { Diary, flowOf, note, Refused } from "./support/Flows.ts"
import { errorOf, memory } from "./support/Running.ts"
import { throughTime } from "./support/Time.ts"

/** A version of a flow that takes a text and has a body. */
const versioned = <C extends Flow.FlowContext<unknown>>(
  version: number,
  body: (text: string) => Effect.Effect<number, Refused, C>
) =>
  Flow.make("versioned", {
    version,
    input: Schema.String,
    success: Schema.Finite,
    error: Refused,
    idempotencyKey: (text) => text,
    run: body
  })

describe("execute", () => {
  it.effect("joins the execution of the same key, and runs it once", () =>
    Effect.gen(function* () {
      const flow = versioned(
        1,
        Effect.fnUntraced(function* (text) {
          yield* Flow.sleep("nap", "1 hour")
          return yield* note(text)
        })
      )
      const both = Effect.all([Flow.execute(flow, "abc"), Flow.execute(flow, "abc")], { concurrency: 2 })
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* Effect.flatten(throughTime(both)), [3, 3])
        assert.strictEqual(yield* Flow.execute(flow, "abc"), 3)
        assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(flow, "other"))), 5)
      }).pipe(Effect.provide(Flow.layer(flow)))
      assert.deepStrictEqual(yield* Diary.read, ["abc", "other"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("returns the failure of an execution that has failed again", () =>
    Effect.gen(function* () {
      const flow = versioned(1, () => note(""))
      yield* Effect.gen(function* () {
        for (const _ of [1, 2]) assert.instanceOf(yield* Effect.flip(Flow.execute(flow, "x")), Refused)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("says which version to register when the execution is of another", () =>
    Effect.gen(function* () {
      const old = versioned(1, () => Effect.as(Flow.sleep("nap", "1 hour"), 1))
      const current = versioned(2, () => note("new"))
      yield* Flow.submit(old, "x").pipe(Effect.provide(Flow.layer(old)))
      const error = yield* Effect.flip(Flow.execute(current, "x")).pipe(Effect.provide(Flow.layer(current)))
      assert.strictEqual(error._tag, "FlowNotRegistered")
      assert.match(error.message, /versioned, version 1, which is not registered/)
    }).pipe(Effect.provide(memory))
  )

  it.effect("joins an execution of an older version that is registered beside", () =>
    Effect.gen(function* () {
      const old = versioned(1, () => Effect.as(Flow.sleep("nap", "1 hour"), 1))
      const current = versioned(2, () => Effect.succeed(2))
      yield* Effect.gen(function* () {
        yield* Flow.submit(old, "x")
        assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(current, "x"))), 1)
        assert.strictEqual(yield* Flow.execute(current, "x"), 1)
        assert.strictEqual(yield* Flow.execute(current, "y"), 2)
      }).pipe(Effect.provide([Flow.layer(old), Flow.layer(current)]))
    }).pipe(Effect.provide(memory))
  )

  it.effect("says so when the recorded result is none of this flow", () =>
    Effect.gen(function* () {
      const flow = versioned(1, () => Effect.succeed(1))
      const other = Flow.make("versioned", {
        ...flow,
        version: 2,
        success: Schema.String,
        run: () => Effect.succeed("")
      })
      yield* Flow.execute(flow, "x").pipe(Effect.provide(Flow.layer(flow)))
      const exit = yield* Effect.exit(Flow.execute(other, "x")).pipe(Effect.provide(Flow.layer(other)))
      assert.match(
        String(errorOf(exit)),
        /the result of the execution .* of versioned, version 1, does not fit its schema/
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("publishes each event once, however often the body is run", () =>
    Effect.gen(function* () {
      const events: Array<FlowEvent> = []
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* note("one")
          yield* Flow.sleep("nap", "1 hour")
          yield* Effect.ignore(note("", { key: "empty" }))
          yield* Flow.sleep("rest", "1 hour")
        })
      )
      yield* throughTime(Flow.execute(flow, undefined)).pipe(
        Effect.provide(Flow.layer(flow)),
        Effect.provideService(FlowEvents, { publish: (event) => Effect.sync(() => void events.push(event)) })
      )
      assert.deepStrictEqual(
        events.map((event) => ("path" in event ? `${event._tag} ${event.path}` : event._tag)),
        [
          "FlowStarted",
          "StepStarted note",
          "StepSucceeded note",
          "StepStarted nap",
          "StepSucceeded nap",
          "StepStarted note[empty]",
          "StepFailed note[empty]",
          "StepStarted rest",
          "StepSucceeded rest",
          "FlowCompleted"
        ]
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("has one span for each attempt of a step, however often the body is run", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* note("traced", { key: "k" })
          for (const key of ["1", "2"]) yield* Flow.sleep("nap", "1 hour", { key })
        })
      )
      yield* throughTime(Flow.execute(flow, undefined)).pipe(
        Effect.provide(Flow.layer(flow)),
        Effect.provideService(Tracer.Tracer, tracer)
      )
      const steps = spans.filter(({ name }) => name === "step note")
      assert.deepStrictEqual(
        steps.map(({ attributes }) => attributes.get("flow.path")),
        ["note[k]"]
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("records what its steps took, gave and tried", () =>
    Effect.gen(function* () {
      const flaky = Flow.step("flaky", {
        input: Schema.Struct({ day: Schema.Date }),
        success: Schema.Date,
        error: Refused,
        retry: { attempts: 2 },
        run: Effect.fnUntraced(function* ({ day }) {
          yield* Diary.write("tried")
          return (yield* Diary.read).length < 2 ? yield* new Refused({ why: "first" }) : day
        })
      })
      const flow = flowOf(Schema.Date, () => flaky({ day: new Date(0) }))
      const steps = yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* throughTime(Flow.execute(flow, undefined))
        return yield* FlowExecutions.steps(id)
      }).pipe(Effect.provide(Flow.layer(flow)))
      const day = "1970-01-01T00:00:00.000Z"
      const common = { name: "flaky", kind: "step" as const, input: { day }, path: "flaky" }
      assert.deepStrictEqual(
        steps.map(({ attempt, failure, input, kind, name, path, state, value }) => ({
          attempt,
          failure: failure === null ? null : { kind: failure.kind, tag: failure.tag, message: failure.message },
          input,
          kind,
          name,
          path,
          state,
          value
        })),
        [
          {
            ...common,
            attempt: 1,
            state: "retrying",
            value: { _tag: "Refused", why: "first" },
            failure: { kind: "failed", tag: "Refused", message: "Refused" }
          },
          { ...common, attempt: 2, state: "succeeded", value: day, failure: null }
        ]
      )
    }).pipe(Effect.provide(memory))
  )
})
