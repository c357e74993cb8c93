/**
 * The `FlowStore` over SQL.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DurableClock from "effect/workflow/DurableClock"
import { FlowStore } from "../FlowStore.ts"
import { Database } from "./Database.ts"
import { Deferreds } from "./Deferreds.ts"
import { Executions } from "./Executions.ts"
import { toJson } from "./Rows.ts"
import { Schedules } from "./Schedules.ts"
import { Steps } from "./Steps.ts"
import { Waits } from "./Waits.ts"

/** The repositories, on a `SqlClient`. */
export const layerTables = Layer.mergeAll(
  Executions.layer,
  Steps.layer,
  Deferreds.layer,
  Waits.layer,
  Schedules.layer
).pipe(Layer.provideMerge(Database.layer))

/** A timer of an engine that keeps its own elsewhere is a wait, beside one for something outside at the same path. */
const timerKind = "timer"
const timerPath = (path: string) => `${timerKind} ${path}`

/** The store for an interpreter that records steps and ends itself, because its engine does not. */
export const make = Effect.gen(function* () {
  const executions = yield* Executions
  const steps = yield* Steps
  const waits = yield* Waits
  const schedules = yield* Schedules
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
    waitsOf: (execution) => Effect.map(waits.of(execution), (all) => all.filter(({ kind }) => kind !== timerKind)),
    endWait: waits.remove,
    scheduledTo: schedules.to,
    advanceSchedule: schedules.advance,
    recordTimer: (execution, { due, path }) =>
      waits.insert({ execution, path: timerPath(path), kind: timerKind, subject: `${due}` }),
    timers: (execution) =>
      Effect.map(waits.of(execution), (all) =>
        all
          .filter(({ kind }) => kind === timerKind)
          .map(({ path, subject }) => ({ path: path.slice(timerKind.length + 1), due: Number(subject) }))
      )
  })
})

const clockPrefix = DurableClock.make({ name: "", duration: 0 }).deferred.name
const pathOfTimer = (name: string) => (name.startsWith(clockPrefix) ? name.slice(clockPrefix.length) : name)

/** The store for an engine that keeps its own state in the same rows: what it records needs no second time. */
export const makeRecorded = Effect.gen(function* () {
  const deferreds = yield* Deferreds
  return FlowStore.of({
    ...(yield* make),
    recordStep: () => Effect.void,
    recordEnd: () => Effect.void,
    recordTimer: () => Effect.void,
    timers: (execution) =>
      Effect.map(deferreds.set(execution), (set) => set.map(({ due, name }) => ({ path: pathOfTimer(name), due })))
  })
})
