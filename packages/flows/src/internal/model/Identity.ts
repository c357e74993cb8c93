/**
 * The current step and execution, for steps that act on their own execution.
 */
import * as Context from "effect/Context"

export interface Attempt {
  readonly executionId: string
  /** Its idempotency scope: the same for all attempts of the step. */
  readonly scope: string
}

/** The attempt, in the steps of a flow; null elsewhere. */
export const Attempt = Context.Reference<Attempt | null>("@signalbox/flows/Attempt", { defaultValue: () => null })

/** The id of the execution, in the bodies of flows. */
export const ExecutionId = Context.Reference<string>("@signalbox/flows/ExecutionId", { defaultValue: () => "" })
