/**
 * What every engine of durable flows must do, at the level of effect/workflow.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Activity from "effect/workflow/Activity"
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { breathe, exitOf, isComplete, isSuspended, until } from "./Polling.ts"

export interface Subject<E> {
  readonly name: string
  /** A new place for executions; each layer over it is the engine after a start. */
  readonly place: Effect.Effect<Layer.Layer<WorkflowEngine, E>, never, Scope.Scope>
  /** Whether time is virtual. */
  readonly virtual: boolean
  /** Whether an interrupt is known to all when it has been asked for. */
  readonly prompt: boolean
  /** In which activities it is stopped and started again; none where executions do not outlive the engine. */
  readonly stops: ReadonlyArray<Stop>
}

export const everyStop = ["first", "right", "child", "last"] as const
export type Stop = (typeof everyStop)[number]

class Refused extends Schema.TaggedError<Refused>()("Refused", { by: Schema.String }) {}

export const Signal = DurableDeferred.make("signal", { success: Schema.String })

/** A workflow of strings, one execution for each id. */
const define = <Name extends string>(name: Name) =>
  Workflow.make(name, {
    payload: { id: Schema.String },
    success: Schema.String,
    error: Refused,
    idempotencyKey: ({ id }) => id
  })

/** An activity that notes each time it runs. */
const noted = (log: Array<string>, name: string, work: Effect.Effect<string> = Effect.succeed(name)) =>
  Activity.make({
    name,
    success: Schema.String,
    execute: Effect.andThen(
      Effect.sync(() => log.push(name)),
      work
    )
  })

export const nap = (name: string, duration: Duration.Input) =>
  DurableClock.sleep({ name, duration, inMemoryThreshold: 0 })

export const signal = (workflow: Workflow.Any, executionId: string, value: string) =>
  DurableDeferred.succeed(Signal, {
    token: DurableDeferred.tokenFromExecutionId(Signal, { workflow, executionId }),
    value
  })

