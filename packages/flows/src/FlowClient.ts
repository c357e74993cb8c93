/**
 * Starts flows of another program, and follows their executions, by their definitions: for programs that do not run them.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as HttpClient from "effect/http/HttpClient"
import { defined } from "@signalbox/transport/Defined"
import type { FeedItem, SendOptions, Watched } from "./Durable.ts"
import type { FlowDefinition } from "./FlowDefinition.ts"
import {
  type DeadlineExceeded,
  ExecutionNotFound,
  type FlowCancelled,
  FlowHalted,
  type InvalidInput,
  type InvalidSignal,
  type RequestAbandoned,
  type RequestUnanswered
} from "./FlowErrors.ts"
import type { ForkOptions, Inspection, RescheduleOptions, ResumeOptions, RetryOptions } from "./FlowExecutions.ts"
import type { AskOptions } from "./FlowRequests.ts"
import type { ReadOptions } from "./FlowStates.ts"
import { segment } from "./internal/body/Position.ts"
import type { Awaited } from "./internal/management/Contract.ts"
import * as Reading from "./internal/management/Reading.ts"
import * as Requests from "./internal/management/Requests.ts"
import { FlowManagementError } from "./internal/management/Requests.ts"
import { givenOf, type SubmitOptions } from "./internal/model/Submitted.ts"
import { type Codec, decodeRecorded, recordSignal, recordSubmitted } from "./internal/model/Values.ts"
import { NewId } from "./internal/model/Ids.ts"
import { answerOf } from "./internal/operate/AnswerValues.ts"
import { outcomeOf } from "./internal/operate/Outcome.ts"
import { decoded } from "./internal/operate/SaidValues.ts"
import type { Requestable } from "./Requests.ts"
import type { Signal } from "./Signals.ts"
import type { Feed, State } from "./States.ts"

export { FlowManagementError, type Options } from "./internal/management/Requests.ts"

/** The errors of waiting for an execution of another program, besides those of its flow. */
export type RemoteWaitError = FlowCancelled | DeadlineExceeded | FlowHalted | FlowManagementError

/** An execution of another program, by its flow and key. */
export interface RemoteHandle<S, E> {
  readonly id: string
  /** Waits until it has ended, or is halted; also while the program restarts, for up to two minutes. */
  readonly result: Effect.Effect<S, E | RemoteWaitError>
  readonly signal: <V extends Codec>(
    signal: Signal<V>,
    value: V["Type"],
    options?: SendOptions
  ) => Effect.Effect<void, InvalidSignal | FlowManagementError>
  /** Sends a request, or an approval, and waits for its answer: see `FlowRequests.ask`. */
  readonly request: <V extends Codec, A extends Codec, F extends Codec>(
    request: Requestable<V, A, F>,
    input: V["Type"],
    options?: AskOptions
  ) => Effect.Effect<A["Type"], F["Type"] | InvalidSignal | RequestUnanswered | RequestAbandoned | FlowManagementError>
  /** Returns the current value of a state; none when it was not set. */
  readonly state: <V extends Codec>(
    state: State<V>,
    options?: { readonly key?: string | undefined }
  ) => Effect.Effect<Option.Option<V["Type"]>, FlowManagementError>
  /** Returns items of a feed in their order: the first ones after a cursor, or the last ones. At most `limit`, by default 100. */
  readonly feed: <V extends Codec>(
    feed: Feed<V>,
    options?: ReadOptions
  ) => Effect.Effect<ReadonlyArray<FeedItem<V["Type"]>>, FlowManagementError>
  /** Emits what the execution says from a cursor on, until it has ended; a connection that is lost is made again. */
  readonly watch: (options?: { readonly after?: number | undefined }) => Stream.Stream<Watched, FlowManagementError>
  readonly cancel: Effect.Effect<void, FlowManagementError>
  readonly terminate: Effect.Effect<void, FlowManagementError>
  readonly suspend: Effect.Effect<void, FlowManagementError>
  readonly resume: (options?: ResumeOptions) => Effect.Effect<void, FlowManagementError>
  readonly retry: (options?: RetryOptions) => Effect.Effect<void, FlowManagementError>
  /** Changes when it starts, its priority, or its deadline, while it has not begun: see `FlowExecutions.reschedule`. */
  readonly reschedule: (options: RescheduleOptions) => Effect.Effect<void, FlowManagementError>
  /** Creates an execution that begins with the recorded results before a step; returns its id: see `FlowExecutions.fork`. */
  readonly fork: (options: ForkOptions) => Effect.Effect<string, FlowManagementError>
  readonly describe: Effect.Effect<Inspection, FlowManagementError>
}

