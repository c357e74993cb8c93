/**
 * Queries and commands on durable executions: list, inspect, signal, cancel, resume, retry.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { FlowEngine } from "./FlowEngine.ts"
import { ExecutionConflict, ExecutionNotFound, type InvalidSignal, SignalConflict, StepNotFound } from "./FlowErrors.ts"
import type { FlowHistory } from "./FlowHistory.ts"
import { mermaid } from "./FlowDiagram.ts"
import * as Accepting from "./internal/engine/Accepting.ts"
import {
  type Action,
  type Command,
  failedStep,
  isOpenTo,
  isRecorded,
  recorded,
  resumed,
  retried
} from "./internal/model/Commands.ts"
import { executionIn } from "./internal/model/Awaited.ts"
import { asCall } from "./internal/journal/Calling.ts"
import { forked } from "./internal/model/Forking.ts"
import { endAll } from "./internal/body/ChildExecutions.ts"
import * as Computing from "./internal/ownership/Computing.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import { codeIn, haltOf, shown } from "./internal/interpreter/Halts.ts"
import {
  type Change,
  type Entry,
  type Execution,
  hasEnded,
  type Page,
  type Process,
  type State,
  versionName
} from "./internal/model/Execution.ts"
import {
  activitiesOf,
  type Activity,
  type Inspection,
  isMarker,
  pendingOf,
  recentOf,
  remedyOf,
  type StandingStill,
  summaryOf
} from "./internal/operate/Inspection.ts"
import { cancelledBy, cancelPath } from "./internal/model/Replay.ts"
import { historySeen, missingKeyOf, seen, SeesValues } from "./internal/operate/Seeing.ts"
import { messageOf } from "./internal/engine/MessageCheck.ts"
import { nameOf } from "./internal/model/Path.ts"
import type { Codec } from "./internal/model/Values.ts"
import type { Signal } from "./Signals.ts"
import { versionsOf, type VersionStatus } from "./internal/operate/Versions.ts"

export { type Command, commands } from "./internal/model/Commands.ts"
export { deploymentHalts, type Halt } from "./internal/interpreter/Halts.ts"
export type { Activity, Inspection, Pending, RecentCommand, StandingStill } from "./internal/operate/Inspection.ts"
export type { VersionProcess, VersionStatus } from "./internal/operate/Versions.ts"

export {
  type Entry,
  type Execution,
  type QueuePlace,
  type Stalled,
  type State,
  states,
  type StepName,
  type Undo,
  type UnendedState,
  unendedStates
} from "./internal/model/Execution.ts"

/** An execution in a list, without its input and result. */
export interface ListedExecution extends Omit<Execution, "input" | "result" | "error"> {
  /** Whether this program has registered its version. */
  readonly registered: boolean
}

export interface Filter {
  readonly flow?: string
  readonly version?: number
  /** What the flow's `idempotencyKey` returns. */
  readonly key?: string
  /** One state, or any of several. */
  readonly state?: State | ReadonlyArray<State>
  readonly tag?: string
  /** Halted ones with this code, or any of several, such as `deploymentHalts`. */
  readonly halt?: string | ReadonlyArray<string>
  /** Halted ones that halted at this time or later: milliseconds since 1970. */
  readonly haltedFrom?: number
  /** Milliseconds since 1970. */
  readonly startedFrom?: number
  /** Milliseconds since 1970. */
  readonly startedBefore?: number
}

export interface PageOptions extends Filter {
  /** The largest number of executions, 1 to 500; default 100. */
  readonly limit?: number
  /** The id of an execution: the page has those that began before it. */
  readonly before?: string
}

export interface ExecutionPage {
  readonly executions: ReadonlyArray<ListedExecution>
  /** The `before` of the next page, null at the end. */
  readonly next: string | null
}

const defaultPage = 100
const largestPage = 500

const found = Effect.fnUntraced(function* (execution: string) {
  const { engine } = yield* engineOf
  const there = (yield* engine.journal.find(execution)) ?? (yield* new ExecutionNotFound({ execution }))
  return (yield* seen).execution(there)
})

const historyOf = Effect.fnUntraced(function* (execution: string) {
  const { engine } = yield* engineOf
  const there = (yield* engine.journal.history(execution)) ?? (yield* new ExecutionNotFound({ execution }))
  return yield* historySeen(there)
})

/** Says that the reader may not see values. */
const withholding = Effect.map(SeesValues, (sees) => defined({ withheld: sees ? undefined : true }))

/** Returns an execution by its id. Fails with `ExecutionNotFound`. */
export const get = Effect.fn("FlowExecutions.get")(function* (
  execution: string
): Effect.fn.Return<Execution, ExecutionNotFound, FlowEngine> {
  return shown(yield* found(execution))
}, asCall)