export const conformance = <E>({ name, place, prompt, stops, virtual }: Subject<E>): void => {
  const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
    virtual ? it.effect(title, () => Effect.scoped(body)) : it.live(title, () => Effect.scoped(body))

  /** One life of an engine: from its start to its end. */
  const life = <A, E1, E2>(
    engine: Layer.Layer<WorkflowEngine, E>,
    workflows: Layer.Layer<never, E1, WorkflowEngine>,
    body: Effect.Effect<A, E2, WorkflowEngine>
  ) =>
    Effect.scoped(
      Effect.flatMap(Layer.build(Layer.provideMerge(workflows, engine)), (context) =>
        Effect.provideContext(body, context)
      )
    )

  const once = <A, E1, E2>(
    workflows: Layer.Layer<never, E1, WorkflowEngine>,
    body: Effect.Effect<A, E2, WorkflowEngine>
  ) => Effect.flatMap(place, (engine) => life(engine, workflows, body))

  /** Time passes; in real time it does so by itself. */
  const pass = (duration: Duration.Input) => (virtual ? TestClock.adjust(duration) : Effect.void)

  describe(name, () => {
    test(
      "an activity runs once, and a body that waited runs again from what is recorded",
      Effect.gen(function* () {
        const log: Array<string> = []
        const W = define("Once")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* () {
              log.push("body")
              const first = yield* noted(log, "first")
              yield* nap("nap", "20 millis")
              return first + (yield* noted(log, "second"))
            })
          ),
          Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(W.execute({ id: "1" }))
            const id = yield* W.executionId({ id: "1" })
            if (virtual) yield* until(Effect.map(W.poll(id), isSuspended))
            yield* pass("20 millis")
            assert.strictEqual(yield* Fiber.join(fiber), "firstsecond")
            assert.deepStrictEqual(log, ["body", "first", "body", "second"])
          })
        )
      })
    )

    test(
      "each attempt of an activity is recorded, and not made again",
      Effect.gen(function* () {
        let attempts = 0
        const W = define("Attempts")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* () {
              const flaky = Activity.make({
                name: "flaky",
                success: Schema.String,
                error: Refused,
                execute: Effect.suspend(() => {
                  attempts++
                  return attempts < 3 ? Effect.fail(new Refused({ by: `${attempts}` })) : Effect.succeed("done")
                })
              })
              const result = yield* Activity.retry(flaky, { times: 5 })
              yield* DurableDeferred.await(Signal)
              return result
            })
          ),
          Effect.gen(function* () {
            const id = yield* W.execute({ id: "1" }, { discard: true })
            yield* until(Effect.map(W.poll(id), isSuspended))
            yield* signal(W, id, "go")
            assert.strictEqual(yield* W.execute({ id: "1" }), "done")
            assert.strictEqual(attempts, 3)
          })
        )
      })
    )

    test(
      "errors and defects are the same when they are read back",
      Effect.gen(function* () {
        let runs = 0
        const W = define("Failures")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* ({ id }) {
              const failing = Activity.make({
                name: "failing",
                error: Refused,
                execute: Effect.suspend(() => {
                  runs++
                  return id === "error" ? Effect.fail(new Refused({ by: "me" })) : Effect.die(new Error("broken"))
                })
              })
              yield* failing
              return "unreachable"
            })
          ),
          Effect.gen(function* () {
            for (const round of [1, 2]) {
              const error = yield* Effect.flip(W.execute({ id: "error" }))
              assert.instanceOf(error, Refused, `round ${round}`)
              assert.strictEqual(error.by, "me")
              const exit = yield* Effect.exit(W.execute({ id: "defect" }))
              assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
              assert.include(Cause.pretty(exit.cause), "broken")
            }
            assert.strictEqual(runs, 2)
          })
        )
      })
    )

    if (virtual) {
      test(
        "a timer of an hour is done after an hour, not before",
        Effect.gen(function* () {
          const W = define("Hour")
          yield* once(
            W.toLayer(() => Effect.as(nap("hour", "1 hour"), "awake")),
            Effect.gen(function* () {
              const id = yield* W.execute({ id: "1" }, { discard: true })
              yield* until(Effect.map(W.poll(id), isSuspended))
              yield* pass("59 minutes")
              assert.isTrue(isSuspended(yield* W.poll(id)))
              yield* pass("1 minute")
              yield* until(Effect.map(W.poll(id), isComplete))
            })
          )
        })
      )
    }

    test(
      "a timer that is set later and due earlier is done first",
      Effect.gen(function* () {
        const log: Array<string> = []
        const W = define("Timers")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* ({ id }) {
              yield* nap("nap", id === "long" ? "300 millis" : "1 millis")
              return yield* noted(log, id)
            })
          ),
          Effect.gen(function* () {
            const long = yield* W.execute({ id: "long" }, { discard: true })
            yield* until(Effect.map(W.poll(long), isSuspended))
            const short = yield* W.execute({ id: "short" }, { discard: true })
            if (virtual) yield* until(Effect.map(W.poll(short), isSuspended))
            yield* pass("1 millis")
            yield* until(Effect.map(W.poll(short), isComplete))
            yield* pass("300 millis")
            yield* until(Effect.map(W.poll(long), isComplete))
            assert.deepStrictEqual(log, ["short", "long"])
          })
        )
      })
    )

    test(
      "a deferred is got when it was done before the start, before the wait and while it waits; the first result stays",
      Effect.gen(function* () {
        const W = define("Deferreds")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* ({ id }) {
              if (id === "inside") {
                const token = yield* DurableDeferred.token(Signal)
                yield* DurableDeferred.succeed(Signal, { token, value: "inside" })
              }
              return yield* DurableDeferred.await(Signal)
            })
          ),
          Effect.gen(function* () {
            assert.strictEqual(yield* W.execute({ id: "inside" }), "inside")

            const waiting = yield* W.execute({ id: "waiting" }, { discard: true })
            yield* until(Effect.map(W.poll(waiting), isSuspended))
            yield* signal(W, waiting, "first")
            yield* signal(W, waiting, "second")
            assert.strictEqual(yield* W.execute({ id: "waiting" }), "first")
            yield* signal(W, waiting, "third")
            assert.deepStrictEqual(exitOf(yield* W.poll(waiting)), Exit.succeed("first"))
          })
        )
      })
    )

    test(
      "a signal is never lost, at whatever moment it comes",
      Effect.gen(function* () {
        const W = define("Signalled")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* ({ id }) {
              yield* noted([], "before")
              return id + (yield* DurableDeferred.await(Signal))
            })
          ),
          Effect.forEach(
            Array.from({ length: 60 }, (_, index) => `${index}`),
            Effect.fnUntraced(function* (id) {
              const executionId = yield* W.executionId({ id })
              const later = Effect.forEach(Array.from({ length: Number(id) % 12 }), () => Effect.yieldNow)
              const result = yield* Effect.all(
                [W.execute({ id }), Effect.andThen(later, signal(W, executionId, " told"))],
                { concurrency: "unbounded" }
              )
              assert.strictEqual(result[0], `${id} told`)
            }),
            { concurrency: 10, discard: true }
          )
        )
      })
    )

    test(
      "activities run concurrently, each once",
      Effect.gen(function* () {
        const log: Array<string> = []
        const names = ["a", "b", "c", "d"]
        const W = define("Concurrent")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* () {
              const all = yield* Deferred.make<void>()
              const together = Effect.suspend(() =>
                log.length === names.length ? Deferred.succeed(all, undefined) : Deferred.await(all)
              )
              const done = yield* Effect.forEach(names, (name) => noted(log, name, Effect.as(together, name)), {
                concurrency: "unbounded"
              })
              return done.join("")
            })
          ),
          Effect.gen(function* () {
            assert.strictEqual(yield* W.execute({ id: "1" }), "abcd")
            assert.deepStrictEqual([...log].sort(), names)
          })
        )
      })
    )

    test(
      "a run waits only when its other activities have ended, and their results stay",
      Effect.gen(function* () {
        const log: Array<string> = []
        const started = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const W = define("Siblings")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* () {
              const slow = Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(go))
              const [, value] = yield* Effect.all(
                [noted(log, "slow", Effect.as(slow, "slow")), DurableDeferred.await(Signal)],
                { concurrency: "unbounded" }
              )
              return value
            })
          ),
          Effect.gen(function* () {
            const id = yield* W.execute({ id: "1" }, { discard: true })
            yield* Deferred.await(started)
            assert.isTrue(Option.isNone(yield* W.poll(id)))
            yield* Deferred.succeed(go, undefined)
            yield* until(Effect.map(W.poll(id), isSuspended))
            yield* signal(W, id, "value")
            assert.strictEqual(yield* W.execute({ id: "1" }), "value")
            assert.deepStrictEqual(log, ["slow"])
          })
        )
      })
    )

    test(
      "compensations run in reverse order when the workflow fails, once",
      Effect.gen(function* () {
        const log: Array<string> = []
        const W = define("Compensated")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* () {
              for (const name of ["a", "b"]) {
                yield* W.withCompensation(noted(log, name), () => Effect.asVoid(noted(log, `undo ${name}`)))
              }
              yield* nap("nap", "1 millis")
              return yield* new Refused({ by: "end" })
            })
          ),
          Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(Effect.flip(W.execute({ id: "1" })))
            const id = yield* W.executionId({ id: "1" })
            if (virtual) yield* until(Effect.map(W.poll(id), isSuspended))
            yield* pass("1 millis")
            assert.instanceOf(yield* Fiber.join(fiber), Refused)
            assert.deepStrictEqual(log, ["a", "b", "undo b", "undo a"])
          })
        )
      })
    )

    test(
      "an interrupt ends a waiting execution, with its compensations in reverse order",
      Effect.gen(function* () {
        const log: Array<string> = []
        const W = define("Interrupted")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* () {
              for (const name of ["a", "b"]) {
                yield* W.withCompensation(noted(log, name), () => Effect.asVoid(noted(log, `undo ${name}`)))
              }
              yield* nap("nap", "1 hour")
              return "unreachable"
            })
          ),
          Effect.gen(function* () {
            const id = yield* W.execute({ id: "1" }, { discard: true })
            yield* until(Effect.map(W.poll(id), isSuspended))
            yield* W.interrupt(id)
            yield* until(Effect.map(W.poll(id), isComplete))
            const exit = exitOf(yield* W.poll(id))
            assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
            assert.deepStrictEqual(log, ["a", "b", "undo b", "undo a"])
          })
        )
      })
    )

    if (prompt) {
      test(
        "an interrupt lets the activity at hand end, and no other begin",
        Effect.gen(function* () {
          const log: Array<string> = []
          const started = yield* Deferred.make<void>()
          const go = yield* Deferred.make<void>()
          const W = define("InterruptedAtWork")
          yield* once(
            W.toLayer(
              Effect.fnUntraced(function* () {
                const slow = Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(go))
                yield* W.withCompensation(noted(log, "a", Effect.as(slow, "a")), () =>
                  Effect.asVoid(noted(log, "undo a"))
                )
                return yield* noted(log, "b")
              })
            ),
            Effect.gen(function* () {
              const id = yield* W.execute({ id: "1" }, { discard: true })
              yield* Deferred.await(started)
              yield* W.interrupt(id)
              yield* Deferred.succeed(go, undefined)
              yield* until(Effect.map(W.poll(id), isComplete))
              const exit = exitOf(yield* W.poll(id))
              assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
              assert.deepStrictEqual(log, ["a", "undo a"])
            })
          )
        })
      )
    }

    test(
      "an unsafe interrupt ends an execution that is stuck in an activity",
      Effect.gen(function* () {
        const log: Array<string> = []
        const W = define("Stuck")
        yield* once(
          W.toLayer(() => noted(log, "stuck", Effect.never)),
          Effect.gen(function* () {
            const id = yield* W.execute({ id: "1" }, { discard: true })
            yield* until(Effect.sync(() => log.length === 1))
            const engine = yield* WorkflowEngine
            yield* engine.interruptUnsafe(W, id)
            yield* until(Effect.map(W.poll(id), isComplete))
            const exit = exitOf(yield* W.poll(id))
            assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
          })
        )
      })
    )

    test(
      "an interrupt of what was never started changes nothing",
      Effect.gen(function* () {
        const W = define("NeverStarted")
        yield* once(
          W.toLayer(({ id }) => Effect.succeed(id)),
          Effect.gen(function* () {
            const id = yield* W.executionId({ id: "1" })
            yield* W.interrupt(id)
            assert.isTrue(Option.isNone(yield* W.poll(id)))
            assert.strictEqual(yield* W.execute({ id: "1" }), "1")
            // Nor does one of what has ended.
            yield* W.interrupt(id)
            assert.deepStrictEqual(exitOf(yield* W.poll(id)), Exit.succeed("1"))
          })
        )
      })
    )

    test(
      "executing twice joins: the body runs once, and both get the result",
      Effect.gen(function* () {
        const log: Array<string> = []
        const go = yield* Deferred.make<void>()
        const W = define("Joined")
        yield* once(
          W.toLayer(() => noted(log, "a", Effect.as(Deferred.await(go), "a"))),
          Effect.gen(function* () {
            const both = yield* Effect.forkChild(
              Effect.all([W.execute({ id: "1" }), W.execute({ id: "1" })], { concurrency: "unbounded" })
            )
            const id = yield* W.execute({ id: "1" }, { discard: true })
            assert.strictEqual(id, yield* W.executionId({ id: "1" }))
            yield* until(Effect.sync(() => log.length === 1))
            yield* Deferred.succeed(go, undefined)
            assert.deepStrictEqual(yield* Fiber.join(both), ["a", "a"])
            assert.strictEqual(yield* W.execute({ id: "1" }), "a")
            assert.deepStrictEqual(log, ["a"])
          })
        )
      })
    )

    test(
      "a workflow that suspends on failure waits for a resume, not for anything else",
      Effect.gen(function* () {
        let fails = true
        const W = define("Halting").annotate(Workflow.SuspendOnFailure, true)
        yield* once(
          W.toLayer(() =>
            Effect.suspend(() => (fails ? Effect.fail(new Refused({ by: "it" })) : Effect.succeed("well")))
          ),
          Effect.gen(function* () {
            const id = yield* W.execute({ id: "1" }, { discard: true })
            yield* until(Effect.map(W.poll(id), isSuspended))
            const result = yield* W.poll(id)
            assert(Option.isSome(result) && result.value._tag === "Suspended")
            assert.isTrue(result.value.failed)
            fails = false
            yield* signal(W, id, "nothing")
            assert.isTrue(isSuspended(yield* W.poll(id)))
            yield* W.resume(id)
            assert.strictEqual(yield* W.execute({ id: "1" }), "well")
          })
        )
      })
    )

    test(
      "a parent waits for its child, and gets its result or its error",
      Effect.gen(function* () {
        const log: Array<string> = []
        const Child = define("Child")
        const Parent = define("Parent")
        const layer = Layer.mergeAll(
          Child.toLayer(
            Effect.fnUntraced(function* ({ id }) {
              yield* nap("nap", "1 millis")
              return id === "bad" ? yield* new Refused({ by: "child" }) : yield* noted(log, "child")
            })
          ),
          Parent.toLayer(
            Effect.fnUntraced(function* ({ id }) {
              yield* noted(log, "parent")
              return yield* Child.execute({ id })
            })
          )
        )
        yield* once(
          layer,
          Effect.gen(function* () {
            for (const id of ["good", "bad"]) {
              const fiber = yield* Effect.forkChild(Effect.exit(Parent.execute({ id })))
              const parent = yield* Parent.executionId({ id })
              if (virtual) yield* until(Effect.map(Parent.poll(parent), isSuspended))
              yield* pass("1 millis")
              const exit = yield* Fiber.join(fiber)
              if (id === "good") assert.deepStrictEqual(exit, Exit.succeed("child"))
              else assert(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof Refused)
            }
            assert.deepStrictEqual(log, ["parent", "child", "parent"])
          })
        )
      })
    )

    test(
      "a child is interrupted with its parent",
      Effect.gen(function* () {
        const Child = define("InterruptedChild")
        const Parent = define("InterruptedParent")
        yield* once(
          Layer.mergeAll(
            Child.toLayer(() => DurableDeferred.await(Signal)),
            Parent.toLayer(({ id }) => Child.execute({ id }))
          ),
          Effect.gen(function* () {
            const parent = yield* Parent.execute({ id: "1" }, { discard: true })
            const child = yield* Child.executionId({ id: "1" })
            yield* until(Effect.map(Parent.poll(parent), isSuspended))
            yield* until(Effect.map(Child.poll(child), isSuspended))
            yield* Parent.interrupt(parent)
            yield* until(Effect.map(Parent.poll(parent), isComplete))
            yield* until(Effect.map(Child.poll(child), isComplete))
            assert.isTrue(Exit.hasInterrupts(exitOf(yield* Child.poll(child))))
          })
        )
      })
    )

    test(
      "of a durable race the first result stays, also when the body runs again",
      Effect.gen(function* () {
        const W = define("Race")
        yield* once(
          W.toLayer(
            Effect.fnUntraced(function* () {
              const first = yield* DurableDeferred.raceAll({
                name: "race",
                success: Schema.String,
                error: Schema.Never,
                effects: [Effect.as(nap("nap", "5 millis"), "nap"), Effect.never]
              })
              yield* nap("after", "1 millis")
              return first
            })
          ),
          Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(W.execute({ id: "1" }))
            const id = yield* W.executionId({ id: "1" })
            if (virtual) {
              for (const _ of [1, 2, 3, 4, 5, 6, 7, 8]) {
                yield* breathe
                yield* pass("1 millis")
              }
              yield* until(Effect.map(W.poll(id), isComplete))
            }
            assert.strictEqual(yield* Fiber.join(fiber), "nap")
          })
        )
      })
    )

    if (stops.length > 0) restarts({ life, place, stops, test })
  })
}