/** While a program restarts, or its database does. */
const isAway = ({ code }: FlowManagementError) => code === "UNREACHABLE" || code === "UNAVAILABLE"
const untilItIsBack = Schedule.upTo(Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")]), {
  duration: "2 minutes"
})

const make = Effect.fnUntraced(function* (options: Requests.Options) {
  const requests = Requests.to(options)
  const flows = yield* Requests.executionsOf(requests)
  const said = yield* Reading.to(requests)
  const newId = yield* NewId

  const settled = (id: string) =>
    flows
      .result(id, { wait: Requests.pollSeconds })
      .pipe(
        Effect.retry({ schedule: untilItIsBack, while: isAway }),
        Effect.repeat({ until: ({ settled }) => settled })
      )

  const outcome = <S extends Codec, E extends Codec>(
    flow: { readonly name: string; readonly success: S; readonly error: E },
    awaited: Awaited
  ): Effect.Effect<S["Type"], E["Type"] | RemoteWaitError> => {
    const { code, failure, id, state, withheld = false } = awaited
    if (withheld && (state === "completed" || state === "failed")) {
      const message = `the execution ${id} is ${state}, and its values are withheld: the token is not for \`values\``
      return Effect.fail(new FlowManagementError({ code: "FORBIDDEN", message }))
    }
    if (state !== "halted") return outcomeOf(flow, awaited)
    const message = failure?.message ?? `the execution ${id} is halted`
    return Effect.fail(new FlowHalted({ execution: id, tag: failure?.tag ?? null, message, ...defined({ code }) }))
  }

  const start = Effect.fnUntraced(function* <I extends Codec>(
    flow: FlowDefinition<I, Codec, Codec>,
    input: I["Type"],
    options: SubmitOptions = {},
    signal?: { readonly name: string; readonly value: Schema.Json; readonly id?: string }
  ) {
    const { name, version } = flow
    const { debounce, key, when } = givenOf("FlowClient", options)
    const { json, value } = yield* recordSubmitted(flow, input)
    const { id } = yield* flows.start({
      flow: name,
      version,
      input: json,
      ...defined({
        key: debounce === null ? (key ?? flow.idempotencyKey(value)) : undefined,
        signal,
        at: when.at ?? undefined,
        after: when.afterMillis ?? undefined,
        priority: when.priority === 0 ? undefined : when.priority,
        deadline: when.deadlineMillis ?? undefined,
        debounce:
          debounce === null ? undefined : { key: debounce.key, quiet: debounce.quietMillis, most: debounce.mostMillis }
      })
    })
    return id
  })

  /** Returns a message as it is sent: one of an inbox has an id, so that it may be repeated. */
  const message = Effect.fnUntraced(function* <V extends Codec>(
    signal: Signal<V>,
    value: V["Type"],
    options: SendOptions
  ) {
    const { json } = yield* recordSignal(signal, value)
    const id = signal.kind === "inbox" ? (options.id ?? newId()) : options.id
    return { name: segment(signal.name, options.key), value: json, ...defined({ id }) }
  })

  return FlowClient.of({
    submit: (flow, input, options) => start(flow, input, options),
    execute: (flow, input, options) =>
      Effect.flatMap(start(flow, input, options), (id) =>
        Effect.flatMap(settled(id), (awaited) => outcome(flow, awaited))
      ),
    signalWithStart: (flow, input, signal, value, options = {}) =>
      Effect.flatMap(message(signal, value, options), (signal) => start(flow, input, {}, signal)),
    handle: Effect.fnUntraced(function* (flow, key) {
      const { executions } = yield* flows.list({ flow: flow.name, key, limit: 1 })
      const [found] = executions
      if (found === undefined) return yield* new ExecutionNotFound({ execution: `${flow.name} ${key}` })
      const { id } = found
      return {
        id,
        result: Effect.flatMap(settled(id), (awaited) => outcome(flow, awaited)),
        signal: (signal, value, options = {}) =>
          Effect.flatMap(message(signal, value, options), ({ name, value, ...rest }) =>
            flows.signal(id, name, value, rest)
          ),
        request: Effect.fnUntraced(function* (request, input, { id: given, key, within = Infinity } = {}) {
          const { json } = yield* recordSignal(request, input)
          const address = segment(request.name, key)
          // With an id it may be repeated.
          const own = request.kind === "inbox" ? (given ?? newId()) : undefined
          const answer = yield* said.request(id, address, json, { id: own, within })
          const withinMillis = Duration.toMillis(Duration.fromInputUnsafe(within))
          return yield* answerOf(request, { execution: id, address, withinMillis }, answer)
        }),
        state: Effect.fnUntraced(function* ({ name, schema }, { key } = {}) {
          const address = segment(name, key)
          const found = (yield* said.states(id)).find((one) => one.name === address)
          if (found === undefined) return Option.none()
          return Option.some(yield* decodeRecorded(schema, found.value, `the state ${address}`))
        }),
        feed: Effect.fnUntraced(function* ({ name, schema }, options) {
          const items = yield* said.feed(id, name, options)
          return yield* Effect.forEach(items, ({ at, cursor, value }) =>
            Effect.map(decodeRecorded(schema, value, `an item of the feed ${name}`), (value) => ({ cursor, value, at }))
          )
        }),
        watch: (options) =>
          said.watch(id, options).pipe(
            Stream.mapEffect((one) => decoded(flow.states, one)),
            Stream.flattenIterable
          ),
        cancel: flows.cancel(id),
        terminate: flows.terminate(id),
        suspend: flows.suspend(id),
        resume: (options) => flows.resume(id, options),
        retry: (options) => flows.retry(id, options),
        reschedule: (options) => flows.reschedule(id, options),
        fork: (options) => flows.fork(id, options),
        describe: flows.inspect(id)
      }
    })
  })
})