const listOf = <A extends string>(one: A | ReadonlyArray<A>): ReadonlyArray<A> =>
  typeof one === "string" ? [one] : one

type Rows = Omit<Page, "limit" | "before">

/** Returns the filter by columns, and the one by the cause of a halt, which is not a column; null: none. */
const conditionsOf = ({ halt, haltedFrom = 0, state, ...filter }: Filter & { readonly haltedFrom?: number }) => {
  const states = state === undefined ? undefined : listOf(state)
  if (halt === undefined && haltedFrom === 0) return { rows: { ...filter, ...defined({ states }) }, matches: null }
  const codes = halt === undefined ? null : listOf(halt)
  const rows: Rows = { ...filter, states: states?.includes("halted") === false ? [] : ["halted"] }
  const matches = ({ changedAt, failure }: Execution) =>
    changedAt >= haltedFrom && (codes === null || (failure !== null && codes.includes(codeIn(failure))))
  return { rows, matches }
}

/** Returns the newest executions that match, at most `size`. */
const matching = Effect.fnUntraced(function* (filter: Filter, before: Execution | undefined, size: number) {
  const { journal } = (yield* engineOf).engine
  const { matches, rows } = conditionsOf(filter)
  const pageAfter = (last: Execution | undefined, limit: number) =>
    asCall(journal.list({ ...rows, ...defined({ before: last }), limit }))
  if (matches === null) return yield* pageAfter(before, size)
  const found: Array<Execution> = []
  let last = before
  do {
    const page = yield* pageAfter(last, largestPage)
    found.push(...page.filter(matches))
    last = page.length < largestPage ? undefined : page.at(-1)
  } while (last !== undefined && found.length < size)
  return found.slice(0, size)
})

/**
 * Returns a page of the executions, the newest first: of all versions, also of those that this program has not registered. Fails
 * with `ExecutionNotFound` when `before` does not exist.
 */
export const list = Effect.fn("FlowExecutions.list")(function* (
  options: PageOptions = {}
): Effect.fn.Return<ExecutionPage, ExecutionNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  const { before, limit = defaultPage, ...filter } = options
  const size = Math.min(Math.max(Math.trunc(limit), 1), largestPage)
  const rows = yield* matching(filter, before === undefined ? undefined : yield* asCall(found(before)), size + 1)
  const reader = yield* seen
  const executions = rows.slice(0, size).map((execution): ListedExecution => {
    const { error: _error, input: _input, result: _result, ...listed } = reader.execution(execution)
    return { ...shown(listed), registered: engine.registered.has(versionName(execution)) }
  })
  return { executions, next: rows.length > size ? (executions.at(-1)?.id ?? null) : null }
})

/**
 * Emits all executions that match, the newest first, and reads them a page at a time.
 *
 * ```ts
 * import * as Stream from "effect/Stream"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 *
 * export const failed = Stream.runCollect(
 *   FlowExecutions.stream({ flow: "payments", state: "failed" })
 * )
 * ```
 */
export const stream = (filter: Filter = {}): Stream.Stream<ListedExecution, never, FlowEngine> =>
  Stream.paginate(Option.none<string>(), (before) =>
    list({ ...filter, ...defined({ before: Option.getOrUndefined(before) }), limit: largestPage }).pipe(
      // The last execution of the previous page is no longer retained, so all older ones are not either.
      Effect.catchTag("ExecutionNotFound", () => Effect.succeed<ExecutionPage>({ executions: [], next: null })),
      Effect.map(({ executions, next }) => [executions, Option.map(Option.fromNullOr(next), Option.some)] as const)
    )
  )

/**
 * Returns the versions of flows that have executions that have not ended, or that a living process has registered: how many
 * executions, since when, and which processes run them. By flow, the newest version first.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 *
 * // The versions whose code can be deleted.
 * export const removable = Effect.map(
 *   FlowExecutions.versions("payments"),
 *   (versions) => versions.filter(({ removable }) => removable)
 * )
 * ```
 */
export const versions = Effect.fn("FlowExecutions.versions")(function* (
  flow?: string
): Effect.fn.Return<ReadonlyArray<VersionStatus>, never, FlowEngine> {
  const { journal } = (yield* engineOf).engine
  return versionsOf(yield* asCall(journal.unendedCounts(flow)), yield* asCall(journal.processes), flow)
})

