/**
 * An execution of a flow, for programs without Effect.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Option from "effect/Option"
import * as Durable from "../../Durable.ts"
import type { AskOptions } from "../../FlowRequests.ts"
import type { ForkOptions } from "../../Forks.ts"
import * as FlowStates from "../../FlowStates.ts"
import type { Requestable } from "../../Requests.ts"
import type { Signal } from "../../Signals.ts"
import type { Feed, State } from "../../States.ts"
import type { AnyFlow, FlowDefinition } from "../body/FlowType.ts"
import type { Codec } from "../model/Values.ts"
import type { WhenOptions } from "../model/When.ts"
import { decoded } from "../operate/SaidValues.ts"
import type { CallOptions, Calls } from "./Calls.ts"

/** An execution of a flow. */
export interface PromiseHandle<S> {
  readonly id: string
  readonly result: (options?: CallOptions) => Promise<S>
  readonly signal: <V extends Codec>(
    signal: Signal<V>,
    value: V["Type"],
    options?: Durable.SendOptions & CallOptions
  ) => Promise<void>
  /**
   * Sends a request, or an approval, and resolves to its answer. Rejects with the error of a refusal, with `RequestUnanswered` when it
   * takes longer than `within`, and with `RequestAbandoned` when the execution ends without an answer.
   */
  readonly request: <V extends Codec, A extends Codec, F extends Codec>(
    request: Requestable<V, A, F>,
    input: V["Type"],
    options?: AskOptions & Pick<CallOptions, "abortSignal">
  ) => Promise<A["Type"]>
  /** Resolves to the current value of a state; undefined when it was not set. */
  readonly state: <V extends Codec>(
    state: State<V>,
    options?: { readonly key?: string } & CallOptions
  ) => Promise<V["Type"] | undefined>
  /** Resolves to items of a feed in their order: the first ones after a cursor, or the last ones. */
  readonly feed: <V extends Codec>(
    feed: Feed<V>,
    page?: FlowStates.ReadOptions,
    options?: CallOptions
  ) => Promise<ReadonlyArray<Durable.FeedItem<V["Type"]>>>
  /** Iterates over what the execution says, from a cursor on, until it has ended: see `FlowStates.watch`. */
  readonly watch: (
    options?: { readonly after?: number } & Pick<CallOptions, "abortSignal">
  ) => AsyncIterable<Durable.Watched>
  readonly cancel: (options?: CallOptions) => Promise<void>
  readonly terminate: (options?: CallOptions) => Promise<void>
  readonly suspend: (options?: CallOptions) => Promise<void>
  readonly resume: (options?: CallOptions) => Promise<void>
  readonly retry: (options?: { readonly from?: string } & CallOptions) => Promise<void>
  /** Changes when it starts, its priority, or its deadline, while it has not begun: see `FlowExecutions.reschedule`. */
  readonly reschedule: (options: WhenOptions & CallOptions) => Promise<void>
  /** Creates an execution that begins with the recorded results before a step, and resolves to its id: see `FlowExecutions.fork`. */
  readonly fork: (options: ForkOptions & CallOptions) => Promise<string>
}

/** How long a call waits for more; the next one follows. */
const waitMillis = 60_000

async function* watched(
  { call }: Calls,
  { states }: Pick<AnyFlow, "states">,
  id: string,
  { abortSignal, after = 0 }: { readonly after?: number } & Pick<CallOptions, "abortSignal"> = {}
): AsyncIterable<Durable.Watched> {
  const calling = defined({ abortSignal })
  for (let cursor = after; ;) {
    const page = await call(FlowStates.next(id, { after: cursor, wait: waitMillis }), calling, id)
    for (const item of page.items) yield* await call(decoded(states, item))
    if (page.ended) return
    cursor = page.cursor
  }
}

/** Resolves to the execution of a key. */
export const handleOf = async <I extends Codec, S extends Codec, E extends Codec>(
  calls: Calls,
  flow: FlowDefinition<I, S, E>,
  key: string,
  finding?: CallOptions
): Promise<PromiseHandle<S["Type"]>> => {
  const { call } = calls
  const handle = await call(Durable.handle(flow, key), finding)
  return {
    id: handle.id,
    result: (options) => call(handle.result, options, handle.id),
    signal: (signal, value, options) => call(handle.signal(signal, value, options), options),
    request: (request, input, options) => call(handle.request(request, input, options), options),
    state: async (state, options) => Option.getOrUndefined(await call(handle.state(state, options), options)),
    feed: (feed, page, options) => call(handle.feed(feed, page), options),
    watch: (options) => watched(calls, flow, handle.id, options),
    cancel: (options) => call(handle.cancel, options),
    terminate: (options) => call(handle.terminate, options),
    suspend: (options) => call(handle.suspend, options),
    resume: (options) => call(handle.resume(), options),
    retry: (options) => call(handle.retry(options), options),
    reschedule: (options) => call(handle.reschedule(options), options),
    fork: (options) => call(handle.fork(options), options)
  }
}
