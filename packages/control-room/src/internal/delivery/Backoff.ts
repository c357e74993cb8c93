/** When what could not be sent is sent again: over two days. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as Random from "effect/Random"
import * as Result from "effect/Result"

/** The delay after each failed attempt, plus or minus a fifth. */
const delays = [
  Duration.seconds(5),
  Duration.minutes(5),
  Duration.minutes(30),
  Duration.hours(2),
  Duration.hours(5),
  Duration.hours(10),
  Duration.hours(24)
]
const jitter = 0.2

/** The time of the next attempt after so many earlier ones and one that failed now; null when it is given up. */
export const nextAttemptAt = Effect.fnUntraced(function* (attempts: number, millis: number) {
  const delay = delays[attempts]
  if (delay === undefined) return null
  const factor = 1 - jitter + 2 * jitter * (yield* Random.next)
  return new Date(millis + Duration.toMillis(delay) * factor).toISOString()
})

/** The longest time that an endpoint may ask for: as long as the last delay. */
const longestWait = Duration.toMillis("1 day")

/** The time until which a response with 429 or 503 asks to be sent nothing; null when it asks for none. */
export const askedUntil = (
  { retryAfter, status }: { readonly status: number; readonly retryAfter: string | null },
  millis: number
): string | null => {
  if ((status !== 429 && status !== 503) || retryAfter === null) return null
  const asked = Headers.parseRetryAfter(retryAfter)
  if (Result.isFailure(asked)) return null
  const wait = Duration.toMillis(Headers.retryAfterDelay(asked.success, millis))
  return new Date(millis + Math.min(wait, longestWait)).toISOString()
}
