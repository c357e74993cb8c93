/**
 * Where the ids of executions, processes and messages come from: a simulation gives others, so that it can be repeated.
 */
import * as Context from "effect/Context"

export const NewId = Context.Reference<() => string>("@signalbox/flows/NewId", {
  defaultValue: () => () => crypto.randomUUID()
})
