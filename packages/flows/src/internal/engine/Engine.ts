/**
 * A process that runs executions: those that were submitted to it, and those that it claims when they are due.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import * as Scope from "effect/Scope"
import { hostname } from "node:os"
import { FlowExpired } from "../../FlowErrors.ts"
import type { Signal } from "../../Signals.ts"
import { ofEngine } from "../journal/Calling.ts"
import { NewId } from "../model/Ids.ts"
import * as Accepting from "./Accepting.ts"
import * as Computing from "../ownership/Computing.ts"
import * as Pacing from "../body/Pacing.ts"
import { haltedBy } from "../interpreter/Halts.ts"
import * as Interpreter from "../interpreter/Interpreter.ts"
import type { Body, Host, Outcome, Session } from "../interpreter/Contract.ts"
import {
  type Execution,
  type Fence,
  type FlowVersion,
  hasEnded,
  type Limit,
  type NewExecution,
  versionName
} from "../model/Execution.ts"
import { Journal } from "../journal/Journal.ts"
import * as Metrics from "./Metrics.ts"
import { Ownership } from "../ownership/Ownership.ts"
import * as Queues from "./Queues.ts"
import * as IncompatibleVersions from "./IncompatibleVersions.ts"
import * as Restless from "../model/Restless.ts"
import { inStay } from "./Traces.ts"
import * as Wall from "../model/Wall.ts"
import { makeWaker } from "./ChildResults.ts"
import type { Codec } from "../model/Values.ts"

/** A registered flow. */
export interface Registered extends FlowVersion {
  readonly signals: ReadonlyArray<Signal<Codec>>
  readonly limits: ReadonlyArray<Limit>
  readonly bodyOf: (execution: Pick<Execution, "id" | "input">, span: Tracer.AnySpan) => Body
}

export interface Settings {
  /** The largest number of executions in memory, without parked ones. */
  readonly concurrency: number
}

/** How long an ending process waits for its running steps. */
const graceMillis = 10_000
/** Of that, for the writes of executions none of whose steps runs any more: the database may be away. */
const writingMillis = 3_000
/** How long an ending process waits for the database otherwise. */
const leavingMillis = 1_000
const closingLookMillis = 100
/** When a row is looked for whose creation was not answered: a statement may arrive late. */
const adoptedAfter = ["0 seconds", "30 seconds", "2 minutes"] as const
/** Notifications may be lost, so callers poll after this. */
const longestPauseMillis = 5_000
const shortestPauseMillis = 20
const claimedAtATime = 100
const endings = ["Completed", "Failed", "Cancelled"] satisfies ReadonlyArray<Outcome["_tag"]>

interface Live {
  readonly version: string
  /** The row, as this process last wrote it. */
  row: Execution
  session: Session | null
  /** Whether a message was sent before the session existed. */
  poked: boolean
  /** Whether it was released before the session existed. */
  leaving: boolean
  /** Whether an ending process no longer waits for it. */
  aborted: boolean
  readonly done: Deferred.Deferred<void>
}

/** Whether an execution has ended or is halted, for which callers wait. */
const isOver = ({ state }: Execution): boolean => hasEnded(state) || state === "halted"

