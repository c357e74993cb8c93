/** The failure of work whose lease was lost. */
import * as Schema from "effect/Schema"

/** The worker no longer owns the step run: its results are not accepted. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {}) {}
