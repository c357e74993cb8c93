/** What is special about durable executions. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import { FlowChanged } from "../src/FlowErrors.ts"
import { type FlowEvent, FlowEvents } from "../src/FlowEvents.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { theEngine } from "../src/internal/engine/TheEngine.ts"
import { Diary, flowOf, note, Refused, throughTime, work } from "./support/Conformance.ts"

const memory = Layer.merge(Layer.fresh(FlowEngine.layerMemory), Layer.fresh(Diary.layer))

const failureOf = <A, E>(exit: Exit.Exit<A, E>) => (Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined)

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

  it.effect("gives the failure of an execution that has failed once more", () =>
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
        String(failureOf(exit)),
        /the result of the execution .* of versioned, version 1, does not fit its schema/
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("tells what happens once, however often the body is run", () =>
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
        steps.map(({ endedAt: _, startedAt: __, ...step }) => step),
        [
          {
            ...common,
            attempt: 1,
            state: "failed",
            value: { _tag: "Refused", why: "first" },
            failure: { kind: "failed", tag: "Refused", message: "Refused" }
          },
          { ...common, attempt: 2, state: "succeeded", value: day, failure: null }
        ]
      )
    }).pipe(Effect.provide(memory))
  )
})

describe("signal", () => {
  it.effect("may come before it is awaited, and the first counts", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.gen(function* () {
          yield* Flow.sleep("nap", "1 hour")
          return yield* Flow.awaitSignal("number", Schema.Finite)
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* Flow.signal(id, "number", Schema.Finite, 7)
        yield* Flow.signal(id, "number", Schema.Finite, 8)
        assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(flow, undefined))), 7)
        assert.strictEqual((yield* Effect.flip(Flow.signal(id, "number", Schema.Finite, 9)))._tag, "ExecutionConflict")
        assert.strictEqual(
          (yield* Effect.flip(Flow.approve("nobody", "x", { approved: true, by: "kim" })))._tag,
          "ExecutionNotFound"
        )
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("reaches an execution in which other steps run, and repeats none of them", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Struct({ number: Schema.Finite, worked: Schema.String }), () =>
        Flow.all(
          "both",
          { number: Flow.awaitSignal("number", Schema.Finite), worked: work({ name: "long", seconds: 60 }) },
          { concurrency: 2 }
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* TestClock.adjust("10 seconds")
        yield* Flow.signal(id, "both[number]/number", Schema.Finite, 7)
        const result = yield* Effect.flatten(throughTime(Flow.execute(flow, undefined)))
        assert.deepStrictEqual(result, { number: 7, worked: "long" })
        assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("is listed as awaited until it has come", () =>
    Effect.gen(function* () {
      const flow = flowOf(Flow.Approval, () => Flow.awaitApproval("approval"))
      yield* Effect.gen(function* () {
        const { store } = yield* theEngine
        const execution = yield* Flow.submit(flow, undefined)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* store.waits("signal"), [
          { execution, path: "approval", kind: "signal", subject: "approval" }
        ])
        yield* Flow.approve(execution, "approval", { approved: false, by: "kim" })
        const decision = yield* Effect.flatten(throughTime(Flow.execute(flow, undefined)))
        assert.deepStrictEqual(decision, { approved: false, by: "kim", comment: null })
        assert.deepStrictEqual(yield* store.waits("signal"), [])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("cancel", () => {
  const undoing = flowOf(Schema.Void, () =>
    Effect.gen(function* () {
      yield* Flow.compensate(note("one", { key: "1" }), () => note("undo one"))
      yield* Flow.race("race", {
        a: Effect.andThen(
          Flow.compensate(note("two", { key: "2" }), () =>
            Effect.andThen(Flow.sleep("pause", "5 seconds"), note("undo two"))
          ),
          Flow.sleep("long", "30 days")
        )
      })
    })
  )

  it.effect("ends a waiting execution and undoes what it did", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(undoing, undefined)
      yield* TestClock.adjust("1 day")
      const waiting = yield* Effect.forkChild(Effect.flip(Flow.execute(undoing, undefined)))
      yield* TestClock.adjust("1 day")
      yield* Effect.forkChild(FlowExecutions.cancel(id))
      assert.isTrue(Exit.isSuccess(yield* throughTime(Fiber.join(waiting))))
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "FlowCanceled")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "undo two", "undo one"])
      const execution = yield* FlowExecutions.get(id)
      assert.strictEqual(execution.state, "canceled")
      const kinds = new Map((yield* FlowExecutions.steps(id)).map(({ kind, path }) => [path, kind]))
      assert.strictEqual(kinds.get("note[1]/undo/note"), "compensation")
      assert.strictEqual(kinds.get("race[a]/note[2]/undo/note"), "compensation")
      assert.strictEqual((yield* Effect.flip(Flow.execute(undoing, undefined)))._tag, "FlowCanceled")
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(undoing), memory)))
  )

  it.effect("lets the running step end, and begins no other", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* Flow.compensate(work({ name: "a", seconds: 60 }, { key: "a" }), () => note("undo a"))
          yield* work({ name: "b", seconds: 60 }, { key: "b" })
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* TestClock.adjust("10 seconds")
        yield* Effect.forkChild(FlowExecutions.cancel(id))
        const exit = yield* throughTime(Flow.execute(flow, undefined))
        assert.propertyVal(failureOf(exit), "_tag", "FlowCanceled")
        assert.deepStrictEqual(yield* Diary.read, ["a begins", "a ends", "undo a"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("leaves what has ended as it is, and knows what is not there", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () => note("done"))
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* Flow.execute(flow, undefined), 4)
        yield* FlowExecutions.cancel(yield* Flow.submit(flow, undefined))
        assert.strictEqual(yield* Flow.execute(flow, undefined), 4)
        assert.strictEqual((yield* Effect.flip(FlowExecutions.cancel("nobody")))._tag, "ExecutionNotFound")
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("retry", () => {
  /** Fails in its third step the first time. */
  const failing = Flow.step("failing", {
    input: Schema.String,
    success: Schema.String,
    error: Refused,
    run: Effect.fnUntraced(function* (text) {
      yield* Diary.write(`failing ${text}`)
      const before = (yield* Diary.read).filter((line) => line === `failing ${text}`).length
      return before < 2 ? yield* new Refused({ why: text }) : text
    })
  })

  it.effect("runs a failed execution again from its first failed step", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          yield* note("one", { key: "1" })
          yield* Flow.sleep("nap", "1 hour")
          yield* Flow.forEach("item", ["a", "b"], { key: (item) => item, concurrency: 2 }, (item) =>
            item === "a"
              ? work({ name: item, seconds: 1 })
              : Effect.andThen(Flow.sleep("nap", "2 seconds"), failing(item))
          )
          return "well"
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        assert.instanceOf(failureOf(yield* throughTime(Flow.execute(flow, undefined))), Refused)
        const next = yield* FlowExecutions.retry(id)
        assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(flow, undefined))), "well")
        assert.deepStrictEqual(yield* Diary.read, ["one", "a begins", "a ends", "failing b", "failing b"])
        const execution = yield* FlowExecutions.get(next)
        assert.strictEqual(execution.generation, 2)
        assert.strictEqual((yield* Effect.flip(FlowExecutions.retry(id)))._tag, "ExecutionConflict")
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("from a step runs that one and all that came after it", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.gen(function* () {
          yield* note("one", { key: "1" })
          yield* note("two", { key: "2" })
          return yield* note("three", { key: "3" })
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* throughTime(Flow.execute(flow, undefined))
        assert.match((yield* Effect.flip(FlowExecutions.retry(id))).message, /has no failed step: say where to begin/)
        const unknown = yield* Effect.flip(FlowExecutions.retry(id, { from: "four" }))
        assert.match(unknown.message, /has recorded no step four/)
        yield* FlowExecutions.retry(id, { from: "note[2]" })
        assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(flow, undefined))), 5)
        assert.deepStrictEqual(yield* Diary.read, ["one", "two", "three", "two", "three"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("runs again what was undone", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          yield* note("kept", { key: "1" })
          yield* Flow.compensate(note("done", { key: "2" }), () => note("undone"))
          return yield* failing("x")
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* throughTime(Flow.execute(flow, undefined))
        yield* FlowExecutions.retry(id)
        assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(flow, undefined))), "x")
        assert.deepStrictEqual(yield* Diary.read, ["kept", "done", "failing x", "undone", "done", "failing x"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("takes a failure that the body handled as it was, and does not try that step again", () =>
    Effect.gen(function* () {
      const never = Flow.step("never", {
        input: Schema.Void,
        success: Schema.Void,
        error: Refused,
        retry: { attempts: 3, delay: "1 second" },
        run: () => Effect.andThen(Diary.write("never"), Effect.fail(new Refused({ why: "never" })))
      })
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          yield* Effect.ignore(never(undefined))
          return yield* failing("x")
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* throughTime(Flow.execute(flow, undefined))
        yield* FlowExecutions.retry(id, { from: "failing" })
        assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(flow, undefined))), "x")
        assert.deepStrictEqual(yield* Diary.read, ["never", "never", "never", "failing x", "failing x"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("refuses an execution that is under way", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () => Flow.sleep("nap", "1 hour"))
      const id = yield* Flow.submit(flow, undefined).pipe(Effect.provide(Flow.layer(flow)))
      assert.match((yield* Effect.flip(FlowExecutions.retry(id))).message, /is under way: cancel it first/)
    }).pipe(Effect.provide(memory))
  )
})

