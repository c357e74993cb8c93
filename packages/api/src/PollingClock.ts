/**
 * The time of whatever only looks again and again, apart from the time of everything else.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * The clock of the pauses between looks, such as those of `ProcessRuns.awaitEnd`; null, the default, for the clock at hand.
 * `signalbox/Testing` has one that wakes whoever polls only when something may have happened.
 */
export const PollingClock = Context.Reference<Clock.Clock | null>("@signalbox/api/PollingClock", {
  defaultValue: () => null
})

/**
 * Runs an effect whose pauses lie between looks by that clock.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { polling } from "@signalbox/api/PollingClock"
 *
 * export const pause = polling(Effect.sleep("5 seconds"))
 * ```
 */
export const polling = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(PollingClock, (clock) => (clock === null ? effect : Effect.provideService(effect, Clock.Clock, clock)))
