/**
 * What a `FlowEngine` is made of. Its public type does not say, because the modules of effect that it stands on may
 * change.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { FlowEngine } from "../../FlowEngine.ts"
import type { FlowStore } from "../FlowStore.ts"

export type Parts = WorkflowEngine | FlowStore

export const engineOf = (parts: Context.Context<Parts>): FlowEngine["Service"] =>
  FlowEngine.of({ parts: parts as Context.Context<never> })

/** Runs an effect with the parts of the engine. */
export const withParts = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Parts> | FlowEngine> =>
  // `engineOf`, above, is all that makes an engine.
  Effect.flatMap(FlowEngine, ({ parts }) => Effect.provideContext(effect, parts as Context.Context<Parts>))
