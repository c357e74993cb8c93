/**
 * The engine for one process that owns the tables: what waits is rows only, and one loop looks after all timers.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import type * as Activity from "effect/workflow/Activity"
import type { DurableClock } from "effect/workflow/DurableClock"
import * as Workflow from "effect/workflow/Workflow"
import { type Encoded, makeDeferredState, makeUnsafe, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Schema from "effect/Schema"
import { FlowPayload, StepInfo, workflowName } from "../FlowPayload.ts"
import type { Execution } from "../FlowStore.ts"
import { Database } from "../sql/Database.ts"
import { Deferreds } from "../sql/Deferreds.ts"
import { Executions, type Stored, storedNew } from "../sql/Executions.ts"
import { type JsonExit, outcomeColumns } from "../sql/Rows.ts"
import { stepKey, Steps } from "../sql/Steps.ts"
import { failureOfJson } from "./Failures.ts"
import * as Runs from "./Runs.ts"
import * as Timers from "./Timers.ts"
import * as WorkflowCodec from "./WorkflowCodec.ts"

/** How many executions run at a time that nobody asked for just now: after a start, and when timers are due. */
const unasked = 512

/** Executions read at a time. */
const page = 500

const isFlow = Schema.is(FlowPayload)

/** What is kept of an activity that is no step of a flow. */
const plainStep = (name: string): StepInfo => ({ name, kind: "step", input: null })

