/**
 * Signals and commands for durable executions.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { FlowEngine } from "./FlowEngine.ts"
import { ExecutionConflict, ExecutionNotFound, type InvalidSignal, SignalConflict, StepNotFound } from "./FlowErrors.ts"
import * as Accepting from "./internal/engine/Accepting.ts"
import { type Action, type Command, isOpenTo, recorded, rescheduled, resumed } from "./internal/model/Commands.ts"
import { failedStep, isRecorded, retried } from "./internal/model/Retrying.ts"
import { isUnprepared } from "./internal/engine/Unprepared.ts"
import { asCall } from "./internal/journal/Calling.ts"
import { endAll } from "./internal/body/ChildExecutions.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import { type Change, versionName } from "./internal/model/Execution.ts"
import { messageOf } from "./internal/engine/MessageCheck.ts"
import { type Filter, found, type ListedExecution, stream } from "./ExecutionQueries.ts"
import { changedTimesAt, changedWhenOf, type AnyTimes, type WhenOptions } from "./internal/model/When.ts"
import { runnable } from "./internal/operate/Runnable.ts"

/**
 * Sends a value, as JSON, to a signal or an inbox of an execution, by its name with its key as in `price[a]`. The execution need not
 * wait for it yet. Fails, and records nothing, with `InvalidSignal` when the flow lists no such signal or the value does not fit,
 * with `SignalConflict` when it was sent another value before, with `ExecutionConflict` when the execution has ended, and with
 * `ExecutionNotFound`.
 */
export const signal = Effect.fn("FlowExecutions.signal")(function* (
  execution: string,
  address: string,
  value: Schema.Json,
  options: { readonly id?: string } = {}
): Effect.fn.Return<void, ExecutionNotFound | ExecutionConflict | SignalConflict | InvalidSignal, FlowEngine> {
  const { engine } = yield* engineOf
  const there = yield* found(execution)
  const signals = engine.registered.get(versionName(there))?.signals ?? null
  const message = yield* messageOf(there, signals, { address, value, id: options.id })
  const { outcome } = yield* engine.journal.send(execution, message)
  if (outcome === "absent") return yield* new ExecutionNotFound({ execution })
  if (outcome === "conflict") return yield* new SignalConflict({ execution, signal: address })
  if (outcome === "ended") {
    return yield* Accepting.conflict(there, `the execution ${execution} has ended and accepts no signals`)
  }
  yield* engine.poke(execution)
}, asCall)

// ---- commands

export interface CommandIdentity {
  /**
   * Identifies the command, so that it can be sent again when its response was lost: of an execution, a repeat with the same id is
   * one command, also for the next hundred. Default: a new one.
   */
  readonly id?: string
  /** Who has given it, to be shown. */
  readonly by?: string
}

/** Carries out a command. `reopen` computes the new record of an execution that is made due again, or is moved. */
const carryOut = Effect.fnUntraced(function* <E = never>(
  command: Command,
  execution: string,
  { by, id }: CommandIdentity,
  reopen: Accepting.Order<E>["reopen"] = () => Effect.succeed(recorded)
): Effect.fn.Return<void, ExecutionNotFound | ExecutionConflict | E, FlowEngine> {
  const { engine } = yield* engineOf
  const { journal } = engine
  const now = yield* journal.now
  const order: Accepting.Order<E> = { command, id: id ?? engine.newId(), by: by ?? null, reopen }
  const decided: { action: Action } = { action: "nothing" }
  const changed = yield* journal.change(execution, (locked) =>
    Effect.map(Accepting.decide(order, locked, now), ({ action, change }) => {
      if (action !== null) decided.action = action
      return change
    })
  )
  if (changed === null) return yield* new ExecutionNotFound({ execution })
  const { action } = decided
  if (!["move", "nothing", "send", "withdraw"].includes(action)) engine.metrics.entered(changed.flow, changed.state)
  if (action === "end") yield* engine.drop(execution)
  yield* engine.poke(execution)
}, asCall)

/**
 * Cancels an execution: its waits end, running steps run to their end, no other begins, and its undos run. Callers that wait for it
 * get `FlowCancelled`. Changes nothing when it is already undoing or has ended.
 */
export const cancel = Effect.fn("FlowExecutions.cancel")(function* (
  execution: string,
  options: CommandIdentity = {}
): Effect.fn.Return<void, ExecutionNotFound, FlowEngine> {
  yield* carryOut("cancel", execution, options).pipe(Effect.catchTag("ExecutionConflict", () => Effect.void))
})

