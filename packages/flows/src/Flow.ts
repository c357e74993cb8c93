/**
 * Flows: steps composed by an ordinary generator that can only call steps and the functions of this module, so that the
 * same flow can be run in a script and, later, be resumed by an engine that keeps the results of its steps.
 */
import type * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Declares, FlowContext, RequirementOf } from "./FlowContext.ts"
import { type FlowEvent, FlowEvents } from "./FlowEvents.ts"
import type { Flow } from "./internal/FlowType.ts"
import { type FlowLimit, keysOf, limitsOf } from "./internal/Limits.ts"
import { runPlain } from "./internal/Plain.ts"
import { claimed, conceal, Position, reveal } from "./internal/Position.ts"
import { Reporter } from "./internal/Reporter.ts"
import { type Codec, record } from "./internal/Values.ts"
import type { Signal } from "./Signals.ts"
import { step } from "./Step.ts"

export { all, type AllResults, type Concurrency, forEach, race, type RaceResult, timeout } from "./Branches.ts"
export { check } from "./FlowCheck.ts"
export { type Child, start, type StartOptions } from "./Children.ts"
export { compensate } from "./Compensation.ts"
export { execute, handle, type Handle, layer, signalWithStart, submit } from "./Durable.ts"
export type { Failing, FlowContext } from "./FlowContext.ts"
export { ExecutionConflict, FlowCancelled, FlowTimeout, SignalConflict } from "./FlowErrors.ts"
export { type Flow, isFlow } from "./internal/FlowType.ts"
export type { Limit } from "./internal/Journal.ts"
export type { FlowLimit, Rate } from "./internal/Limits.ts"
export type { Codec } from "./internal/Values.ts"
export { approval, Approval, inbox, type Signal, signal } from "./Signals.ts"
export { errorsOf, step, type Step, StepTimeout } from "./Step.ts"

/**
 * Makes a flow. Its `run` can call steps and the functions of this module, nothing that needs a service: that does not
 * compile, and belongs into the `run` of a step.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { ProcessId } from "@signalbox/api/contract/Ids"
 * import { awaitCompletion, createWorkItem, startRun } from "@signalbox/flows/ControlRoomSteps"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const daily = Flow.make("daily", {
 *   version: 1,
 *   input: Schema.Struct({ process: ProcessId, day: Schema.String }),
 *   success: awaitCompletion.success,
 *   error: Flow.errorsOf(createWorkItem, startRun, awaitCompletion),
 *   idempotencyKey: ({ day }) => day,
 *   run: Effect.fnUntraced(function* ({ day, process }) {
 *     const item = yield* createWorkItem({ process, payload: { day } })
 *     const run = yield* startRun({ process, workItems: [item] })
 *     return yield* awaitCompletion({ run })
 *   })
 * })
 * ```
 */
export const make = <I extends Codec, S extends Codec, E extends Codec, Fails, Context extends FlowContext<unknown>>(
  name: string,
  options: {
    readonly version: number
    readonly input: I
    readonly success: S
    /** What the flow can fail with: a schema, such as `Flow.errorsOf(startRun)`; `Schema.Never` for a flow that can't. */
    readonly error: E
    readonly idempotencyKey: (input: I["Type"]) => string
    /** What can be sent to an execution: `Flow.signal`, `Flow.inbox`, `Flow.approval`. */
    readonly signals?: ReadonlyArray<Signal<Codec>>
    /** Words to find an execution by. */
    readonly tags?: (input: I["Type"]) => ReadonlyArray<string>
    /**
     * What limits the executions of this flow in all processes together; one that is not admitted is `queued`. All limits
     * must admit it. A limit with a `key` is for each key by itself, and the keys take turns. `concurrency` counts those that
     * have begun and not ended; `rate` those that begin: `"10/s"` (or `min`, `h`, `d`) admits ten together after a quiet
     * second, then one every 100 ms. The numbers of the newest version that is registered hold. `Flow.run` and `Flow.call`
     * have no limits. A mistake throws a `FlowDefect` that names the field.
     */
    readonly limit?: ReadonlyArray<FlowLimit<I["Type"]>>
    readonly run: (input: I["Type"]) => Effect.Effect<S["Type"], Fails, Context> & Declares<E["Type"], Fails, Context>
  }
): Flow<I, S, E, RequirementOf<Context>> => ({
  name,
  version: options.version,
  input: options.input,
  success: options.success,
  error: options.error,
  idempotencyKey: options.idempotencyKey,
  signals: options.signals ?? [],
  tags: options.tags ?? (() => []),
  limits: limitsOf(name, options.limit ?? []),
  limitKeys: (input) => keysOf(options.limit ?? [], input),
  // `Declares` has checked the errors.
  body: (input) => conceal(reveal(options.run(input) as Effect.Effect<S["Type"], E["Type"], Context>))
})

