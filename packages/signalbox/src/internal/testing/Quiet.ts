/**
 * Waits until nothing more happens at the current time.
 */
import * as Effect from "effect/Effect"
import type { Activity } from "./Activity.ts"

/** How many turns of the event loop in a row must bring nothing new: a woken fiber does something within fewer. */
const calmTurns = 8
/** How long it waits for work that neither sleeps nor does anything, in milliseconds. */
const patience = 100
/** What one turn of the event loop may add to that: on a busy machine a turn takes long, and nothing had a chance to happen. */
const longestTurn = 5
/** How long it waits while the process reads a file or looks up a name: ends a read that never returns. */
const patienceForReads = 30_000

/** Whether the process waits for the disk or for the name of a host, as far as the runtime reports it. */
const isReading = () => process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfoReq)/.test(name))

const turn = Effect.callback<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

export const quietOf = (activity: Activity): Effect.Effect<void> =>
  Effect.gen(function* () {
    let seen = activity.count()
    let last = performance.now()
    let waited = 0
    let read = 0
    for (let turns = 0; turns < calmTurns;) {
      yield* turn
      const now = performance.now()
      waited += Math.min(now - last, longestTurn)
      last = now
      const busy = activity.busy()
      if (activity.count() !== seen || activity.isComputing()) {
        seen = activity.count()
        waited = 0
        read = 0
        turns = 0
      } else if (busy.length === 0) {
        turns++
      } else if (waited > patience && read < patienceForReads && isReading()) {
        // When the read is through, its reader has the whole time again for what it does with it.
        read += waited
        waited = 0
      } else if (waited > patience) {
        for (const work of busy) work.idle = true
      }
    }
  })
