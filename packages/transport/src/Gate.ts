/** Delays the calls of one client while the service would refuse them, and lets them go in turn. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Semaphore from "effect/Semaphore"
import { type Headers, readNumber } from "./RetryAfter.ts"

export interface Gate {
  /**
   * Waits while the service would respond with 429, then counts one request and returns its number. Those who wait go in the order in
   * which they came.
   */
  readonly admit: Effect.Effect<number>
  /**
   * Reads the budget (`ratelimit-remaining`, `ratelimit-reset`) from the response to the request of that number. Calls
   * beyond the budget wait for the reset, but no longer than `mostMillis`.
   */
  readonly learn: (request: number, headers: Headers, now: number, mostMillis: number) => void
  /** A request got no response. */
  readonly lost: Effect.Effect<void>
  /** Admits nothing for that time, or until the end of a longer pause. */
  readonly pause: (millis: number) => Effect.Effect<void>
}

/** Requests that are sent before any response: nothing is known of the service yet. */
const firstRequests = 10
/** How long those behind wait for the response of the one that asks, in milliseconds: it may take long. Then two go, then four. */
const patience = 1000

export const make = (): Gate => {
  let sent = 0
  /** The request whose response named the budget, what was left then, and until when no more comes. */
  let budget = { request: 0, remaining: firstRequests, until: 0 }
  let paused = 0
  /** Requests that may be sent although the budget is used up or not known: their responses name it. */
  let asking = 0
  /** How many ask next when those that do get no response. */
  let next = 1
  const heard = Latch.makeUnsafe()
  const queue = Semaphore.makeUnsafe(1)

  const askNext = Effect.sync(() => {
    asking = next
    next *= 2
  })
  const hear = () => {
    asking = 1
    next = 2
    heard.openUnsafe()
  }

  const turn = Effect.gen(function* () {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      // The budget does not include requests sent after the one that named it.
      const isLeft = budget.remaining > sent - budget.request
      const opens = paused > now ? paused : isLeft ? now : budget.until
      if (opens > now) {
        // Whole milliseconds, like the clock: otherwise a wait could end just before.
        yield* Effect.sleep(Math.ceil(opens - now))
      } else if (isLeft) {
        return ++sent
      } else if (asking > 0) {
        // After the reset one asks what there is now: all at once would be refused.
        asking--
        return ++sent
      } else {
        heard.closeUnsafe()
        yield* Effect.timeoutOrElse(heard.await, { duration: patience, orElse: () => askNext })
      }
    }
  })

  return {
    admit: queue.withPermits(1)(turn),
    learn: (request, headers, now, mostMillis) => {
      const remaining = readNumber(headers, "ratelimit-remaining")
      const reset = readNumber(headers, "ratelimit-reset")
      const isNewer = request > budget.request
      if (isNewer && remaining !== undefined && reset !== undefined) {
        budget = { request, remaining, until: now + Math.min(reset * 1000, mostMillis) }
      } else if (isNewer && budget.until <= now) {
        budget = { request, remaining: Infinity, until: 0 }
      }
      hear()
    },
    lost: Effect.sync(hear),
    pause: (millis) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        paused = Math.max(paused, now + millis)
      })
  }
}