describe("a body that is run again", () => {
  it.effect("takes the way it took, with failures and limits that it handled, and what they cut off", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Array(Schema.String), () =>
        Effect.gen(function* () {
          const failed = yield* Flow.forEach("item", ["good", "bad"], { key: String, concurrency: 2 }, (item) =>
            Effect.gen(function* () {
              yield* note(item)
              yield* Flow.sleep("nap", item === "bad" ? "10 seconds" : "1 second")
              yield* item === "bad" ? note("", { key: "2" }) : work({ name: item, seconds: 60 })
            })
          ).pipe(
            Effect.as("all"),
            Effect.catchTag("Refused", ({ why }) => Effect.succeed(why))
          )
          yield* Flow.sleep("nap", "1 hour")
          const late = yield* Flow.timeout(
            "limit",
            "1 minute",
            Effect.andThen(note("inside"), Flow.sleep("long", "1 day"))
          ).pipe(
            Effect.as("in time"),
            Effect.catchTag("FlowTimeout", ({ path }) => Effect.succeed(path))
          )
          yield* Flow.sleep("nap", "1 hour", { key: "2" })
          yield* note("last")
          return [failed, late]
        })
      )
      const result = yield* Effect.flatten(throughTime(Flow.execute(flow, undefined))).pipe(
        Effect.provide(Flow.layer(flow))
      )
      assert.deepStrictEqual(result, ["nothing to note", "limit"])
      assert.deepStrictEqual(yield* Diary.read, ["good", "bad", "good begins", "inside", "last"])
    }).pipe(Effect.provide(memory))
  )
})