/** Returns all attempts of an execution's steps, and its waits, in the order in which they began. Fails with `ExecutionNotFound`. */
export const steps = Effect.fn("FlowExecutions.steps")(function* (
  execution: string
): Effect.fn.Return<ReadonlyArray<Entry>, ExecutionNotFound, FlowEngine> {
  return (yield* historyOf(execution)).entries
}, asCall)

/** An execution that waits for a halted one waits for a person. */
const withChild = Effect.fnUntraced(function* (activity: Activity) {
  const { engine } = yield* engineOf
  const id = executionIn(activity.subject)
  const child = id === null ? null : yield* engine.journal.find(id)
  return child?.state === "halted" ? { ...activity, failure: (yield* seen).execution(child).failure } : activity
})

/** Says of a wait for an approval or a request that it is one. */
const withTaken =
  (signals: ReadonlyArray<Signal<Codec>>) =>
  (activity: Activity): Activity => {
    const { kind, subject } = activity
    if ((kind !== "signal" && kind !== "inbox") || subject === null) return activity
    const listed = signals.find(({ name }) => name === nameOf(subject))
    if (listed?.request === undefined) return activity
    return { ...activity, takes: listed.kind === "signal" ? "approval" : "request" }
  }

const stillOf = (owner: Process | undefined): StandingStill | undefined => {
  if (owner?.standing === undefined) return undefined
  const { keeper, millis } = owner.standing
  return { host: owner.host, millis, step: keeper._tag === "Step" ? keeper.step : null }
}

/** Returns what each branch of an execution does or waits for, its undos and its steps. Fails with `ExecutionNotFound`. */
export const inspect = Effect.fn("FlowExecutions.inspect")(function* (
  execution: string
): Effect.fn.Return<Inspection, ExecutionNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  const { journal, registered } = engine
  const history = yield* historyOf(execution)
  const { flow, state, version } = history.execution
  const isRegistered = registered.has(versionName(history.execution))
  const { owner } = history.execution
  const isElsewhere = owner !== null && engine.isShared && !engine.isLive(execution)
  const processes = isRegistered && !isElsewhere ? [] : yield* journal.processes
  const standing = stillOf(processes.find(({ id }) => id === owner))
  const runnable =
    isRegistered ||
    processes.some(({ flows }) => flows.some((known) => known.flow === flow && known.version === version))
  const cancelling =
    !hasEnded(state) &&
    (history.messages.some(({ kind }) => kind === "cancel") ||
      history.entries.some(({ path, value }) => path === cancelPath && cancelledBy(value) === "cancel"))
  const signals = registered.get(versionName(history.execution))?.signals ?? []
  const now = (yield* Effect.forEach(activitiesOf(history), withChild)).map(withTaken(signals))
  const queue = history.execution.queuedAt === null ? null : yield* journal.queuePlace(execution)
  const halt = haltOf(history)
  const computingSince = yield* Computing.sinceOf(journal, history.execution)
  const commands = yield* journal.commands(execution)
  const pending = pendingOf(history, now, commands)
  const known = { pending, history, halt, computingSince, now, cancelling, runnable, queue, standing }
  const steps = history.entries.filter((entry) => !isMarker(entry))
  return {
    execution: shown(history.execution),
    registered: isRegistered,
    summary: summaryOf(known),
    remedy: remedyOf(known),
    now,
    computingSince,
    halt,
    queue,
    undos: history.undos,
    cancelling,
    pending,
    commands: recentOf(history.execution, commands),
    steps,
    ...defined({ standing, unreadable: missingKeyOf(history) }),
    ...(yield* withholding),
    diagram: mermaid(steps)
  }
}, asCall)

/**
 * Returns the record of an execution, discarded entries included, to archive it or to check other code against it: that of its last
 * chapter, and a summary of those that `Flow.continueAs` has ended. Fails with `ExecutionNotFound`.
 */
export const history = Effect.fn("FlowExecutions.history")(function* (
  execution: string
): Effect.fn.Return<FlowHistory, ExecutionNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  const { redos, ...recorded } = yield* historyOf(execution)
  const { aside, chapters } = engine.journal
  return {
    format: 1,
    ...recorded,
    execution: shown(recorded.execution),
    aside: (yield* aside(execution)).map((yield* seen).entry),
    redos: new Map(redos),
    chapters: yield* chapters(execution),
    ...(yield* withholding)
  }
}, asCall)

// ---- signals

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

/** Carries out a command. `reopen` computes the new record of an execution that is made due again. */
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
  if (!["nothing", "send", "withdraw"].includes(action)) engine.metrics.entered(changed.flow, changed.state)
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

