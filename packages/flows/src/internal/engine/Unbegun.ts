/**
 * Executions that were claimed before anything of them has begun.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { DeadlineExceeded } from "../../FlowErrors.ts"
import type { Host } from "../interpreter/Contract.ts"
import type { Journal } from "../journal/Journal.ts"
import type { Execution, Write } from "../model/Execution.ts"
import { detailOf } from "../model/Failure.ts"

interface Parts {
  readonly journal: Pick<Journal["Service"], "enqueue" | "now">
  readonly host: Pick<Host, "write">
  /** Called when it is in its queue, with the members of its row. */
  readonly onQueued: (changed: Write["execution"]) => void
}

/** Ends one whose deadline has passed, without its body; puts one with limits into their queue. */
export const settle = Effect.fnUntraced(function* ({ host, journal, onQueued }: Parts, execution: Execution) {
  const { deadlineAt, epoch, id, limits, mail, state } = execution
  const now = yield* journal.now
  if (deadlineAt !== null && deadlineAt <= now) {
    const failure = detailOf(Cause.fail(new DeadlineExceeded({ execution: id, deadlineAt })))
    const ended = { state: "failed", failure, endedAt: now, owner: null, wakeAt: null, queuedAt: null } as const
    yield* host.write({ execution: ended, entries: [], undos: [], taken: [], seen: mail })
    return "ended"
  }
  if (state !== "queued" || limits.length === 0) return "begins"
  yield* journal.enqueue({ id, epoch })
  onQueued({ owner: null })
  return "queued"
})
