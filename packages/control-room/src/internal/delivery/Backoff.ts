/** When what could not be sent is sent again: over two days. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

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
