/**
 * How calls are repeated and how long they may take.
 */
import * as Context from "effect/Context"

export interface Policy {
  /** How often a request is sent in all; 1 turns retries off. */
  readonly attempts: number
  /** The first pause at most, doubled each time (full jitter). */
  readonly baseMillis: number
  /** No pause of our own is longer. */
  readonly capMillis: number
  /** A longer `Retry-After` fails at once as `Throttled` or `Unavailable`. */
  readonly maxRetryAfterMillis: number
  /** How long one attempt may take. Uploads and downloads have no such limit. */
  readonly attemptTimeoutMillis: number
  /** How long a call may take with all its attempts and pauses; null: as long as these take. */
  readonly totalTimeoutMillis: number | null
}

export const defaultPolicy: Policy = {
  attempts: 5,
  baseMillis: 1_000,
  capMillis: 30_000,
  maxRetryAfterMillis: 180_000,
  attemptTimeoutMillis: 60_000,
  totalTimeoutMillis: null
}

/**
 * The policy in force; override it for a part of a program.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { defaultPolicy, GraphPolicy } from "@signalbox/graph/Policy"
 * import * as Users from "@signalbox/graph/Users"
 *
 * export const once = Users.me().pipe(Effect.provideService(GraphPolicy, { ...defaultPolicy, attempts: 1 }))
 * ```
 */
export const GraphPolicy = Context.Reference<Policy>("@signalbox/graph/Policy", { defaultValue: () => defaultPolicy })
