/**
 * The executions that run in this process just now. One is in memory from when it is started until it ends, waits or is
 * stopped; what it did is in the tables, and read once for each pass of its body.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Workflow from "effect/workflow/Workflow"
import { type makeDeferredState, WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import { Deferreds } from "../sql/Deferreds.ts"
import { type Ended, Executions, type Interrupted, type Phase, type Stored, type WakeMode } from "../sql/Executions.ts"
import { causeColumn, type JsonExit, outcomeColumns, toCause, toExit } from "../sql/Rows.ts"
import { Steps } from "../sql/Steps.ts"
import type { RecordedStep } from "../FlowStore.ts"
import { failureOfJson } from "./Failures.ts"
import type { WorkflowCodecs } from "./WorkflowCodec.ts"

type Result = Workflow.Result<unknown, unknown>

/** A workflow whose executions can be run. */
export interface Registered {
  readonly workflow: Workflow.Any
  readonly execute: (
    payload: object,
    executionId: string
  ) => Effect.Effect<unknown, unknown, WorkflowInstance | WorkflowEngine>
  /** Of the registration: executions run in it, not in that of whoever woke them. */
  readonly context: Context.Context<never>
}

/** An execution in memory. */
export interface Run {
  readonly id: string
  /** How it left the memory; interrupted when it was stopped. */
  readonly done: Deferred.Deferred<Result>
  /** Null before the first pass. */
  pass: { readonly instance: WorkflowInstance["Service"]; readonly fiber: Fiber.Fiber<Result> } | null
  /** The workflow, null until it is read. */
  workflow: string | null
  /** What its activities wait for, beside what its body waits for. */
  awaitedByActivities: Map<string, number>
  /** What is recorded of its steps when the pass begins. */
  replay: ReadonlyArray<RecordedStep>
  /** How its steps ended, by `stepKey`. */
  steps: Map<string, JsonExit>
  deferreds: Map<string, JsonExit>
  timers: Set<string>
  /** The wakes that this pass knows of: it can wait only if there were no others. */
  wakes: number
  /** It was woken while in memory, since it was last about to wait. */
  called: boolean
  /** Somebody asked for a wake in this pass. */
  resumed: boolean
  interrupted: Interrupted
  /** `pause`: callers try again; `close`: they are interrupted. */
  stopping: "pause" | "close" | null
}

/** What is known of an execution before it is run. */
export interface Known {
  readonly row: Stored
  /** It has just been made: nothing else is recorded of it. */
  readonly isNew: boolean
}

const stronger = (one: Interrupted, other: Interrupted): Interrupted =>
  one === "unsafe" || other === "unsafe" ? "unsafe" : one === "safe" ? one : other

const interruptsOnly = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)

/** How an execution leaves the memory that has neither ended nor waits. */
const left = (run: Run): Effect.Effect<Result> =>
  run.stopping === "pause" ? Effect.succeed(new Workflow.Suspended({})) : Effect.interrupt

/** Runs an effect with this context alone, not with that of whoever starts it. */
const inContext =
  (context: Context.Context<never>) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.updateContext(effect, (_: Context.Context<never>) => context)

const endOf = (exit: JsonExit): Ended => {
  if (Exit.isSuccess(exit)) return { state: "completed", failure: null, ...outcomeColumns(exit) }
  const state = Cause.hasInterruptsOnly(exit.cause) ? "canceled" : "failed"
  return { state, failure: failureOfJson(exit.cause), ...outcomeColumns(exit) }
}

