/**
 * The interpreter: it runs the body of one execution from what is recorded, and records what happens.
 *
 * Whenever the body has come to rest, one thing is taken: the next recorded end, else what has happened meanwhile. When
 * nothing is left to take, everything new is written at once, and only then do the steps begin that were reached.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { FlowChanged, RecordUnreadable, StepCutOff, UndoFailed } from "../FlowErrors.ts"
import { type FlowEvent, FlowEvents, type Failure } from "../FlowEvents.ts"
import { detailOf, failureOf, publishTo } from "./Announce.ts"
import * as Branches from "./Branches.ts"
import * as Calls from "./Calls.ts"
import { Children } from "./Children.ts"
import type { Entry, EntryKind, Execution, History, Message, OwnershipLost, Undo, Write } from "./Journal.ts"
import { at } from "./Position.ts"
import type { Gates } from "./Gates.ts"
import * as Replay from "./Replay.ts"
import * as Timers from "./Timers.ts"

/** What runs an execution: the process, or a script. */
export interface Host {
  /** Whether the execution outlives this process. */
  readonly durable: boolean
  readonly name: string
  readonly now: Effect.Effect<number>
  readonly write: (write: Write) => Effect.Effect<void, OwnershipLost>
  readonly messages: (after: number) => Effect.Effect<ReadonlyArray<Message>>
  /** What spaces the attempts of steps that are tried again by themselves; null: a script, where nothing is. */
  readonly gates: Gates | null
  /** Whether others wait for the memory that an idle execution holds. */
  readonly isCrowded: () => boolean
  /** Given where a record is only replayed: called where something new would begin, with what that is. */
  readonly onEdge?: (reached: ReadonlyArray<string>) => void
}

/** How a stay of an execution in memory ended. */
export type Outcome =
  | { readonly _tag: "Completed"; readonly result: Schema.Json }
  | { readonly _tag: "Failed"; readonly error: Schema.Json; readonly cause: Cause.Cause<unknown> }
  | { readonly _tag: "Cancelled" }
  /** Nothing was undone; a person or a deployment is needed. `mine` is false when another build may be able to go on. */
  | { readonly _tag: "Halted"; readonly cause: Cause.Cause<unknown>; readonly mine: boolean }
  | { readonly _tag: "Suspended" }
  /** It waits, and is in memory no more. */
  | { readonly _tag: "Parked" }
  | { readonly _tag: "Continued"; readonly input: Schema.Json }

/** What the body of an execution is. */
export interface Body {
  /** Returns the result as JSON. */
  readonly run: Effect.Effect<Schema.Json, unknown>
  readonly encodeError: (error: unknown) => Effect.Effect<Schema.Json>
  readonly context: Context.Context<never>
}

/** An execution while it is in memory, for others. */
export interface Session {
  /** A message has arrived. */
  readonly poke: () => void
  /** Others wait for memory: an idle execution leaves it. */
  readonly crowd: () => void
  /** Begins nothing more, lets running steps end, and gives the execution back. */
  readonly close: () => void
  /** Ends running steps at once, and gives the execution back. */
  readonly abort: () => void
  /** Cancels the execution, for a caller that is interrupted. */
  readonly cancel: () => void
}

/** After so long without anything to do, an execution leaves the memory. */
export const parkAfterMillis = 5_000
/** A step that was cut off longer ago than this halts: the keys that protect its POSTs are forgotten after seven days. */
const longestCutOffMillis = Duration.toMillis("156 hours")
const longestWaitMillis = 3_600_000

type End = Calls.End

/** What a branch is parked at: a step or a wait. */
interface Operation {
  readonly spec: Calls.Spec
  readonly branch: Branches.Branch
  entry: Entry
  /** When its first attempt began. */
  firstStartedAt: number
  /** Whether an attempt may have had an effect. */
  hasRun: boolean
  /** A fiber that runs the step. */
  fiber: Fiber.Fiber<unknown, unknown> | null
  /** Whether what it awaited outside has happened. */
  awaited: boolean
}

interface Halted {
  readonly cause: Cause.Cause<unknown>
  readonly mine: boolean
}

