/**
 * Undoing what a flow has done when it cannot be finished.
 */
import * as Effect from "effect/Effect"
import type { FlowContext } from "./FlowContext.ts"
import { FlowDefect } from "./FlowDefect.ts"
import { at, Position } from "./internal/Interpreter.ts"

/**
 * Runs the call of a step, or several, and when it has succeeded keeps what undoes it: that runs when the execution
 * fails later or is canceled, the last one first. The steps of an undo get the path of the call and then `undo/...`. An
 * undo that fails is recorded, and keeps neither the others from running nor the execution from its own failure.
 *
 * An undo runs to its end in one go: its pauses are not durable, and it cannot await a signal.
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
  Effect.flatMap(Position, ({ interpreter, prefix }) => {
    let path: string | undefined
    const watched = {
      ...interpreter,
      claim: (claimed: string) => {
        path ??= claimed
        return interpreter.claim(claimed)
      }
    }
    return Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(at({ interpreter: watched, prefix })(call)), (value) =>
        path === undefined
          ? Effect.die(new FlowDefect({ message: "Flow.compensate was given an effect that calls no step" }))
          : interpreter.addUndo(at({ interpreter, prefix: `${path}/undo/` })(Effect.suspend(() => undo(value))))
      )
    )
  })
