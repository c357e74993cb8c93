/**
 * Waits until a time of the wall clock. The timers of the runtime do not count the time that a machine sleeps.
 */
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Option from "effect/Option"

/** How often the clock is looked at while something waits. */
const lookMillis = 60_000

/** Waits until a latch is open, which returns true, or until a time, by a clock in milliseconds since 1970. */
export const openBefore = Effect.fnUntraced(function* (
  latch: Latch.Latch,
  until: number,
  now: Effect.Effect<number>,
  begun: number
) {
  if (until === Infinity) return yield* Effect.as(latch.await, true)
  for (let left = until - begun; ; left = until - (yield* now)) {
    const woken = yield* Effect.timeoutOption(latch.await, Math.min(Math.max(left, 0), lookMillis))
    if (Option.isSome(woken)) return true
    if (left <= lookMillis) return false
  }
})
