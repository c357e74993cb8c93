/**
 * The defect of a flow that breaks a rule of flows.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

/**
 * A mistake in the code of a flow or of a step, not a failure that a program handles: a path used twice, a value that does not fit
 * its schema, a result that is too large or secret. The message names it and the remedy, and contains no values.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { FlowDefect } from "@signalbox/flows/FlowDefect"
 *
 * // For the log of a script, which ends with it.
 * export const explained = <A, E, R>(run: Effect.Effect<A, E, R>) =>
 *   Effect.tapDefect(run, (defect) =>
 *     defect instanceof FlowDefect ? Effect.logError(defect.message) : Effect.void
 *   )
 * ```
 */
export class FlowDefect extends TaggedError<FlowDefect>()("FlowDefect", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}
