/**
 * Durable executions: register flows, start and join executions, and find them by their key.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { type Flow, type FlowDefinition, startOf } from "./internal/body/FlowType.ts"
import type { FlowEngine } from "./FlowEngine.ts"
import {
  type CallUnanswered,
  type DeadlineExceeded,
  type ExecutionConflict,
  ExecutionNotFound,
  type FlowCancelled,
  type FlowDraining,
  type FlowExpired,
  type FlowHalted,
  type FlowNotRegistered,
  type InvalidInput,
  type InvalidSignal,
  type RequestAbandoned,
  type RequestUnanswered,
  type SignalConflict,
  type StepNotFound
} from "./FlowErrors.ts"
import * as FlowExecutions from "./FlowExecutions.ts"
import * as FlowRequests from "./FlowRequests.ts"
import * as FlowStates from "./FlowStates.ts"
import { bodyOf } from "./internal/interpreter/Body.ts"
import * as Calling from "./internal/journal/Calling.ts"
import * as ChildExecutions from "./internal/body/ChildExecutions.ts"
import * as DurableChildren from "./internal/engine/DurableChildren.ts"
import type { Execution } from "./internal/model/Execution.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import { begin, registered, submitted, submittedMany } from "./internal/engine/Submitting.ts"
import { outcomeOf } from "./internal/operate/Outcome.ts"
import { decoded, itemsOf, sizeOf, stateOf } from "./internal/operate/SaidValues.ts"
import { segment } from "./internal/body/Position.ts"
import { messageOf } from "./internal/engine/MessageCheck.ts"
import { Transactions } from "./internal/body/Transactions.ts"
import { Watching } from "./internal/engine/RunWatchers.ts"
import { type Codec, readSubmitted, recordSignal } from "./internal/model/Values.ts"
import type { SubmitOptions } from "./internal/model/Submitted.ts"
import type { WhenOptions } from "./internal/model/When.ts"
import type { Requestable } from "./Requests.ts"
import type { Signal } from "./Signals.ts"
import type { Feed, State } from "./States.ts"

export interface LayerOptions {
  /**
   * Whether this process only continues executions of this version that have begun, and their children: it claims and admits no others,
   * and `submit` fails with `FlowDraining` unless another living process takes new ones. Default false.
   */
  readonly drain?: boolean | undefined
}

/**
 * Registers a flow with the engine, which then runs its executions, also those that had not ended when the program did. Register
 * several versions of a flow side by side while the older ones have executions that have not ended, those with `drain` if they must not
 * get new ones.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const report = (version: number) =>
 *   Flow.make("report", {
 *     version,
 *     input: Schema.String,
 *     success: Schema.Void,
 *     error: Schema.Never,
 *     idempotencyKey: (day) => day,
 *     run: () => Effect.void
 *   })
 *
 * export const flows = Layer.mergeAll(
 *   Flow.layer(report(1), { drain: true }),
 *   Flow.layer(report(2))
 * )
 * ```
 */
export const layer = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  { drain }: LayerOptions = {}
): Layer.Layer<never, never, R | FlowEngine> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { engine, watchers } = yield* engineOf
      const context = Calling.unlimited(yield* Effect.context<R>())
      const services = Calling.unlimited(yield* Effect.context<FlowEngine>())
      const children = DurableChildren.make(engine, (id) =>
        Effect.ignore(Effect.provideContext(FlowExecutions.cancel(id), services))
      )
      const room = Context.getOption(context, ControlRoom)
      if (Option.isSome(room)) yield* watchers.add(room.value)
      yield* engine.register({
        flow: flow.name,
        version: flow.version,
        drain,
        signals: flow.signals,
        states: flow.states,
        limits: flow.limits,
        startOf: (input, key) => Effect.map(readSubmitted(flow, input), (given) => startOf(flow, given, key)),
        bodyOf: bodyOf(
          flow,
          context.pipe(
            Context.add(Watching, watchers),
            Context.add(ChildExecutions.Children, children),
            Context.add(Transactions, engine.journal)
          )
        )
      })
    })
  )

