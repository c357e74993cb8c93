/**
 * Which step of which execution runs: for what a step does that is about its own execution.
 */
import * as Context from "effect/Context"

export interface Attempt {
  readonly executionId: string
  /** Its idempotency scope: the same however often the step is repeated. */
  readonly scope: string
}

/** In the steps of a flow; null elsewhere. */
export const Attempt = Context.Reference<Attempt | null>("@signalbox/flows/Attempt", { defaultValue: () => null })

/** In the bodies of flows: the execution. */
export const ExecutionId = Context.Reference<string>("@signalbox/flows/ExecutionId", { defaultValue: () => "" })
