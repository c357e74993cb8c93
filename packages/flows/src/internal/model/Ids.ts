/**
 * The source of ids of executions, processes and messages, which a simulation replaces by a reproducible one.
 */
import * as Context from "effect/Context"

export const NewId = Context.Reference<() => string>("@signalbox/flows/NewId", {
  defaultValue: () => () => crypto.randomUUID()
})
