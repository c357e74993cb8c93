/**
 * What a client does while a call waits: each request, response, retry and pause, told to plain functions. Events have no headers, no
 * query, no bodies and no secrets.
 */
import * as Context from "effect/Context"
import { callable, check } from "./OptionError.ts"

/** A request is sent: an attempt of a call, a page of a list, a part of an upload. */
export interface RequestEvent {
  /** The function that was called, such as `WorkItems.create`, or `workItems.create` of a client with promises. */
  readonly operation: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** From 1 on. */
  readonly attempt: number
}

/** An attempt ended: with a response, or without one. An attempt that the program interrupts has no such event. */
export interface ResponseEvent extends RequestEvent {
  /** Null: no complete response arrived, and `problem` says why. */
  readonly status: number | null
  /** The id of the request in the logs of the service. */
  readonly requestId: string | null
  /** From when it was sent until the response was read; of a download, until its bytes begin. */
  readonly millis: number
  /** The length of the body, null when the response does not name it. */
  readonly bytes: number | null
  readonly problem: string | null
}

/** The call is sent again, after a pause. */
export interface RetryEvent extends RequestEvent {
  /** The number of the attempt that follows. */
  readonly attempt: number
  readonly pauseMillis: number
  /** The status of the attempt that failed; null: it had no complete response, and `problem` says why. */
  readonly status: number | null
  readonly requestId: string | null
  readonly problem: string | null
}

/**
 * Why a call waits: `rateLimit`, the service asked for it; `failure`, before the next attempt after a failure; `pacing`, the budget
 * that the service named is used up, or is not known yet.
 */
export type PauseReason = "rateLimit" | "failure" | "pacing"

/** The call waits before its next attempt, which has the number `attempt`. */
export interface PauseEvent extends RequestEvent {
  readonly why: PauseReason
  /** How long, as far as it is known: a wait for what another response says may end earlier, or be followed by another one. */
  readonly millis: number
}

/**
 * Functions that are called with the events of a client, during the call, so that they should return quickly. One that throws changes
 * nothing: what it throws first is logged as a warning.
 */
export interface Listeners {
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined
  readonly onRetry?: ((event: RetryEvent) => void) | undefined
  readonly onPause?: ((event: PauseEvent) => void) | undefined
}

/**
 * The listeners of a part of a program, besides those of its connections. It applies to all clients of Signalbox.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { ClientEvents } from "@signalbox/transport/Events"
 *
 * export const countingRetries = <A, E, R>(
 *   program: Effect.Effect<A, E, R>
 * ): Effect.Effect<readonly [A, number], E, R> =>
 *   Effect.suspend(() => {
 *     let retries = 0
 *     return program.pipe(
 *       Effect.provideService(ClientEvents, { onRetry: () => retries++ }),
 *       Effect.map((result) => [result, retries] as const)
 *     )
 *   })
 * ```
 */
export const ClientEvents: Context.Reference<Listeners> = Context.Reference<Listeners>(
  "@signalbox/transport/ClientEvents",
  { defaultValue: () => silent }
)

/** Nobody listens. */
export const silent: Listeners = {}

/** Throws an `OptionError` for a listener that is no function. `of` names whose it is. */
export const checkListeners = (of: string, listeners: Listeners): void =>
  check(of, listeners, { onRequest: callable, onResponse: callable, onRetry: callable, onPause: callable }, "on.")

/** The listeners of one connection. */
export interface Audience {
  readonly listeners: ReadonlyArray<Listeners>
  /** Whether one of them has thrown, which is logged once. */
  hasThrown: boolean
}

/** Whether there is a function among them. */
const isListening = (one: Listeners | undefined): one is Listeners =>
  one !== undefined && Object.values(one).some((listener) => listener !== undefined)

/** An audience of those listeners that there are. */
export const audience = (...listeners: ReadonlyArray<Listeners | undefined>): Audience => ({
  listeners: listeners.filter(isListening),
  hasThrown: false
})
