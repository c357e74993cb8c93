/** The failure of work whose lease was lost. */
import { TaggedError } from "@signalbox/transport/Printed"

/** The worker no longer owns the step run: its results are not accepted. */
export class LeaseLost extends TaggedError<LeaseLost>()("LeaseLost", {}) {}
