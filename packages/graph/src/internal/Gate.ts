/**
 * One gate for all calls of a client: while the service throttles, nothing is sent.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export interface Gate {
  /** Waits while the gate is shut. */
  readonly admit: Effect.Effect<void>
  /** Shuts the gate until that time (milliseconds since the epoch), or longer if it is shut longer already. */
  readonly pauseUntil: (time: number) => void
}

export const make = (): Gate => {
  let paused = 0
  return {
    admit: Effect.gen(function* () {
      for (;;) {
        const now = yield* Clock.currentTimeMillis
        if (paused <= now) return
        yield* Effect.sleep(paused - now)
      }
    }),
    pauseUntil: (time) => {
      paused = Math.max(paused, time)
    }
  }
}
