/**
 * Durable executions from outside: listed, looked at, signalled, ended and run again.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { FlowEngine } from "./FlowEngine.ts"
import { ExecutionConflict, ExecutionNotFound, FlowNotRegistered, StepNotFound } from "./FlowErrors.ts"
import { mermaid } from "./FlowDiagram.ts"
import { start, workflowOf } from "./internal/DurableRun.ts"
import type { Engine } from "./internal/engine/Parts.ts"
import { theEngine } from "./internal/engine/TheEngine.ts"
import { workflowName } from "./internal/FlowPayload.ts"
import type { Execution, ExecutionState, RecordedStep } from "./internal/FlowStore.ts"
import { isBelow } from "./internal/Paths.ts"
import { firstFailed } from "./internal/Replay.ts"
import { completeSignal, openWaits, type OpenWait } from "./internal/Waits.ts"

export type { Execution, ExecutionState, RecordedStep } from "./internal/FlowStore.ts"
export type { OpenWait } from "./internal/Waits.ts"

/** An execution in a list: without its input and its result. */
export interface ListedExecution extends Omit<Execution, "input" | "result" | "error"> {
  /** Whether this program has registered its version. Of one that it has not, nothing runs until it is. */
  readonly registered: boolean
}

export interface Filter {
  readonly flow?: string
  readonly version?: number
  readonly state?: ExecutionState
}

export interface PageOptions extends Filter {
  /** At most so many, 1 to 500; default 100. */
  readonly limit?: number
  /** The id of an execution: give those that began before it. */
  readonly before?: string
}

export interface ExecutionPage {
  readonly executions: ReadonlyArray<ListedExecution>
  /** What `before` is for the next page, null at the end. */
  readonly next: string | null
}

const defaultPage = 100
const largestPage = 500

const isRegistered = ({ registered }: Engine, execution: Execution) => registered.has(workflowName(execution))

const found = Effect.fnUntraced(function* ({ store }: Engine, execution: string) {
  return (yield* store.find(execution)) ?? (yield* new ExecutionNotFound({ execution }))
})

/** An execution by its id. */
export const get = Effect.fn("FlowExecutions.get")(function* (
  execution: string
): Effect.fn.Return<Execution, ExecutionNotFound, FlowEngine> {
  return yield* found(yield* theEngine, execution)
})

/**
 * A page of the executions, those that began last first: of all versions, also of those that this program has not
 * registered. Fails when there is no execution `before`.
 */
export const list = Effect.fn("FlowExecutions.list")(function* (
  options: PageOptions = {}
): Effect.fn.Return<ExecutionPage, ExecutionNotFound, FlowEngine> {
  const engine = yield* theEngine
  const { before, limit = defaultPage, ...filter } = options
  const size = Math.min(Math.max(Math.trunc(limit), 1), largestPage)
  const rows = yield* engine.store.list({
    ...filter,
    ...(before === undefined ? {} : { before: yield* found(engine, before) }),
    limit: size + 1
  })
  const executions = rows.slice(0, size).map((execution): ListedExecution => {
    const { error: _error, input: _input, result: _result, ...listed } = execution
    return { ...listed, registered: isRegistered(engine, execution) }
  })
  return { executions, next: rows.length > size ? (executions.at(-1)?.id ?? null) : null }
})

/**
 * All executions that match, those that began last first, a page at a time.
 *
 * ```ts
 * import * as Stream from "effect/Stream"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 *
 * export const failed = Stream.runCollect(FlowExecutions.stream({ flow: "payments", state: "failed" }))
 * ```
 */
export const stream = (filter: Filter = {}): Stream.Stream<ListedExecution, never, FlowEngine> =>
  Stream.paginate(Option.none<string>(), (before) =>
    list({ ...filter, ...(Option.isNone(before) ? {} : { before: before.value }), limit: largestPage }).pipe(
      // It was in the page before, and executions do not go away.
      Effect.orDie,
      Effect.map(({ executions, next }) => [executions, Option.map(Option.fromNullOr(next), Option.some)] as const)
    )
  )

/** The ended attempts of an execution's steps, in the order of their end. */
export const steps = Effect.fn("FlowExecutions.steps")(function* (
  execution: string
): Effect.fn.Return<ReadonlyArray<RecordedStep>, ExecutionNotFound, FlowEngine> {
  const engine = yield* theEngine
  yield* found(engine, execution)
  return yield* engine.store.steps(execution)
})

/** All that is known of an execution. */
export interface Inspection {
  readonly execution: Execution
  /** Whether this program has registered its version. */
  readonly registered: boolean
  /** The ended attempts of its steps, in the order of their end. */
  readonly steps: ReadonlyArray<RecordedStep>
  /** What it waits for now. */
  readonly waits: ReadonlyArray<OpenWait>
  /** A Mermaid flow chart of the steps. */
  readonly diagram: string
}

