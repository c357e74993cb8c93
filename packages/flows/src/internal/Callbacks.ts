/**
 * Whether a control room tells this program when runs have ended; apart from what receives that, which needs the engine.
 */
import * as Context from "effect/Context"
import type * as Redacted from "effect/Redacted"

export interface FlowCallbacks {
  /** Where `receive` answers: an address that the control room can reach. */
  readonly url: string
  /** Signs what the control room sends; at least 16 characters, and the same after a restart. */
  readonly secret: Redacted.Redacted
}

/**
 * With it, `startRun` asks the control room to call back, and executions that await a run are woken at once. Without it,
 * or when a call is lost, they are woken by asking from time to time.
 */
export const FlowCallbacks = Context.Reference<FlowCallbacks | null>("@signalbox/flows/FlowCallbacks", {
  defaultValue: () => null
})
