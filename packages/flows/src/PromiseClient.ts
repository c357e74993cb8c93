/**
 * A client for flows of another program, for programs without Effect, in Node and in browsers.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type { FeedItem, SendOptions, Watched } from "./Durable.ts"
import { FlowClient, type RemoteHandle } from "./FlowClient.ts"
import type { FlowDefinition } from "./FlowDefinition.ts"
import type { ForkOptions, Inspection } from "./FlowExecutions.ts"
import type { AskOptions } from "./FlowRequests.ts"
import type { ReadOptions } from "./FlowStates.ts"
import type { SubmitOptions } from "./internal/model/Submitted.ts"
import type { Codec } from "./internal/model/Values.ts"
import type { WhenOptions } from "./internal/model/When.ts"
import type { Requestable } from "./Requests.ts"
import type { Signal } from "./Signals.ts"
import type { Feed, State } from "./States.ts"

export { FlowManagementError } from "./FlowClient.ts"
export { declareFlow, type DeclaredFlow, type FlowDeclaration } from "./internal/promises/Declaring.ts"
export { FlowError } from "./internal/promises/Thrown.ts"
export { request } from "./Requests.ts"
export { approval, inbox, signal } from "./Signals.ts"
export { feed, state } from "./States.ts"

export interface ConnectOptions {
  /** The address of the program, with the prefix of its routes, such as `https://flows.example/flows`. */
  readonly url: string
  /** One of the tokens of `FlowManagement`, or a key of the control room that serves the flows. */
  readonly token: string
}

/** Ends the wait for a call; an execution that has begun continues. */
export interface AbortOptions {
  readonly abortSignal?: AbortSignal | undefined
}

/** An execution of another program. */
export interface RemotePromiseHandle<S> {
  readonly id: string
  readonly result: (options?: AbortOptions) => Promise<S>
  readonly signal: <V extends Codec>(
    signal: Signal<V>,
    value: V["Type"],
    options?: SendOptions & AbortOptions
  ) => Promise<void>
  /** Sends a request, or an approval, and resolves to its answer: see `handle.request` of `Promises`. */
  readonly request: <V extends Codec, A extends Codec, F extends Codec>(
    request: Requestable<V, A, F>,
    input: V["Type"],
    options?: AskOptions & AbortOptions
  ) => Promise<A["Type"]>
  /** Resolves to the current value of a state; undefined when it was not set. */
  readonly state: <V extends Codec>(
    state: State<V>,
    options?: SubmitOptions & AbortOptions
  ) => Promise<V["Type"] | undefined>
  /** Resolves to items of a feed in their order: the first ones after a cursor, or the last ones. */
  readonly feed: <V extends Codec>(
    feed: Feed<V>,
    options?: ReadOptions & AbortOptions
  ) => Promise<ReadonlyArray<FeedItem<V["Type"]>>>
  /** Iterates over what the execution says, from a cursor on, until it has ended. */
  readonly watch: (options?: { readonly after?: number }) => AsyncIterable<Watched>
  readonly cancel: (options?: AbortOptions) => Promise<void>
  readonly terminate: (options?: AbortOptions) => Promise<void>
  readonly suspend: (options?: AbortOptions) => Promise<void>
  readonly resume: (options?: AbortOptions) => Promise<void>
  readonly retry: (options?: { readonly from?: string } & AbortOptions) => Promise<void>
  /** Changes when it starts, its priority, or its deadline, while it has not begun. */
  readonly reschedule: (options: WhenOptions & AbortOptions) => Promise<void>
  /** Creates an execution that begins with the recorded results before a step, and resolves to its id. */
  readonly fork: (options: ForkOptions & AbortOptions) => Promise<string>
  readonly describe: (options?: AbortOptions) => Promise<Inspection>
}

