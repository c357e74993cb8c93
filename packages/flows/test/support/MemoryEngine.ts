/** The engine in memory of effect, with a store in memory: what the interpreter needs of any engine, and no more. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { withRegistered } from "../../src/internal/engine/Parts.ts"
import { type Execution, FlowStore, type RecordedStep, type Timer, type Wait } from "../../src/internal/FlowStore.ts"

/** A store for as long as the effect's result is held, so that it can outlive an engine. */
export const makeStore = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const executions = new Map<string, Execution>()
  const steps = new Map<string, Array<RecordedStep>>()
  const waits = new Map<string, Wait>()
  const timers = new Map<string, ReadonlyArray<Timer>>()
  const schedules = new Map<string, number>()
  const latest = (flow: string, key: string) =>
    [...executions.values()]
      .filter((one) => one.flow === flow && one.key === key)
      .reduce<Execution | null>((best, one) => (best === null || one.generation > best.generation ? one : best), null)
  const stepsOf = (execution: string) => Effect.sync(() => [...(steps.get(execution) ?? [])])
  return FlowStore.of({
    claim: (id, payload) =>
      Effect.map(clock.currentTimeMillis, (startedAt) => {
        const there = latest(payload.flow, payload.key)
        if (there !== null && there.generation >= payload.generation) return there
        const made: Execution = {
          ...payload,
          id,
          state: "running",
          result: null,
          error: null,
          failure: null,
          startedAt,
          endedAt: null
        }
        executions.set(id, made)
        return made
      }),
    find: (id) => Effect.sync(() => executions.get(id) ?? null),
    list: ({ flow, limit, state }) =>
      Effect.sync(() =>
        [...executions.values()]
          .filter((one) => (flow === undefined || one.flow === flow) && (state === undefined || one.state === state))
          .slice(0, limit)
      ),
    steps: stepsOf,
    replay: stepsOf,
    recordStep: (execution, ended) =>
      Effect.map(ended, (step) => {
        const kept = steps.get(execution) ?? []
        if (!kept.some((one) => one.path === step.path && one.attempt === step.attempt)) kept.push(step)
        steps.set(execution, kept)
      }),
    recordEnd: (id, end) =>
      Effect.map(clock.currentTimeMillis, (endedAt) => {
        const found = executions.get(id)
        if (found?.state === "running") executions.set(id, { ...found, ...end, endedAt })
      }),
    recordWait: (wait) => Effect.sync(() => void waits.set(`${wait.execution} ${wait.path}`, wait)),
    waits: (kind, subject) =>
      Effect.sync(() =>
        [...waits.values()].filter(
          (one) =>
            one.kind === kind &&
            (subject === undefined || one.subject === subject) &&
            executions.get(one.execution)?.state === "running"
        )
      ),
    waitsOf: (execution) => Effect.sync(() => [...waits.values()].filter((one) => one.execution === execution)),
    endWait: (execution, path) => Effect.sync(() => void waits.delete(`${execution} ${path}`)),
    recordTimer: (execution, timer) =>
      Effect.sync(() => {
        const set = timers.get(execution) ?? []
        if (!set.some(({ path }) => path === timer.path)) timers.set(execution, [...set, timer])
      }),
    timers: (execution) => Effect.sync(() => timers.get(execution) ?? []),
    scheduledTo: (schedule, now) =>
      Effect.sync(() => {
        const to = schedules.get(schedule) ?? now
        schedules.set(schedule, to)
        return to
      }),
    advanceSchedule: (schedule, from, to) =>
      Effect.sync(() => {
        if (schedules.get(schedule) !== from) return false
        schedules.set(schedule, to)
        return true
      })
  })
})

/** An engine over a store. The engine begins anew with each build: it has no memory of what the store holds. */
export const layerOf = (store: FlowStore["Service"]): Layer.Layer<FlowEngine> =>
  Layer.effect(
    FlowEngine,
    Effect.map(WorkflowEngine.WorkflowEngine, (engine) =>
      FlowEngine.of({
        parts: withRegistered(Context.make(WorkflowEngine.WorkflowEngine, engine).pipe(Context.add(FlowStore, store)))
      })
    )
  ).pipe(Layer.provide(Layer.fresh(WorkflowEngine.layerMemory)))

export const layer: Layer.Layer<FlowEngine> = Layer.unwrap(Effect.map(makeStore, layerOf))
