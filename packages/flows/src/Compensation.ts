/**
 * Undoing what a flow has done when it cannot be finished.
 */
import * as Effect from "effect/Effect"
import type { FlowContext } from "./FlowContext.ts"
import { Position } from "./internal/Position.ts"

/**
 * Runs the call of a step, or several, and when it has succeeded registers what undoes it: that runs when the execution
 * fails later or is cancelled, the last one first, and at once when the call was in a member of a race that lost. The steps
 * of an undo get the path of the call and then `undo/...`.
 *
 * A call whose first step has begun is brought to its end, so that its undo is known: a cancel, a race, a timeout or a
 * failure beside it takes effect after that, and so does the end of the process. Its waits last as long as they do
 * otherwise, so put what waits long after the call. A call that fails has no undo: give each step its own where the first
 * one must be undone when the second one fails.
 *
 * An undo that fails after its retries keeps the others from nothing; the execution then halts.
 *
 * ```ts
 * import * as Flow from "@signalbox/flows/Flow"
 * import { startRun, stopRun } from "@signalbox/flows/ControlRoomSteps"
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 *
 * export const started = (process: ProcessId) =>
 *   Flow.compensate(startRun({ process, workItems: [] }), (run) => stopRun({ run, reason: "the flow failed" }))
 * ```
 */
export const compensate = <A, E, Context extends FlowContext<unknown>, E2, Context2 extends FlowContext<unknown>>(
  call: Effect.Effect<A, E, Context>,
  undo: (value: A) => Effect.Effect<unknown, E2, Context2>
): Effect.Effect<A, E, Context | Context2> =>
  Effect.flatMap(Position, ({ interpreter, prefix }) => interpreter.compensate(prefix, call, undo))
