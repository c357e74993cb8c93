/**
 * The `FlowStore` over SQL.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FlowStore } from "../FlowStore.ts"
import { Database } from "./Database.ts"
import { Deferreds } from "./Deferreds.ts"
import { Executions } from "./Executions.ts"
import { toJson } from "./Rows.ts"
import { Steps } from "./Steps.ts"
import { Waits } from "./Waits.ts"

/** The repositories, on a `SqlClient`. */
export const layerTables = Layer.mergeAll(Executions.layer, Steps.layer, Deferreds.layer, Waits.layer).pipe(
  Layer.provideMerge(Database.layer)
)

/** The store for an interpreter that records steps and ends itself, because its engine does not. */
export const make = Effect.gen(function* () {
  const executions = yield* Executions
  const steps = yield* Steps
  const waits = yield* Waits
  return FlowStore.of({
    claim: Effect.fnUntraced(function* (id, payload) {
      const there = yield* executions.latest(payload.flow, payload.key)
      if (there !== null && there.generation >= payload.generation) return there
      const made = yield* executions.insert(id, payload, null)
      if (made !== null) return made
      const latest = yield* executions.latest(payload.flow, payload.key)
      if (latest !== null) return latest
      return yield* Effect.die(new Error(`the execution ${id} of ${payload.flow} was not kept: its id is taken`))
    }),
    find: executions.find,
    list: executions.list,
    steps: steps.list,
    recordStep: (execution, step) => steps.insert(execution, { ...step, value: toJson(step.value), cause: null }),
    recordEnd: (execution, { error, failure, result, state }) =>
      state === "running"
        ? Effect.void
        : executions.end(
            execution,
            { state, value: toJson(state === "completed" ? result : error), cause: null, failure },
            true
          ),
    recordWait: waits.insert,
    waits: waits.list,
    endWait: waits.remove
  })
})

/** The store for an engine that keeps its own state in the same rows: what it records needs no second time. */
export const makeRecorded = Effect.map(make, (store) =>
  FlowStore.of({ ...store, recordStep: () => Effect.void, recordEnd: () => Effect.void })
)
