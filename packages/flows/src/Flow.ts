/**
 * Flows: steps composed by an ordinary generator that can only call steps and the functions of this module, so that the
 * same flow can run in a script, and be resumed by an engine that records the results of its steps.
 */
import { check as checkOptions, timeOrForever } from "@signalbox/transport/OptionError"
import type * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { define, type DefinitionOptions, type FlowDefinition } from "./FlowDefinition.ts"
import type { Declares, FlowContext, RequirementOf } from "./FlowContext.ts"
import { type FlowEvent, FlowEvents } from "./FlowEvents.ts"
import type { InvalidInput } from "./FlowErrors.ts"
import type { Flow } from "./internal/body/FlowType.ts"
import { runPlain } from "./internal/plain/PlainRun.ts"
import { recordChildInput } from "./internal/body/ChildInput.ts"
import { claimed, conceal, Position, reveal } from "./internal/body/Position.ts"
import { Reporter } from "./internal/body/Reporter.ts"
import { type Codec, record } from "./internal/model/Values.ts"
import { step } from "./Step.ts"

export { all, type AllResults, type Concurrency, forEach, race, type RaceResult, timeout } from "./Branches.ts"
export { check } from "./FlowCheck.ts"
export { type Child, find, start, type StartOptions } from "./Children.ts"
export { compensate } from "./Compensation.ts"
export { details, type Details } from "./Details.ts"
export {
  callWithin,
  execute,
  type FeedItem,
  handle,
  type Handle,
  layer,
  signalWithStart,
  submit,
  submitMany,
  type Watched
} from "./Durable.ts"
export type { Failing, FlowContext } from "./FlowContext.ts"
export {
  CallUnanswered,
  DeadlineExceeded,
  ExecutionConflict,
  ExecutionNotFound,
  FlowCancelled,
  FlowTimeout,
  InvalidInput,
  RequestAbandoned,
  RequestUnanswered,
  SignalConflict
} from "./FlowErrors.ts"
export { define, type DefinitionOptions, type FlowDefinition } from "./FlowDefinition.ts"
export { type Flow, isFlow } from "./internal/body/FlowType.ts"
export type { Limit } from "./internal/model/Execution.ts"
export type { FlowLimit, Rate } from "./internal/model/Limits.ts"
export type { Codec } from "./internal/model/Values.ts"
export type { Debounce, SubmitOptions } from "./internal/model/Submitted.ts"
export type { StartTime, Urgency, WhenOptions } from "./internal/model/When.ts"
export { type Answers, type Asked, type Request, request, type Requestable, type RequestOptions } from "./Requests.ts"
export { approval, Approval, type ApprovalSignal, Counted, inbox, type Signal, signal } from "./Signals.ts"
export { type AnyState, feed, type Feed, type FeedOptions, state, type State } from "./States.ts"
export { errorsOf, step, type Step, StepTimeout } from "./Step.ts"
export { signalWithin, submitWithin, transaction, TransactionFailed } from "./Transactions.ts"

/**
 * Creates a flow. Its `run` can call steps and the functions of this module. Code that needs a service does not compile there, and
 * belongs into the `run` of a step. Throws a `FlowDefect` when a limit is invalid, or two states
 * have one name.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { ProcessId } from "@signalbox/api/contract/Ids"
 * import {
 *   awaitCompletion,
 *   createWorkItem,
 *   startRun
 * } from "@signalbox/flows/ControlRoomSteps"
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
  options: DefinitionOptions<I, S, E> & {
    readonly run: (input: I["Type"]) => Effect.Effect<S["Type"], Fails, Context> & Declares<E["Type"], Fails, Context>
  }
): Flow<I, S, E, RequirementOf<Context>> => implement(define(name, options), options.run)

/**
 * Creates a flow from its definition and its body.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * // In a module that web applications import too.
 * export const greeting = Flow.define("greeting", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.String,
 *   error: Schema.Never,
 *   idempotencyKey: (name) => name
 * })
 *
 * // In the program that runs it.
 * export const greet = Flow.implement(greeting, (name) =>
 *   Effect.as(Flow.sleep("a while", "1 hour"), `hello ${name}`)
 * )
 * ```
 */
