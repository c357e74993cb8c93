/**
 * Undos of calls, for flows that fail or are cancelled later.
 */
import * as Effect from "effect/Effect"
import type { FlowContext } from "./FlowContext.ts"
import { Position } from "./internal/body/Position.ts"

/**
 * Runs a call of one or several steps, and registers its undo when the call has succeeded. Undos run in reverse order when the
 * execution fails later or is cancelled; those of a member that lost a race run when the race is decided. The steps of an undo get
 * the path of the call and then `undo/...`.
 *
 * A call whose first step has begun runs to its end, so that the undo has its result: a cancel, a race, a timeout or the failure of
 * another branch takes effect after that, and so does the end of the process. That includes its waits, so put long waits after the
 * call. A call that fails has no undo: if its first step must be undone when its second one fails, give each step its own undo.
 *
 * When an undo fails after its retries, the others still run, and then the execution halts.
 *
 * ```ts
 * import * as Flow from "@signalbox/flows/Flow"
 * import { startRun, stopRun } from "@signalbox/flows/ControlRoomSteps"
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 *
 * export const started = (process: ProcessId) =>
 *   Flow.compensate(startRun({ process, workItems: [] }), (run) =>
 *     stopRun({ run, reason: "the flow failed" })
 *   )
 * ```
 */
export const compensate = <A, E, Context extends FlowContext<unknown>, E2, Context2 extends FlowContext<unknown>>(
  call: Effect.Effect<A, E, Context>,
  undo: (value: A) => Effect.Effect<unknown, E2, Context2>
): Effect.Effect<A, E, Context | Context2> =>
  Effect.flatMap(Position, ({ interpreter, prefix }) => interpreter.compensate(prefix, call, undo))