export interface Options {
  readonly engine: () => WorkflowEngine["Service"]
  readonly deferredState: ReturnType<typeof makeDeferredState>
  readonly workflows: ReadonlyMap<string, Registered>
  readonly codecs: WorkflowCodecs
  /** Told of each execution that has ended. */
  readonly ended: (id: string) => Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* ({ codecs, deferredState, ended, engine, workflows }: Options) {
  const executions = yield* Executions
  const steps = yield* Steps
  const deferreds = yield* Deferreds
  const context = yield* Effect.context<never>()
  const live = new Map<string, Run>()
  let stopped: Run["stopping"] = null

  /** What is kept of an execution that does not run, as a result. */
  const resultOf = (workflow: Workflow.Any, row: Stored): Effect.Effect<Result> => {
    if (row.state !== "running") {
      return Effect.map(
        codecs(workflow).decodeExit(toExit(row.state === "completed", row)),
        (exit) => new Workflow.Complete({ exit })
      )
    }
    if (row.phase !== "halted") return Effect.succeed(new Workflow.Suspended({}))
    const cause = row.cause === null ? Cause.empty : toCause(row.cause)
    return Effect.succeed(new Workflow.Suspended({ cause: Cause.die(Cause.squash(cause)), failed: true }))
  }

  const passOf = (run: Run, { context, execute, workflow }: Registered, payload: unknown) => {
    const instance = WorkflowInstance.initial(workflow, run.id)
    const effect = codecs(workflow)
      .decodePayload(payload)
      .pipe(
        Effect.flatMap((decoded) => execute(decoded, run.id)),
        Effect.onExit((exit) => {
          // A safe interrupt takes effect when the run would wait, an unsafe one at once. One that has to come in a stop
          // of the engine is still there at the next start.
          const waits =
            instance.suspended || (Context.get(workflow.annotations, Workflow.SuspendOnFailure) && Exit.isFailure(exit))
          if (run.stopping !== null || run.interrupted === "no" || (run.interrupted === "safe" && !waits))
            return Effect.void
          instance.interrupted = true
          instance.suspended = false
          return Effect.withFiber((fiber) => Effect.interruptible(Fiber.interrupt(fiber)))
        }),
        Workflow.intoResult,
        Effect.provideService(WorkflowEngine, engine()),
        (effect) => deferredState.trackRun(instance, effect),
        inContext(context)
      )
    return { instance, effect }
  }

  const release = ({ instance }: NonNullable<Run["pass"]>) => {
    // Finalizers of the workflow are those of its end; what this pass holds goes now.
    instance.abandoned = true
    return Scope.close(instance.scope, Exit.void)
  }

  const finish = Effect.fnUntraced(function* (
    run: Run,
    workflow: Workflow.Any,
    parent: string | null,
    exit: Exit.Exit<unknown, unknown>
  ) {
    const end = endOf(yield* codecs(workflow).encodeExit(exit))
    const leftovers = end.state !== "completed" || [...run.timers].some((name) => !run.deferreds.has(name))
    if (parent === null) yield* executions.end(run.id, end, leftovers)
    else yield* woken(parent, yield* executions.endAndWake(run.id, end, leftovers, parent), "automatic")
    yield* ended(run.id)
  })

  /** Runs the body once, from what is recorded. Null when it was woken meanwhile and has to be run again. */
  const pass = Effect.fnUntraced(function* (run: Run, entry: Registered, row: Stored): Effect.fn.Return<Result | null> {
    run.awaitedByActivities = new Map()
    const { effect, instance } = passOf(run, entry, row.payload)
    const current = { instance, fiber: yield* Effect.forkChild(effect) }
    run.pass = current
    if (run.stopping !== null) yield* Fiber.interrupt(current.fiber)
    const exit = yield* Fiber.await(current.fiber)
    if (Exit.isSuccess(exit) && exit.value._tag === "Complete") {
      yield* finish(run, entry.workflow, row.parent, exit.value.exit)
      return exit.value
    }
    yield* release(current)
    if (run.stopping !== null) return yield* left(run)
    if (Exit.isFailure(exit) && !(interruptsOnly(exit) && (instance.suspended || run.interrupted === "unsafe"))) {
      yield* finish(run, entry.workflow, row.parent, exit)
      return new Workflow.Complete({ exit })
    }
    const result = Exit.isSuccess(exit) ? exit.value : new Workflow.Suspended({})
    run.called = false
    if (result._tag === "Suspended" && result.failed === true) {
      if (run.resumed) return null
      yield* executions.halt(run.id, causeColumn(result.cause))
      return result
    }
    return (yield* executions.suspend(run.id, run.wakes)) ? result : null
  })

  /** Makes passes until there is nothing more to do now. */
  const residency = Effect.fnUntraced(function* (run: Run, known: Known | null): Effect.fn.Return<Result> {
    let hint = known
    while (true) {
      run.resumed = false
      // Noted from here on by whoever completes one, besides those that are read.
      run.deferreds = new Map()
      const row = hint?.row ?? (yield* executions.stored(run.id))
      const isNew = hint?.isNew === true
      hint = null
      const entry = row === null ? undefined : workflows.get(row.workflow)
      if (row === null || entry === undefined || run.stopping !== null) return yield* left(run)
      run.workflow = row.workflow
      if (row.state !== "running" || row.phase !== "active") return yield* resultOf(entry.workflow, row)
      run.wakes = row.wakes
      run.interrupted = stronger(run.interrupted, row.interrupted)
      if (!isNew) {
        const [recorded, loaded] = yield* Effect.all([steps.recorded(run.id), deferreds.load(run.id)], {
          concurrency: "unbounded"
        })
        run.replay = recorded.steps
        run.steps = recorded.exits
        run.timers = loaded.timers
        for (const [name, exit] of loaded.done) run.deferreds.set(name, exit)
      }
      const result = yield* pass(run, entry, row)
      if (result !== null) return result
    }
  })

  /** The execution in memory, brought there when it is not. `known`: what has just been read of it. */
  const start = (id: string, known: Known | null = null): Effect.Effect<Run> =>
    Effect.suspend(() => {
      const there = live.get(id)
      if (there !== undefined) return Effect.succeed(there)
      const run: Run = {
        id,
        done: Deferred.makeUnsafe(),
        pass: null,
        workflow: null,
        awaitedByActivities: new Map(),
        replay: [],
        steps: new Map(),
        deferreds: new Map(),
        timers: new Set(),
        wakes: 0,
        called: false,
        resumed: false,
        interrupted: "no",
        stopping: stopped
      }
      live.set(id, run)
      return residency(run, known).pipe(
        Effect.tapCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logError(`the execution ${id} could not be run, and is tried again at the next start`, cause)
        ),
        Effect.exit,
        Effect.flatMap((exit) => {
          live.delete(id)
          const done = Effect.asVoid(Deferred.done(run.done, exit))
          // Woken after its row said that it waits, and before it had left.
          return run.called && run.stopping === null ? Effect.andThen(done, Effect.asVoid(start(id))) : done
        }),
        Effect.uninterruptible,
        inContext(context),
        Effect.forkDetach,
        Effect.as(run)
      )
    })

