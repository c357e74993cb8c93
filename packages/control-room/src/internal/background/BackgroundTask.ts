/**
 * Tasks that the service repeats for as long as it runs.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import * as Traces from "../telemetry/Traces.ts"

/**
 * Turns a task that will be repeated into one that never fails. A failure is logged when it differs from the previous
 * one, not at every repetition; so is the first success after it. `name`: what the task does, such as "polling
 * deliveries".
 */
export const steady = (name: string) => {
  let failing: string | null = null
  return <E, R>(task: Effect.Effect<void, E, R>): Effect.Effect<void, never, R> =>
    Effect.matchCauseEffect(Traces.polling(task), {
      onSuccess: () => {
        if (failing === null) return Effect.void
        failing = null
        return Effect.logInfo(`${name} works again`)
      },
      onFailure: (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.void
        const storage = StorageFailure.ofCause(cause)
        const now = storage === null ? String(Cause.squash(cause)) : storage.kind
        const log =
          storage === null
            ? Effect.logError(`${name} failed`, cause)
            : Effect.annotateLogs(Effect.logWarning(`${name} failed: ${storage.message}`), {
                reason: StorageFailure.reasonOf(cause)
              })
        const isNew = failing !== now
        failing = now
        return isNew ? log : Effect.void
      }
    })
}

/** Timers of a busy program fire later than they should, but not by this much. */
const late = Duration.toMillis("2.5 seconds")

/**
 * Repeats a task at an interval. `awoke` runs before the task when the program was suspended in between, as on a machine that sleeps, or
 * when the clock was set forward: heartbeats that could not arrive then look overdue.
 */
export const repeating = Effect.fnUntraced(function* <R, R2>(
  task: Effect.Effect<void, never, R>,
  { awoke, interval }: { readonly interval: Duration.Input; readonly awoke: Effect.Effect<void, never, R2> }
) {
  const most = Duration.toMillis(interval) + late
  yield* task
  return yield* Effect.gen(function* () {
    const asleep = yield* Clock.currentTimeMillis
    yield* Effect.sleep(interval)
    if ((yield* Clock.currentTimeMillis) - asleep > most) yield* awoke
    yield* task
  }).pipe(Effect.forever)
})

/** Runs the effect for each of these, one after the other: one that fails holds up no other. Fails with the first failure. */
export const forEachIndependently = Effect.fnUntraced(function* <A, E, R>(
  all: ReadonlyArray<A>,
  one: (each: A) => Effect.Effect<void, E, R>
) {
  const exits = yield* Effect.forEach(all, (each) => Effect.exit(one(each)))
  const failed = exits.find(Exit.isFailure)
  if (failed !== undefined) return yield* failed
})
