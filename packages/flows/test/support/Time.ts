/** Virtual time for what also does real things, such as writing to a database. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Duration from "effect/Duration"
import * as TestClock from "effect/testing/TestClock"
import { breathe } from "./Polling.ts"

/** Advances virtual time when everything that runs without it is idle. */
export const advance = (duration: Duration.Input) =>
  Effect.andThen(breathe, Effect.andThen(TestClock.adjust(duration), breathe))

/** Moves virtual time, by little at first, until an effect is through. */
export const throughTime = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect)
  for (let step = 0; fiber.pollUnsafe() === undefined; step++) {
    if (step > 20_000) return yield* Effect.die(new Error("it does not end"))
    yield* advance(step < 60 ? "250 millis" : "10 minutes")
  }
  return yield* Fiber.await(fiber)
})
