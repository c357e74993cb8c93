/** Long work in slices, between which the event loop has its turn. */
import * as Effect from "effect/Effect"

/** Runs a generator whose every `yield` ends a slice of some milliseconds. */
export const run = <A>(make: () => Generator<void, A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const slices = make()
    const next: Effect.Effect<A> = Effect.suspend(() => {
      const { done, value } = slices.next()
      return done === true ? Effect.succeed(value) : Effect.andThen(Effect.yieldNow, next)
    })
    return next
  })
