/**
 * Runs one execution that is in memory, from its claim to its eviction or end: the host of its interpreter is this process.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { Children } from "../body/ChildExecutions.ts"
import type { Gates } from "../body/Pacing.ts"
import type * as Contract from "../interpreter/Contract.ts"
import { haltedBy, nowhere } from "../interpreter/Halts.ts"
import * as Interpreter from "../interpreter/Interpreter.ts"
import type { Journal } from "../journal/Journal.ts"
import { type Execution, type Fence, versionName, type Write } from "../model/Execution.ts"
import type { Restless } from "../model/Restless.ts"
import * as Computing from "../ownership/Computing.ts"
import type { Ownership } from "../ownership/Ownership.ts"
import type { ChildResults } from "./ChildResults.ts"
import type { IncompatibleVersions } from "./IncompatibleVersions.ts"
import type { Metrics } from "./Metrics.ts"
import type { RegisteredFlows } from "./RegisteredFlows.ts"
import * as Unbegun from "./Unbegun.ts"
import * as Unprepared from "./Unprepared.ts"
import * as Unreadable from "./Unreadable.ts"
import type { Watchers } from "./Watchers.ts"

/** What the executions of a process share. */
export interface Process {
  readonly name: string
  readonly journal: Journal["Service"]
  readonly ownership: Ownership["Service"]
  readonly flows: RegisteredFlows
  readonly metrics: Metrics
  readonly watchers: Watchers
  readonly refusals: IncompatibleVersions
  readonly results: ChildResults
  readonly gates: Gates
  readonly restless: Restless
  readonly isCrowded: () => boolean
}

/** An execution that was put into memory. */
interface Activation {
  readonly execution: Execution
  /** Whether it never ran and has no messages, so that its history is empty. */
  readonly isNew: boolean
  /** Called with members of the row that were written. */
  readonly onWrite: (changed: Write["execution"]) => void
  /** Called with a session for each chapter before anything runs. */
  readonly onSession: (session: Contract.Session) => void
}

const endings = ["Completed", "Failed", "Cancelled"] satisfies ReadonlyArray<Contract.Outcome["_tag"]>

/** Whether an execution may have been claimed before it began, or before its deadline. */
const mayBeUnbegun = ({ chapter, deadlineAt, state }: Execution): boolean =>
  state === "queued" || (deadlineAt !== null && chapter === 0)

const makeHost = (
  { gates, isCrowded, journal, metrics, name, ownership, restless, watchers }: Process,
  { execution: { epoch, flow, id }, onWrite }: Activation
) => {
  const fence: Fence = { id, epoch }
  /** The last message that was read. */
  let seen = 0
  const host: Contract.Host = {
    durable: true,
    name,
    process: ownership.self(),
    now: journal.now,
    write: (write) =>
      Effect.map(journal.write(fence, write), (isWritten) => {
        if (!isWritten) return false
        onWrite(write.execution)
        metrics.wrote(flow, write)
        watchers.notify(id)
        return true
      }),
    messages: (after) =>
      Effect.map(journal.messages(id, after), (messages) => {
        seen = messages.at(-1)?.seq ?? seen
        return messages
      }),
    isCrowded,
    within: ownership.within,
    restless,
    outside: (since) =>
      Effect.andThen(
        since === null
          ? Effect.void
          : Effect.logWarning(
              `the body of the execution ${id} of ${flow} computes or waits outside of a step since ` +
                `${new Date(since).toISOString()}: nothing is recorded until it continues; move long work into a step`
            ),
        Computing.store(journal, fence, since)
      ),
    gates
  }
  return { host, lastRead: () => seen }
}

/** Runs the chapters of an execution until one does not continue. */
const runChapters = Effect.fnUntraced(function* (process: Process, activation: Activation, span: Tracer.Span) {
  const { execution, isNew, onSession } = activation
  const { flows, journal, name, ownership, refusals, results } = process
  const { id } = execution
  const flow = flows.get(versionName(execution))
  if (flow === undefined) return
  const { host, lastRead } = makeHost(process, activation)
  if (Unprepared.isUnprepared(execution)) {
    const standing = yield* Unprepared.prepare({ flow, host, journal, onWrite: activation.onWrite }, execution)
    if (standing === "ended") results.ended(id)
    if (standing !== "begins") return
  }
  // Most flows say nothing, and new executions have not.
  const saysNothing = flow.states.length === 0
  const saidBefore = Effect.suspend(() => (saysNothing ? Effect.succeed(null) : journal.saidBefore(id)))
  let history = isNew ? null : yield* journal.history(id)
  if (mayBeUnbegun(execution) && (history?.entries.length ?? 0) === 0) {
    const standing = yield* Unbegun.settle({ journal, host, onQueued: activation.onWrite }, execution)
    if (standing === "ended") results.ended(id)
    if (standing !== "begins") return
  }
  let said = isNew ? null : yield* saidBefore
  for (;;) {
    const current = history?.execution ?? execution
    if (current.epoch !== execution.epoch) return
    const unreadable = Unreadable.of(current, history)
    if (unreadable !== null && history !== null) {
      const ending = Unreadable.cancelled(current, history, yield* journal.now)
      if (ending !== null) {
        yield* Context.get(flow.bodyOf(current, span).context, Children).endAll(id)
        yield* host.write(ending)
        return results.ended(id)
      }
    }
    const outcome: Contract.Outcome =
      unreadable === null
        ? yield* Interpreter.run({
            execution: current,
            history: history ?? { entries: [], undos: [], messages: [], redos: new Map() },
            host,
            said: said ?? undefined,
            body: flow.bodyOf(current, span),
            onSession
          })
        : { _tag: "Halted", cause: Cause.die(unreadable), mine: false, where: nowhere }
    if (outcome._tag === "Halted" && !outcome.mine) {
      const failure = haltedBy(outcome, { host: name, process: host.process })
      const seen = Math.max(lastRead(), current.mail)
      yield* host.write(yield* refusals.refused(ownership.self(), current, failure, seen))
      return
    }
    if (current.failure !== null) yield* refusals.fitted(id)
    if (endings.some((tag) => tag === outcome._tag)) results.ended(id)
    if (outcome._tag !== "Continued") return
    history = yield* journal.history(id)
    said = yield* saidBefore
  }
})

/**
 * Returns the trace of an execution, whose id is that of the execution in all processes; null if that is no trace id.
 */
const traceOf = (id: string): Tracer.ExternalSpan | null => {
  const traceId = id.replaceAll("-", "")
  return /^[\da-f]{32}$/.test(traceId) ? Tracer.externalSpan({ traceId, spanId: traceId.slice(0, 16) }) : null
}

/** Runs an execution until it ends or is evicted from memory, in a span that is linked to the span that submitted it. */
export const run = (process: Process, activation: Activation) =>
  Effect.flatMap(Effect.serviceOption(Tracer.ParentSpan), (submitter) => {
    const { flow, id, version } = activation.execution
    const parent = traceOf(id)
    return Effect.useSpan(
      `flow ${flow}`,
      {
        ...(parent === null ? { root: true } : { parent }),
        attributes: { "flow.version": version, "flow.execution_id": id },
        links: activation.isNew && Option.isSome(submitter) ? [{ span: submitter.value, attributes: {} }] : []
      },
      (span) => runChapters(process, activation, span)
    )
  })
