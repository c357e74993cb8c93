/**
 * Callers of this process that wait for the end of an execution.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Journal } from "../journal/Journal.ts"
import { type Execution, hasEnded } from "../model/Execution.ts"
import type { Ownership } from "../ownership/Ownership.ts"
import type { IncompatibleVersions } from "./IncompatibleVersions.ts"

/** Notifications may be lost, so callers poll after this. */
const longestPauseMillis = 5_000

/** Whether an execution has ended or is halted, for which callers wait. */
export const isOver = ({ state }: Execution): boolean => hasEnded(state) || state === "halted"

export const make = (
  journal: Journal["Service"],
  { isShared }: Pick<Ownership["Service"], "isShared">,
  { reopenedFirst }: Pick<IncompatibleVersions, "reopenedFirst">
) => {
  /** Completed with the ended execution, or with null when the callers must read it themselves. */
  const waiters = new Map<string, Set<Deferred.Deferred<Execution | null>>>()

  const notify = (id: string, row: Execution | null) => {
    for (const waiter of Array.from(waiters.get(id) ?? [])) Deferred.doneUnsafe(waiter, Effect.succeed(row))
  }

  return {
    /** Wakes the callers that wait for this execution, with its row or to read it. */
    notify,
    /** Lets all callers read the executions for which they wait. */
    notifyAll: () => {
      for (const id of Array.from(waiters.keys())) notify(id, null)
    },
    /** Waits until an execution has ended or is halted. Those in memory (`isLive`) notify their callers themselves. */
    settled: Effect.fnUntraced(function* (id: string, isLive: (id: string) => boolean) {
      for (;;) {
        const waiter = Deferred.makeUnsafe<Execution | null>()
        const all = waiters.get(id) ?? new Set()
        waiters.set(id, all.add(waiter))
        const forget = Effect.sync(() => {
          all.delete(waiter)
          if (all.size === 0 && waiters.get(id) === all) waiters.delete(id)
        })
        const found = yield* Effect.gen(function* () {
          if (!isLive(id)) {
            const execution = yield* journal.find(id)
            if (execution === null || isOver(execution)) return execution
          }
          const notified = Deferred.await(waiter)
          const row = isShared
            ? Option.getOrNull(yield* Effect.timeoutOption(notified, longestPauseMillis))
            : yield* notified
          return row ?? (yield* journal.find(id))
        }).pipe(Effect.ensuring(forget))
        if (found === null || (isOver(found) && !(yield* reopenedFirst(found)))) return found
      }
    })
  }
}

export type Waiters = ReturnType<typeof make>
