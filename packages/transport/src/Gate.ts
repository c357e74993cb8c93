/** Delays the calls of one client while the service would refuse them, and lets them go in turn. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Semaphore from "effect/Semaphore"
import { type Headers, readNumber } from "./RetryAfter.ts"

/**
 * Called before a wait: until when, as far as it is known, in milliseconds since the epoch, and whether the service asked for it
 * (`rateLimit`) or its budget is used up or not known (`pacing`).
 */
export type Waits = (until: number, why: "rateLimit" | "pacing") => Effect.Effect<void>

export interface Gate {
  /**
   * Waits while the service would respond with 429, then counts one request and returns its number. Those who wait go in the order in
   * which they came.
   */
  readonly admit: Effect.Effect<number>
  /** Like `admit`, and says each wait before it begins. */
  readonly admitTelling: (waits: Waits) => Effect.Effect<number>
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

/** How long those behind wait for the response of the one that asks, in milliseconds: it may take long. Then two go, then four. */
const patience = 1000

/** `first`: requests that are sent before any response, while nothing is known of the service yet. */
export const make = (first = 10): Gate => {
  let sent = 0
  /** The request whose response named the budget, what was left then, and until when no more comes. */
  let budget = { request: 0, remaining: first, until: 0 }
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

  // The budget does not include requests sent after the one that named it.
  const isLeft = () => budget.remaining > sent - budget.request
  const opensAt = (now: number) => (paused > now ? paused : isLeft() ? now : budget.until)
  const why = (now: number) => (paused > now ? "rateLimit" : "pacing")
  /** Whether one waits at the head of the queue, so that all others wait behind it. */
  let isWaiting = false
  const waiting = (wait: Effect.Effect<void>) =>
    Effect.suspend(() => {
      isWaiting = true
      return Effect.ensuring(
        wait,
        Effect.sync(() => {
          isWaiting = false
        })
      )
    })

  /** Those who wait, and the one that they wait for: nobody overtakes them. */
  let queued = 0
  const queueing = (turn: Effect.Effect<number>) =>
    Effect.suspend(() => {
      queued++
      return Effect.ensuring(
        queue.withPermits(1)(turn),
        Effect.sync(() => {
          queued--
        })
      )
    })

  const turn = Effect.fnUntraced(function* (waits?: Waits) {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      const opens = opensAt(now)
      if (opens > now) {
        if (waits !== undefined) yield* waits(opens, why(now))
        // Whole milliseconds, like the clock: otherwise a wait could end just before.
        yield* waiting(Effect.sleep(Math.ceil(opens - now)))
      } else if (isLeft()) {
        return ++sent
      } else if (asking > 0) {
        // After the reset one asks what there is now: all at once would be refused.
        asking--
        return ++sent
      } else {
        heard.closeUnsafe()
        if (waits !== undefined) yield* waits(now + patience, "pacing")
        yield* waiting(Effect.timeoutOrElse(heard.await, { duration: patience, orElse: () => askNext }))
      }
    }
  })

  return {
    admit: Effect.flatMap(Clock.currentTimeMillis, (now) =>
      queued === 0 && paused <= now && isLeft() ? Effect.succeed(++sent) : queueing(turn())
    ),
    admitTelling: Effect.fnUntraced(function* (waits) {
      if (isWaiting) {
        const now = yield* Clock.currentTimeMillis
        const opens = opensAt(now)
        yield* waits(opens > now ? opens : now + patience, why(now))
      }
      return yield* queueing(turn(waits))
    }),
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