  /** Brings a woken execution to memory. One that is there looks again before it waits. */
  const woken = (id: string, phase: Phase | null, mode: WakeMode): Effect.Effect<void> =>
    Effect.suspend(() => {
      const run = live.get(id)
      if (run !== undefined) {
        run.called = true
        run.resumed ||= mode === "explicit"
        return Effect.void
      }
      return phase === "active" ? Effect.asVoid(start(id)) : Effect.void
    })

  const stop = (how: "pause" | "close") => (run: Run) =>
    Effect.suspend(() => {
      run.stopping = how
      const pass = run.pass
      if (pass !== null) pass.instance.abandoned = true
      const interrupted = pass === null ? Effect.void : Fiber.interrupt(pass.fiber)
      return Effect.andThen(interrupted, Effect.exit(Deferred.await(run.done)))
    })

  const stopWhere = (how: "pause" | "close", which: (run: Run) => boolean) =>
    Effect.suspend(() =>
      Effect.forEach([...live.values()].filter(which), stop(how), { concurrency: "unbounded", discard: true })
    )

  return {
    resultOf,
    start,
    woken,
    /** Ends the pass at hand. */
    interruptPass: (run: Run) =>
      Effect.suspend(() => (run.pass === null ? Effect.void : Fiber.interrupt(run.pass.fiber))),
    live: (id: string): Run | undefined => live.get(id),
    /** Takes the executions of a workflow out of memory; their rows stay as they are. */
    stopWorkflow: (name: string) => stopWhere("close", (run) => run.workflow === name),
    stopAll: (how: "pause" | "close") =>
      Effect.suspend(() => {
        stopped = how
        return stopWhere(how, () => true)
      }),
    /** After a pause. */
    goOn: Effect.sync(() => {
      stopped = null
    })
  }
})

export type Runs = Effect.Success<ReturnType<typeof make>>
