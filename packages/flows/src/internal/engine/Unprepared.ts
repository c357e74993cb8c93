/**
 * Executions that were created without their flow, by `signalbox_submit` in SQL: the process that claims one lets the flow read the
 * input, which gives its tags and its keys for limits.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Host } from "../interpreter/Contract.ts"
import type { Journal } from "../journal/Journal.ts"
import type { Execution, Write } from "../model/Execution.ts"
import { detailOf } from "../model/Failure.ts"
import type { Registered } from "./RegisteredFlows.ts"

/** Whether it is queued, has no place in a queue, and does not start later. */
export const isUnprepared = ({
  queuedAt,
  startsAt,
  state
}: Pick<Execution, "queuedAt" | "startsAt" | "state">): boolean =>
  state === "queued" && queuedAt === null && startsAt === null

interface Parts {
  readonly flow: Registered
  readonly host: Pick<Host, "write" | "now">
  readonly journal: Pick<Journal["Service"], "prepare">
  /** Called with members of the row that were written. */
  readonly onWrite: (changed: Write["execution"]) => void
}

/**
 * Writes what the flow makes of the input. One whose input does not fit ends as failed, with `InvalidInput`; one with limits is put into
 * its queue.
 */
export const prepare = Effect.fnUntraced(function* ({ flow, host, journal, onWrite }: Parts, execution: Execution) {
  const { epoch, id, input, key, mail } = execution
  const start = yield* Effect.exit(flow.startOf(input, key))
  if (Exit.isFailure(start)) {
    if (Cause.hasInterruptsOnly(start.cause)) return yield* Effect.interrupt
    // As of a bug: the error is none of the flow.
    const failure = { ...detailOf(start.cause), kind: "died" as const }
    const ended = { state: "failed", failure, owner: null, wakeAt: null, endedAt: yield* host.now } as const
    yield* host.write({ execution: ended, entries: [], undos: [], taken: [], seen: mail })
    return "ended"
  }
  const { limits, tags } = start.value
  yield* journal.prepare({ id, epoch }, { limits, tags })
  if (limits.length === 0) return "begins"
  onWrite({ owner: null, wakeAt: null })
  return "queued"
})
