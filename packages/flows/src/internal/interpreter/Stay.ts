/**
 * What the interpreter knows of an execution while that is in memory: the state that its parts work on, and the few changes
 * that several of them make.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Schema from "effect/Schema"
import { FlowChanged, RecordUnreadable } from "../../FlowErrors.ts"
import { type FlowEvent, FlowEvents } from "../../FlowEvents.ts"
import { publishTo } from "../Announce.ts"
import type { Branch, Branches, Code } from "../Branches.ts"
import * as Calls from "../Calls.ts"
import type { Host, Options, Outcome } from "./Contract.ts"
import type { Entry, EntryKind, Execution, Message, Undo } from "../Journal.ts"
import * as Replay from "../Replay.ts"
import * as Timers from "../Timers.ts"
import * as Mailbox from "./Mailbox.ts"

/** What a branch is parked at: a step or a wait. */
export interface Operation {
  readonly spec: Calls.Spec
  readonly branch: Branch
  entry: Entry
  /** Whether the body called what is recorded at the path, if something is. */
  readonly fits: boolean
  /** When its first attempt began. */
  readonly firstStartedAt: number
  /** Whether an attempt may have had an effect. */
  hasRun: boolean
  /** Whether a call of `Flow.compensate` around it is brought to its end: it has begun, now or before a retry set it aside. */
  isHeld: boolean
  /** A fiber that runs the step. */
  fiber: Fiber.Fiber<unknown, unknown> | null
  /** Whether what it awaited outside has happened. */
  awaited: boolean
}

/** An undo that the body has registered. */
export interface Undoing extends Undo {
  readonly undo: Code<unknown, unknown>
  readonly branch: Branch
  state: Undo["state"]
  failure: Undo["failure"]
}

export interface Halted {
  readonly cause: Cause.Cause<unknown>
  readonly mine: boolean
}

export interface Stay extends Pick<Options, "execution" | "history" | "host" | "body"> {
  readonly publish: (event: (now: number) => FlowEvent) => Effect.Effect<void>
  readonly replay: Replay.Replay
  readonly branches: Branches
  readonly mailbox: Mailbox.Mailbox
  readonly timers: Timers.Timers<Operation>
  /** Opened by whatever the loop has to look at. */
  readonly changed: Latch.Latch
  /** The time at which the loop last looked. */
  now: number

  // The body.
  /** The branch of the whole body, once that has started. */
  main: Branch | null
  mainExit: Exit.Exit<Schema.Json, unknown> | null
  /** The names that were used below each prefix. */
  readonly names: Map<string, Calls.Names>
  readonly operations: Map<string, Operation>
  /** Reached, and not yet begun or taken up again. */
  reached: Array<Operation>
  /** To run when what came before is written. */
  toLaunch: Array<Operation>
  /** Steps that run. */
  launched: number
  /** Those of before may be set aside. */
  mayHaveChildren: boolean

  // What happened, and is still to be looked at.
  readonly ready: Array<() => Effect.Effect<void>>
  /** Events of what was cut off, in the order in which that happened. */
  cutOff: Array<(at: number) => FlowEvent>
  /** Messages that were read: all up to `seen`, and those of `mail` not taken yet. */
  seen: number
  hasMail: boolean
  readonly mail: Array<Message>

  // What is to be written.
  readonly dirty: Map<string, Entry>
  readonly dirtyUndos: Map<string, Undo>
  taken: Array<number>
  /** To run when the begins of waits are written. */
  begunWaits: Array<Effect.Effect<void>>
  position: number
  undoPosition: number
  state: Execution["state"]
  written: { readonly state: Execution["state"]; readonly wakeAt: number | null | undefined }

  // Undoing.
  readonly undos: Map<string, Undoing>
  /** Of the undos that the body has registered, those that are done included. */
  readonly registered: Set<string>
  readonly recordedUndos: ReadonlyMap<string, Undo>
  /** What goes on once the record is past an undo that is done. */
  readonly passing: Map<string, () => void>
  isUndoing: boolean

  // How it ends.
  halted: Halted | null
  finished: Outcome | null
  continued: { readonly input: Schema.Json } | null
  /** Whether the whole body was cancelled. */
  cancelled: boolean
  closing: "no" | "suspend" | "close"
  aborted: boolean
}

export const make = (
  { body, execution, history, host }: Omit<Options, "onSession">,
  branches: Branches,
  now: number
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
    main: null,
    mainExit: null,
    names: new Map(),
    operations,
    reached: [],
    toLaunch: [],
    launched: 0,
    mayHaveChildren:
      execution.chapter > 0 || history.redos.size > 0 || history.entries.some(({ kind }) => kind === "child"),
    ready: [],
    cutOff: [],
    // Those before were taken, or are in the history.
    seen: execution.mail,
    hasMail: false,
    mail: [],
    dirty: new Map(),
    dirtyUndos: new Map(),
    taken: [],
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
    aborted: false
  }
}

export const wake = ({ changed }: Stay) => void changed.openUnsafe()

/** Nothing more begins; the first cause counts. */
export const halt = (stay: Stay, cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  stay.halted ??= { cause, mine: !(error instanceof FlowChanged || error instanceof RecordUnreadable) }
  wake(stay)
}

/** The body does not fit the record. */
export const changedFlow = (
  stay: Stay,
  recorded: string,
  reached: string | null,
  inputs: FlowChanged["inputs"] = null
) => {
  const { flow, id, version } = stay.execution
  halt(stay, Cause.die(new FlowChanged({ flow, version, execution: id, recorded, reached, inputs })))
}

const keyOf = ({ attempt, path }: Entry) => `${path} ${attempt}`

/** Changes the entry of an operation, and writes it with the next write. */
export const set = ({ dirty }: Stay, operation: Operation, change: Partial<Entry>) => {
  operation.entry = { ...operation.entry, ...change }
  dirty.set(keyOf(operation.entry), operation.entry)
}

/** Does not write the entry after all. */
export const unset = ({ dirty }: Stay, { entry }: Operation) => void dirty.delete(keyOf(entry))

/** Records something that is over as soon as it begins. */
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
