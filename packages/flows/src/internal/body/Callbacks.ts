/**
 * The configuration of callbacks of a control room, separate from their receiver, which needs the engine.
 */
import * as Context from "effect/Context"
import type * as Redacted from "effect/Redacted"

export interface FlowCallbacks {
  /** The address of `receive`, which the control room can reach. */
  readonly url: string
  /** The secret that signs callbacks: at least 16 characters, and the same after a restart. */
  readonly secret: Redacted.Redacted
}

/**
 * With it, `startRun` asks the control room for a callback, which wakes the executions that wait for the run. Without it, or when a
 * callback is lost, polling wakes them.
 */
export const FlowCallbacks = Context.Reference<FlowCallbacks | null>("@signalbox/flows/FlowCallbacks", {
  defaultValue: () => null
})
