/**
 * What runs durable flows.
 */
import * as Context from "effect/Context"

export class FlowEngine extends Context.Service<
  FlowEngine,
  {
    /** What the engine is made of, for this package alone. */
    readonly parts: Context.Context<never>
  }
>()("@signalbox/flows/FlowEngine") {}