/** Ends an execution without undos; a running step may still have its effect. */
export const terminate = Effect.fn("FlowExecutions.terminate")(function* (
  execution: string,
  options: CommandIdentity = {}
): Effect.fn.Return<void, ExecutionNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  yield* carryOut("terminate", execution, options).pipe(Effect.catchTag("ExecutionConflict", () => Effect.void))
  // Also when it had ended already: the process that ended it may have died before this.
  yield* endAll(engine.journal, execution, (child) => Effect.ignore(cancel(child)))
}, asCall)

/**
 * Pauses an execution: running steps run to their end, and no other begins before `resume`, in this process or the next one. It keeps
 * its timers and signals. A halted one is not continued by a deployment then. Fails with `ExecutionConflict` when it has ended, or is
 * being cancelled and its undos do not run yet.
 */
export const suspend = Effect.fn("FlowExecutions.suspend")(function* (
  execution: string,
  options: CommandIdentity = {}
): Effect.fn.Return<void, ExecutionNotFound | ExecutionConflict, FlowEngine> {
  yield* carryOut("suspend", execution, options)
})

export interface ResumeOptions extends CommandIdentity {
  /** Paths of calls whose undo failed and was carried out by hand. */
  readonly skip?: ReadonlyArray<string>
}

/**
 * Continues a halted or suspended execution, with the same idempotency keys, or withdraws a suspend for which a step is still awaited.
 * Failed undos are retried. Fails with `StepNotFound` when `skip` names no failed undo.
 */
export const resume = Effect.fn("FlowExecutions.resume")(function* (
  execution: string,
  options: ResumeOptions = {}
): Effect.fn.Return<void, ExecutionNotFound | ExecutionConflict | StepNotFound, FlowEngine> {
  const { skip = [] } = options
  yield* carryOut("resume", execution, options, (history, now) => {
    const failed = history.undos.filter(({ state }) => state === "failed").map(({ path }) => path)
    const unknown = skip.find((path) => !failed.includes(path))
    if (unknown === undefined) return Effect.succeed(resumed(history, now, skip))
    const instead = failed.length === 0 ? "no undo has failed" : `failed undos are those of ${failed.join(", ")}`
    const message = `skip: the undo of ${unknown} has not failed in the execution ${execution}; ${instead}`
    return Effect.fail(new StepNotFound({ execution, path: unknown, message }))
  })
})

export interface RetryOptions extends CommandIdentity {
  /** The path of a step, or of a group or flow around it; default: the step whose failure ended the execution. */
  readonly from?: string
  /** The version that continues; default: that of the execution. */
  readonly version?: number
}

/**
 * Runs an ended execution again from a step on, as the same execution. Steps that ended before it, and concurrent ones that succeeded,
 * are not repeated. Undone and later steps run again: under new idempotency keys if they had succeeded, else under the same keys, so that
 * a POST whose response was lost is not repeated.
 */
export const retry = Effect.fn("FlowExecutions.retry")(function* (
  execution: string,
  options: RetryOptions = {}
): Effect.fn.Return<void, ExecutionNotFound | ExecutionConflict | StepNotFound, FlowEngine> {
  if (options.version !== undefined) yield* runnable(yield* found(execution), options.version, false)
  yield* carryOut(
    "retry",
    execution,
    options,
    (history, now): Effect.Effect<Change, ExecutionConflict | StepNotFound> => {
      const { from = failedStep(history), version = history.execution.version } = options
      if (from === null) {
        const message = `the execution ${execution} did not end by the failure of a step: name the step to begin with, in from`
        return Effect.fail(Accepting.conflict(history.execution, message))
      }
      if (!isRecorded(history, from)) {
        const message = `from: the execution ${execution} has recorded no step ${from}`
        return Effect.fail(new StepNotFound({ execution, path: from, message }))
      }
      return Effect.succeed(retried(history, from, now, version))
    }
  )
}, asCall)

/** At least one of `at`, `after`, `priority` and `deadline`; the others stay. A deadline counts from now on. */
export type RescheduleOptions = CommandIdentity & WhenOptions

/** What a change of an execution that waits in its queue again, after a `retry`, may not have. */
const ofFirstStart = ["at", "after", "deadline"] as const

