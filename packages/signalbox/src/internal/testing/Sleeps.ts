/**
 * Sleeps until a time: advancing the clock stops at their ends.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import type { Activity, Work } from "./Activity.ts"

export type Sleeps = ReturnType<typeof make>

export const make = (base: Clock.Clock, activity: Activity) => {
  const sleepers = new Set<{ readonly at: number }>()
  return {
    /** Returns the `sleep` of a clock, as that of some work. */
    of:
      (work: Work): Clock.Clock["sleep"] =>
      (duration) =>
        activity.sleep(
          work,
          sleepers,
          () => ({ at: base.currentTimeMillisUnsafe() + Duration.toMillis(duration) }),
          () => base.sleep(duration)
        ),
    /** The time of the first end; Infinity when nothing sleeps. */
    firstEnd: () => Math.min(Infinity, ...[...sleepers].map(({ at }) => at))
  }
}
