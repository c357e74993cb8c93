/**
 * Says that the database does not respond: when that begins, each minute while it lasts, and when it is over, whatever the number of
 * calls that wait for it.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

const saidEveryMillis = 60_000

export const make = (clock: Clock.Clock) => {
  /** Since when calls fail, and when that was said last; null: they do not. */
  let outage: { readonly since: number; readonly saidAt: number } | null = null
  /** The calls that have failed and are retried. */
  let waiting = 0

  const failed = (message: string) =>
    Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      if (outage !== null && now - outage.saidAt < saidEveryMillis) return Effect.void
      const since = outage?.since ?? now
      const lasting = outage === null ? "" : ` since ${new Date(since).toISOString()}`
      outage = { since, saidAt: now }
      return Effect.logWarning(`the database of the flows does not respond${lasting}, retrying: ${message}`)
    })

  const over = Effect.suspend(() => {
    if (outage === null || waiting > 0) return Effect.void
    const seconds = Math.ceil((clock.currentTimeMillisUnsafe() - outage.since) / 1_000)
    outage = null
    return Effect.logWarning(`the database of the flows responds again, after ${seconds} s`)
  })

  return {
    isOngoing: () => outage !== null,
    /** Says that a call has failed with this message, and is retried. */
    failed,
    /** Says that a call has succeeded. */
    over,
    /** Runs the retries of a call: until they end, the success of another call does not end the outage. */
    retrying: <A, E, R>(retries: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        waiting++
        return Effect.onExit(retries, (exit) => {
          waiting--
          return Exit.isSuccess(exit) ? over : Effect.void
        })
      })
  }
}
