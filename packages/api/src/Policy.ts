/** How calls are retried, and their time limits. */
import type { Policy } from "@signalbox/transport/Policy"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

export type { Policy } from "@signalbox/transport/Policy"

/** A longer `Retry-After` than `maxRetryAfterMillis` fails immediately as `RateLimited` or `Unavailable`. */
export const defaultPolicy: Policy = {
  attempts: 4,
  baseMillis: 500,
  capMillis: 8_000,
  maxRetryAfterMillis: 60_000,
  attemptTimeoutMillis: 30_000,
  totalTimeoutMillis: null,
  idleTimeoutMillis: 60_000
}

/**
 * The current policy; override it for a part of a program.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { defaultPolicy, RetryPolicy } from "@signalbox/api/Policy"
 * import * as Workspaces from "@signalbox/api/Workspaces"
 *
 * export const brief = Workspaces.get.pipe(
 *   Effect.provideService(RetryPolicy, {
 *     ...defaultPolicy,
 *     attemptTimeoutMillis: 5_000
 *   })
 * )
 * ```
 */
export const RetryPolicy = Context.Reference<Policy>("@signalbox/api/Policy", { defaultValue: () => defaultPolicy })

/**
 * Sends each request of a part of a program once; the time limits of the current policy apply. For callers that retry
 * themselves: `transient` of `ControlRoomError` says what to retry, and when.
 *
 * ```ts
 * import { sendOnce } from "@signalbox/api/Policy"
 * import * as Workspaces from "@signalbox/api/Workspaces"
 *
 * export const workspace = sendOnce(Workspaces.get)
 * ```
 */
export const sendOnce = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateService(effect, RetryPolicy, (policy) => ({ ...policy, attempts: 1 }))