interface Undoing extends Undo {
  readonly undo: Branches.Code<unknown, unknown>
  readonly branch: Branches.Branch
  state: Undo["state"]
  failure: Failure | null
}

const isEnd = ({ state }: Entry) => state === "succeeded" || state === "failed"

export interface Options {
  readonly execution: Pick<Execution, "id" | "flow" | "version" | "chapter" | "state" | "mail">
  readonly history: Pick<History, "entries" | "undos" | "messages" | "redos">
  readonly host: Host
  readonly body: Body
  /** Called with the session before anything runs. */
  readonly onSession: (session: Session) => void
}

export const run = Effect.fnUntraced(function* ({ body, execution, history, host, onSession }: Options) {
  const { flow, id, version } = execution
  const events = Context.get(body.context, FlowEvents)
  const publish = publishTo(events)
  const replay = Replay.make(history)
  const changed = Latch.makeUnsafe()
  const operations = new Map<string, Operation>()
  /** Reached, and not yet begun or taken up again. */
  let reached: Array<Operation> = []
  let toLaunch: Array<Operation> = []
  let begunWaits: Array<Effect.Effect<void>> = []
  const ready: Array<() => Effect.Effect<void>> = []
  /** Events of what was cut off, in the order in which that happened. */
  let cutOff: Array<(at: number) => FlowEvent> = []
  const dirty = new Map<string, Entry>()
  const dirtyUndos = new Map<string, Undo>()
  let taken: Array<number> = []
  const undos = new Map<string, Undoing>()
  /** Of the undos that the body has registered, those that are done included. */
  const registered = new Set<string>()
  const recordedUndos = new Map(history.undos.map((undo) => [undo.path, undo]))
  let position = replay.end
  let undoPosition = history.undos.reduce((most, undo) => Math.max(most, undo.position), 0)
  let state = execution.state
  let written: { state: Execution["state"]; wakeAt: number | null | undefined } = { state, wakeAt: undefined }
  let halted: Halted | null = null
  let mainExit: Exit.Exit<Schema.Json, unknown> | null = null
  let finished: Outcome | null = null
  let continued: { readonly input: Schema.Json } | null = null
  /** Whether the whole body was cancelled. */
  let cancelled = false
  /** What goes on once the record is past an undo that is done. */
  const passing = new Map<string, () => void>()
  let isUndoing = false
  let closing: "no" | "suspend" | "close" = "no"
  let aborted = false
  // Those before were taken, or are in the history.
  let seen = execution.mail
  let hasMail = false
  const mail: Array<Message> = []
  const mailbox = Calls.makeMailbox(history)
  let launched = 0
  // Those of before may be set aside.
  let mayHaveChildren =
    execution.chapter > 0 || history.redos.size > 0 || history.entries.some(({ kind }) => kind === "child")
  let now = yield* host.now

  const wake = () => void changed.openUnsafe()
  const halt = (cause: Cause.Cause<unknown>) => {
    const error = Cause.squash(cause)
    halted ??= { cause, mine: !(error instanceof FlowChanged || error instanceof RecordUnreadable) }
    wake()
  }
  const changedFlow = (recorded: string, to: string | null, inputs: FlowChanged["inputs"] = null) =>
    halt(Cause.die(new FlowChanged({ flow, version, execution: id, recorded, reached: to, inputs })))

  const set = (operation: Operation, change: Partial<Entry>) => {
    operation.entry = { ...operation.entry, ...change }
    dirty.set(`${operation.entry.path} ${operation.entry.attempt}`, operation.entry)
  }
  const marker = (path: string, kind: EntryKind, value: Schema.Json): Entry => ({
    ...Calls.newEntry({ path, name: kind, kind, input: null, subject: null }, 0),
    state: "succeeded",
    value,
    begun: ++position,
    ended: position,
    startedAt: now,
    endedAt: now
  })

  const timers = Timers.make<Operation>(
    ({ due, item }) => operations.get(item.spec.path) === item && item.entry.due === due && item.fiber === null
  )

  /** The end of an operation reaches its branch. */
  const deliver = (operation: Operation) => {
    const { branch, entry, spec } = operation
    operations.delete(spec.path)
    if (entry.state === "succeeded") Branches.hasEffect(branch)
    if (spec.numbered !== null && spec.numbered.last !== null && entry.state === "failed") {
      spec.numbered.last.failed = true
    }
    branches.resume(branch, spec.resultOf(entry))
  }

  /** The branch is cancelled: what it is parked at is given up, unless it must come to its end. */
  const cancelOperation = (operation: Operation) => {
    const { branch, entry, fiber, spec } = operation
    // It ends by itself at once.
    if (spec.kind === "patch" && Branches.inBegunRegion(branch)) return
    const mustEnd = Calls.isWork(spec) && Branches.inRegion(branch)
    if (mustEnd && (isEnd(entry) || (operation.hasRun && entry.state !== "interrupted"))) return
    // A cancel lets a step that runs come to its end; whatever loses a race is interrupted.
    const mayEnd = Calls.isWork(spec) && host.durable && cancelled
    if (mayEnd && (isEnd(entry) || (fiber !== null && entry.state === "running"))) return
    operations.delete(spec.path)
    mailbox.close(entry.kind, spec.address, spec.path)
    if (isEnd(entry)) replay.skip(spec.path)
    reached = reached.filter((one) => one !== operation)
    toLaunch = toLaunch.filter((one) => one !== operation)
    if (entry.begun > 0 && (entry.state === "running" || entry.state === "retrying")) {
      set(operation, { state: "interrupted", ended: ++position, endedAt: now, due: null })
      if (operation.hasRun || spec.announced) {
        const failure = failureOf(Cause.interrupt())
        const { attempt, path } = entry
        cutOff.push((at) => ({ _tag: "StepFailed", executionId: id, path, attempt, at, failure }))
      }
    }
    if (fiber !== null) {
      // The execution does not rest before the step has let go of what it holds.
      branches.busy.began()
      fiber.addObserver(() => branches.busy.rested())
      fiber.interruptUnsafe()
    }
    branches.interrupt(branch)
  }

  const park = <A, E>(branch: Branches.Branch, spec: Calls.Spec): Effect.Effect<A, E> =>
    branches.park<A, E>(branch, Calls.isWork(spec) || spec.kind === "patch" ? "step" : "wait", () => {
      const recorded = replay.reach(spec.path)
      const entry = recorded ?? Calls.newEntry(spec, history.redos.get(spec.path) ?? 0)
      const operation: Operation = {
        spec,
        branch,
        entry,
        firstStartedAt: replay.firstStartedAt(spec.path) ?? now,
        hasRun: recorded !== undefined,
        fiber: null,
        awaited: false
      }
      operations.set(spec.path, operation)
      if (recorded !== undefined && (recorded.name !== spec.name || recorded.kind !== spec.kind)) {
        changedFlow(spec.path, `${spec.path} (${spec.kind} ${spec.name})`)
      } else if (recorded === undefined || !isEnd(recorded)) {
        reached.push(operation)
      } else if (!Calls.sameInput(spec, recorded)) {
        changedFlow(spec.path, spec.path, { recorded: recorded.input, reached: spec.input })
      } else if (replay.isDeferred(spec.path)) {
        ready.push(() => Effect.sync(() => (operations.get(spec.path) === operation ? deliver(operation) : undefined)))
      }
      return { cancel: () => cancelOperation(operation) }
    })

  const undoWithin = (losers: ReadonlyArray<Branches.Branch>, done: () => void) => {
    const lost = [...undos.values()].filter(({ branch }) => losers.some((loser) => Branches.isWithin(branch, loser)))
    undoAll(lost, done)
  }

  const branches: Branches.Branches = Branches.make({
    context: body.context,
    interpreterOf: (branch) =>
      Calls.interpreterOf(branch, {
        id,
        chapter: execution.chapter,
        durable: host.durable,
        gates: host.gates,
        replays: host.onEdge !== undefined,
        events,
        isLive: () => replay.next() === undefined && replay.missed() === null,
        recordedAt: replay.at,
        redoOf: (path) => history.redos.get(path) ?? 0,
        park,
        branches: () => branches,
        names,
        isUndo: (prefix) => [...undos.keys()].some((path) => prefix.startsWith(`${path}/undo/`)),
        register: (path, undo) => {
          const recorded = recordedUndos.get(path)
          const undoing: Undoing = {
            path,
            redo: history.redos.get(path) ?? 0,
            state: recorded?.state ?? "pending",
            position: recorded?.position ?? ++undoPosition,
            failure: recorded?.failure ?? null,
            undo,
            branch
          }
          undos.set(path, undoing)
          registered.add(path)
          if (recorded === undefined) dirtyUndos.set(path, undoing)
        },
        continueAs: (input) => {
          continued = { input }
        }
      }),
    onRest: wake,
    onDefect: (_branch, cause) => halt(cause),
    undoWithin
  })
  const names = new Map<string, Calls.Names>()

  /** Undoes the last one first; one that fails does not keep the others from being undone. */
  const undoAll = (list: ReadonlyArray<Undoing>, done: () => void) => {
    const isOpen = (undo: Undoing) => undo.state === "pending" || undo.state === "failed"
    const waiting = list
      .filter((undo) => isOpen(undo) || !replay.isPassed(undo.path))
      .toSorted((one, other) => one.position - other.position)
    const next = () => {
      const undo = waiting.pop()
      if (undo === undefined) {
        const paths = list.filter((one) => one.state === "failed").map(({ path }) => path)
        if (paths.length === 0) return done()
        const failed = new UndoFailed({ execution: id, paths })
        if (host.durable) return halt(Cause.die(failed))
        // A script is over: nobody can resume it.
        ready.push(() => Effect.logWarning(failed.message))
        return done()
      }
      if (!isOpen(undo)) {
        if (replay.isPassed(undo.path)) return next()
        passing.set(undo.path, next)
        return
      }
      branches.start(null, `${undo.path}/undo/`, undo.undo, (exit) => {
        if (halted !== null) return
        undo.state = Exit.isSuccess(exit) ? "done" : "failed"
        undo.failure = Exit.isSuccess(exit) ? null : detailOf(exit.cause)
        const { branch: _branch, undo: _undo, ...row } = undo
        dirtyUndos.set(undo.path, row)
        if (undo.state === "done") undos.delete(undo.path)
        next()
      })
    }
    next()
  }

  const main = branches.start(
    null,
    "",
    (position) => at(position)(body.run),
    (exit) => {
      // The types of the body are those of its run.
      mainExit = exit as Exit.Exit<Schema.Json, unknown>
    }
  )

  // ---- what happens outside of the body

  const attemptEnded = (operation: Operation, end: End): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { entry, spec } = operation
      operation.fiber = null
      launched--
      if (operations.get(spec.path) !== operation) return
      const fields = (at: number) => ({ executionId: id, path: spec.path, attempt: entry.attempt, at })
      switch (end._tag) {
        case "Succeeded": {
          set(operation, { state: "succeeded", value: end.json, failure: null, ended: ++position, endedAt: now })
          yield* publish((at) => ({ _tag: "StepSucceeded", ...fields(at) }))
          break
        }
        case "Failed": {
          const retried = end.retryMillis
          set(operation, {
            state: retried === null ? "failed" : "retrying",
            value: end.json,
            failure: detailOf(end.cause),
            ended: retried === null ? ++position : null,
            endedAt: now,
            due: retried === null ? null : Math.ceil(now + retried)
          })
          const failure = failureOf(end.cause)
          yield* publish((at) =>
            retried === null
              ? { _tag: "StepFailed", ...fields(at), failure }
              : { _tag: "StepRetrying", ...fields(at), failure, delayMillis: retried }
          )
          if (retried !== null) timers.add(operation.entry.due ?? now, operation)
          break
        }
        case "Died": {
          set(operation, { state: "retrying", failure: detailOf(end.cause), endedAt: now, due: null })
          yield* publish((at) => ({ _tag: "StepFailed", ...fields(at), failure: failureOf(end.cause) }))
          halt(end.cause)
        }
      }
      if (isEnd(operation.entry) && halted === null && closing === "no") deliver(operation)
    })

  const launch = (operation: Operation) => {
    const { entry, spec } = operation
    launched++
    operation.hasRun = true
    const attempt = spec.attempt({
      attempt: entry.attempt,
      awaited: operation.awaited,
      elapsedMillis: () => now - operation.firstStartedAt
    })
    const fiber = Effect.runForkWith(body.context)(attempt)
    operation.fiber = fiber
    fiber.addObserver((exit) => {
      const end: End = Exit.isSuccess(exit) ? exit.value : { _tag: "Died", cause: exit.cause }
      ready.push(() => attemptEnded(operation, end))
      wake()
    })
  }

  const begin = (operation: Operation, attempt: number) => {
    const { spec } = operation
    if (spec.kind === "child") mayHaveChildren = true
    set(operation, {
      attempt,
      state: "running",
      value: null,
      failure: null,
      begun: ++position,
      ended: null,
      startedAt: now,
      endedAt: null,
      due:
        spec.dueMillis === null || attempt > 1
          ? null
          : Math.min(Math.ceil(now + spec.dueMillis), Number.MAX_SAFE_INTEGER),
      host: Calls.isWork(spec) || spec.kind === "run" ? host.name : null
    })
  }

  /** Begins what was reached, or takes it up where it was. */
  const takeUp = (operation: Operation): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { entry, spec } = operation
      const isNew = entry.begun === 0
      if (isNew) begin(operation, 1)
      else if (entry.state === "retrying" && (entry.due === null || entry.due <= now))
        begin(operation, entry.attempt + 1)
      const { due, startedAt } = operation.entry
      if (due !== null) timers.add(due, operation)
      if (operation.entry.state === "retrying") return Effect.void
      if (Calls.isWork(spec)) {
        if (!isNew && operation.entry === entry) {
          const refused = !spec.repeatable || (spec.kind === "step" && now - startedAt > longestCutOffMillis)
          if (refused) {
            return Effect.sync(() =>
              halt(
                Cause.die(new StepCutOff({ execution: id, path: spec.path, repeatable: spec.repeatable, startedAt }))
              )
            )
          }
          if (entry.host !== host.name) set(operation, { host: host.name })
        }
        toLaunch.push(operation)
        return Effect.void
      }
      if (spec.kind === "run" && operation.entry.attempt > 1) {
        operation.awaited = true
        toLaunch.push(operation)
        return Effect.void
      }
      mailbox.open(operation.entry.kind, spec.address, spec.path)
      if (spec.kind === "run") begunWaits.push(spec.recorded)
      return isNew && spec.announced
        ? publish((at) => ({ _tag: "StepStarted", executionId: id, path: spec.path, attempt: 1, at }))
        : Effect.void
    })

  /** A wait is over; one for something outside has something to do then. */
  const waited = (operation: Operation, value: Schema.Json, subject: string | null): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { spec } = operation
      if (operations.get(spec.path) !== operation || isEnd(operation.entry)) return Effect.void
      if (spec.kind === "run") {
        operation.awaited = true
        operation.entry = { ...operation.entry, due: null }
        if (operation.fiber === null && !toLaunch.includes(operation)) toLaunch.push(operation)
        return Effect.void
      }
      mailbox.close(operation.entry.kind, spec.address, spec.path)
      set(operation, { state: "succeeded", value, subject, due: null, ended: ++position, endedAt: now })
      deliver(operation)
      const { path } = spec
      return publish((at) => ({ _tag: "StepSucceeded", executionId: id, path, attempt: 1, at }))
    })

  const due = (operation: Operation): Effect.Effect<void> => {
    if (operation.entry.state !== "retrying") return waited(operation, null, null)
    begin(operation, operation.entry.attempt + 1)
    toLaunch.push(operation)
    return Effect.void
  }

  const cancelBody = () => {
    cancelled = true
    branches.cancel(main)
  }
  const cancelAll = () => {
    const entry = marker(Replay.cancelPath, "cancel", null)
    dirty.set(entry.path, entry)
    cancelBody()
  }

  const received = (message: Message): Effect.Effect<void> =>
    Effect.suspend(() => {
      switch (message.kind) {
        case "signal":
        case "inbox":
          mailbox.put(message)
          return Effect.void
        case "done": {
          taken.push(message.seq)
          const operation = operations.get(message.name)
          return operation === undefined ? Effect.void : waited(operation, message.value, operation.entry.subject)
        }
        case "suspend":
          taken.push(message.seq)
          closing = "suspend"
          return Effect.void
        case "cancel":
          taken.push(message.seq)
          // Once undoing has begun, a cancel changes nothing.
          if (!isUndoing && !cancelled) cancelAll()
          return Effect.void
      }
    })

  // ---- undoing

  const conclude = (): Effect.Effect<void> =>
    Effect.gen(function* () {
      const exit = mainExit
      if (exit === null) return
      const recordedOutcome = replay.next()
      if (Exit.isSuccess(exit) && !cancelled) {
        const missed = recordedOutcome?.path ?? replay.missed()
        if (missed !== null) return changedFlow(missed, null)
        finished = { _tag: "Completed", result: exit.value }
        return
      }
      // A cancel that arrived during the last step undoes that, too.
      const cause = Exit.isSuccess(exit) ? Cause.interrupt() : exit.cause
      if (!cancelled && !Cause.hasFails(cause)) return halt(cause)
      if (recordedOutcome !== undefined && recordedOutcome.path !== Replay.outcomePath) {
        return changedFlow(recordedOutcome.path, null)
      }
      const error = cancelled ? null : yield* body.encodeError(Cause.squash(cause))
      isUndoing = true
      state = "undoing"
      if (recordedOutcome === undefined) {
        const entry = marker(Replay.outcomePath, "outcome", { cancelled, error })
        dirty.set(entry.path, entry)
      } else replay.advance()
      const lost = history.undos.find((undo) => undo.state === "pending" && !registered.has(undo.path))
      if (lost !== undefined) return changedFlow(`${lost.path}/undo`, null)
      const outcome: Outcome = cancelled ? { _tag: "Cancelled" } : { _tag: "Failed", error, cause }
      undoAll([...undos.values()], () => {
        finished = outcome
        wake()
      })
    }).pipe(Effect.catchCause((cause) => Effect.sync(() => halt(cause))))

  // ---- the loop

  /** Takes the next recorded end. */
  const replayed = (entry: Entry) => {
    if (entry.path === Replay.cancelPath) {
      replay.advance()
      cancelBody()
      return
    }
    if (entry.path === Replay.outcomePath) return changedFlow(entry.path, [...operations.keys()][0] ?? null)
    const undone = replay.undoneBy(entry)
    if (undone !== undefined) {
      replay.advance()
      const then = passing.get(undone)
      passing.delete(undone)
      return then?.()
    }
    const operation = operations.get(entry.path)
    if (operation === undefined && replay.defer(entry.path)) return
    if (operation === undefined) return changedFlow(entry.path, reached[0]?.spec.path ?? null)
    replay.advance()
    deliver(operation)
  }

  const wakeAt = (): number | null => timers.first()?.due ?? null

  const flush = (more: Write["execution"] = {}, newChapter = false): Effect.Effect<void, OwnershipLost> =>
    Effect.suspend(() => {
      if (!isUndoing) state = launched + toLaunch.length > 0 ? "running" : "waiting"
      const dueAt = wakeAt()
      const row: Write["execution"] = {
        ...(state === written.state ? {} : { state }),
        ...(dueAt === written.wakeAt ? {} : { wakeAt: dueAt }),
        ...more
      }
      const isWorth = dirty.size + dirtyUndos.size + taken.length > 0 || Object.keys(row).length > 0
      if (!isWorth && !newChapter) return Effect.void
      const write: Write = {
        execution: row,
        entries: [...dirty.values()],
        undos: [...dirtyUndos.values()].map(({ failure, path, position, redo, state }) => ({
          path,
          redo,
          state,
          position,
          failure
        })),
        taken,
        seen,
        ...(newChapter ? { newChapter } : {})
      }
      dirty.clear()
      dirtyUndos.clear()
      taken = []
      written = { state, wakeAt: dueAt }
      return host.write(write)
    })

  const nextEvent = (): (() => Effect.Effect<void>) | null => {
    const first = ready.shift()
    if (first !== undefined) return first
    // After downtime what happened first comes first: the arrival of a message, or a timer's time.
    const timer = timers.first()
    const message = mail[0]
    const signal = mailbox.next()
    const dueAt = timer !== undefined && timer.due <= now ? timer.due : Infinity
    const signalAt = signal?.message.at ?? Infinity
    const messageAt = message?.at ?? Infinity
    if (messageAt <= dueAt && messageAt <= signalAt && message !== undefined) {
      mail.shift()
      return () => received(message)
    }
    if (signal !== null && signalAt <= dueAt) {
      const operation = operations.get(signal.path)
      mailbox.drop()
      return operation === undefined
        ? () => Effect.void
        : () => waited(operation, signal.message.value, `${signal.message.seq}`)
    }
    if (timer === undefined || dueAt === Infinity) return null
    timers.shift()
    return () => due(timer.item)
  }

  const readMail = Effect.fnUntraced(function* () {
    hasMail = false
    for (const message of yield* host.messages(seen)) {
      seen = message.seq
      mail.push(message)
    }
  })

  /** Waits until something happens; true when nothing did for so long that the execution can leave the memory. */
  const rest = Effect.fnUntraced(function* (idleSince: number) {
    const dueAt = timers.first()?.due ?? Infinity
    const parkAt = host.durable && launched === 0 ? idleSince + (host.isCrowded() ? 0 : parkAfterMillis) : Infinity
    const until = Math.min(dueAt, parkAt, now + longestWaitMillis)
    const woken = yield* Effect.timeoutOption(changed.await, Math.max(until - now, 0))
    return Option.isNone(woken) && until === parkAt && dueAt > parkAt
  })

  const release = (more: Write["execution"]) => flush({ owner: null, ...more })

  const abortSteps = Effect.suspend(() => {
    const fibers = [...operations.values()].flatMap(({ fiber }) => (fiber === null ? [] : [fiber]))
    for (const fiber of fibers) fiber.interruptUnsafe()
    return Effect.void
  })

  for (const message of history.messages) {
    seen = Math.max(seen, message.seq)
    if (message.kind === "signal" || message.kind === "inbox") mailbox.put(message)
    else mail.push(message)
  }
  onSession({
    poke: () => {
      hasMail = true
      wake()
    },
    crowd: wake,
    close: () => {
      if (closing === "no") closing = "close"
      wake()
    },
    abort: () => {
      aborted = true
      wake()
    },
    cancel: () => {
      mail.push({ seq: seen, kind: "cancel", name: "", id: "", value: null, at: now })
      wake()
    }
  })
  if (history.entries.length === 0) {
    yield* publish((at) => ({ _tag: "FlowStarted", executionId: id, flow, at, version }))
  }

  let idleSince = now
  const loop = Effect.gen(function* (): Effect.fn.Return<Outcome, OwnershipLost> {
    while (true) {
      changed.closeUnsafe()
      now = yield* host.now
      if (aborted) {
        yield* abortSteps
        yield* release({ wakeAt: now })
        return { _tag: "Parked" }
      }
      if (!branches.isAtRest()) {
        yield* changed.await
        continue
      }
      const interrupted = cutOff
      cutOff = []
      for (const event of interrupted) yield* publish(event)
      // What is cancelled although its record does not fit any more replays what fits, and undoes that.
      if (halted !== null && !isUndoing && !cancelled && mail.some(({ kind }) => kind === "cancel")) {
        halted = null
        replay.abandon()
        for (const then of passing.values()) then()
        passing.clear()
        cancelAll()
        continue
      }
      const isHalted: Halted | null = halted
      if (isHalted === null && closing === "no") {
        const recorded = replay.next()
        if (
          mainExit !== null &&
          finished === null &&
          !isUndoing &&
          (recorded === undefined || recorded.path === Replay.outcomePath)
        ) {
          yield* conclude()
          continue
        }
        if (recorded !== undefined) {
          if (mainExit === null || isUndoing || replay.undoneBy(recorded) !== undefined) replayed(recorded)
          else if (!replay.defer(recorded.path)) changedFlow(recorded.path, null)
          continue
        }
        if (finished !== null) return yield* ended(finished)
        if (reached.length > 0) {
          const missed = replay.missed()
          if (missed !== null) {
            changedFlow(missed, reached.find(({ entry }) => entry.begun === 0)?.spec.path ?? null)
            continue
          }
          const batch = reached
          reached = []
          for (const operation of batch) yield* takeUp(operation)
          continue
        }
        if (continued !== null && operations.size === 0) return yield* nextChapter(continued.input)
      }
      if (hasMail) {
        yield* readMail()
        // A cancel counts also where it halts now.
        continue
      }
      const event = closing === "no" && isHalted === null ? nextEvent() : (ready.shift() ?? null)
      if (event !== null) {
        idleSince = now
        yield* event()
        continue
      }
      if (isHalted !== null || closing !== "no") {
        if (launched > 0) {
          yield* changed.await
          continue
        }
        return yield* given(isHalted)
      }
      if (host.onEdge !== undefined) {
        host.onEdge([...operations.keys()])
        return { _tag: "Parked" }
      }
      yield* flush()
      if (begunWaits.length > 0) {
        const begun = begunWaits
        begunWaits = []
        for (const recorded of begun) yield* recorded
      }
      if (toLaunch.length > 0) {
        const batch = toLaunch
        toLaunch = []
        for (const operation of batch) if (operations.get(operation.spec.path) === operation) launch(operation)
        continue
      }
      if (yield* rest(idleSince)) {
        yield* release({})
        return { _tag: "Parked" }
      }
    }
  })

  /** The execution is given back before its end. */
  const given = Effect.fnUntraced(function* (why: Halted | null): Effect.fn.Return<Outcome, OwnershipLost> {
    if (host.onEdge !== undefined && why !== null) return { _tag: "Halted", ...why }
    // What was reached and has not begun is reached again.
    for (const operation of toLaunch) {
      if (!operation.hasRun) dirty.delete(`${operation.entry.path} ${operation.entry.attempt}`)
    }
    if (why === null) {
      const suspended = closing === "suspend"
      yield* release(suspended ? { state: "suspended", wakeAt: null } : { wakeAt: now })
      return suspended ? { _tag: "Suspended" } : { _tag: "Parked" }
    }
    // What another build may be able to run is the engine's to decide.
    if (why.mine || !host.durable) {
      yield* release({ state: "halted", wakeAt: null, failure: detailOf(why.cause) })
      yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure: failureOf(why.cause) }))
    }
    return { _tag: "Halted", ...why }
  })

  const ended = Effect.fnUntraced(function* (outcome: Outcome): Effect.fn.Return<Outcome, OwnershipLost> {
    if (host.onEdge !== undefined) return outcome
    // Before the end is recorded: whoever repeats it cancels them again.
    if (mayHaveChildren) yield* Context.get(body.context, Children).endAll(id)
    const over = { owner: null, wakeAt: null, endedAt: now } as const
    switch (outcome._tag) {
      case "Completed": {
        const { result } = outcome
        yield* flush({ ...over, state: "completed", result, failure: null })
        yield* publish((at) => ({ _tag: "FlowCompleted", executionId: id, flow, at, result }))
        break
      }
      case "Failed": {
        const { cause, error } = outcome
        yield* flush({ ...over, state: "failed", error, failure: detailOf(cause) })
        yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure: failureOf(cause) }))
        break
      }
      default: {
        const failure: Failure = { kind: "interrupted", tag: null, message: host.durable ? "cancelled" : "interrupted" }
        yield* flush({ ...over, state: "cancelled", failure })
        yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure }))
      }
    }
    return outcome
  })

  const nextChapter = Effect.fnUntraced(function* (input: Schema.Json): Effect.fn.Return<Outcome, OwnershipLost> {
    if (host.onEdge !== undefined) return { _tag: "Continued", input }
    // What nobody has received belongs to the next chapter.
    const { open, received } = mailbox.split()
    const first = [...open, ...mail.map(({ seq }) => seq)].reduce((least, seq) => Math.min(least, seq), seen + 1)
    taken.push(...received.filter((seq) => seq >= first))
    seen = first - 1
    yield* flush({ input, chapter: execution.chapter + 1 }, true)
    return { _tag: "Continued", input }
  })

  // What is parked is forgotten, not interrupted: nothing in the body runs because an execution leaves the memory.
  return yield* loop.pipe(Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : abortSteps)))
})