describe("time in a body", () => {
  const waits = {
    "Flow.sleep is over once": { sleep: Flow.sleep("nap", "1 hour"), over: true },
    // The trap: an Effect of its own begins anew each time the body is run.
    "Effect.sleep begins again": { sleep: Effect.sleep("1 hour"), over: false }
  }
  for (const [title, { over, sleep }] of Object.entries(waits)) {
    it.effect(`${title} when the body is run again`, () =>
      Effect.gen(function* () {
        const flow = flowOf(Schema.Finite, () => Effect.andThen(sleep, Flow.awaitSignal("number", Schema.Finite)))
        yield* Effect.gen(function* () {
          const { store } = yield* theEngine
          const id = yield* Flow.submit(flow, undefined)
          while ((yield* store.waits("signal")).length === 0) {
            yield* TestClock.adjust("10 minutes")
            yield* TestClock.withLive(Effect.sleep("1 millis"))
          }
          yield* Flow.signal(id, "number", Schema.Finite, 7)
          for (let minute = 0; minute < 30; minute++) {
            yield* TestClock.adjust("1 minute")
            yield* TestClock.withLive(Effect.sleep("1 millis"))
          }
          assert.strictEqual((yield* FlowExecutions.get(id)).state, over ? "completed" : "running")
          assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(flow, undefined))), 7)
        }).pipe(Effect.provide(Flow.layer(flow)))
      }).pipe(Effect.provide(memory))
    )
  }
})

describe("a body that has changed", () => {
  /** Runs one body up to its nap, and goes on with another. */
  const changing = <C1 extends Flow.FlowContext<unknown>, C2 extends Flow.FlowContext<unknown>>(
    before: Effect.Effect<unknown, Refused, C1>,
    after: Effect.Effect<unknown, Refused, C2>
  ) =>
    Effect.gen(function* () {
      let run = 0
      const flow = flowOf(Schema.Void, () =>
        Effect.suspend((): Effect.Effect<unknown, Refused, C1 | C2> => (run++ === 0 ? before : after)).pipe(
          Effect.andThen(Flow.sleep("nap", "1 hour"))
        )
      )
      return yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
    })

  it.effect("is stopped when it leaves a recorded step out", () =>
    Effect.gen(function* () {
      const exit = yield* changing(note("a"), Effect.void)
      const changed = failureOf(exit)
      assert.instanceOf(changed, FlowChanged)
      assert.strictEqual(changed.recorded, "note")
      assert.strictEqual(changed.reached, "nap")
    }).pipe(Effect.provide(memory))
  )

  it.effect("is stopped when a new step comes before a recorded one, before that step runs", () =>
    Effect.gen(function* () {
      const exit = yield* changing(note("a"), Effect.andThen(note("new", { key: "new" }), note("a")))
      const changed = failureOf(exit)
      assert.instanceOf(changed, FlowChanged)
      assert.strictEqual(changed.reached, "note[new]")
      assert.deepStrictEqual(yield* Diary.read, ["a"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("is stopped when it ends before a recorded step, and undoes nothing", () =>
    Effect.gen(function* () {
      let run = 0
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* Flow.compensate(note("a"), () => note("undone"))
          if (run++ > 0) return
          yield* note("b", { key: "b" })
          yield* Flow.sleep("nap", "1 hour")
        })
      )
      const exit = yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      const changed = failureOf(exit)
      assert.instanceOf(changed, FlowChanged)
      assert.strictEqual(changed.recorded, "note[b]")
      assert.isNull(changed.reached)
      assert.deepStrictEqual(yield* Diary.read, ["a", "b"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("goes on when only the parts beside have new steps", () =>
    Effect.gen(function* () {
      const item = (key: string) => note(key, { key })
      const before = Flow.forEach("item", ["a"], { key: String }, item)
      const after = Flow.forEach("item", ["a", "b"], { key: String }, item)
      const exit = yield* changing(before, after)
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(yield* Diary.read, ["a", "b"])
    }).pipe(Effect.provide(memory))
  )
})
