/**
 * The failure of work that a worker may not go on with, because its lease is gone.
 */
import * as Schema from "effect/Schema"

/** The step run is no longer this worker's: nothing that it does counts any more. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {}) {}
