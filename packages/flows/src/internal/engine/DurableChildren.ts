/**
 * Children that are executions of an engine.
 */
import * as Effect from "effect/Effect"
import { FlowDefect } from "../../FlowDefect.ts"
import { ExecutionConflict, SignalConflict } from "../../FlowErrors.ts"
import { type Children, endAll } from "../body/ChildExecutions.ts"
import type { EngineParts } from "./Engine.ts"
import { hasEnded } from "../model/Execution.ts"

/** The pause between polls of a child that had ended and was retried. */
const pause = "1 second"

export const make = (engine: EngineParts, cancel: (id: string) => Effect.Effect<void>): Children => {
  const { journal } = engine
  return {
    start: Effect.fnUntraced(function* ({ onParentEnd, run: _run, ...child }) {
      const submitted = engine.submit({ ...child, messages: [] })
      const { id, parent: startedBy } = yield* Effect.catchTag(submitted, ["FlowExpired", "FlowDraining"], Effect.die)
      if (onParentEnd === "cancel" && startedBy === child.parent) {
        // A parent that was terminated in between has ended without this child.
        const parent = yield* journal.find(child.parent)
        if (parent !== null && hasEnded(parent.state)) yield* cancel(id)
      }
      return id
    }),
    find: (flow, key) => Effect.map(journal.findKey(flow, key), (execution) => execution?.id ?? null),
    awaited: (id) =>
      Effect.suspend(() => {
        engine.awaited(id)
        return Effect.map(journal.find(id), (execution) => {
          if (execution === null || hasEnded(execution.state)) engine.wakeWaiting(id)
        })
      }),
    ended: Effect.fnUntraced(function* (id) {
      for (;;) {
        const execution = yield* engine.settled(id)
        if (execution === null) {
          const message = `the execution ${id} is awaited but no longer retained: retain executions for longer than others wait for them`
          return yield* Effect.die(new FlowDefect({ message }))
        }
        if (hasEnded(execution.state)) return execution
        yield* Effect.sleep(pause)
      }
    }),
    send: Effect.fnUntraced(function* (id, message) {
      const { outcome } = yield* journal.send(id, message)
      if (outcome === "conflict") return yield* new SignalConflict({ execution: id, signal: message.name })
      if (outcome === "ended" || outcome === "absent") {
        const { state } = (yield* journal.find(id)) ?? { state: "expired" }
        const text = `the execution ${id} has ended and accepts no signals`
        return yield* new ExecutionConflict({ execution: id, state, message: text })
      }
      yield* engine.poke(id)
    }),
    cancel,
    endAll: (parent) => endAll(journal, parent, cancel)
  }
}