/**
 * Runs a flow in this process, as a new execution: nothing is recorded, and when the process ends the flow is gone. When
 * it is interrupted, what it did is undone. An input or a result that does not fit its schema is a defect (`FlowDefect`).
 */
export const run = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  options: {
    /**
     * Replays each body once more from what its steps returned, when it has ended: one that takes another way or ends
     * otherwise dies with `FlowChanged`. Default: false; true in `signalbox/Testing`.
     */
    readonly verify?: boolean
  } = {}
): Effect.Effect<S["Type"], E["Type"], R> => runPlain(flow, input, options)

/**
 * Runs a flow as a stream of its events. The last one is `FlowCompleted` with the result, or the stream fails with the
 * error of the flow. When the consumer stops, the flow is interrupted.
 */
export const stream = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"]
): Stream.Stream<FlowEvent, E["Type"], R> =>
  Stream.unwrap(
    Effect.map(Queue.unbounded<FlowEvent, E["Type"] | Cause.Done>(), (queue) => {
      const running = run(flow, input).pipe(
        Effect.updateService(FlowEvents, (outer) => ({
          publish: (event) => Effect.andThen(outer.publish(event), Queue.offer(queue, event))
        })),
        Effect.exit,
        Effect.flatMap((exit) => (Exit.isSuccess(exit) ? Queue.end(queue) : Queue.failCause(queue, exit.cause)))
      )
      return Stream.merge(Stream.fromQueue(queue), Stream.fromEffectDrain(running))
    })
  )

/** Runs another flow as a part of this one: its steps get the path `name/...`, or `name[key]/...`. */
export const call = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  options: { readonly key?: string } = {}
): Effect.Effect<S["Type"], E["Type"], FlowContext<R>> =>
  conceal(
    claimed(flow.name, options.key, ({ path }, interpreter) =>
      Effect.flatMap(record(flow.input, input, `the input of the flow ${path}`), (given) =>
        interpreter.flow({
          path,
          name: flow.name,
          input: given.json,
          success: flow.success,
          error: flow.error,
          execute: Effect.suspend(() => reveal(flow.body(given.value)))
        })
      )
    )
  )

/** Waits; in a durable execution for as long as it takes, restarts included. Shown and counted as a step of this name. */
export const sleep = (
  name: string,
  duration: Duration.Input,
  options: { readonly key?: string } = {}
): Effect.Effect<void, never, FlowContext<never>> =>
  conceal(
    claimed(name, options.key, ({ path }, interpreter) =>
      interpreter.sleep({ path, name }, Duration.toMillis(duration))
    )
  )

/**
 * Whether an execution takes changed code: true in those that had not come to this place when the code was deployed, and
 * recorded; false in those that had. Put what is new behind it, instead of a new version of the flow.
 */
export const patched = (name: string): Effect.Effect<boolean, never, FlowContext<never>> =>
  conceal(claimed(name, undefined, ({ path }, interpreter) => interpreter.patched({ path, name })))

/**
 * Ends the execution as it is, and begins it again with another input under the same id and key: for flows that go on for
 * years, whose record would grow without end. What it did under `Flow.compensate` is no longer undone after that.
 */
export const continueAs = <I extends Codec>(
  flow: { readonly name: string; readonly input: I },
  input: I["Type"]
): Effect.Effect<never, never, FlowContext<never>> =>
  conceal(
    Effect.flatMap(Position, ({ interpreter }) =>
      Effect.flatMap(record(flow.input, input, `the next input of the flow ${flow.name}`), ({ json }) =>
        interpreter.continueAs(json)
      )
    )
  )

/** The time, as a step of this name: a body that is resumed gets the time of the first run. */
export const now = (
  name: string,
  options: { readonly key?: string } = {}
): Effect.Effect<DateTime.Utc, never, FlowContext<never>> =>
  step(name, {
    input: Schema.Void,
    success: Schema.DateTimeUtc,
    error: Schema.Never,
    run: () => DateTime.now
  })(undefined, options)

/**
 * Tells how far a step is; for the `run` of a step. Anywhere else it does nothing, so that the same function also works
 * outside of flows.
 */
export const progress = (progress: {
  readonly done: number
  /** Null or absent when it is not known. */
  readonly total?: number | null
  /** What is shown: no secrets, no payloads. */
  readonly message?: string | null
}): Effect.Effect<void> =>
  Effect.flatMap(Reporter, (report) =>
    report({ done: progress.done, total: progress.total ?? null, message: progress.message ?? null })
  )
