/**
 * Advances a test clock step by step to the times at which something is due, and waits at each for what happens.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as TestClock from "effect/testing/TestClock"
import type { Polls } from "./Polls.ts"
import type { Sleeps } from "./Sleeps.ts"

/** Work that is due at a time without a fiber that sleeps until then. */
export interface Agenda {
  /** The time after now at which something is due next; null when nothing is. */
  readonly nextDue: Effect.Effect<number | null>
  /** Runs everything that is due. */
  readonly tick: Effect.Effect<void>
}

/** What a step of the clock waits for. */
export interface Moved {
  readonly clock: TestClock.TestClock
  readonly sleeps: Sleeps
  readonly polls: Polls
  /** Waits until nothing more happens at the current time. */
  readonly quiet: Effect.Effect<void>
}

/** Sets the clock, and waits for what happens then. */
const moveTo = Effect.fnUntraced(function* ({ clock, polls, quiet }: Moved, at: number, tick: Effect.Effect<void>) {
  // Sets the time instead of adding to it: a sum of fractions may end just before it.
  yield* clock.setTime(Math.max(at, clock.currentTimeMillisUnsafe()))
  yield* quiet
  yield* polls.wake("worker", quiet)
  yield* tick
  yield* quiet
  yield* polls.wake("service", quiet)
})

/** The next time at which something happens; Infinity when nothing will. */
const nextMoment = ({ sleeps }: Moved, { nextDue }: Agenda) =>
  Effect.map(nextDue, (due) => Math.min(due ?? Infinity, sleeps.firstEnd()))

/** Runs an effect that moves the clock, after everything that happens now. */
const moving = <A, E, R>({ polls, quiet }: Moved, { tick }: Agenda, effect: Effect.Effect<A, E, R>) =>
  polls.whileMoving(Effect.andThen(Effect.andThen(quiet, Effect.andThen(tick, quiet)), effect))

/** Advances the clock by a duration. */
export const advance = Effect.fnUntraced(function* (moved: Moved, duration: Duration.Input, agenda: Agenda) {
  const end = (yield* moved.clock.currentTimeMillis) + Duration.toMillis(duration)
  const moments = Effect.gen(function* () {
    for (let next = yield* nextMoment(moved, agenda); next <= end; next = yield* nextMoment(moved, agenda)) {
      yield* moveTo(moved, next, agenda.tick)
    }
    yield* moveTo(moved, end, agenda.tick)
  })
  return yield* moving(moved, agenda, moments)
})

/** Advances the clock until the effect has ended; its sleeps must be among those that are moved. */
export const elapse = Effect.fnUntraced(function* <A, E, R>(
  moved: Moved,
  effect: Effect.Effect<A, E, R>,
  limit: Duration.Input,
  agenda: Agenda
) {
  const last = (yield* moved.clock.currentTimeMillis) + Duration.toMillis(limit)
  const fiber = yield* Effect.forkChild(effect)
  const passing = Effect.gen(function* () {
    while (fiber.pollUnsafe() === undefined) {
      const next = yield* nextMoment(moved, agenda)
      // When nothing else is due, the effect waits for a poll.
      const at = next <= last ? next : moved.polls.firstEnd()
      if (at <= last) {
        yield* moveTo(moved, at, agenda.tick)
        continue
      }
      yield* Fiber.interrupt(fiber)
      return yield* Effect.die(
        new Error(`Testing.elapse: no end within ${Duration.format(Duration.fromInputUnsafe(limit))} of the test clock`)
      )
    }
    return yield* Fiber.join(fiber)
  })
  return yield* Effect.onInterrupt(moving(moved, agenda, passing), () => Fiber.interrupt(fiber))
})