const rescheduleAny = Effect.fn("FlowExecutions.reschedule")(function* (
  execution: string,
  options: CommandIdentity & AnyTimes
): Effect.fn.Return<void, ExecutionNotFound | ExecutionConflict, FlowEngine> {
  const when = yield* Effect.sync(() => changedWhenOf("FlowExecutions.reschedule", options))
  const given = ofFirstStart.find((name) => options[name] !== undefined)
  yield* carryOut("reschedule", execution, options, ({ entries, execution: found }, now) => {
    const times = changedTimesAt(when, now)
    const refused = (why: string) =>
      Effect.fail(Accepting.conflict(found, `${given}: the execution ${execution} ${why}`))
    if (given !== undefined && entries.length > 0) {
      return refused("has begun, and is queued again: only its priority can be changed")
    }
    if (times.startsAt !== null && isUnprepared(found)) {
      return refused("was submitted in SQL, and no process has read its input yet: reschedule it when one has")
    }
    return Effect.succeed(rescheduled(found, times, now))
  })
})

/**
 * Changes when an execution starts that has not begun, its priority, or its deadline: of one that starts later, or is queued for a
 * limit. A later start removes it from its queue until then; a time that has passed is now, and what is queued keeps its place. A
 * suspended one stays suspended. Of a retried one in its queue only the priority can be changed.
 *
 * Fails with `ExecutionConflict` when it has begun or has ended. An option that cannot be is a defect (`OptionError`).
 *
 * ```ts
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 *
 * export const tomorrow = (execution: string) =>
 *   FlowExecutions.reschedule(execution, { after: "1 day", by: "ann" })
 *
 * // All that a customer has in the queue, before the others with its keys.
 * export const urgent = FlowExecutions.each(
 *   { flow: "letters", state: "queued", tag: "customer 17" },
 *   "reschedule",
 *   { priority: 10 }
 * )
 * ```
 */
export const reschedule = (
  execution: string,
  options: RescheduleOptions
): Effect.Effect<void, ExecutionNotFound | ExecutionConflict, FlowEngine> => rescheduleAny(execution, options)

export interface CommandOptions extends ResumeOptions, RetryOptions, AnyTimes {}

const commandOf: Readonly<
  Record<Command, (execution: string, options: CommandOptions) => Effect.Effect<void, unknown, FlowEngine>>
> = { cancel, terminate, suspend, resume, retry, reschedule: rescheduleAny }

/** The outcome of a command for many executions. */
export interface Carried {
  /** How many executions it changed. */
  readonly changed: number
  /** How many executions refused it, such as a `retry` of one that did not end by the failure of a step. */
  readonly refused: number
}

/** Returns whether a living process has registered the version of an execution. */
const registeredNow = Effect.gen(function* () {
  const { journal } = (yield* engineOf).engine
  const names = new Set((yield* asCall(journal.processes)).flatMap(({ flows }) => flows.map(versionName)))
  return (execution: ListedExecution) => names.has(versionName(execution))
})

/**
 * Carries out a command for all executions that match and whose state it changes. A `resume` of halts, by their code or time, is
 * refused where no living process has registered the version: these stay halted.
 *
 * ```ts
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 *
 * export const retried = FlowExecutions.each(
 *   { flow: "payments", state: "failed" },
 *   "retry"
 * )
 * // What a deployment has halted continues with the next one.
 * export const continued = FlowExecutions.each(
 *   { halt: FlowExecutions.deploymentHalts },
 *   "resume"
 * )
 * ```
 */
export const each = Effect.fn("FlowExecutions.each")(function* (
  filter: Filter,
  command: Command,
  options: CommandOptions = {}
): Effect.fn.Return<Carried, never, FlowEngine> {
  const isOfHalts = command === "resume" && (filter.halt !== undefined || filter.haltedFrom !== undefined)
  const isRunnable = isOfHalts ? yield* registeredNow : () => true
  const carried = (execution: ListedExecution): Effect.Effect<boolean, never, FlowEngine> =>
    isRunnable(execution)
      ? Effect.match(commandOf[command](execution.id, options), { onSuccess: () => true, onFailure: () => false })
      : Effect.succeed(false)
  return yield* stream(filter).pipe(
    Stream.filter((execution) => isOpenTo(command, execution)),
    Stream.mapEffect(carried, { concurrency: 8 }),
    Stream.runFold(
      (): Carried => ({ changed: 0, refused: 0 }),
      ({ changed, refused }, done) => (done ? { changed: changed + 1, refused } : { changed, refused: refused + 1 })
    )
  )
})
