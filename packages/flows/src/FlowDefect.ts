/**
 * The defect of a flow that breaks a rule of flows.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

/**
 * A mistake in the code of a flow or of a step, not a failure that a program handles: a path used twice, a value that does not fit
 * its schema, a result that is too large or secret. The message names it and the remedy, and contains no values.
 */
export class FlowDefect extends TaggedError<FlowDefect>()("FlowDefect", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}