/** The errors of waiting for an execution besides those of the flow. */
export type WaitError = FlowCancelled | DeadlineExceeded | FlowHalted | FlowExpired | FlowNotRegistered

/** The errors of `execute` besides those of the flow. */
export type DurableError = WaitError | InvalidInput | FlowDraining

const result = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec>(
  flow: FlowDefinition<I, S, E>,
  execution: Execution
) {
  const { engine } = yield* engineOf
  yield* registered(engine, execution)
  const settled = yield* engine.settled(execution.id)
  return yield* outcomeOf(flow, settled ?? execution)
})

/**
 * Starts an execution, or joins the one with the same idempotency key, and waits for its result without a limit. For an execution
 * that has ended it returns the recorded result: a key is used once. When the caller is interrupted, the execution continues.
 *
 * Fails with the errors of the flow, with `InvalidInput` when the input does not fit its schema, with `FlowCancelled`, with
 * `DeadlineExceeded` when it has not ended at its deadline, with `FlowHalted` when it needs a person or a deployment, with `FlowExpired`
 * when it ended too long ago, with `FlowDraining` when no living process takes new executions of the version, and with
 * `FlowNotRegistered` when the execution is of a version that the program has not registered. An option that cannot be is a defect
 * (`OptionError`).
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const reminder = Flow.make("reminder", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.String,
 *   error: Schema.Never,
 *   idempotencyKey: (text) => text,
 *   run: (text) => Effect.as(Flow.sleep("a while", "3 days"), text)
 * })
 *
 * export const program = Flow.execute(reminder, "water the plants").pipe(
 *   Effect.provide(Flow.layer(reminder))
 * )
 * ```
 */
export const execute = <I extends Codec, S extends Codec, E extends Codec>(
  flow: FlowDefinition<I, S, E>,
  input: I["Type"],
  options: SubmitOptions = {}
): Effect.Effect<S["Type"], E["Type"] | DurableError, FlowEngine> =>
  Effect.flatMap(submitted("Flow.execute", flow, input, options), (execution) =>
    Calling.waitsFor(execution.id, result(flow, execution))
  )

/**
 * Like `execute`, without waiting: returns the id of the execution. `after` and `at` start it later, which costs a row and no memory.
 * For an existing execution that is joined, the options change nothing.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const invoice = Flow.make("invoice", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   idempotencyKey: (order) => order,
 *   run: () => Flow.sleep("payment", "14 days")
 * })
 *
 * export const tomorrow = Flow.submit(invoice, "order 17", {
 *   after: "1 day",
 *   priority: 10,
 *   deadline: "30 days"
 * })
 *
 * // Starts once, ten seconds after the last call of a burst.
 * export const soon = Flow.submit(invoice, "order 17", {
 *   debounce: { key: "17", quiet: "10 seconds", most: "5 minutes" }
 * })
 * ```
 */
export const submit = <I extends Codec, S extends Codec, E extends Codec>(
  flow: FlowDefinition<I, S, E>,
  input: I["Type"],
  options: SubmitOptions = {}
): Effect.Effect<string, InvalidInput | FlowNotRegistered | FlowExpired | FlowDraining, FlowEngine> =>
  Effect.gen(function* () {
    const { engine } = yield* engineOf
    const execution = yield* submitted("Flow.submit", flow, input, options)
    yield* registered(engine, execution)
    return execution.id
  })

/**
 * Submits up to 1,000 inputs in one transaction: returns the ids of their executions in the order of the inputs, those of joined ones
 * included. When one input does not fit the schema, nothing is started, and `InvalidInput` names its index in its path, such as
 * `3.amount`; with `FlowExpired` nothing is started either.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const invoice = Flow.make("invoice", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   idempotencyKey: (order) => order,
 *   run: () => Flow.sleep("payment", "14 days")
 * })
 *
 * export const all = (orders: ReadonlyArray<string>) =>
 *   Flow.submitMany(invoice, orders, { after: "1 hour" })
 * ```
 */
