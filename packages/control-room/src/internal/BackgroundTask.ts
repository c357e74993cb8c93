/**
 * Tasks that the service repeats for as long as it runs.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import * as Traces from "./Traces.ts"

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

/** Runs the effect for each of these, one after the other: one that fails holds up no other. Fails with the first failure. */
export const forEachIndependently = Effect.fnUntraced(function* <A, E, R>(
  all: ReadonlyArray<A>,
  one: (each: A) => Effect.Effect<void, E, R>
) {
  const exits = yield* Effect.forEach(all, (each) => Effect.exit(one(each)))
  const failed = exits.find(Exit.isFailure)
  if (failed !== undefined) return yield* failed
})
