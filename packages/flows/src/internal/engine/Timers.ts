/**
 * One loop for the timers of all executions: it sleeps until the next is due, which the tables tell.
 */
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { Database } from "../sql/Database.ts"
import { Deferreds, type Timer } from "../sql/Deferreds.ts"

/** Timers of one look. */
const batch = 256

/** The longest sleep: the clock of the machine may be set, or stand still while the machine sleeps. */
const longestMillis = 60_000

export interface Timers {
  /** Fires what is due; answers when to look again, in milliseconds since 1970. */
  readonly tick: Effect.Effect<number>
  /** Ticks until the end of the scope. */
  readonly run: Effect.Effect<void, never, Scope.Scope>
  /** A timer was set. */
  readonly announce: (due: number) => Effect.Effect<void>
}

/** `open`: it looks only while that is. */
export const make = Effect.fnUntraced(function* (open: Latch.Latch, fire: (timer: Timer) => Effect.Effect<void>) {
  const { now } = yield* Database
  const deferreds = yield* Deferreds
  const nearer = yield* Queue.sliding<void>(1)
  let next = 0

  const tick = Effect.gen(function* () {
    while (true) {
      const timers = yield* deferreds.due(yield* now, batch)
      yield* Effect.forEach(timers, fire, { concurrency: 32, discard: true })
      if (timers.length < batch) break
    }
    return (yield* deferreds.next) ?? Number.POSITIVE_INFINITY
  })

  const wait = Effect.flatMap(now, (time) => {
    const pause = Effect.sleep(Math.min(Math.max(next - time, 0), longestMillis))
    return Effect.raceFirst(pause, Queue.take(nearer))
  })

  const round = Effect.gen(function* () {
    yield* open.await
    // What is announced meanwhile is looked for again.
    next = Number.POSITIVE_INFINITY
    const due = yield* tick
    next = Math.min(next, due)
    yield* wait
  })

  const timers: Timers = {
    tick,
    run: round.pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(Effect.logError("the timers of the flows failed, trying again", cause), Effect.sleep("1 second"))
      ),
      Effect.forever,
      Effect.forkScoped,
      Effect.asVoid
    ),
    announce: (due) =>
      Effect.suspend(() => {
        if (due >= next) return Effect.void
        next = due
        return Effect.asVoid(Queue.offer(nearer, undefined))
      })
  }
  return timers
})