/**
 * Starts flows of another program, which has mounted `FlowManagement`, and follows their executions. It takes their definitions, so
 * that a program needs neither their bodies nor an engine.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import * as Schema from "effect/Schema"
 * import * as FetchHttpClient from "effect/http/FetchHttpClient"
 * import { FlowClient } from "@signalbox/flows/FlowClient"
 * import { define } from "@signalbox/flows/FlowDefinition"
 *
 * // In a module of its own, which the program with the body imports too.
 * const payment = define("payment", {
 *   version: 1,
 *   input: Schema.Struct({ order: Schema.String, cents: Schema.Int }),
 *   success: Schema.String,
 *   error: Schema.Never,
 *   idempotencyKey: ({ order }) => order
 * })
 *
 * export const pay = Effect.flatMap(FlowClient, (flows) =>
 *   flows.execute(payment, { order: "4711", cents: 1200 })
 * )
 *
 * export const connected = (token: Redacted.Redacted) =>
 *   FlowClient.layer({ url: "http://127.0.0.1:4800", token }).pipe(
 *     Layer.provide(FetchHttpClient.layer)
 *   )
 * ```
 */
export class FlowClient extends Context.Service<
  FlowClient,
  {
    /**
     * Starts an execution, or joins the one with its key; returns its id. Fails with `InvalidInput` before anything is sent when the
     * input does not fit.
     */
    readonly submit: <I extends Codec, S extends Codec, E extends Codec>(
      flow: FlowDefinition<I, S, E>,
      input: I["Type"],
      options?: SubmitOptions
    ) => Effect.Effect<string, InvalidInput | FlowManagementError>
    /** Like `submit`, and waits for the result, without a limit. When the caller is interrupted, the execution continues. */
    readonly execute: <I extends Codec, S extends Codec, E extends Codec>(
      flow: FlowDefinition<I, S, E>,
      input: I["Type"],
      options?: SubmitOptions
    ) => Effect.Effect<S["Type"], E["Type"] | InvalidInput | RemoteWaitError>
    /** Starts an execution unless it exists, and sends it a signal; returns its id. */
    readonly signalWithStart: <I extends Codec, S extends Codec, E extends Codec, V extends Codec>(
      flow: FlowDefinition<I, S, E>,
      input: I["Type"],
      signal: Signal<V>,
      value: V["Type"],
      options?: SendOptions
    ) => Effect.Effect<string, InvalidInput | InvalidSignal | FlowManagementError>
    /** Returns the execution of a flow with this key. Fails with `ExecutionNotFound`. */
    readonly handle: <I extends Codec, S extends Codec, E extends Codec>(
      flow: FlowDefinition<I, S, E>,
      key: string
    ) => Effect.Effect<RemoteHandle<S["Type"], E["Type"]>, ExecutionNotFound | FlowManagementError>
  }
>()("@signalbox/flows/FlowClient") {
  /** The address has the prefix of the routes. The token is one of `FlowManagement.layerRoutes`, or a key of the control room that serves them. */
  static readonly layer = (options: Requests.Options): Layer.Layer<FlowClient, never, HttpClient.HttpClient> =>
    Layer.effect(FlowClient, make(options))
}
