/**
 * Undos: at the end of the body, when a race is decided, after a cancel.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Schema from "effect/Schema"
import { DeadlineExceeded, UndoFailed } from "../../FlowErrors.ts"
import type * as Branches from "./Branches.ts"
import type { Outcome } from "./Contract.ts"
import * as Replay from "../model/Replay.ts"
import * as Operations from "./Operations.ts"
import { type Activation, wake } from "./Activation.ts"
import { changedFlow, dismiss, halt, haltBody } from "./Halting.ts"
import * as Phase from "./state/Phase.ts"
import { isOpen, type Undoing } from "./state/Undos.ts"

/** Registers the undo of the call at a path. */
export const register = (
  { undos, unwritten }: Activation,
  branch: Branches.Branch,
  path: string,
  undo: Branches.Code<unknown, unknown>
) => {
  const added = undos.register(branch, path, undo)
  if (added !== null) unwritten.setUndo(added)
}

/** Runs undos in reverse order; when one fails, the others still run. */
const undoAll = (activation: Activation, list: ReadonlyArray<Undoing>, done: () => void) => {
  const { branches, execution, host, ready, replay, undos, unwritten } = activation
  const waiting = list
    .filter((undo) => isOpen(undo) || !replay.isPassed(undo.path))
    .toSorted((one, other) => one.position - other.position)
  const over = () => {
    const paths = list.filter(({ state }) => state === "failed").map(({ path }) => path)
    if (paths.length === 0) return done()
    const failed = new UndoFailed({ execution: execution.id, paths })
    if (host.durable) return halt(activation, Cause.die(failed))
    // A script cannot be resumed.
    ready.push(() => Effect.logWarning(failed.message))
    return done()
  }
  const next = () => {
    const undo = waiting.pop()
    if (undo === undefined) return over()
    if (!isOpen(undo)) {
      if (replay.isPassed(undo.path)) return next()
      undos.whenPassed(undo.path, next)
      return
    }
    branches.start(null, `${undo.path}/undo/`, undo.undo, (exit) => {
      unwritten.setUndo(undos.ended(undo, exit))
      next()
    })
  }
  next()
}

/** Runs the undos that branches have registered, and calls `done` after them. */
export const undoWithin = (activation: Activation, losers: ReadonlyArray<Branches.Branch>, done: () => void) => {
  undoAll(activation, activation.undos.within(losers), done)
}

export const cancelBody = (activation: Activation, by: Replay.CancelledBy) => {
  activation.cancelled = by
  if (activation.main !== null) activation.branches.cancel(activation.main)
}

/** Cancels the body, and records the position of the cancel in the order. */
export const cancel = (activation: Activation, by: Replay.CancelledBy, outside?: number) => {
  const value = Replay.cancelValue(by, outside)
  activation.saying.passed(activation.unwritten.mark(Replay.cancelPath, "cancel", value, activation.now))
  cancelBody(activation, by)
}

/**
 * Whether a halted execution is cancelled as far as its record fits; a second cancel abandons a record that does not fit. Not while a
 * race waits for a failed undo: that comes first, as when the cancel arrives before it fails.
 */
export const mayAbandon = ({ cancelled, halted, inbox, phase, replay, undos }: Activation): boolean =>
  halted !== null &&
  !Phase.isUndoing(phase) &&
  !replay.isAbandoned() &&
  !(cancelled !== null && halted.mine) &&
  (inbox.hasCancel() || replay.at(Replay.cancelPath)?.value === Replay.abandonedValue) &&
  !undos.hasFailed()

/** Cancels an execution whose record no longer fits: replays what fits, and runs its undos. */
export const abandon = (activation: Activation) => {
  const { replay, undos, unwritten } = activation
  dismiss(activation)
  replay.abandon()
  Operations.abandon(activation)
  undos.passAll()
  if (replay.at(Replay.cancelPath)?.value !== Replay.abandonedValue) {
    unwritten.mark(Replay.cancelPath, "cancel", Replay.abandonedValue, activation.now)
  }
  cancelBody(activation, "cancel")
}

/** Returns the outcome of a body that has failed or was cancelled, when its undos have run. */
const outcomeOf = (
  { cancelled, execution: { deadlineAt, id: execution }, now }: Activation,
  error: Schema.Json,
  cause: Cause.Cause<unknown>
): Outcome => {
  switch (cancelled) {
    case null:
      return { _tag: "Failed", error, cause }
    case "cancel":
      return { _tag: "Cancelled" }
    case "deadline":
      return {
        _tag: "Failed",
        error: null,
        // A replay in a test does not know the deadline.
        cause: Cause.fail(new DeadlineExceeded({ execution, deadlineAt: deadlineAt ?? now }))
      }
  }
}

/** Handles the end of the body: completes the execution, or begins to undo. */
export const conclude = (activation: Activation, ended: Phase.Ended): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { body, cancelled, replay, saying, undos, unwritten } = activation
    const { exit } = ended
    const recordedOutcome = replay.next()
    if (Exit.isSuccess(exit) && cancelled === null) {
      const missed = recordedOutcome?.path ?? replay.missed()
      if (missed !== null) return changedFlow(activation, missed, null)
      activation.phase = Phase.complete(ended, exit.value)
      return
    }
    // A cancel that arrived during the last step also undoes that step.
    const cause = Exit.isSuccess(exit) ? Cause.interrupt() : exit.cause
    if (cancelled === null && !Cause.hasFails(cause)) return haltBody(activation, cause)
    if (recordedOutcome !== undefined && recordedOutcome.path !== Replay.outcomePath) {
      return changedFlow(activation, recordedOutcome.path, null)
    }
    const error = cancelled !== null ? null : yield* body.encodeError(Cause.squash(cause))
    const undoing = Phase.undo(ended)
    activation.phase = undoing
    if (recordedOutcome !== undefined) replay.advance()
    saying.passed(
      recordedOutcome?.ended ??
        unwritten.mark(Replay.outcomePath, "outcome", { cancelled: cancelled !== null, error }, activation.now)
    )
    const missed = undos.missed()
    if (missed !== undefined) return changedFlow(activation, `${missed.path}/undo`, null)
    const outcome = outcomeOf(activation, error, cause)
    undoAll(activation, undos.all(), () => {
      activation.phase = Phase.undone(undoing, outcome)
      wake(activation)
    })
  }).pipe(Effect.catchCause((cause) => Effect.sync(() => halt(activation, cause))))
