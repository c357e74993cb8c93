/**
 * What a `FlowEngine` is made of. Its public type does not say, because the modules of effect that it stands on may
 * change.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { FlowEngine } from "../../FlowEngine.ts"
import { FlowStore } from "../FlowStore.ts"

export type Parts = WorkflowEngine | FlowStore

/** The names of the workflows that this process can run. */
class Registered extends Context.Service<Registered, Set<string>>()("@signalbox/flows/Registered") {}

export const engineOf = (parts: Context.Context<Parts>): FlowEngine["Service"] =>
  FlowEngine.of({ parts: Context.add(parts, Registered, new Set()) as Context.Context<never> })

/** Runs an effect with the parts of the engine. */
export const withParts = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Parts> | FlowEngine> =>
  // `engineOf`, above, is all that makes an engine.
  Effect.flatMap(FlowEngine, ({ parts }) => Effect.provideContext(effect, parts as Context.Context<Parts>))

/** The parts by name. */
export interface Engine {
  readonly workflows: WorkflowEngine["Service"]
  readonly store: FlowStore["Service"]
  readonly registered: Set<string>
}

export const theEngine: Effect.Effect<Engine, never, FlowEngine> = Effect.map(FlowEngine, ({ parts }) => {
  // As above.
  const context = parts as Context.Context<Parts | Registered>
  return {
    workflows: Context.get(context, WorkflowEngine),
    store: Context.get(context, FlowStore),
    registered: Context.get(context, Registered)
  }
})
