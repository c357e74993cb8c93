/**
 * The thread that renews the lease of its process, also while the event loop stands still, but no longer than that may.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { MessagePort } from "node:worker_threads"
import type { Standing } from "../../model/Execution.ts"
import * as LeaseRenewer from "../../journal/LeaseRenewer.ts"
import { endedMillis } from "../../journal/sql/Renewal.ts"
import { beatMillis, type Given, noticedMillis, type Order, type Report } from "./Protocol.ts"
import { makeReader, type Reader } from "./Marks.ts"

/** What counts at most for the time between two looks: a process that was stopped, or whose machine slept, does not compute. */
const longestLookMillis = 2_000

/** Watches the event loop of the process; each call returns for how long it has stood still. */
const makeWatch = ({ beats }: Reader) => {
  let seen = beats()
  let lookedAt = performance.now()
  let millis = 0
  return (): number => {
    const now = performance.now()
    const beat = beats()
    millis = beat === seen ? millis + Math.min(now - lookedAt, longestLookMillis) : 0
    seen = beat
    lookedAt = now
    return millis
  }
}

/** Runs the thread until it is told to end. */
export const run = Effect.fnUntraced(function* (port: MessagePort, given: Given) {
  const reader = makeReader(given.memory)
  const watch = makeWatch(reader)
  const { leaseMillis, schema, stallLimitMillis, url } = given
  const renewer = LeaseRenewer.make({ url, schema, timeoutMillis: leaseMillis / 3 })
  const end = yield* Deferred.make<void>()
  let process: string | null = null
  port.on("message", (order: Order) => {
    if (order._tag === "End") Deferred.doneUnsafe(end, Effect.void)
    else process = order.process
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const report = (message: Report) => port.postMessage(message)

  let standing: Standing | null = null
  let hasGivenUp = false
  let isReachable = true
  let renewedAt = -Infinity

  /** Renews the lease, or ends it, unless its process has none. */
  const renew = (millis: number) =>
    Effect.suspend(() => {
      renewedAt = performance.now()
      if (process === null) return Effect.void
      return Effect.matchCause(renewer.renew(process, millis, standing), {
        onSuccess: () => {
          isReachable = true
        },
        onFailure: (cause) => {
          const error = Cause.squash(cause)
          if (isReachable)
            report({ _tag: "Unreachable", message: error instanceof Error ? error.message : String(error) })
          isReachable = false
        }
      })
    })

  yield* Effect.gen(function* () {
    const millis = watch()
    if (millis < noticedMillis) {
      if (standing !== null) report({ _tag: "Stood", ...standing })
      standing = null
      hasGivenUp = false
    } else {
      standing = { millis, keeper: reader.keeper() }
    }
    if (standing !== null && millis >= stallLimitMillis) {
      if (hasGivenUp) return
      yield* renew(endedMillis)
      hasGivenUp = true
    } else if (performance.now() - renewedAt >= leaseMillis / 3) {
      yield* renew(leaseMillis)
    }
  }).pipe(Effect.andThen(Effect.sleep(beatMillis)), Effect.forever, Effect.raceFirst(Deferred.await(end)))
  yield* renewer.close
  port.close()
})
