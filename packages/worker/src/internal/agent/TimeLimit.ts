/**
 * How long a step run may take. The time that its environment is built in is not part of it: the limit begins when the
 * build has ended, here as in the service.
 */
import type { CallError } from "@signalbox/api/ControlRoomError"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { retryUntilAvailable } from "../outcome/Failures.ts"

/** The state of a build, as it is reported to the service. */
export type BuildState = "started" | "ended"

/** For the builder of the environment of a step run. */
export interface BuildTime {
  readonly report: (state: BuildState) => Effect.Effect<void>
}

/** A step run without a time limit. */
export const unlimited: BuildTime = { report: () => Effect.void }

export interface TimeLimit extends BuildTime {
  /** Ends when the time is over; never without a limit. */
  readonly over: Effect.Effect<void>
}

/** `tell` reports a build to the service. */
export const make = Effect.fnUntraced(function* (
  seconds: number | null,
  tell: (state: BuildState) => Effect.Effect<unknown, CallError>
) {
  if (seconds === null) return { ...unlimited, over: Effect.never } satisfies TimeLimit
  const counting = yield* Latch.make(true)
  const building = yield* Latch.make(false)
  const round = Effect.andThen(
    counting.await,
    Effect.raceFirst(Effect.as(Effect.sleep(`${seconds} seconds`), true), Effect.as(building.await, false))
  )
  // A lease that is lost is heard of by other calls; what else is refused costs the build's time alone.
  const report = (state: BuildState) =>
    retryUntilAvailable(tell(state)).pipe(
      Effect.catch((error) =>
        Effect.annotateLogs(Effect.logWarning("the build of the environment was not reported"), { error: error._tag })
      ),
      Effect.asVoid
    )
  const limit: TimeLimit = {
    over: Effect.asVoid(Effect.repeat(round, { until: (isOver) => isOver })),
    report: Effect.fnUntraced(function* (state) {
      const [close, open] = state === "started" ? [counting, building] : [building, counting]
      if (state === "started") yield* report(state)
      yield* close.close
      yield* open.open
      if (state === "ended") yield* report(state)
    })
  }
  return limit
})