export const submitMany = <I extends Codec, S extends Codec, E extends Codec>(
  flow: FlowDefinition<I, S, E>,
  inputs: ReadonlyArray<I["Type"]>,
  options: WhenOptions = {}
): Effect.Effect<ReadonlyArray<string>, InvalidInput | FlowNotRegistered | FlowExpired | FlowDraining, FlowEngine> =>
  Effect.gen(function* () {
    const { engine } = yield* engineOf
    const executions = yield* submittedMany("Flow.submitMany", flow, inputs, options)
    yield* Effect.forEach(executions, (execution) => registered(engine, execution), { discard: true })
    return executions.map(({ id }) => id)
  })

/**
 * Ends a call that takes longer than its limit, whatever the database does: it then fails with `CallUnanswered`, whose `sent` says
 * whether the call may have been carried out. The limit replaces the 30 seconds for which a call waits for a database that is away; an
 * execution that has begun continues.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const recent = FlowExecutions.list({ limit: 10 }).pipe(
 *   Flow.callWithin("2 seconds"),
 *   Effect.catchTag("CallUnanswered", () => Effect.succeed(null))
 * )
 * ```
 */
export const callWithin =
  (limit: Duration.Input) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E | CallUnanswered, R> =>
    Calling.within(call, limit)

/** Options of sending a signal. */
export interface SendOptions {
  /** Distinguishes signals with the same name, as in `receive`. */
  readonly key?: string
  /** The id of a message of an inbox, which is received once however often it is sent. Default: a new id. */
  readonly id?: string
}

/**
 * Starts an execution unless it exists, and sends it a signal, in one transaction: the signal is available when the execution
 * begins. Returns its id. Fails like `FlowExecutions.signal` and `submit`.
 */
export const signalWithStart = <I extends Codec, S extends Codec, E extends Codec, V extends Codec>(
  flow: FlowDefinition<I, S, E>,
  input: I["Type"],
  signal: Signal<V>,
  value: V["Type"],
  options: SendOptions = {}
): Effect.Effect<
  string,
  | InvalidInput
  | FlowNotRegistered
  | FlowExpired
  | FlowDraining
  | SignalConflict
  | InvalidSignal
  | ExecutionConflict
  | ExecutionNotFound,
  FlowEngine
> =>
  Effect.gen(function* () {
    const { json } = yield* recordSignal(signal, value)
    const address = segment(signal.name, options.key)
    const message = yield* messageOf({ flow: flow.name, version: flow.version }, flow.signals, {
      address,
      value: json,
      id: options.id
    })
    const execution = yield* begin(flow, input, { messages: [message] })
    // An existing execution has not got the message; a repeated one counts once.
    yield* FlowExecutions.signal(execution.id, address, json, message.kind === "inbox" ? { id: message.id } : {})
    return execution.id
  })

/** An item of a feed. */
export interface FeedItem<V> {
  /** The `after` of the items that follow. */
  readonly cursor: number
  readonly value: V
  /** When it was appended: milliseconds since 1970. */
  readonly at: number
}

/** A value of a state or an item of a feed, decoded by the flow that lists it. */
export interface Watched extends Omit<FlowStates.Item, "value"> {
  readonly value: unknown
}

