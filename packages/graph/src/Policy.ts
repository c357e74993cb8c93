/**
 * How calls are repeated and how long they may take.
 */
import type { Policy } from "@signalbox/transport/Policy"
import * as Context from "effect/Context"

export type { Policy } from "@signalbox/transport/Policy"

/** A longer `Retry-After` than `maxRetryAfterMillis` fails at once as `Throttled` or `Unavailable`. */
export const defaultPolicy: Policy = {
  attempts: 5,
  baseMillis: 1_000,
  capMillis: 30_000,
  maxRetryAfterMillis: 180_000,
  attemptTimeoutMillis: 60_000,
  totalTimeoutMillis: null,
  idleTimeoutMillis: 60_000
}

/**
 * The current policy; override it for a part of a program.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { defaultPolicy, GraphPolicy } from "@signalbox/graph/Policy"
 * import * as Users from "@signalbox/graph/Users"
 *
 * export const once = Users.me().pipe(
 *   Effect.provideService(GraphPolicy, { ...defaultPolicy, attempts: 1 })
 * )
 * ```
 */
export const GraphPolicy = Context.Reference<Policy>("@signalbox/graph/Policy", { defaultValue: () => defaultPolicy })
