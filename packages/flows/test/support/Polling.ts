/**
 * How tests wait for what happens beside them, on a clock that is real or virtual.
 */
import * as Effect from "effect/Effect"

/** Lets real things happen, whatever the clock. */
export const breathe = Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 2)))

/** Waits until it holds. */
export const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) => (holds ? Effect.void : Effect.andThen(breathe, until(condition))))
