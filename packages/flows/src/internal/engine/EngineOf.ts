/**
 * The services inside a `FlowEngine`, for this package.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { FlowEngine, type Parts } from "../../FlowEngine.ts"
import { Engine } from "./Engine.ts"
import { RunWatchers } from "./RunWatchers.ts"
import { LocalSchedules } from "./RegisteredSchedules.ts"

interface Inside {
  readonly engine: Engine["Service"]
  readonly watchers: RunWatchers["Service"]
  readonly schedules: LocalSchedules["Service"]
}

export const engineOf: Effect.Effect<Inside, never, FlowEngine> = Effect.map(FlowEngine, ({ parts }) => {
  // `FlowEngine` builds every engine with these services.
  const context = parts as Context.Context<Parts>
  return {
    engine: Context.get(context, Engine),
    watchers: Context.get(context, RunWatchers),
    schedules: Context.get(context, LocalSchedules)
  }
})