/** The flows of another program. Promises reject with tagged errors (`error._tag`): see `FlowClient`. */
export interface RemoteFlows {
  /** Starts an execution or joins the one with its key, and waits for its result. */
  readonly execute: <I extends Codec, S extends Codec, E extends Codec>(
    flow: FlowDefinition<I, S, E>,
    input: I["Type"],
    options?: SubmitOptions & AbortOptions
  ) => Promise<S["Type"]>
  /** Starts an execution or joins the one with its key; returns its id. */
  readonly submit: <I extends Codec, S extends Codec, E extends Codec>(
    flow: FlowDefinition<I, S, E>,
    input: I["Type"],
    options?: SubmitOptions & AbortOptions
  ) => Promise<string>
  /** Starts an execution unless it exists, and sends it a signal; returns its id. */
  readonly signalWithStart: <I extends Codec, S extends Codec, E extends Codec, V extends Codec>(
    flow: FlowDefinition<I, S, E>,
    input: I["Type"],
    signal: Signal<V>,
    value: V["Type"],
    options?: SendOptions & AbortOptions
  ) => Promise<string>
  /** Resolves to the execution of a key. */
  readonly handle: <I extends Codec, S extends Codec, E extends Codec>(
    flow: FlowDefinition<I, S, E>,
    key: string,
    options?: AbortOptions
  ) => Promise<RemotePromiseHandle<S["Type"]>>
}

/**
 * Returns a client for the flows of another program, which has mounted `FlowManagement`. Throws when the address is invalid; nothing is
 * sent before the first call.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { connectFlows, declareFlow } from "@signalbox/flows/PromiseClient"
 *
 * const payment = declareFlow({
 *   name: "payment",
 *   input: Schema.Struct({ order: Schema.String, cents: Schema.Int }),
 *   output: Schema.Struct({ receipt: Schema.String }),
 *   key: ({ order }) => order
 * })
 *
 * export const pay = (url: string, token: string) =>
 *   connectFlows({ url, token }).execute(payment, { order: "4711", cents: 1200 })
 * ```
 */
export const connectFlows = ({ token, url }: ConnectOptions): RemoteFlows => {
  const runtime = ManagedRuntime.make(
    Layer.provide(FlowClient.layer({ url, token: Redacted.make(token) }), FetchHttpClient.layer)
  )
  const run = <A, E>(effect: Effect.Effect<A, E, FlowClient>, { abortSignal }: AbortOptions = {}) =>
    runtime.runPromise(effect, abortSignal === undefined ? undefined : { signal: abortSignal })
  const call = <A, E>(use: (flows: FlowClient["Service"]) => Effect.Effect<A, E>, options?: AbortOptions) =>
    run(Effect.flatMap(FlowClient, use), options)
  const handleOf = <S, E>(handle: RemoteHandle<S, E>): RemotePromiseHandle<S> => ({
    id: handle.id,
    result: (options) => run(handle.result, options),
    signal: (signal, value, options) => run(handle.signal(signal, value, options), options),
    request: (request, input, { abortSignal, ...options } = {}) =>
      run(handle.request(request, input, options), { abortSignal }),
    state: async (state, options) => Option.getOrUndefined(await run(handle.state(state, options), options)),
    feed: (feed, { abortSignal, ...options } = {}) => run(handle.feed(feed, options), { abortSignal }),
    watch: (options) => Stream.toAsyncIterable(handle.watch(options)),
    cancel: (options) => run(handle.cancel, options),
    terminate: (options) => run(handle.terminate, options),
    suspend: (options) => run(handle.suspend, options),
    resume: (options) => run(handle.resume(), options),
    retry: ({ abortSignal, ...options } = {}) => run(handle.retry(options), { abortSignal }),
    reschedule: ({ abortSignal, ...options }) => run(handle.reschedule(options), { abortSignal }),
    fork: ({ abortSignal, ...options }) => run(handle.fork(options), { abortSignal }),
    describe: (options) => run(handle.describe, options)
  })
  return {
    execute: (flow, input, options) => call((flows) => flows.execute(flow, input, options), options),
    submit: (flow, input, options) => call((flows) => flows.submit(flow, input, options), options),
    signalWithStart: (flow, input, signal, value, options) =>
      call((flows) => flows.signalWithStart(flow, input, signal, value, options), options),
    handle: async (flow, key, options) => handleOf(await call((flows) => flows.handle(flow, key), options))
  }
}
