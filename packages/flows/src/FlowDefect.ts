/**
 * What a flow dies with when it breaks a rule of flows.
 */
import * as Schema from "effect/Schema"

/**
 * A mistake in the code of a flow or of a step, not a failure that a program handles: a path used twice, a value that
 * its schema does not take, a result that is too large or secret. The message says which and what to do; it holds no
 * values.
 */
export class FlowDefect extends Schema.TaggedError<FlowDefect>()("FlowDefect", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}
