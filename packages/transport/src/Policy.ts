/**
 * How often a request is sent, and how long it may take.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { check, orNull, type Rules, time, timeOrNone, whole } from "./OptionError.ts"

/** Each client has its own defaults. */
export interface Policy {
  /** The total number of attempts; 1 turns retries off. */
  readonly attempts: number
  /**
   * The upper limit of the first pause; it doubles with each attempt, and each pause is random below it (full jitter).
   */
  readonly baseMillis: number
  /** The longest pause, unless the service names one. */
  readonly capMillis: number
  /** A longer `Retry-After` is not waited for: the call fails immediately. */
  readonly maxRetryAfterMillis: number
  /** How long one attempt may take. Uploads and downloads have `idleTimeoutMillis` instead. */
  readonly attemptTimeoutMillis: number
  /** How long a call may take with all its attempts and pauses; null: no limit. */
  readonly totalTimeoutMillis: number | null
  /**
   * How long an upload or a download may go without a byte in either direction; null: no limit. A caller that is slow
   * to provide or to consume bytes does not count. Applies to clients that support `IdleLimit`, such as that of `node`.
   */
  readonly idleTimeoutMillis: number | null
}

/** Null is no limit, where that can be. */
const rules: Rules<Policy> = {
  attempts: whole(1),
  baseMillis: timeOrNone,
  capMillis: timeOrNone,
  maxRetryAfterMillis: timeOrNone,
  attemptTimeoutMillis: time,
  totalTimeoutMillis: orNull(time),
  idleTimeoutMillis: orNull(time)
}

/** Throws an `OptionError` for a policy that cannot be. `of` names whose it is, and `prefix` its place among other options. */
export const checkPolicy = (of: string, policy: Partial<Policy>, prefix = ""): void => check(of, policy, rules, prefix)

/** Returns the pause after a failed attempt, in milliseconds; the first attempt is 1. */
export const pauseAfter = (
  { baseMillis, capMillis }: Pick<Policy, "baseMillis" | "capMillis">,
  attempt: number
): Effect.Effect<number> =>
  Effect.map(Random.next, (random) => random * Math.min(capMillis, baseMillis * 2 ** (attempt - 1)))
