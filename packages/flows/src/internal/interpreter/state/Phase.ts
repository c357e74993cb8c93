/**
 * How far an execution is on its way to its end. Each move is a function of the phase from which it starts, so there are no others.
 */
import type * as Exit from "effect/Exit"
import type * as Schema from "effect/Schema"
import type { Outcome } from "../Contract.ts"

/** The body runs, or waits. */
export interface Running {
  readonly _tag: "Running"
}
/** The body has ended; its record may have more. */
export interface Ended {
  readonly _tag: "Ended"
  readonly exit: Exit.Exit<Schema.Json, unknown>
}
/** The body has succeeded, and the outcome is to be written. */
export interface Completed {
  readonly _tag: "Completed"
  readonly outcome: Outcome
}
/** The body has failed, or was cancelled: its undos run. */
export interface Undoing {
  readonly _tag: "Undoing"
}
/** The undos have ended, and the outcome is to be written. */
export interface Undone {
  readonly _tag: "Undone"
  readonly outcome: Outcome
}

export type Phase = Running | Ended | Completed | Undoing | Undone

export const running: Running = { _tag: "Running" }

export const end = (_: Running, exit: Exit.Exit<Schema.Json, unknown>): Ended => ({ _tag: "Ended", exit })

export const complete = (_: Ended, result: Schema.Json): Completed => ({
  _tag: "Completed",
  outcome: { _tag: "Completed", result }
})

export const undo = (_: Ended): Undoing => ({ _tag: "Undoing" })

export const undone = (_: Undoing, outcome: Outcome): Undone => ({ _tag: "Undone", outcome })

/** Whether undos have begun: from then on a cancel changes nothing. */
export const isUndoing = ({ _tag }: Phase): boolean => _tag === "Undoing" || _tag === "Undone"

/** Returns the outcome when there is nothing left to do. */
export const outcomeOf = (phase: Phase): Outcome | null =>
  phase._tag === "Completed" || phase._tag === "Undone" ? phase.outcome : null
