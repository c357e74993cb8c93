/** Virtual time for what also does real things, such as writing to a database. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Duration from "effect/Duration"
import * as TestClock from "effect/testing/TestClock"
import { breathe } from "./Polling.ts"

/** Moves virtual time. */
const Moving = Context.Reference<(duration: Duration.Input) => Effect.Effect<void>>("test/Moving", {
  defaultValue: () => TestClock.adjust
})

/** Advances virtual time when everything that runs without it is idle. */
export const advance = (duration: Duration.Input) =>
  Effect.andThen(
    breathe,
    Effect.andThen(
      Effect.flatMap(Moving, (move) => move(duration)),
      breathe
    )
  )

/** Runs an effect whose own limits count real time, while `advance` moves the virtual one of all else. */
export const inRealTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.Clock, (virtual) =>
    Effect.provideService(TestClock.withLive(effect), Moving, (duration) =>
      Effect.provideService(TestClock.adjust(duration), Clock.Clock, virtual)
    )
  )

/** Moves virtual time, by little at first, until an effect is through. */
export const throughTime = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect)
  for (let step = 0; fiber.pollUnsafe() === undefined; step++) {
    if (step > 20_000) return yield* Effect.die(new Error("it does not end"))
    yield* advance(step < 60 ? "250 millis" : "10 minutes")
  }
  return yield* Fiber.await(fiber)
})