export const implement = <
  I extends Codec,
  S extends Codec,
  E extends Codec,
  Fails,
  Context extends FlowContext<unknown>
>(
  definition: FlowDefinition<I, S, E>,
  run: (input: I["Type"]) => Effect.Effect<S["Type"], Fails, Context> & Declares<E["Type"], Fails, Context>
): Flow<I, S, E, RequirementOf<Context>> => ({
  ...definition,
  // `Declares` has checked the errors.
  body: (input) => conceal(reveal(run(input) as Effect.Effect<S["Type"], E["Type"], Context>))
})

/**
 * Runs a flow in this process, as a new execution: nothing is recorded, and the flow ends with the process. When it is interrupted,
 * its undos run. Fails with the errors of the flow, and with `InvalidInput` when the input does not fit its schema; a result that does
 * not is a defect (`FlowDefect`).
 */
export const run = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  options: {
    /**
     * Replays each body, when it has ended, from the results of its steps: it dies with `FlowChanged` if it takes another path or
     * ends otherwise. Default: false; true in `signalbox/Testing`.
     */
    readonly verify?: boolean
  } = {}
): Effect.Effect<S["Type"], E["Type"] | InvalidInput, R> => runPlain(flow, input, options)

/**
 * Runs a flow as a stream of its events. The last one is `FlowCompleted` with the result, or the stream fails with the
 * error of the flow or with `InvalidInput`. When the consumer stops, the flow is interrupted.
 */
export const stream = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"]
): Stream.Stream<FlowEvent, E["Type"] | InvalidInput, R> =>
  Stream.unwrap(
    Effect.map(Queue.unbounded<FlowEvent, E["Type"] | InvalidInput | Cause.Done>(), (queue) => {
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

/**
 * Runs another flow as a part of this one: its steps get the path `name/...`, or `name[key]/...`. Fails with its errors, and with
 * `InvalidInput`, which is recorded like the failure of a step, when the input does not fit its schema.
 */
export const call = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  options: { readonly key?: string } = {}
): Effect.Effect<S["Type"], E["Type"] | InvalidInput, FlowContext<R>> =>
  conceal(
    claimed(flow.name, options.key, (claim, interpreter) =>
      Effect.flatMap(recordChildInput(flow, input, claim, interpreter), (given) =>
        interpreter.flow({
          path: claim.path,
          name: flow.name,
          input: given.json,
          success: flow.success,
          error: flow.error,
          execute: Effect.suspend(() => reveal(flow.body(given.value)))
        })
      )
    )
  )

/** Waits for a duration, in a durable execution over restarts of the program. Shown and numbered like a step of this name. */
export const sleep = (
  name: string,
  duration: Duration.Input,
  options: { readonly key?: string } = {}
): Effect.Effect<void, never, FlowContext<never>> =>
  conceal(
    claimed(name, options.key, ({ path }, interpreter) => {
      checkOptions(`the sleep ${name}`, { duration }, { duration: timeOrForever })
      return interpreter.sleep({ path, name }, Duration.toMillis(duration))
    })
  )

/**
 * Returns whether an execution runs changed code, and records it: true unless the execution was past this place when the code was
 * deployed. Make new code depend on it, instead of a new version of the flow.
 */
export const patched = (name: string): Effect.Effect<boolean, never, FlowContext<never>> =>
  conceal(claimed(name, undefined, ({ path }, interpreter) => interpreter.patched({ path, name })))

/**
 * Restarts the execution with another input and an empty journal, under the same id and key: for flows that run for years, whose
 * journal would grow without limit. Earlier calls under `Flow.compensate` are no longer undone after that, and of the steps before
 * only their number and time is kept. Signals that were not received stay.
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

/** Returns the time, as a step of this name: a resumed body gets the recorded time. */
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
 * Reports the progress of a step, in its `run`. Elsewhere it does nothing, so that the same function also works outside of flows.
 */
export const progress = (progress: {
  readonly done: number
  /** Null or absent when it is not known. */
  readonly total?: number | null
  /** A text to display, without secrets and payloads. */
  readonly message?: string | null
}): Effect.Effect<void> =>
  Effect.flatMap(Reporter, (reporter) =>
    reporter.progress({ done: progress.done, total: progress.total ?? null, message: progress.message ?? null })
  )