/** An execution with its steps, what it waits for, and a diagram. */
export const inspect = Effect.fn("FlowExecutions.inspect")(function* (
  execution: string
): Effect.fn.Return<Inspection, ExecutionNotFound, FlowEngine> {
  const engine = yield* theEngine
  const there = yield* found(engine, execution)
  const steps = yield* engine.store.steps(execution)
  return {
    execution: there,
    registered: isRegistered(engine, there),
    steps,
    waits: there.state === "running" ? yield* openWaits(engine, execution, steps) : [],
    diagram: mermaid(steps)
  }
})

/**
 * Sends a value, as JSON, to the signal that an execution awaits at this path; for tools that do not know its schema, as
 * `Flow.signal` does. One that does not fit the schema ends the execution; `resume` awaits it again. Fails with
 * `StepNotFound` when that signal is not awaited.
 */
export const signal = Effect.fn("FlowExecutions.signal")(function* (
  execution: string,
  path: string,
  value: Schema.Json
): Effect.fn.Return<void, ExecutionNotFound | ExecutionConflict | StepNotFound, FlowEngine> {
  const engine = yield* theEngine
  const there = yield* found(engine, execution)
  if (there.state !== "running") {
    return yield* conflict(there, `the execution ${execution} has ended (${there.state}) and takes no signals`)
  }
  const waits = yield* openWaits(engine, execution, yield* engine.store.steps(execution))
  const awaited = waits.filter((wait) => wait.kind === "signal").map((wait) => wait.path)
  if (!awaited.includes(path)) {
    const instead = awaited.length === 0 ? "no signal" : awaited.join(", ")
    const message = `path: the execution ${execution} awaits no signal ${path}; it awaits ${instead}`
    return yield* new StepNotFound({ execution, path, message })
  }
  yield* completeSignal(engine, there, path, Exit.succeed(value))
})

/**
 * Asks for the end of an execution: the step that runs ends, no other begins, and what the flow compensates is undone.
 * Who waits for the execution gets `FlowCanceled`. One that has ended stays as it is. Of a version that is not registered
 * nothing runs, so it is canceled when that version is registered again.
 */
export const cancel = Effect.fn("FlowExecutions.cancel")(function* (
  execution: string
): Effect.fn.Return<void, ExecutionNotFound, FlowEngine> {
  const engine = yield* theEngine
  const there = yield* found(engine, execution)
  if (there.state === "running") yield* engine.workflows.interrupt(workflowOf(there), execution)
})

const conflict = ({ id, state }: Execution, message: string) => new ExecutionConflict({ execution: id, state, message })

const runAgain = Effect.fnUntraced(function* (engine: Engine, there: Execution, before: string, version: number) {
  const { flow, generation, id: execution, input, key } = there
  if (!engine.registered.has(workflowName({ flow, version }))) {
    return yield* new FlowNotRegistered({ flow, version, execution })
  }
  const id = crypto.randomUUID()
  const next = yield* engine.store.claim(id, {
    flow,
    version,
    key,
    generation: generation + 1,
    input,
    resumes: { execution, before }
  })
  if (next.id !== id) {
    return yield* conflict(there, `the execution ${execution} was run again already: see ${next.id}`)
  }
  return yield* start(engine.workflows, next)
})

/**
 * Lets an execution go on, and gives the id of the one that does: one that has failed or was canceled is run again, as by
 * `retry`; one that is put aside looks once more at what it waits for. Fails when it is completed.
 */
export const resume = Effect.fn("FlowExecutions.resume")(function* (
  execution: string
): Effect.fn.Return<string, ExecutionNotFound | ExecutionConflict | FlowNotRegistered, FlowEngine> {
  const engine = yield* theEngine
  const there = yield* found(engine, execution)
  const { flow, state, version } = there
  if (state === "completed")
    return yield* conflict(there, `the execution ${execution} is completed: retry it from a step`)
  if (state !== "running") {
    const before = firstFailed(yield* engine.store.steps(execution)) ?? ""
    return yield* runAgain(engine, there, before, version)
  }
  if (!isRegistered(engine, there)) return yield* new FlowNotRegistered({ flow, version, execution })
  yield* engine.workflows.resume(workflowOf(there), execution)
  return execution
})

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
): Effect.fn.Return<string, ExecutionNotFound | ExecutionConflict | StepNotFound | FlowNotRegistered, FlowEngine> {
  const engine = yield* theEngine
  const there = yield* found(engine, execution)
  if (there.state === "running") {
    return yield* conflict(there, `the execution ${execution} is under way: cancel it first`)
  }
  const recorded = yield* engine.store.steps(execution)
  const { from, version = there.version } = options
  if (from === undefined && there.state === "completed") {
    return yield* conflict(there, `the execution ${execution} has no failed step: say where to begin, in from`)
  }
  if (from !== undefined && !recorded.some(({ path }) => path === from || isBelow(path, from))) {
    const message = `from: the execution ${execution} has recorded no step ${from}`
    return yield* new StepNotFound({ execution, path: from, message })
  }
  return yield* runAgain(engine, there, from ?? firstFailed(recorded) ?? "", version)
})