/** Fails when no running program has registered this version of the flow; `isNew`: to take new executions. */
const runnable = Effect.fnUntraced(function* (there: Execution, version: number, isNew: boolean) {
  const { engine } = yield* engineOf
  const processes = yield* engine.journal.processes
  const versions = processes
    .flatMap(({ flows }) => flows)
    .filter(({ drain }) => !isNew || drain !== true)
    .flatMap((known) => (known.flow === there.flow ? [known.version] : []))
  if (versions.includes(version)) return
  const known = [...new Set(versions)].sort((one, other) => one - other)
  const instead = known.length === 0 ? "no version of it is" : `registered are ${known.join(", ")}`
  return yield* Accepting.conflict(
    there,
    `version: no running program has registered ${there.flow}, version ${version}; ${instead}`
  )
})

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

export interface ForkOptions {
  /** The path of a recorded step or wait, or of a group or flow around it: the fork runs from there on. */
  readonly from: string
  /** The input, as JSON; default: that of the execution. The recorded results before `from` stay as they are. */
  readonly input?: Schema.Json
  /** The idempotency key; default: that of the execution with `~fork-1`, or the next number. */
  readonly key?: string
}

/** The tag of the forks of an execution. */
const forkOf = (execution: string) => `fork of ${execution}`

/**
 * Creates a new execution of the same flow and version that begins with the recorded results of this one before a step, and runs on
 * from there; returns its id. The execution itself is not changed. Kept are what `retry` keeps, and the signals and messages that had
 * arrived when the step began. The steps of the fork have idempotency keys of its own, so the step and those after it have new effects;
 * when it fails, the undos of results that it has taken over run. It has the tags of the execution, and `fork of` its id.
 *
 * A repeat with the same `key` returns the same fork. Fails with `StepNotFound` when `from` is not recorded, and with
 * `ExecutionConflict` when no living process has registered the version, or the key belongs to another execution.
 *
 * ```ts
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 *
 * export const again = (execution: string) =>
 *   FlowExecutions.fork(execution, { from: "charge" })
 * ```
 */
export const fork = Effect.fn("FlowExecutions.fork")(function* (
  execution: string,
  options: ForkOptions
): Effect.fn.Return<string, ExecutionNotFound | ExecutionConflict | StepNotFound, FlowEngine> {
  return yield* forkHistory(yield* historyOf(execution), options)
}, asCall)

/**
 * Like `fork`, of an exported history, which may be of another database: the new execution is one of this engine.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 * import * as FlowHistory from "@signalbox/flows/FlowHistory"
 *
 * export const here = (exported: unknown) =>
 *   Effect.flatMap(FlowHistory.decode(exported), (history) =>
 *     FlowExecutions.forkHistory(history, { from: "charge" })
 *   )
 * ```
 */
export const forkHistory = Effect.fn("FlowExecutions.forkHistory")(function* (
  { entries, execution: source, messages, undos }: Pick<FlowHistory, "execution" | "entries" | "undos" | "messages">,
  { from, input, key }: ForkOptions
): Effect.fn.Return<string, ExecutionConflict | StepNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  const history = { entries, execution: source, messages, undos, redos: new Map<string, number>() }
  const execution = source.id
  yield* runnable(source, source.version, true)
  if (!isRecorded(history, from)) {
    const message = `from: the execution ${execution} has recorded no step ${from}`
    return yield* new StepNotFound({ execution, path: from, message })
  }
  const { flow, limits, tags, version } = source
  const tag = forkOf(execution)
  const now = yield* engine.journal.now
  const isQueued = limits.length > 0
  for (let number = 1; ; number++) {
    const made = yield* engine.journal.create({
      id: engine.newId(),
      flow,
      version,
      key: key ?? `${source.key}~fork-${number}`,
      input: input === undefined ? source.input : input,
      tags: [...tags.filter((one) => !one.startsWith(forkOf(""))), tag],
      parent: null,
      limits,
      state: isQueued ? "queued" : "waiting",
      owner: null,
      wakeAt: isQueued ? null : now,
      ...forked(history, from)
    })
    if (made._tag === "Created") {
      engine.metrics.entered(flow, made.execution.state)
      yield* engine.poke(made.execution.id)
      return made.execution.id
    }
    if (key === undefined) continue
    if (made._tag === "Existing" && made.execution.tags.includes(tag)) return made.execution.id
    return yield* Accepting.conflict(source, `key: another execution of ${flow} has the key ${JSON.stringify(key)}`)
  }
}, asCall)

export interface CommandOptions extends ResumeOptions, RetryOptions {}

const commandOf: Readonly<
  Record<Command, (execution: string, options: CommandOptions) => Effect.Effect<void, unknown, FlowEngine>>
> = { cancel, terminate, suspend, resume, retry }

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
