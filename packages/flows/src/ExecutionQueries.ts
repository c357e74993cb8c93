/**
 * Reads durable executions: list, inspect, export.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { FlowEngine } from "./FlowEngine.ts"
import { ExecutionNotFound } from "./FlowErrors.ts"
import type { FlowHistory } from "./FlowHistory.ts"
import { mermaid } from "./FlowDiagram.ts"
import { executionIn } from "./internal/model/Awaited.ts"
import { asCall } from "./internal/journal/Calling.ts"
import * as Computing from "./internal/ownership/Computing.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import { codeIn, haltOf, shown } from "./internal/interpreter/Halts.ts"
import {
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
import { nameOf } from "./internal/model/Path.ts"
import type { Codec } from "./internal/model/Values.ts"
import type { Signal } from "./Signals.ts"
import { versionsOf, type VersionStatus } from "./internal/operate/Versions.ts"

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

/** Returns an execution as its reader may see it. Fails with `ExecutionNotFound`. */
export const found = Effect.fnUntraced(function* (execution: string) {
  const { engine } = yield* engineOf
  const there = (yield* engine.journal.find(execution)) ?? (yield* new ExecutionNotFound({ execution }))
  return (yield* seen).execution(there)
})

/** Like `found`, with its record. */
export const historyOf = Effect.fnUntraced(function* (execution: string) {
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
