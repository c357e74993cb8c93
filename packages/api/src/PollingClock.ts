/**
 * The clock of pauses between polls, separate from the clock of everything else.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * The clock of pauses between polls, such as those of `ProcessRuns.awaitEnd`; null, the default, uses the current `Clock`.
 * `signalbox/Testing` provides one that ends a pause only when something may have happened.
 */
export const PollingClock = Context.Reference<Clock.Clock | null>("@signalbox/api/PollingClock", {
  defaultValue: () => null
})

/**
 * Runs an effect whose sleeps are pauses between polls on that clock.
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
