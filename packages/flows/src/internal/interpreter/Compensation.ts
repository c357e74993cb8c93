/**
 * Undos: at the end of the body, when a race is decided, after a cancel.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { UndoFailed } from "../../FlowErrors.ts"
import { detailOf } from "../model/Failure.ts"
import * as Branches from "./Branches.ts"
import type { Outcome } from "./Contract.ts"
import * as Replay from "../model/Replay.ts"
import * as Operations from "./Operations.ts"
import { changedFlow, halt, haltBody, mark, type Stay, type Undoing, wake } from "./Activation.ts"

/** Registers the undo of the call at a path. */
export const register = (stay: Stay, branch: Branches.Branch, path: string, undo: Branches.Code<unknown, unknown>) => {
  const recorded = stay.recordedUndos.get(path)
  const undoing: Undoing = {
    path,
    redo: stay.history.redos.get(path) ?? 0,
    state: recorded?.state ?? "pending",
    position: recorded?.position ?? ++stay.undoPosition,
    failure: recorded?.failure ?? null,
    undo,
    branch
  }
  stay.undos.set(path, undoing)
  stay.registered.add(path)
  if (recorded === undefined) stay.dirtyUndos.set(path, undoing)
}

/** Whether a place is in an undo. */
export const isIn = ({ undos }: Stay, prefix: string): boolean =>
  [...undos.keys()].some((path) => prefix.startsWith(`${path}/undo/`))

const isOpen = ({ state }: Undoing) => state === "pending" || state === "failed"

/** Runs undos in reverse order; when one fails, the others still run. */
const undoAll = (stay: Stay, list: ReadonlyArray<Undoing>, done: () => void) => {
  const { branches, dirtyUndos, execution, host, passing, ready, replay, undos } = stay
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
      passing.set(undo.path, next)
      return
    }
    branches.start(null, `${undo.path}/undo/`, undo.undo, (exit) => {
      undo.state = Exit.isSuccess(exit) ? "done" : "failed"
      undo.failure = Exit.isSuccess(exit) ? null : detailOf(exit.cause)
      const { branch: _branch, undo: _undo, ...row } = undo
      dirtyUndos.set(undo.path, row)
      if (undo.state === "done") undos.delete(undo.path)
      next()
    })
  }
  next()
}

/** Runs the undos that branches have registered, and calls `done` after them. */
export const undoWithin = (stay: Stay, losers: ReadonlyArray<Branches.Branch>, done: () => void) => {
  const lost = [...stay.undos.values()].filter(({ branch }) => losers.some((loser) => Branches.isWithin(branch, loser)))
  undoAll(stay, lost, done)
}

export const cancelBody = (stay: Stay) => {
  stay.cancelled = true
  if (stay.main !== null) stay.branches.cancel(stay.main)
}

/** Cancels the body, and records the position of the cancel in the order. */
export const cancel = (stay: Stay) => {
  mark(stay, Replay.cancelPath, "cancel", null)
  cancelBody(stay)
}

/**
 * Whether a halted execution is cancelled as far as its record fits; a second cancel abandons a record that does not fit. Not while a
 * race waits for a failed undo: that comes first, as when the cancel arrives before it fails.
 */
export const mayAbandon = ({ cancelled, halted, isUndoing, mail, replay, undos }: Stay): boolean =>
  halted !== null &&
  !isUndoing &&
  !replay.isAbandoned() &&
  !(cancelled && halted.mine) &&
  (mail.some(({ kind }) => kind === "cancel") || replay.at(Replay.cancelPath)?.value === Replay.abandonedValue) &&
  [...undos.values()].every(({ state }) => state !== "failed")

/** Cancels an execution whose record no longer fits: replays what fits, and runs its undos. */
export const abandon = (stay: Stay) => {
  const { passing, replay } = stay
  stay.halted = null
  replay.abandon()
  Operations.abandon(stay)
  for (const then of passing.values()) then()
  passing.clear()
  if (replay.at(Replay.cancelPath)?.value !== Replay.abandonedValue) {
    mark(stay, Replay.cancelPath, "cancel", Replay.abandonedValue)
  }
  cancelBody(stay)
}

/** Handles the end of the body: completes the execution, or begins to undo. */
export const conclude = (stay: Stay): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { body, cancelled, history, mainExit: exit, registered, replay } = stay
    if (exit === null) return
    const recordedOutcome = replay.next()
    if (Exit.isSuccess(exit) && !cancelled) {
      const missed = recordedOutcome?.path ?? replay.missed()
      if (missed !== null) return changedFlow(stay, missed, null)
      stay.finished = { _tag: "Completed", result: exit.value }
      return
    }
    // A cancel that arrived during the last step also undoes that step.
    const cause = Exit.isSuccess(exit) ? Cause.interrupt() : exit.cause
    if (!cancelled && !Cause.hasFails(cause)) return haltBody(stay, cause)
    if (recordedOutcome !== undefined && recordedOutcome.path !== Replay.outcomePath) {
      return changedFlow(stay, recordedOutcome.path, null)
    }
    const error = cancelled ? null : yield* body.encodeError(Cause.squash(cause))
    stay.isUndoing = true
    stay.state = "undoing"
    if (recordedOutcome === undefined) mark(stay, Replay.outcomePath, "outcome", { cancelled, error })
    else replay.advance()
    const lost = history.undos.find((undo) => undo.state === "pending" && !registered.has(undo.path))
    if (lost !== undefined) return changedFlow(stay, `${lost.path}/undo`, null)
    const outcome: Outcome = cancelled ? { _tag: "Cancelled" } : { _tag: "Failed", error, cause }
    undoAll(stay, [...stay.undos.values()], () => {
      stay.finished = outcome
      wake(stay)
    })
  }).pipe(Effect.catchCause((cause) => Effect.sync(() => halt(stay, cause))))
