/**
 * Claims executions that are due, and admits queued ones, as long as there is room in memory.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Journal } from "../journal/Journal.ts"
import { type Execution, hasEnded, type RegisteredVersion } from "../model/Execution.ts"
import * as Wall from "../model/Wall.ts"
import type { Ownership } from "../ownership/Ownership.ts"
import type { Metrics } from "./Metrics.ts"
import type { Queues } from "./Queues.ts"
import type { RegisteredFlows } from "./RegisteredFlows.ts"

const shortestPauseMillis = 20
const claimedAtATime = 100

/** Where claimed executions run. */
interface Memory {
  /** Whether it starts executions: an ending process does not. */
  readonly isOpen: () => boolean
  /** Returns how many more executions fit; may be negative. */
  readonly free: () => number
  readonly start: (execution: Execution, isNew: boolean) => Effect.Effect<void>
  /** Evicts executions that are idle. */
  readonly crowd: () => void
}

interface Parts {
  readonly journal: Journal["Service"]
  readonly ownership: Ownership["Service"]
  readonly metrics: Metrics
  readonly flows: RegisteredFlows
  readonly queues: Queues
}

export const make = ({ flows, journal, metrics, ownership, queues }: Parts) => {
  const due = Latch.makeUnsafe(true)
  /** Whether more executions are due than fit in memory. */
  let crowded = false

  const wake = () => void due.openUnsafe()

  /** Claims and admits at most `free` executions; returns whether there may be more. */
  const claim = Effect.fnUntraced(function* (
    versions: ReadonlyArray<RegisteredVersion>,
    free: number,
    start: Memory["start"]
  ) {
    const now = yield* journal.now
    const claimed = yield* ownership.claim(versions, free)
    for (const execution of claimed) metrics.claimed(execution)
    yield* Effect.forEach(claimed, (execution) => start(execution, false), { discard: true })
    const admitted = yield* queues.admit(ownership.self(), free - claimed.length, now)
    for (const { flow, state } of admitted) metrics.entered(flow, state)
    // An execution that never ran has an empty history.
    yield* Effect.forEach(admitted, (one) => start(one, one.epoch === 1 && one.mail === 0), { discard: true })
    return claimed.length + admitted.length === free
  })

  /** Waits until an execution is due, or the loop is woken. */
  const pause = Effect.fnUntraced(function* (
    versions: ReadonlyArray<RegisteredVersion>,
    free: number,
    crowd: Memory["crowd"]
  ) {
    const next = versions.length === 0 ? null : yield* ownership.nextDue(versions)
    const first = Math.min(next ?? Infinity, queues.nextAt())
    const now = yield* journal.now
    const millis = first - now
    const wasCrowded = crowded
    crowded = free <= 0 && millis <= 0
    // Executions that become idle later check `isCrowded` themselves.
    if (crowded && !wasCrowded) crowd()
    // Due executions that were not claimed are being claimed by another process.
    const wait = free <= 0 ? Infinity : millis > 0 ? millis : shortestPauseMillis
    const until = now + Math.min(wait, ownership.longestPauseMillis)
    // A notification may have been lost.
    if (!(yield* Wall.openBefore(due, until, journal.now, now))) queues.changed()
  })

  return {
    wake,
    /** Wakes the loop for an execution that is due, if this process claims it first. */
    wakeFor: (id: string) => {
      if (ownership.isNear(id)) wake()
    },
    isCrowded: () => crowded,
    /** Called when an execution has left memory, which may have been full. */
    left: (row: Execution, wasFull: boolean) => {
      const mayAdmit = queues.changed(row.flow)
      // One that waits will be due, a halted one is due again if it has an unread message; one that has ended leaves room for another.
      if (wasFull || crowded || mayAdmit || !hasEnded(row.state)) wake()
    },
    /** Runs the loop until the process ends. */
    run: ({ crowd, free, isOpen, start }: Memory) =>
      Effect.gen(function* () {
        while (isOpen()) {
          due.closeUnsafe()
          const room = Math.min(free(), claimedAtATime)
          const versions = flows.versions()
          if (room > 0 && versions.length > 0 && (yield* claim(versions, room, start))) continue
          yield* pause(versions, room, crowd)
        }
      }).pipe(
        // The loop must survive a failed pass.
        Effect.catchDefect((defect) =>
          Effect.andThen(
            Effect.logWarning("due executions could not be claimed, retrying", defect),
            Effect.sleep("1 second")
          )
        ),
        Effect.repeat({ while: isOpen })
      )
  }
}

export type ClaimLoop = ReturnType<typeof make>
