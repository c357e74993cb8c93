/**
 * The `FlowStore` over SQL.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DurableClock from "effect/workflow/DurableClock"
import { type Execution, FlowStore, type RecordedStep } from "../FlowStore.ts"
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

/**
 * The store for an interpreter that records steps and ends itself, because its engine does not. `made` is done with each
 * execution that is made, before anybody else gets to know it.
 */
export const make = Effect.fnUntraced(function* (made: (execution: Execution) => Effect.Effect<unknown>) {
  const executions = yield* Executions
  const steps = yield* Steps
  const waits = yield* Waits
  const schedules = yield* Schedules
  return FlowStore.of({
    claim: Effect.fnUntraced(function* (id, payload) {
      // Where there is a later generation, there is this one too.
      const inserted = yield* executions.insert(id, payload, null)
      if (inserted !== null) return yield* Effect.as(made(inserted), inserted)
      const latest = yield* executions.latest(payload.flow, payload.key)
      if (latest !== null) return latest
      return yield* Effect.die(new Error(`the execution ${id} of ${payload.flow} was not kept: its id is taken`))
    }),
    find: executions.find,
    list: executions.list,
    steps: steps.list,
    replay: steps.list,
    recordStep: (execution, ended) =>
      Effect.flatMap(ended, (step) => steps.insert(execution, { ...step, value: toJson(step.value), cause: null })),
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

/** What an engine does that keeps its own state in the rows of the store. */
export interface Recording {
  /** Runs an execution that has just been made, so that nothing of it has to be read. */
  readonly begin: (execution: Execution) => Effect.Effect<unknown>
  /** What it has read of the steps of an execution that it runs, null of any other. */
  readonly recorded: (execution: string) => ReadonlyArray<RecordedStep> | null
}

/** The store for an engine that keeps its own state in the same rows: what it records needs no second time. */
export const makeRecorded = Effect.fnUntraced(function* ({ begin, recorded }: Recording) {
  const deferreds = yield* Deferreds
  const store = yield* make(begin)
  return FlowStore.of({
    ...store,
    replay: (execution) =>
      Effect.suspend(() => {
        const known = recorded(execution)
        return known === null ? store.steps(execution) : Effect.succeed(known)
      }),
    recordStep: () => Effect.void,
    recordEnd: () => Effect.void,
    recordTimer: () => Effect.void,
    timers: (execution) =>
      Effect.map(deferreds.set(execution), (set) => set.map(({ due, name }) => ({ path: pathOfTimer(name), due })))
  })
})
