/**
 * The work in a program on any clock: which of it sleeps, and which may be about to do something.
 */
import * as Effect from "effect/Effect"

/** A unit of work. Unless it sleeps, it may be about to do something. */
export interface Work {
  sleeping: number
  /** It has done nothing for so long that it counts as sleeping. */
  idle: boolean
}

export type Activity = ReturnType<typeof make>

/** Creates work that nothing waits for. */
export const unobserved = (): Work => ({ sleeping: 0, idle: false })

export const make = () => {
  const working = new Set<Work>()
  let count = 0
  let computing = 0
  const mark = (work: Work, sleeping: 1 | -1) => {
    count++
    work.sleeping += sleeping
    work.idle = false
  }
  return {
    begin: Effect.sync(() => {
      const work = unobserved()
      working.add(work)
      count++
      return work
    }),
    end: (work: Work) =>
      Effect.sync(() => {
        working.delete(work)
        count++
      }),
    /** Lets work sleep until `until` returns. Meanwhile what `due` returns is in `sleepers`. */
    sleep: <A>(work: Work, sleepers: Set<A>, due: () => A, until: (due: A) => Effect.Effect<void>) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const sleeper = due()
          sleepers.add(sleeper)
          mark(work, 1)
          return sleeper
        }),
        until,
        (sleeper) =>
          Effect.sync(() => {
            sleepers.delete(sleeper)
            mark(work, -1)
          })
      ),
    /** Runs a long computation on another thread that depends on no other work, such as creating a key. */
    compute: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => void computing++),
        () => effect,
        () =>
          Effect.sync(() => {
            computing--
            count++
          })
      ),
    /** Counts everything that has begun or ended so far. */
    count: () => count,
    isComputing: () => computing > 0,
    /** Returns the work that may be about to do something. */
    busy: (): ReadonlyArray<Work> => [...working].filter(({ idle, sleeping }) => sleeping === 0 && !idle)
  }
}
