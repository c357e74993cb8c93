/**
 * The retry of a step by its option `retry`.
 */
import { check, positive, type Rule, time, timeOrNone, whole } from "@signalbox/transport/OptionError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { RetryOptions } from "../../Retry.ts"
import type { Retry } from "./Position.ts"

const share: Rule = (value) =>
  typeof value === "number" && value >= 0 && value <= 1 ? null : "expected a number from 0 to 1"

const delay: Rule = (value) =>
  typeof value === "function" || timeOrNone(value) === null
    ? null
    : `${timeOrNone(value)}, or a function that returns one or null`

const noBackoff: Rule = () => "expected none, because `delay` is a function and returns each pause"

/** Throws an `OptionError` for options that cannot be. */
export const checkRetry = <E>(of: string, options: RetryOptions<E>): void =>
  check(
    of,
    options,
    {
      attempts: whole(1),
      delay,
      backoff: typeof options.delay === "function" ? noBackoff : positive,
      max: time,
      jitter: share,
      within: time
    },
    "retry."
  )

/** The largest time that is stored exactly. */
const longestMillis = Number.MAX_SAFE_INTEGER / 2

/** Returns the decision of the options. `of` names whose they are. */
export const retryOf = <E>(of: string, options: RetryOptions<E>): Retry<E> => {
  const { attempts, backoff = 2, delay = "1 second", jitter = 0, within = "Infinity" } = options
  const longest = Math.min(Duration.toMillis(options.max ?? longestMillis), longestMillis)
  const last = Duration.toMillis(within)
  const again = options.while ?? (() => true)
  const pauseOf = (error: E, attempt: number): number | null => {
    if (attempt >= attempts || !again(error)) return null
    if (typeof delay !== "function") return Duration.toMillis(delay) * backoff ** (attempt - 1)
    // A function without types may return nothing.
    const returned = delay(error, attempt) ?? null
    if (returned === null) return null
    check(of, { delay: returned }, { delay: timeOrNone }, "retry.")
    return Duration.toMillis(returned)
  }
  return ({ attempt, elapsedMillis, error }) =>
    Effect.gen(function* () {
      const pause = pauseOf(error, attempt)
      if (pause === null) return null
      const capped = Math.min(pause, longest)
      const drawn = jitter === 0 ? capped : capped * (1 + jitter * (yield* Random.next))
      return elapsedMillis + drawn > last ? null : drawn
    })
}
