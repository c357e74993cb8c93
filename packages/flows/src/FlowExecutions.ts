/**
 * Durable executions from outside: look, cancel, run again.
 */
import * as Effect from "effect/Effect"
import type { FlowEngine } from "./FlowEngine.ts"
import { ExecutionConflict, ExecutionNotFound, FlowNotRegistered } from "./FlowErrors.ts"
import { start, workflowOf } from "./internal/DurableRun.ts"
import { theEngine } from "./internal/engine/Parts.ts"
import { workflowName } from "./internal/FlowPayload.ts"
import type { Execution, RecordedStep } from "./internal/FlowStore.ts"
import { isBelow } from "./internal/Paths.ts"
import { firstFailed } from "./internal/Replay.ts"

export type { Execution, ExecutionState, RecordedStep } from "./internal/FlowStore.ts"

/** An execution by its id. */
export const get = Effect.fn("FlowExecutions.get")(function* (
  execution: string
): Effect.fn.Return<Execution, ExecutionNotFound, FlowEngine> {
  const { store } = yield* theEngine
  const found = yield* store.find(execution)
  return found ?? (yield* new ExecutionNotFound({ execution }))
})

/** The ended attempts of an execution's steps, in the order of their end. */
export const steps = Effect.fn("FlowExecutions.steps")(function* (
  execution: string
): Effect.fn.Return<ReadonlyArray<RecordedStep>, ExecutionNotFound, FlowEngine> {
  yield* get(execution)
  return yield* (yield* theEngine).store.steps(execution)
})

/**
 * Asks for the end of an execution: the step that runs ends, no other begins, and what the flow compensates is undone.
 * Who waits for the execution gets `FlowCanceled`. One that has ended stays as it is. Of a version that is not registered
 * nothing runs, so it is canceled when that version is registered again.
 */
export const cancel = Effect.fn("FlowExecutions.cancel")(function* (
  execution: string
): Effect.fn.Return<void, ExecutionNotFound, FlowEngine> {
  const found = yield* get(execution)
  const { workflows } = yield* theEngine
  if (found.state === "running") yield* workflows.interrupt(workflowOf(found), execution)
})

const conflict = (execution: string, state: string, message: string) =>
  new ExecutionConflict({ execution, state, message })

/**
 * Runs an ended execution again from a step on, as the next generation of the same flow and key, and gives its id. Steps
 * before that one are taken as they were, and so is what succeeded beside it; a step that was undone is run again, and
 * all that came after it.
 */
export const retry = Effect.fn("FlowExecutions.retry")(function* (
  execution: string,
  options: {
    /** The path of a step, or of what is around it; default: the first step that failed. */
    readonly from?: string
    /** The version that runs; default: that of the execution. */
    readonly version?: number
  } = {}
): Effect.fn.Return<string, ExecutionNotFound | ExecutionConflict | FlowNotRegistered, FlowEngine> {
  const found = yield* get(execution)
  const { registered, store, workflows } = yield* theEngine
  const { flow, input, key, state } = found
  if (state === "running") {
    return yield* conflict(execution, state, `the execution ${execution} is under way: cancel it first`)
  }
  const recorded = yield* store.steps(execution)
  const { from } = options
  if (from === undefined && state === "completed") {
    return yield* conflict(
      execution,
      state,
      `the execution ${execution} has no failed step: say where to begin, in from`
    )
  }
  if (from !== undefined && !recorded.some(({ path }) => path === from || isBelow(path, from))) {
    return yield* conflict(execution, state, `from: the execution ${execution} has recorded no step ${from}`)
  }
  const version = options.version ?? found.version
  if (!registered.has(workflowName({ flow, version })))
    return yield* new FlowNotRegistered({ flow, version, execution })
  const generation = found.generation + 1
  const before = from ?? firstFailed(recorded) ?? ""
  const id = crypto.randomUUID()
  const next = yield* store.claim(id, {
    flow,
    version,
    key,
    generation,
    input,
    resumes: { execution, before }
  })
  if (next.id !== id) {
    return yield* conflict(execution, state, `the execution ${execution} was run again already: see ${next.id}`)
  }
  return yield* start(workflows, next)
})