/** Its executions are in memory while they run, from the end of this effect to the end of the scope. */
export const make = Effect.gen(function* () {
  const database = yield* Database
  const executions = yield* Executions
  const steps = yield* Steps
  const deferreds = yield* Deferreds
  const scope = yield* Effect.scope
  const workflows = new Map<string, Runs.Registered>()
  const codecs = WorkflowCodec.makeCache()
  const deferredState = makeDeferredState()
  const free = yield* Semaphore.make(unasked)

  /** Callers that wait for the end of an execution, by its id. */
  const waiters = new Map<string, { readonly ended: Deferred.Deferred<void>; count: number }>()
  const ended = (id: string) =>
    Effect.suspend(() => {
      const waiter = waiters.get(id)
      return waiter === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(waiter.ended, undefined))
    })

  const runs = yield* Runs.make({ codecs, deferredState, ended, engine: () => engine, workflows })

  /** Starts an execution once fewer than `unasked` run, and is done then. */
  const startUnasked = (id: string) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        yield* Effect.interruptible(free.take(1))
        const run = yield* runs.start(id)
        yield* Deferred.await(run.done).pipe(Effect.exit, Effect.andThen(free.release(1)), Effect.forkIn(scope))
      })
    )

  /** Runs what was under way when the process before ended, or waited for this registration. */
  const recoverAll = Effect.fnUntraced(function* (workflow: string) {
    let after = ""
    while (true) {
      const ids = yield* executions.active(workflow, after, page)
      for (const id of ids) yield* startUnasked(id)
      const last = ids.at(-1)
      if (last === undefined || ids.length < page) return
      after = last
    }
  })
  const recover = (workflow: string) =>
    recoverAll(workflow).pipe(
      Effect.tapCause((cause) =>
        Effect.logError(`executions of ${workflow} that were under way could not be started`, cause)
      ),
      Effect.forkIn(scope)
    )

  /** A run that has read the deferred, or will, goes on; one that waits for it is run again. */
  const completed = Effect.fnUntraced(function* (id: string, name: string, exit: JsonExit, unaskedFor: boolean) {
    const { kept, phase } = yield* deferreds.finish(id, name, exit)
    const run = runs.live(id)
    if (run === undefined) {
      // Also when it was kept by an attempt whose answer was lost.
      if (phase !== "active") return
      return yield* unaskedFor ? startUnasked(id) : Effect.asVoid(runs.start(id))
    }
    if (!kept) return
    run.deferreds.set(name, exit)
    const awaited = run.pass?.instance.awaitedDeferreds.has(name) === true || run.awaitedByActivities.has(name)
    if (!awaited) {
      run.wakes++
      run.called = true
      return
    }
    yield* runs.woken(id, phase, "automatic")
    const wake = deferredState.deferredDone(id, name)
    const own = yield* Effect.serviceOption(WorkflowInstance)
    // A run cannot wait for its own end, and timers wait for nobody's.
    const wait = !unaskedFor && !(Option.isSome(own) && own.value.executionId === id)
    yield* wait ? wake : Effect.forkIn(wake, scope)
  }, Effect.uninterruptible)

  const open = yield* Latch.make(true)
  const timers = yield* Timers.make(open, ({ execution, name }) => completed(execution, name, Exit.succeed(null), true))

  const interrupt = (how: "safe" | "unsafe") =>
    Effect.fnUntraced(function* (_workflow: Workflow.Any, id: string) {
      const phase = yield* executions.interrupt(id, how)
      if (phase === null) return
      const run = runs.live(id)
      if (run !== undefined) {
        if (run.interrupted !== "unsafe") run.interrupted = how
        if (how === "unsafe") yield* runs.interruptPass(run)
      }
      yield* runs.woken(id, phase, "explicit")
    }, Effect.uninterruptible)

  const record = Effect.fnUntraced(function* (
    run: Runs.Run,
    activity: Activity.Any,
    attempt: number,
    startedAt: number,
    exit: JsonExit
  ) {
    const key = stepKey(activity.name, attempt)
    const info = Context.get(activity.annotations, StepInfo) ?? plainStep(activity.name)
    yield* steps.insert(run.id, {
      ...info,
      ...outcomeColumns(exit),
      path: activity.name,
      attempt,
      state: Exit.isSuccess(exit) ? "succeeded" : "failed",
      failure: Exit.isSuccess(exit) ? null : failureOfJson(exit.cause),
      startedAt,
      endedAt: yield* database.now
    })
    run.steps.set(key, exit)
  })

  /** Makes and starts an execution, unless it is there; answers how it ends or comes to wait. */
  const begin = Effect.fnUntraced(function* (
    workflow: Workflow.Any,
    { detached, executionId: id, parent, payload }: Parameters<Encoded["execute"]>[1]
  ) {
    if (!workflows.has(workflow._tag)) {
      return yield* Effect.die(
        new Error(`the workflow ${workflow._tag} is not registered: provide its layer to the program`)
      )
    }
    let row: Stored | null = null
    if (runs.live(id) === undefined) {
      row = yield* executions.stored(id)
      if (row === null) {
        const json = yield* codecs(workflow).encodePayload(payload)
        const plain = { workflow: workflow._tag, payload: json }
        const of = isFlow(json) && workflowName(json) === workflow._tag ? json : plain
        yield* executions.insert(id, of, parent === undefined || detached === true ? null : parent.executionId)
        row = yield* executions.stored(id)
      }
      const rests = row !== null && (row.state !== "running" || row.phase !== "active")
      if (row !== null && rests && runs.live(id) === undefined) return runs.resultOf(workflow, row)
    }
    return Deferred.await((yield* runs.start(id, row === null ? null : { row, isNew: false })).done)
  })

  const encoded: Encoded = {
    register: Effect.fnUntraced(function* (workflow, execute) {
      const registered = { workflow, execute, context: yield* Effect.context<never>() }
      workflows.set(workflow._tag, registered)
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          if (workflows.get(workflow._tag) !== registered) return Effect.void
          workflows.delete(workflow._tag)
          return runs.stopWorkflow(workflow._tag)
        })
      )
      yield* recover(workflow._tag)
    }),

    // The type of the result depends on `discard`, which the compiler cannot conclude from the value.
    execute: ((workflow, options) =>
      Effect.flatMap(Effect.uninterruptible(begin(workflow, options)), (result) =>
        options.discard ? Effect.void : result
      )) as Encoded["execute"],

    awaitComplete: (_workflow, id) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const waiter = waiters.get(id) ?? { ended: Deferred.makeUnsafe<void>(), count: 0 }
          waiter.count++
          waiters.set(id, waiter)
          return waiter
        }),
        (waiter) =>
          Effect.flatMap(executions.stored(id), (row) =>
            row !== null && row.state !== "running" ? Effect.void : Deferred.await(waiter.ended)
          ),
        (waiter) =>
          Effect.sync(() => {
            waiter.count--
            if (waiter.count === 0) waiters.delete(id)
          })
      ),

    poll: Effect.fnUntraced(function* (workflow, id) {
      const row = yield* executions.stored(id)
      if (row === null || (row.state === "running" && row.phase === "active")) return Option.none()
      return Option.some(yield* runs.resultOf(workflow, row))
    }),

    interrupt: interrupt("safe"),
    interruptUnsafe: interrupt("unsafe"),

    resume: Effect.fnUntraced(function* (_workflow, id) {
      yield* runs.woken(id, yield* executions.wake(id, "explicit"), "explicit")
    }, Effect.uninterruptible),

    activityExecute: Effect.fnUntraced(function* (activity: Activity.Any, attempt: number) {
      const instance = yield* WorkflowInstance
      const run = runs.live(instance.executionId)
      if (run === undefined) return yield* Effect.interrupt
      const recorded = run.steps.get(stepKey(activity.name, attempt))
      if (recorded !== undefined) return new Workflow.Complete({ exit: recorded })
      // Until an interrupt takes effect, the body runs only to register its compensations again.
      if (run.interrupted !== "no" && !instance.interrupted) return new Workflow.Suspended({})
      const startedAt = yield* database.now
      const own = WorkflowInstance.initial(instance.workflow, instance.executionId, {
        awaitedDeferreds: run.awaitedByActivities
      })
      own.interrupted = instance.interrupted
      return yield* Effect.uninterruptibleMask((restore) =>
        restore(activity.executeEncoded.pipe(Workflow.intoResult, Effect.provideService(WorkflowInstance, own))).pipe(
          Effect.tap((result) =>
            result._tag === "Complete" ? record(run, activity, attempt, startedAt, result.exit) : Effect.void
          )
        )
      )
    }),

    deferredResult: Effect.fnUntraced(function* ({ name }) {
      const { executionId } = yield* WorkflowInstance
      return Option.fromUndefinedOr(runs.live(executionId)?.deferreds.get(name))
    }),

    deferredDone: ({ deferredName, executionId, exit }) => completed(executionId, deferredName, exit, false),

    scheduleClock: Effect.fnUntraced(function* (_workflow, options: { executionId: string; clock: DurableClock }) {
      const { clock, executionId } = options
      const { name } = clock.deferred
      const run = runs.live(executionId)
      if (run !== undefined && (run.deferreds.has(name) || run.timers.has(name))) return
      const due = Math.ceil((yield* database.now) + Duration.toMillis(clock.duration))
      yield* deferreds.schedule(executionId, name, Math.min(due, Number.MAX_SAFE_INTEGER))
      run?.timers.add(name)
      yield* timers.announce(due)
    }, Effect.uninterruptible)
  }
  const engine = makeUnsafe(encoded)

  yield* timers.run
  yield* Effect.addFinalizer(() => Effect.andThen(database.giveUp, runs.stopAll("close")))
  return {
    engine,
    begin: (made: Execution) =>
      Effect.suspend(() =>
        workflows.has(workflowName(made))
          ? Effect.asVoid(runs.start(made.id, { row: storedNew(made), isNew: true }))
          : Effect.void
      ),
    recorded: (id: string) => runs.live(id)?.replay ?? null,
    /** Runs nothing until `goOn`: another process may own the tables. */
    pause: Effect.andThen(open.close, runs.stopAll("pause")),
    goOn: Effect.suspend(() =>
      Effect.all([runs.goOn, open.open, Effect.forEach([...workflows.keys()], recover)], { discard: true })
    )
  }
})

export type Embedded = Effect.Success<typeof make>