/** An execution of a flow, by its key. */
export interface Handle<S, E> {
  readonly id: string
  /** Waits until it has ended, or is halted. */
  readonly result: Effect.Effect<S, E | WaitError, FlowEngine>
  readonly signal: <V extends Codec>(
    signal: Signal<V>,
    value: V["Type"],
    options?: SendOptions
  ) => Effect.Effect<void, ExecutionNotFound | ExecutionConflict | SignalConflict | InvalidSignal, FlowEngine>
  /**
   * Sends a request, or an approval, and waits for its answer: see `FlowRequests.ask`. An approval is answered with whether it
   * counted.
   */
  readonly request: <V extends Codec, A extends Codec, F extends Codec>(
    request: Requestable<V, A, F>,
    input: V["Type"],
    options?: FlowRequests.AskOptions
  ) => Effect.Effect<A["Type"], F["Type"] | FlowRequests.SendError | RequestUnanswered | RequestAbandoned, FlowEngine>
  /** Returns the current value of a state; none when it was not set. Never wakes the execution, as `feed` and `watch`. */
  readonly state: <V extends Codec>(
    state: State<V>,
    options?: { readonly key?: string | undefined }
  ) => Effect.Effect<Option.Option<V["Type"]>>
  /** Returns items of a feed in their order: the first ones after a cursor, or the last ones. At most `limit`, by default 100. */
  readonly feed: <V extends Codec>(
    feed: Feed<V>,
    options?: FlowStates.ReadOptions
  ) => Effect.Effect<ReadonlyArray<FeedItem<V["Type"]>>>
  /** Emits what the execution says from a cursor on, until it has ended: see `FlowStates.watch`. */
  readonly watch: (options?: {
    readonly after?: number | undefined
  }) => Stream.Stream<Watched, ExecutionNotFound, FlowEngine>
  readonly cancel: Effect.Effect<void, ExecutionNotFound, FlowEngine>
  readonly terminate: Effect.Effect<void, ExecutionNotFound, FlowEngine>
  readonly suspend: Effect.Effect<void, ExecutionNotFound | ExecutionConflict, FlowEngine>
  readonly resume: (
    options?: FlowExecutions.ResumeOptions
  ) => Effect.Effect<void, ExecutionNotFound | ExecutionConflict | StepNotFound, FlowEngine>
  readonly retry: (
    options?: FlowExecutions.RetryOptions
  ) => Effect.Effect<void, ExecutionNotFound | ExecutionConflict | StepNotFound, FlowEngine>
  /** Changes when it starts, its priority, or its deadline, while it has not begun: see `FlowExecutions.reschedule`. */
  readonly reschedule: (
    options: FlowExecutions.RescheduleOptions
  ) => Effect.Effect<void, ExecutionNotFound | ExecutionConflict, FlowEngine>
  /** Creates an execution that begins with the recorded results before a step; returns its id: see `FlowExecutions.fork`. */
  readonly fork: (
    options: FlowExecutions.ForkOptions
  ) => Effect.Effect<string, ExecutionNotFound | ExecutionConflict | StepNotFound, FlowEngine>
  readonly describe: Effect.Effect<FlowExecutions.Inspection, ExecutionNotFound, FlowEngine>
}

/** Returns the execution of a flow with this key. Fails with `ExecutionNotFound`. */
export const handle = Effect.fn("Flow.handle")(function* <I extends Codec, S extends Codec, E extends Codec>(
  flow: FlowDefinition<I, S, E>,
  key: string
): Effect.fn.Return<Handle<S["Type"], E["Type"]>, ExecutionNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  const { journal } = engine
  const found = yield* Calling.asCall(journal.findKey(flow.name, key))
  if (found === null) return yield* new ExecutionNotFound({ execution: `${flow.name} ${key}` })
  const { id } = found
  return {
    id,
    result: Calling.waitsFor(
      id,
      Effect.suspend(() => result(flow, found))
    ),
    signal: (signal, value, options = {}) =>
      Effect.flatMap(recordSignal(signal, value), ({ json }) =>
        FlowExecutions.signal(
          id,
          segment(signal.name, options.key),
          json,
          options.id === undefined ? {} : { id: options.id }
        )
      ),
    request: (request, input, options) => FlowRequests.ask(id, request, input, options),
    state: (state, { key } = {}) => Calling.asCall(stateOf(journal, id, state, key)),
    feed: (feed, { after = null, limit } = {}) =>
      Calling.asCall(itemsOf(journal, id, feed, { after, limit: sizeOf(limit) })),
    watch: (options) =>
      FlowStates.watch(id, options).pipe(
        Stream.mapEffect((said) => decoded(flow.states, said)),
        Stream.flattenIterable
      ),
    cancel: FlowExecutions.cancel(id),
    terminate: FlowExecutions.terminate(id),
    suspend: FlowExecutions.suspend(id),
    resume: (options) => FlowExecutions.resume(id, options),
    retry: (options) => FlowExecutions.retry(id, options),
    reschedule: (options) => FlowExecutions.reschedule(id, options),
    fork: (options) => FlowExecutions.fork(id, options),
    describe: FlowExecutions.inspect(id)
  }
})