export const make = Effect.fnUntraced(function* ({ concurrency }: Settings) {
  const journal = yield* Journal
  const ownership = yield* Ownership
  const scope = yield* Effect.scope
  // A separate scope, so that executions are released before they are interrupted.
  const sessions = yield* Scope.make("parallel")
  const registered = new Map<string, Registered>()
  const live = new Map<string, Live>()
  const metrics = yield* Metrics.make
  /** The waits of callers: completed with the ended execution, or with null when they must read it themselves. */
  const waiters = new Map<string, Set<Deferred.Deferred<Execution | null>>>()
  const gates = Pacing.make()
  const restless = Restless.make()
  const due = Latch.makeUnsafe(true)
  const queues = Queues.make(journal)
  const name = hostname()
  const newId = yield* NewId
  let isEnding = false
  const isOpen = () => !isEnding
  /** Whether more executions are due than fit in memory. */
  let crowded = false

  const flows = () => [...registered.values()].map(({ flow, version }) => ({ flow, version }))
  const look = () => void due.openUnsafe()
  const lookFor = (id: string) => {
    if (ownership.isNear(id)) look()
  }

  const announce = Effect.suspend(() => ownership.announce(flows()))

  const pokeLive = (id: string) => {
    const entry = live.get(id)
    if (entry === undefined) return
    entry.poked = true
    entry.session?.poke()
  }
  const tell = (id: string, row: Execution | null = null) => {
    for (const waiter of Array.from(waiters.get(id) ?? [])) Deferred.doneUnsafe(waiter, Effect.succeed(row))
  }

  /** Those who watch executions. */
  const watchers = new Set<(id: string | null) => void>()
  const changed = (id: string | null) => {
    for (const watcher of watchers) watcher(id)
  }

  const poke = (id: string) =>
    Effect.sync(() => {
      changed(id)
      // An execution in memory, also one that is just being evicted, reads it there, so none is claimed for it.
      if (live.has(id)) return pokeLive(id)
      if (queues.changed()) look()
      else lookFor(id)
      tell(id)
    })
  const waker = makeWaker(journal, poke)
  const refusals = IncompatibleVersions.make(journal, look)

  /** Decides again on commands that no owner will read. */
  const settle = Effect.gen(function* () {
    for (const id of yield* journal.unsettled) {
      const now = yield* journal.now
      yield* journal.change(id, (locked) => Effect.succeed(Accepting.again(locked, now)))
      yield* poke(id)
    }
  })

  const stay = Effect.fnUntraced(function* (execution: Execution, isNew: boolean, entry: Live, span: Tracer.Span) {
    const { id } = execution
    const flow = registered.get(versionName(execution))
    if (flow === undefined) return
    const fence: Fence = { id, epoch: execution.epoch }
    const by = { host: name, process: ownership.self() }
    let seen = 0
    const host: Host = {
      durable: true,
      name,
      process: by.process,
      now: journal.now,
      write: (write) =>
        Effect.map(journal.write(fence, write), (isWritten) => {
          if (!isWritten) return false
          entry.row = { ...entry.row, ...write.execution }
          metrics.wrote(execution.flow, write)
          changed(id)
          return true
        }),
      messages: (after) =>
        Effect.map(journal.messages(id, after), (messages) => {
          seen = messages.at(-1)?.seq ?? seen
          return messages
        }),
      isCrowded: () => crowded,
      within: ownership.within,
      restless,
      outside: (since) =>
        Effect.andThen(
          since === null
            ? Effect.void
            : Effect.logWarning(
                `the body of the execution ${id} of ${execution.flow} computes or waits outside of a step since ` +
                  `${new Date(since).toISOString()}: nothing is recorded until it continues; move long work into a step`
              ),
          Computing.store(journal, fence, since)
        ),
      gates
    }
    let history = isNew ? null : yield* journal.history(id)
    for (;;) {
      const current = history?.execution ?? execution
      if (current.epoch !== execution.epoch) return
      seen = Math.max(seen, current.mail)
      const outcome = yield* Interpreter.run({
        execution: current,
        history: history ?? { entries: [], undos: [], messages: [], redos: new Map() },
        host,
        body: flow.bodyOf(current, span),
        onSession: (session) => {
          entry.session = session
          if (entry.poked) session.poke()
          if (isEnding || entry.leaving) session.close()
        }
      })
      if (outcome._tag === "Halted" && !outcome.mine) {
        const write = yield* refusals.refused(ownership.self(), current, haltedBy(outcome, by), seen)
        yield* journal.write(fence, write)
        changed(id)
        return metrics.wrote(execution.flow, write)
      }
      if (current.failure !== null) yield* refusals.fitted(id)
      if (endings.some((tag) => tag === outcome._tag)) waker.ended(id)
      if (outcome._tag !== "Continued") return
      history = yield* journal.history(id)
    }
  })

  /** Runs a claimed execution until it ends or is evicted from memory. */
  const start = (execution: Execution, isNew: boolean): Effect.Effect<void> =>
    Effect.suspend(() => {
      const entry: Live = {
        version: versionName(execution),
        row: execution,
        session: null,
        poked: false,
        leaving: false,
        aborted: false,
        done: Deferred.makeUnsafe()
      }
      live.set(execution.id, entry)
      metrics.inMemory(live.size)
      const run = inStay(execution, isNew, (span) => stay(execution, isNew, entry, span)).pipe(
        // Another process has claimed it.
        Effect.catchTag("OwnershipLost", () => Effect.sync(() => metrics.lostExecution(execution.flow))),
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logError(`the execution ${execution.id} of ${execution.flow} could not be run`, cause)
        ),
        Effect.ensuring(
          Effect.sync(() => {
            const wasFull = live.size >= concurrency
            // It may have been claimed again.
            if (live.get(execution.id) === entry) live.delete(execution.id)
            metrics.inMemory(live.size)
            Deferred.doneUnsafe(entry.done, Effect.void)
            // It is due again if it has an unread message.
            const isHalted = entry.row.state === "halted"
            tell(execution.id, isHalted ? null : entry.row)
            const mayAdmit = queues.changed(execution.flow)
            // A waiting execution will be due; an ended one leaves room for another.
            if (wasFull || crowded || isHalted || mayAdmit || !isOver(entry.row)) look()
          })
        )
      )
      return Effect.asVoid(Effect.forkIn(ofEngine(run), sessions))
    })

  /** Runs an execution of this process whose creation was not answered, if it was created. */
  const adopt = (id: string) =>
    Effect.forEach(
      adoptedAfter,
      (pause) =>
        Effect.gen(function* () {
          yield* Effect.sleep(pause)
          const found = isOpen() && !live.has(id) ? yield* journal.find(id) : null
          const isMine = found !== null && found.owner === ownership.self() && !hasEnded(found.state)
          if (isMine && !live.has(id)) yield* start(found, false)
        }),
      { discard: true }
    )

  const claimDue = Effect.gen(function* () {
    while (isOpen()) {
      due.closeUnsafe()
      const free = Math.min(concurrency - live.size, claimedAtATime)
      const mine = flows()
      let claimed: ReadonlyArray<Execution> = []
      if (free > 0 && mine.length > 0) {
        const now = yield* journal.now
        claimed = yield* ownership.claim(mine, free)
        for (const execution of claimed) metrics.claimed(execution)
        yield* Effect.forEach(claimed, (execution) => start(execution, false), { discard: true })
        const admitted = yield* queues.admit(ownership.self(), free - claimed.length, now)
        for (const { flow, state } of admitted) metrics.entered(flow, state)
        // An execution that never ran has an empty history.
        yield* Effect.forEach(admitted, (one) => start(one, one.epoch === 1 && one.mail === 0), { discard: true })
        if (claimed.length + admitted.length === free) continue
      }
      const next = mine.length === 0 ? null : yield* ownership.nextDue(mine)
      const first = Math.min(next ?? Infinity, queues.nextAt())
      const now = yield* journal.now
      const millis = first - now
      const wasCrowded = crowded
      crowded = free <= 0 && millis <= 0
      // Executions that become idle later check `crowded` themselves.
      if (crowded && !wasCrowded) for (const { session } of live.values()) session?.crowd()
      // Due executions that were not claimed are being claimed by another process, or do not fit in memory.
      const wait = Math.max(millis, free <= 0 ? Infinity : shortestPauseMillis)
      const pause = Math.min(wait, ownership.longestPauseMillis)
      // A notification may have been lost.
      if (!(yield* Wall.openBefore(due, now + pause, journal.now, now))) queues.changed()
    }
  }).pipe(
    // The loop must survive a failed pass.
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logWarning("due executions could not be claimed, retrying", defect),
        Effect.sleep("1 second")
      )
    ),
    Effect.repeat({ while: isOpen })
  )

  /** Lets running steps end, and releases executions. Returns false when that took too long, such as without the database. */
  const close = Effect.fnUntraced(function* (which: (version: string) => boolean) {
    const entries = [...live.values()].filter(({ aborted, version }) => !aborted && which(version))
    if (entries.length === 0) return true
    for (const { session } of entries) session?.close()
    // Finalizers are uninterruptible by default.
    const all = Effect.interruptible(Effect.forEach(entries, ({ done }) => Deferred.await(done), { discard: true }))
    let idleMillis = 0
    for (let millis = 0; millis < graceMillis && idleMillis < writingMillis; millis += closingLookMillis) {
      if (Option.isSome(yield* Effect.timeoutOption(all, closingLookMillis))) return true
      idleMillis = entries.some(({ session }) => session?.isBusy() === true) ? 0 : idleMillis + closingLookMillis
    }
    for (const entry of entries) {
      entry.aborted = true
      entry.session?.abort()
    }
    return Option.isSome(yield* Effect.timeoutOption(all, leavingMillis))
  })

  /** Runs a statement of an ending process, unless the database is away. */
  const briefly = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.timeoutOption(Effect.interruptible(effect), leavingMillis)

  yield* announce
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isEnding = true
      return Effect.andThen(
        close(() => true),
        // If the database is unavailable, the claims end with the lease.
        Effect.andThen(Scope.close(sessions, Exit.void), briefly(ownership.leave))
      )
    })
  )
  // It serves executions that are being released, too.
  yield* Effect.forkIn(restless.loop, sessions)
  yield* Effect.forkIn(claimDue, scope)
  yield* Effect.forkIn(waker.loop, scope)
  yield* Effect.forkIn(
    ownership.keep({
      flows,
      poke: pokeLive,
      drop: Effect.sync(() => {
        metrics.lostLease()
        for (const { session } of live.values()) session?.abort()
      }),
      freed: () => {
        look()
        queues.changed()
        waker.missed()
      },
      look,
      settle,
      giveBack: (which) => {
        for (const [id, entry] of live) {
          if (!which(id)) continue
          entry.leaving = true
          entry.session?.close()
        }
      }
    }),
    scope
  )
  yield* Effect.forkIn(
    journal.changes((process, id, hasEnded) =>
      Effect.sync(() => {
        changed(id)
        if (process === ownership.self() && id !== null) return pokeLive(id)
        if (process !== null) return
        const entry = id === null ? undefined : live.get(id)
        // Ends of its own executions need no notification.
        const isOther = id === null || (ownership.isShared && entry === undefined)
        if (isOther && queues.changed()) look()
        if (id !== null) {
          if (!hasEnded) lookFor(id)
          // An execution that this process has ended completes its waits itself, with the result.
          return entry !== undefined && isOver(entry.row) ? undefined : tell(id)
        }
        look()
        waker.missed()
        for (const waiting of Array.from(waiters.keys())) tell(waiting)
      })
    ),
    scope
  )

  return {
    journal,
    metrics,
    registered,
    /** Runs executions of this flow while the scope is open. */
    register: Effect.fnUntraced(function* (flow: Registered) {
      registered.set(versionName(flow), flow)
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          if (registered.get(versionName(flow)) !== flow) return Effect.void
          registered.delete(versionName(flow))
          queues.forget(flow)
          // Other processes rely on the registered versions.
          return Effect.flatMap(
            close((version) => version === versionName(flow)),
            (isDone) => (isDone ? Effect.asVoid(briefly(announce)) : Effect.void)
          )
        })
      )
      yield* announce
      yield* Effect.forkScoped(refusals.reopenAll(flow))
      yield* queues.register(flow, flow.limits)
      look()
    }),
    /** Creates an execution, or joins the one with its key; runs it immediately if it fits in memory. */
    submit: Effect.fnUntraced(function* (
      made: Omit<NewExecution, "id" | "owner" | "wakeAt" | "state" | "parent"> & { readonly parent?: string | null }
    ) {
      const isQueued = made.limits.length > 0
      const isMine = !isQueued && registered.has(versionName(made)) && live.size < concurrency && !isEnding
      const now = yield* journal.now
      const id = newId()
      const create = journal.create({
        parent: null,
        ...made,
        id,
        state: isQueued ? "queued" : "running",
        owner: isMine ? ownership.self() : null,
        wakeAt: isQueued ? null : now
      })
      return yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const created = yield* Effect.onError(restore(create), () =>
            isMine ? Effect.forkIn(ofEngine(adopt(id)), scope) : Effect.void
          )
          if (created._tag === "Expired") {
            const { endedAt, id, state } = created.expired
            return yield* new FlowExpired({ execution: id, state, endedAt })
          }
          if (created._tag === "Created") {
            changed(created.execution.id)
            metrics.entered(made.flow, created.execution.state)
            if (isQueued) queues.changed(made.flow)
            if (isMine) yield* start(created.execution, made.messages.length === 0)
            else if (isQueued) look()
            else lookFor(created.execution.id)
          }
          return created.execution
        })
      )
    }),
    /** Waits until an execution has ended or is halted. */
    settled: Effect.fnUntraced(function* (id: string) {
      for (;;) {
        const waiter = Deferred.makeUnsafe<Execution | null>()
        const all = waiters.get(id) ?? new Set()
        waiters.set(id, all.add(waiter))
        const forget = Effect.sync(() => {
          all.delete(waiter)
          if (all.size === 0 && waiters.get(id) === all) waiters.delete(id)
        })
        const found = yield* Effect.gen(function* () {
          // Executions of this process complete their waits themselves.
          if (!live.has(id)) {
            const execution = yield* journal.find(id)
            if (execution === null || isOver(execution)) return execution
          }
          const told = Deferred.await(waiter)
          const row = ownership.isShared
            ? Option.getOrNull(yield* Effect.timeoutOption(told, longestPauseMillis))
            : yield* told
          return row ?? (yield* journal.find(id))
        }).pipe(Effect.ensuring(forget))
        if (found === null || (isOver(found) && !(yield* refusals.reopenedFirst(found)))) return found
      }
    }),
    newId,
    /** Called when this process has sent a message to an execution, or changed it. */
    poke,
    /** Called when a command of this process has ended an execution: interrupts it, and wakes those that wait for it. */
    drop: (id: string) =>
      Effect.sync(() => {
        live.get(id)?.session?.abort()
        waker.ended(id)
        changed(id)
      }),
    /**
     * Calls a function with the id of each execution that changes, while the scope is open; null: any may have. Of executions that
     * other processes run, only their start, their end and what is sent to them.
     */
    watch: (watcher: (id: string | null) => void): Effect.Effect<void, never, Scope.Scope> =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => watchers.add(watcher)),
          () => Effect.sync(() => watchers.delete(watcher))
        )
      ),
    awaited: waker.awaited,
    tellWaiting: waker.ended,
    isLive: (id: string) => live.has(id),
    /** Whether other processes may use the same storage. */
    isShared: ownership.isShared
  }
})

export type EngineParts = Effect.Success<ReturnType<typeof make>>

/** The engine of this program, only for this package. */
export class Engine extends Context.Service<Engine, EngineParts>()("@signalbox/flows/Engine") {}
