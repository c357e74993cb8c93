/**
 * Pauses between polls: advancing the clock does not stop at their ends. It wakes those that are due where it stops, so hours with
 * thousands of polls take few steps.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Activity, Work } from "./Activity.ts"

/** Who polls. Workers wake before the service, which looks for workers that have fallen silent. */
export type Polling = "worker" | "service"

interface Poll {
  readonly at: number
  readonly of: Polling
  readonly woken: Latch.Latch
}

export type Polls = ReturnType<typeof make>

export const make = (base: Clock.Clock, activity: Activity) => {
  const polls = new Set<Poll>()
  /** How many fibers are advancing the time. */
  let moving = 0

  /** Waits until the poll is due; while time is advanced here, until it is woken. */
  const over = (poll: Poll): Effect.Effect<void> =>
    Effect.suspend(() => {
      const left = poll.at - base.currentTimeMillisUnsafe()
      if (left <= 0) return Effect.void
      poll.woken.closeUnsafe()
      const woken = poll.woken.await
      return Effect.andThen(moving > 0 ? woken : Effect.raceFirst(base.sleep(Duration.millis(left)), woken), over(poll))
    })

  // Wakes all polls, which then wait for the clock or to be woken.
  const change = (by: 1 | -1) =>
    Effect.sync(() => {
      moving += by
      for (const { woken } of polls) woken.openUnsafe()
    })

  return {
    /** Returns the `sleep` of a clock, as that of some work. */
    of:
      (work: Work, of: Polling): Clock.Clock["sleep"] =>
      (duration) =>
        activity.sleep(
          work,
          polls,
          () => ({
            at: base.currentTimeMillisUnsafe() + Duration.toMillis(duration),
            of,
            woken: Latch.makeUnsafe()
          }),
          over
        ),
    /** The time of the first end; Infinity when there is none. */
    firstEnd: () => Math.min(Infinity, ...[...polls].map(({ at }) => at)),
    /** Runs an effect that advances the time: meanwhile a poll goes on only when it is woken. */
    whileMoving: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        change(1),
        () => effect,
        () => change(-1)
      ),
    /** Wakes the polls that are due, one after the other, the earliest first, and waits until each is `quiet`. */
    wake: Effect.fnUntraced(function* (of: Polling, quiet: Effect.Effect<void>) {
      for (;;) {
        const now = base.currentTimeMillisUnsafe()
        const [next] = [...polls].filter((poll) => poll.of === of && poll.at <= now).toSorted((a, b) => a.at - b.at)
        if (next === undefined) return
        next.woken.openUnsafe()
        yield* quiet
      }
    })
  }
}
