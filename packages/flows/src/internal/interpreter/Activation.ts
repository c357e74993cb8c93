/**
 * The state of an execution in memory (a stay), on which the parts of the interpreter work, and the changes that several of them make.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Schema from "effect/Schema"
import { FlowChanged, RecordUnreadable } from "../../FlowErrors.ts"
import { type FlowEvent, FlowEvents } from "../../FlowEvents.ts"
import type { Branch, Branches, Code } from "./Branches.ts"
import * as Calls from "./Calls.ts"
import { failureOf, publishTo } from "../model/Failure.ts"
import { nowhere, type Where } from "./Halts.ts"
import type { Host, Options, Outcome } from "./Contract.ts"
import type { Entry, EntryKind, Execution, Message, Undo, Write } from "../model/Execution.ts"
import * as Replay from "../model/Replay.ts"
import * as Timers from "../model/Timers.ts"
import * as Mailbox from "./Mailbox.ts"

/** The step or wait at which a branch is parked. */
export interface Operation {
  readonly spec: Calls.Spec
  readonly branch: Branch
  entry: Entry
  /** Whether the call fits the entry at its path, if there is one. */
  readonly fits: boolean
  /** When its first attempt began. */
  readonly firstStartedAt: number
  /** Whether an attempt may have had an effect. */
  hasRun: boolean
  /** Whether a call of `Flow.compensate` around it must run to its end: the step has begun, now or before a retry discarded it. */
  isHeld: boolean
  /** The fiber that runs the step. */
  fiber: Fiber.Fiber<unknown, unknown> | null
  /** Whether its external event has happened. */
  awaited: boolean
}

/** An undo that the body has registered. */
export interface Undoing extends Undo {
  readonly undo: Code<unknown, unknown>
  readonly branch: Branch
  state: Undo["state"]
  failure: Undo["failure"]
}

/** A body that is not at rest. */
export interface Outside {
  /** By the clock of the journal. */
  readonly since: number
  /** By the clock of the process, as the others. */
  readonly from: number
  /** Whether it is shown as computing. */
  isShown: boolean
  looksAt: number
  /** When the execution is left, because the body does not end; null before a cancel or a halt. */
  endsAt: number | null
}

export interface Halted {
  readonly cause: Cause.Cause<unknown>
  /** False: another build may be able to continue. */
  readonly mine: boolean
  readonly where: Where
}

export interface Stay extends Pick<Options, "execution" | "history" | "host" | "body"> {
  readonly publish: (event: (now: number) => FlowEvent) => Effect.Effect<void>
  readonly replay: Replay.Replay
  readonly branches: Branches
  readonly mailbox: Mailbox.Mailbox
  readonly timers: Timers.Timers<Operation>
  /** Opened by every event that the loop must process. */
  readonly changed: Latch.Latch
  /** The time of the last turn of the loop. */
  now: number
  readonly clock: Clock.Clock
  /** Set while the body is not at rest. */
  outside: Outside | null

  // The body.
  /** The branch of the whole body, when it has started. */
  main: Branch | null
  mainExit: Exit.Exit<Schema.Json, unknown> | null
  /** The names used below each prefix. */
  readonly names: Map<string, Calls.Names>
  readonly operations: Map<string, Operation>
  /** Operations that were reached, and have not begun or resumed. */
  reached: Array<Operation>
  /** Operations to run after the next write. */
  toLaunch: Array<Operation>
  /** The number of running steps. */
  launched: number
  /** Whether the execution may have children; the entries that started them may be discarded. */
  mayHaveChildren: boolean

  // Events to process.
  /** The operation whose end was delivered last. */
  after: string | null
  readonly ready: Array<() => Effect.Effect<void>>
  /** Events of interrupted steps, in order. */
  cutOff: Array<(at: number) => FlowEvent>
  /** Messages up to `seen` were read; those of `mail` are not processed yet. */
  seen: number
  hasMail: boolean
  readonly mail: Array<Message>

  // Changes to write.
  readonly dirty: Map<string, Entry>
  readonly dirtyUndos: Map<string, Undo>
  taken: Array<number>
  /** What becomes of the commands that were read. */
  settled: Array<NonNullable<Write["settled"]>[number]>
  /** Effects to run when the starts of waits are written. */
  begunWaits: Array<Effect.Effect<void>>
  position: number
  undoPosition: number
  state: Execution["state"]
  written: { readonly state: Execution["state"]; readonly wakeAt: number | null | undefined }

  // Undoing.
  readonly undos: Map<string, Undoing>
  /** The paths of the undos that the body has registered, completed ones included. */
  readonly registered: Set<string>
  readonly recordedUndos: ReadonlyMap<string, Undo>
  /** Continuations after the replay has passed the end of an undo. */
  readonly passing: Map<string, () => void>
  isUndoing: boolean

  // The end.
  halted: Halted | null
  finished: Outcome | null
  continued: { readonly input: Schema.Json } | null
  /** Whether the whole body was cancelled. */
  cancelled: boolean
  closing: "no" | "suspend" | "close"
  /** The suspends that were read, by `seq`. */
  suspends: Array<number>
  /** Operations that have ended since then: their branches go on when it is resumed. */
  readonly undelivered: Array<Operation>
  aborted: boolean
}

