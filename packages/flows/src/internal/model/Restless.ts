/**
 * Wakes interpreters whose body does not come to rest. One timer for all executions of a process, so that a turn of a body costs none.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

export interface Restless {
  /** Calls `wake` at this time of the clock, unless it is cleared or set again before. */
  readonly set: (key: object, at: number, wake: () => void) => void
  readonly clear: (key: object) => void
  /** Runs as long as there are interpreters. */
  readonly loop: Effect.Effect<never>
}

export const make = (): Restless => {
  const waiting = new Map<object, { readonly at: number; readonly wake: () => void }>()
  const changed = Latch.makeUnsafe()
  let nextAt = Infinity
  const turn = Effect.gen(function* () {
    changed.closeUnsafe()
    const now = yield* Clock.currentTimeMillis
    nextAt = Infinity
    for (const [key, { at, wake }] of Array.from(waiting)) {
      if (at > now) {
        nextAt = Math.min(nextAt, at)
        continue
      }
      waiting.delete(key)
      wake()
    }
    yield* nextAt === Infinity ? changed.await : Effect.timeoutOption(changed.await, nextAt - now)
  })
  return {
    set: (key, at, wake) => {
      waiting.set(key, { at, wake })
      if (at >= nextAt) return
      nextAt = at
      changed.openUnsafe()
    },
    clear: (key) => void waiting.delete(key),
    loop: Effect.forever(turn)
  }
}

/** Runs an effect with the timer of a single interpreter. */
export const around = <A, E, R>(use: (restless: Restless) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const restless = make()
    return Effect.scoped(Effect.andThen(Effect.forkScoped(restless.loop), use(restless)))
  })
