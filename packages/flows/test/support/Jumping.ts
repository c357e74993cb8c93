/**
 * A clock that jumps.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Returns a clock whose wall and monotonic time jump, and whose sleeps are those of another one. */
export const makeJumping = (real: Clock.Clock) => {
  let by = 0
  const millis = () => real.currentTimeMillisUnsafe() + by
  const nanos = () => real.currentTimeNanosUnsafe() + BigInt(by) * 1_000_000n
  const monotonic = () => real.monotonicTimeNanosUnsafe() + BigInt(by) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) => real.sleep(duration)
  }
  const jump = (millis: number) => {
    by = millis
  }
  return { clock, jump }
}
