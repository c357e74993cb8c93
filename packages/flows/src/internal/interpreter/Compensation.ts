/**
 * Undos: at the end of the body, when a race is decided, after a cancel.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { UndoFailed } from "../../FlowErrors.ts"
import type * as Branches from "./Branches.ts"
import type { Outcome } from "./Contract.ts"
import * as Replay from "../model/Replay.ts"
import * as Operations from "./Operations.ts"
import { type Stay, wake } from "./Activation.ts"
import { changedFlow, dismiss, halt, haltBody } from "./Halting.ts"
import * as Phase from "./state/Phase.ts"
import { isOpen, type Undoing } from "./state/Undos.ts"

/** Registers the undo of the call at a path. */
export const register = (
  { undos, unwritten }: Stay,
  branch: Branches.Branch,
  path: string,
  undo: Branches.Code<unknown, unknown>
) => {
  const added = undos.register(branch, path, undo)
  if (added !== null) unwritten.setUndo(added)
}

/** Runs undos in reverse order; when one fails, the others still run. */
const undoAll = (stay: Stay, list: ReadonlyArray<Undoing>, done: () => void) => {
  const { branches, execution, host, ready, replay, undos, unwritten } = stay
  const waiting = list
    .filter((undo) => isOpen(undo) || !replay.isPassed(undo.path))
    .toSorted((one, other) => one.position - other.position)
  const over = () => {
    const paths = list.filter(({ state }) => state === "failed").map(({ path }) => path)
    if (paths.length === 0) return done()
    const failed = new UndoFailed({ execution: execution.id, paths })
    if (host.durable) return halt(stay, Cause.die(failed))
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
export const undoWithin = (stay: Stay, losers: ReadonlyArray<Branches.Branch>, done: () => void) => {
  undoAll(stay, stay.undos.within(losers), done)
}

export const cancelBody = (stay: Stay) => {
  stay.cancelled = true
  if (stay.main !== null) stay.branches.cancel(stay.main)
}

/** Cancels the body, and records the position of the cancel in the order. */
export const cancel = (stay: Stay) => {
  stay.unwritten.mark(Replay.cancelPath, "cancel", null, stay.now)
  cancelBody(stay)
}

/**
 * Whether a halted execution is cancelled as far as its record fits; a second cancel abandons a record that does not fit. Not while a
 * race waits for a failed undo: that comes first, as when the cancel arrives before it fails.
 */
export const mayAbandon = ({ cancelled, halted, inbox, phase, replay, undos }: Stay): boolean =>
  halted !== null &&
  !Phase.isUndoing(phase) &&
  !replay.isAbandoned() &&
  !(cancelled && halted.mine) &&
  (inbox.hasCancel() || replay.at(Replay.cancelPath)?.value === Replay.abandonedValue) &&
  !undos.hasFailed()

/** Cancels an execution whose record no longer fits: replays what fits, and runs its undos. */
export const abandon = (stay: Stay) => {
  const { replay, undos, unwritten } = stay
  dismiss(stay)
  replay.abandon()
  Operations.abandon(stay)
  undos.passAll()
  if (replay.at(Replay.cancelPath)?.value !== Replay.abandonedValue) {
    unwritten.mark(Replay.cancelPath, "cancel", Replay.abandonedValue, stay.now)
  }
  cancelBody(stay)
}

/** Handles the end of the body: completes the execution, or begins to undo. */
export const conclude = (stay: Stay, ended: Phase.Ended): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { body, cancelled, replay, undos, unwritten } = stay
    const { exit } = ended
    const recordedOutcome = replay.next()
    if (Exit.isSuccess(exit) && !cancelled) {
      const missed = recordedOutcome?.path ?? replay.missed()
      if (missed !== null) return changedFlow(stay, missed, null)
      stay.phase = Phase.complete(ended, exit.value)
      return
    }
    // A cancel that arrived during the last step also undoes that step.
    const cause = Exit.isSuccess(exit) ? Cause.interrupt() : exit.cause
    if (!cancelled && !Cause.hasFails(cause)) return haltBody(stay, cause)
    if (recordedOutcome !== undefined && recordedOutcome.path !== Replay.outcomePath) {
      return changedFlow(stay, recordedOutcome.path, null)
    }
    const error = cancelled ? null : yield* body.encodeError(Cause.squash(cause))
    const undoing = Phase.undo(ended)
    stay.phase = undoing
    if (recordedOutcome !== undefined) replay.advance()
    else unwritten.mark(Replay.outcomePath, "outcome", { cancelled, error }, stay.now)
    const missed = undos.missed()
    if (missed !== undefined) return changedFlow(stay, `${missed.path}/undo`, null)
    const outcome: Outcome = cancelled ? { _tag: "Cancelled" } : { _tag: "Failed", error, cause }
    undoAll(stay, undos.all(), () => {
      stay.phase = Phase.undone(undoing, outcome)
      wake(stay)
    })
  }).pipe(Effect.catchCause((cause) => Effect.sync(() => halt(stay, cause))))
