/** Delays the calls of one client while the service would refuse them. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Headers, readNumber } from "./RetryAfter.ts"

export interface Gate {
  /** Waits while the service would respond with 429, then counts one request and returns its number. */
  readonly admit: Effect.Effect<number>
  /**
   * Reads the budget (`ratelimit-remaining`, `ratelimit-reset`) from the response to the request of that number. Calls
   * beyond the budget wait for the reset, but no longer than `mostMillis`.
   */
  readonly learn: (request: number, headers: Headers, now: number, mostMillis: number) => void
  /** Admits nothing for that time, or until the end of a longer pause. */
  readonly pause: (millis: number) => Effect.Effect<void>
}

export const make = (): Gate => {
  let sent = 0
  /** The request whose response named the budget, what was left then, and until when that is valid. */
  let budget = { request: 0, remaining: 0, until: 0 }
  let paused = 0

  const opensAt = (now: number): number => {
    if (paused > now) return paused
    // The budget does not include requests sent after the one that named it.
    const left = budget.remaining - (sent - budget.request)
    return left <= 0 ? budget.until : now
  }

  return {
    admit: Effect.gen(function* () {
      for (;;) {
        const now = yield* Clock.currentTimeMillis
        const until = opensAt(now)
        if (until <= now) return ++sent
        // Whole milliseconds, like the clock: otherwise a wait could end just before.
        yield* Effect.sleep(Math.ceil(until - now))
      }
    }),
    learn: (request, headers, now, mostMillis) => {
      const remaining = readNumber(headers, "ratelimit-remaining")
      const reset = readNumber(headers, "ratelimit-reset")
      if (remaining === undefined || reset === undefined || request <= budget.request) return
      budget = { request, remaining, until: now + Math.min(reset * 1000, mostMillis) }
    },
    pause: (millis) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        paused = Math.max(paused, now + millis)
      })
  }
}
