/**
 * Checks recorded executions against the current code.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { FlowDefect } from "./FlowDefect.ts"
import { FlowChanged, FlowHalted } from "./FlowErrors.ts"
import type { FlowHistory } from "./FlowHistory.ts"
import { detailOf } from "./internal/model/Failure.ts"
import { bodyOf } from "./internal/interpreter/Body.ts"
import type { Flow } from "./internal/body/FlowType.ts"
import { codeOf } from "./internal/interpreter/Halts.ts"
import { recordedEnding, replayed } from "./internal/plain/Verify.ts"
import type { Codec } from "./internal/model/Values.ts"

/**
 * Replays an exported history against the current code of a flow, in memory: no step runs, and none of its services is needed.
 * Succeeds when the body takes the recorded path, as far as recorded, and ends as recorded. Fails with `FlowChanged`, which names
 * the recorded step and the one reached instead, and with `FlowHalted` when the body breaks otherwise. A history of another flow
 * or version is a defect.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 * import * as FlowHistory from "@signalbox/flows/FlowHistory"
 *
 * const reminder = Flow.make("reminder", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.String,
 *   error: Schema.Never,
 *   idempotencyKey: (text) => text,
 *   run: (text) => Effect.as(Flow.sleep("a while", "3 days"), text)
 * })
 *
 * export const stillFits = (exported: unknown) =>
 *   Effect.flatMap(FlowHistory.decode(exported), (history) =>
 *     Flow.check(reminder, history)
 *   )
 * ```
 */
export const check = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  { entries, execution, messages, redos, undos, withheld = false }: FlowHistory
): Effect.fn.Return<void, FlowChanged | FlowHalted> {
  if (execution.flow !== flow.name || execution.version !== flow.version) {
    const message = `the history is of ${execution.flow}@${execution.version}, the flow is ${flow.name}@${flow.version}`
    return yield* Effect.die(new FlowDefect({ message }))
  }
  if (withheld) {
    const message = `the history of ${execution.id} has no values: export it with a token that is for \`values\``
    return yield* Effect.die(new FlowDefect({ message }))
  }
  const around = yield* Effect.context<never>()
  // No step runs, so their services are never used.
  const context = around as Context.Context<R>
  const misfit = yield* replayed(
    { execution, entries, undos, messages, redos, durable: true, ending: recordedEnding(execution) },
    bodyOf(flow, context)(execution)
  )
  if (misfit === null) return
  const defect = Cause.squash(misfit.cause)
  if (defect instanceof FlowChanged) return yield* defect
  const { message, tag } = detailOf(misfit.cause)
  return yield* new FlowHalted({ execution: execution.id, tag, message, code: codeOf(misfit.cause, misfit.where) })
})