export const make = (
  { body, execution, history, host }: Omit<Options, "onSession">,
  branches: Branches,
  now: number,
  clock: Clock.Clock
): Stay => {
  const replay = Replay.make(history)
  const operations = new Map<string, Operation>()
  return {
    body,
    execution,
    history,
    host,
    publish: publishTo(Context.get(body.context, FlowEvents)),
    replay,
    branches,
    mailbox: Mailbox.make(history),
    timers: Timers.make<Operation>(
      ({ due, item }) => operations.get(item.spec.path) === item && item.entry.due === due && item.fiber === null
    ),
    changed: Latch.makeUnsafe(),
    now,
    clock,
    outside: null,
    main: null,
    mainExit: null,
    names: new Map(),
    operations,
    reached: [],
    toLaunch: [],
    launched: 0,
    mayHaveChildren:
      execution.chapter > 0 || history.redos.size > 0 || history.entries.some(({ kind }) => kind === "child"),
    after: null,
    ready: [],
    cutOff: [],
    // Earlier messages were processed, or are in the history.
    seen: execution.mail,
    hasMail: false,
    mail: [],
    dirty: new Map(),
    dirtyUndos: new Map(),
    taken: [],
    settled: [],
    begunWaits: [],
    position: replay.end,
    undoPosition: history.undos.reduce((most, undo) => Math.max(most, undo.position), 0),
    state: execution.state,
    written: { state: execution.state, wakeAt: undefined },
    undos: new Map(),
    registered: new Set(),
    recordedUndos: new Map(history.undos.map((undo) => [undo.path, undo])),
    passing: new Map(),
    isUndoing: false,
    halted: null,
    finished: null,
    continued: null,
    cancelled: false,
    closing: "no",
    suspends: [],
    undelivered: [],
    aborted: false
  }
}

export const wake = ({ changed }: Stay) => void changed.openUnsafe()

/** Whether the record has something that the body has not reached yet. */
const isBehind = ({ replay }: Stay) => replay.next() !== undefined || replay.missed() !== null

const isMisfit = (error: unknown) => error instanceof FlowChanged || error instanceof RecordUnreadable

/** Halts the execution; the first cause counts. */
export const halt = (stay: Stay, cause: Cause.Cause<unknown>, where: Partial<Where> = {}) => {
  stay.halted ??= {
    cause,
    mine: !isMisfit(Cause.squash(cause)),
    where: { ...nowhere, after: stay.after, ...where }
  }
  wake(stay)
}

/** Halts the execution because its code threw. Code that was recorded got further, so another build may be able to continue. */
export const haltBody = (stay: Stay, cause: Cause.Cause<unknown>) => {
  const behind = isBehind(stay)
  halt(stay, cause)
  if (behind && stay.halted?.cause === cause) stay.halted = { ...stay.halted, mine: false }
}

/** The error with which the whole body ended, when that is why it did not reach the recorded step. */
const errorOf = ({ isUndoing, mainExit }: Stay) =>
  mainExit !== null && !isUndoing && Exit.isFailure(mainExit) ? mainExit.cause : null

/** Halts the execution because the body does not fit the record: it reached another operation, or ended. */
export const changedFlow = (
  stay: Stay,
  recorded: string,
  reached: Operation | null,
  inputs: FlowChanged["inputs"] = null
) => {
  const { execution, replay } = stay
  const error = reached === null ? errorOf(stay) : null
  // An exception is more informative than the step that was not reached because of it.
  if (error !== null && !Cause.hasFails(error) && !Cause.hasInterruptsOnly(error)) return haltBody(stay, error)
  const failure = error !== null && Cause.hasFails(error) ? failureOf(error) : null
  const { flow, id, version } = execution
  const other = reached?.spec
  const isSamePath = other?.path === recorded
  const changed = new FlowChanged({
    flow,
    version,
    execution: id,
    recorded,
    reached:
      other === undefined
        ? null
        : isSamePath && inputs === null
          ? `${other.path} (${other.kind} ${other.name})`
          : other.path,
    inputs,
    ...defined({
      isRecorded: other === undefined || isSamePath || replay.at(other.path) === undefined ? undefined : true,
      failure: failure === null ? undefined : { tag: failure.tag, message: failure.message }
    })
  })
  const entry = replay.at(recorded)
  halt(stay, Cause.die(changed), {
    recorded: { path: recorded, kind: entry?.kind ?? "step", name: entry?.name ?? recorded },
    reached: other === undefined ? null : { path: other.path, kind: other.kind, name: other.name }
  })
}

const keyOf = ({ attempt, path }: Entry) => `${path} ${attempt}`

/** Changes the entry of an operation, and writes it with the next write. */
export const set = ({ dirty }: Stay, operation: Operation, change: Partial<Entry>) => {
  operation.entry = { ...operation.entry, ...change }
  dirty.set(keyOf(operation.entry), operation.entry)
}

/** Drops the pending write of an entry. */
export const unset = ({ dirty }: Stay, { entry }: Operation) => void dirty.delete(keyOf(entry))

/** Records an entry that ends when it begins. */
export const mark = (stay: Stay, path: string, kind: EntryKind, value: Schema.Json) => {
  const position = ++stay.position
  stay.dirty.set(path, {
    ...Calls.newEntry({ path, name: kind, kind, input: null, subject: null }, 0),
    state: "succeeded",
    value,
    begun: position,
    ended: position,
    startedAt: stay.now,
    endedAt: stay.now
  })
}

export const isEnd = ({ state }: Entry) => state === "succeeded" || state === "failed"

/** Whether the host only replays the record. */
export const isReplay = ({ onEdge }: Host) => onEdge !== undefined
