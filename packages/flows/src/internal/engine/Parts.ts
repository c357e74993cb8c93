/**
 * What a `FlowEngine` is made of. Its public type does not say, because the modules of effect that it stands on may
 * change.
 */
import * as Context from "effect/Context"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { FlowStore } from "../FlowStore.ts"

export type Parts = WorkflowEngine | FlowStore

/** The names of the workflows that this process can run. */
class Registered extends Context.Service<Registered, Set<string>>()("@signalbox/flows/Registered") {}

/** The parts as an engine holds them. */
export const withRegistered = (parts: Context.Context<Parts>): Context.Context<never> =>
  Context.add(Context.pick(WorkflowEngine, FlowStore)(parts), Registered, new Set()) as Context.Context<never>

/** The parts by name. */
export interface Engine {
  readonly workflows: WorkflowEngine["Service"]
  readonly store: FlowStore["Service"]
  readonly registered: Set<string>
}

/** Those of an engine; `withRegistered` is all that makes one. */
export const partsOf = (held: Context.Context<never>): Engine => {
  const context = held as Context.Context<Parts | Registered>
  return {
    workflows: Context.get(context, WorkflowEngine),
    store: Context.get(context, FlowStore),
    registered: Context.get(context, Registered)
  }
}
