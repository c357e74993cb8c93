/**
 * The state machines of a run as data: every move that exists, and when it happens. Tests and docs are generated from
 * these tables; any other move is refused.
 */
import type { BulkOperationState } from "@signalbox/api/contract/BulkOperations"
import type { FailureState } from "@signalbox/api/contract/Failures"
import type { ProcessRunState } from "@signalbox/api/contract/ProcessRuns"
import type { StepRunState } from "@signalbox/api/contract/StepRuns"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"

/** One allowed move of a state machine. */
export interface Move<S extends string> {
  readonly from: S
  readonly to: S
  readonly when: string
}

export const processRunMoves: ReadonlyArray<Move<ProcessRunState>> = [
  { from: "new", to: "in_progress", when: "its first step run starts" },
  { from: "new", to: "completed", when: "nothing is open and no item failed" },
  { from: "new", to: "unresolved", when: "nothing is open and an item failed" },
  { from: "in_progress", to: "completed", when: "nothing is open and no item failed" },
  { from: "in_progress", to: "unresolved", when: "nothing is open and an item failed" },
  { from: "stopping", to: "completed", when: "nothing is open and no item failed" },
  { from: "stopping", to: "unresolved", when: "nothing is open and an item failed" },
  { from: "new", to: "stopping", when: "stop" },
  { from: "in_progress", to: "stopping", when: "stop" },
  { from: "unresolved", to: "in_progress", when: "a failed item is retried" },
  { from: "unresolved", to: "completed", when: "the last failed item is marked done or deleted" }
]

export const stepRunMoves: ReadonlyArray<Move<StepRunState>> = [
  { from: "new", to: "awaiting_worker", when: "the steps before it are done, if it waits for them" },
  { from: "awaiting_worker", to: "in_progress", when: "a worker starts it" },
  { from: "in_progress", to: "completed", when: "the task ended well" },
  {
    from: "in_progress",
    to: "failed",
    when: "the task ended badly, took too long, was terminated, or its worker was lost"
  },
  { from: "new", to: "failed", when: "stop" },
  { from: "awaiting_worker", to: "failed", when: "stop" }
]

export const workItemMoves: ReadonlyArray<Move<WorkItemState>> = [
  { from: "new", to: "pending", when: "a run takes it" },
  { from: "pending", to: "in_progress", when: "its step run starts, or a task reserves it" },
  { from: "in_progress", to: "done", when: "it is released as completed, or its task ended well" },
  { from: "in_progress", to: "failed", when: "it is released as failed, or its task did not end well" },
  { from: "in_progress", to: "pending", when: "it failed and the step retries it" },
  { from: "pending", to: "done", when: "stop, with the rest as done" },
  { from: "pending", to: "failed", when: "stop" },
  { from: "failed", to: "pending", when: "retry" },
  { from: "failed", to: "done", when: "mark as done" }
]

/** What can be paused: a process, a step, a worker or a worker group. A pause ends by hand alone. */
export const pauseMoves: ReadonlyArray<Move<"active" | "paused">> = [
  { from: "active", to: "paused", when: "pause, or too many failures in a row of a process or step" },
  { from: "paused", to: "active", when: "resume" }
]

/** Of a group of failures. Without a row it is open. */
export const failureMoves: ReadonlyArray<Move<FailureState>> = [
  { from: "open", to: "muted", when: "by hand" },
  { from: "open", to: "resolved", when: "by hand, without failed items" },
  { from: "muted", to: "open", when: "by hand, or its time is over" },
  { from: "muted", to: "resolved", when: "by hand, without failed items" },
  { from: "resolved", to: "open", when: "by hand, or an item fails like that again" }
]

export const bulkOperationMoves: ReadonlyArray<Move<BulkOperationState>> = [
  { from: "waiting", to: "in_progress", when: "a node claims it" },
  { from: "waiting", to: "cancelled", when: "cancel" },
  { from: "in_progress", to: "completed", when: "the end of its set is reached" },
  { from: "in_progress", to: "cancelled", when: "cancel; the chunk that is being written counts" }
]

/** Whether a table has a move. */
export const allows = <S extends string>(moves: ReadonlyArray<Move<S>>, from: S, to: S): boolean =>
  moves.some((move) => move.from === from && move.to === to)

/** How an attempt at an item ended, for the outputs that the attempt made. */
export type AttemptEnd =
  | "completed"
  | "succeeded"
  | "failed"
  | "incomplete"
  | "interrupted"
  | "retriedByPolicy"
  | "retriedByHand"
  | "deleted"
  | "markedAsDone"

/**
 * What becomes of the held outputs of an attempt. Outputs are held until their step run ends, however it ends; those
 * that were not dropped before are then passed on.
 */
export const outputMoves: Readonly<
  Record<AttemptEnd, { readonly outputs: "held" | "dropped"; readonly when: string }>
> = {
  completed: { outputs: "held", when: "the item was released as completed" },
  succeeded: { outputs: "held", when: "the item was reserved when its task ended well" },
  failed: { outputs: "held", when: "the task released the item as failed, and the step does not retry it" },
  incomplete: {
    outputs: "dropped",
    when: "the task released the item as failed without its outputs, or the step drops those of failed items"
  },
  interrupted: { outputs: "dropped", when: "the item was reserved when its task did not end well" },
  retriedByPolicy: { outputs: "dropped", when: "it failed and the step retries it" },
  retriedByHand: { outputs: "dropped", when: "retry, before the step run ended" },
  deleted: { outputs: "dropped", when: "delete, before the step run ended" },
  markedAsDone: { outputs: "held", when: "mark as done" }
}
