/**
 * The engine at hand, by its parts.
 */
import * as Effect from "effect/Effect"
import { FlowEngine } from "../../FlowEngine.ts"
import { type Engine, partsOf } from "./Parts.ts"

export const theEngine: Effect.Effect<Engine, never, FlowEngine> = Effect.map(FlowEngine, ({ parts }) => partsOf(parts))