/** A crash at each boundary: the engine is closed there, and started again on the same place. */
const restarts = <E>({
  life,
  place,
  stops,
  test
}: {
  readonly stops: Subject<E>["stops"]
  readonly test: (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) => void
  readonly place: Subject<E>["place"]
  readonly life: <A, E1, E2>(
    engine: Layer.Layer<WorkflowEngine, E>,
    workflows: Layer.Layer<never, E1, WorkflowEngine>,
    body: Effect.Effect<A, E2, WorkflowEngine>
  ) => Effect.Effect<A, E | E1 | E2>
}) => {
  const W = define("Restarted")
  const Child = define("RestartedChild")

  /** Stops for ever at `stop`. */
  const workflows = (log: Array<string>, stop: string | null) => {
    const at = (name: string) => (name === stop ? Effect.never : Effect.void)
    const step = (name: string) => noted(log, name, Effect.as(at(name), name))
    return Layer.mergeAll(
      Child.toLayer(
        Effect.fnUntraced(function* () {
          const first = yield* step("child")
          yield* nap("child nap", "1 millis")
          return first
        })
      ),
      W.toLayer(
        Effect.fnUntraced(function* ({ id }) {
          const first = yield* step("first")
          const [left, right] = yield* Effect.all([step("left"), step("right")], { concurrency: "unbounded" })
          yield* nap("nap", "1 millis")
          const child = yield* Child.execute({ id })
          const told = yield* DurableDeferred.await(Signal)
          const last = yield* step("last")
          return [first, left, right, child, told, last].join(" ")
        })
      )
    )
  }
  const whole = "first left right child told last"

  for (const stop of stops) {
    test(
      `an execution that is stopped in the activity ${stop} goes on after a restart, with what is recorded`,
      Effect.gen(function* () {
        const log: Array<string> = []
        const engine = yield* place
        const id = yield* life(
          engine,
          workflows(log, stop),
          Effect.gen(function* () {
            const id = yield* W.execute({ id: "1" }, { discard: true })
            if (stop === "last") yield* signal(W, id, "told")
            yield* until(Effect.sync(() => log.includes(stop)))
            // Its neighbour is recorded.
            if (stop === "right") yield* breathe
            return id
          })
        )
        const before = log.filter((name) => name !== stop && name !== "left")
        yield* life(
          engine,
          workflows(log, null),
          Effect.gen(function* () {
            if (stop !== "last") yield* signal(W, id, "told")
            yield* until(Effect.map(W.poll(id), isComplete))
            assert.deepStrictEqual(exitOf(yield* W.poll(id)), Exit.succeed(whole))
          })
        )
        assert.strictEqual(log.filter((name) => name === stop).length, 2)
        for (const name of before) assert.strictEqual(log.filter((other) => other === name).length, 1, name)
      })
    )
  }

  test(
    "an execution that waits for a timer, a signal, or nothing any more is the same after a restart",
    Effect.gen(function* () {
      const log: Array<string> = []
      const engine = yield* place
      const id = yield* life(
        engine,
        workflows(log, null),
        Effect.gen(function* () {
          const id = yield* W.execute({ id: "1" }, { discard: true })
          yield* until(Effect.sync(() => log.includes("right")))
          return id
        })
      )
      // The timers are due while nothing runs.
      yield* Effect.andThen(breathe, breathe)
      yield* life(
        engine,
        workflows(log, null),
        Effect.andThen(until(Effect.sync(() => log.includes("child"))), until(Effect.map(W.poll(id), isSuspended)))
      )
      yield* life(
        engine,
        workflows(log, null),
        Effect.gen(function* () {
          yield* signal(W, id, "told")
          assert.strictEqual(yield* W.execute({ id: "1" }), whole)
        })
      )
      yield* life(
        engine,
        workflows(log, null),
        Effect.gen(function* () {
          assert.deepStrictEqual(exitOf(yield* W.poll(id)), Exit.succeed(whole))
          assert.strictEqual(yield* W.execute({ id: "1" }), whole)
        })
      )
      assert.strictEqual(log.filter((name) => name === "first").length, 1)
      assert.strictEqual(log.filter((name) => name === "last").length, 1)
    })
  )

  test(
    "a stop runs no compensations: they are those of the end",
    Effect.gen(function* () {
      const log: Array<string> = []
      const engine = yield* place
      const C = define("CompensatedOverRestart")
      const layer = (stuck: boolean) =>
        C.toLayer(
          Effect.fnUntraced(function* () {
            yield* C.withCompensation(noted(log, "a"), () => Effect.sync(() => log.push("undo a")))
            yield* noted(log, "b", stuck ? Effect.never : Effect.succeed("b"))
            return yield* new Refused({ by: "end" })
          })
        )
      const id = yield* life(
        engine,
        layer(true),
        Effect.gen(function* () {
          const id = yield* C.execute({ id: "1" }, { discard: true })
          yield* until(Effect.sync(() => log.includes("b")))
          return id
        })
      )
      assert.deepStrictEqual(log, ["a", "b"])
      yield* life(engine, layer(false), until(Effect.map(C.poll(id), isComplete)))
      assert.deepStrictEqual(log, ["a", "b", "b", "undo a"])
    })
  )

  test(
    "an interrupt that was asked for before a stop comes after it, with the compensations",
    Effect.gen(function* () {
      const log: Array<string> = []
      const engine = yield* place
      const I = define("InterruptedOverRestart")
      const layer = (stuck: boolean) =>
        I.toLayer(
          Effect.fnUntraced(function* () {
            yield* I.withCompensation(noted(log, "a"), () => Effect.asVoid(noted(log, "undo a")))
            yield* noted(log, "b", stuck ? Effect.never : Effect.succeed("b"))
            return "unreachable"
          })
        )
      const id = yield* life(
        engine,
        layer(true),
        Effect.gen(function* () {
          const id = yield* I.execute({ id: "1" }, { discard: true })
          yield* until(Effect.sync(() => log.includes("b")))
          yield* I.interrupt(id)
          return id
        })
      )
      assert.deepStrictEqual(log, ["a", "b"])
      yield* life(engine, layer(false), until(Effect.map(I.poll(id), isComplete)))
      assert.deepStrictEqual(log, ["a", "b", "undo a"])
    })
  )
}
