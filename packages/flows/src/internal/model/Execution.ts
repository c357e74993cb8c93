/**
 * The record of an execution, as values: its row, entries, undos and messages, and what is written of them.
 *
 * Times are milliseconds since 1970. Inputs, results and errors are JSON by the schemas of the flow.
 */
import * as Data from "effect/Data"
import type * as Schema from "effect/Schema"
import type { Failure } from "../../FlowEvents.ts"
import type { SaidWrite } from "./Said.ts"

/**
 * `queued`: it starts later, or a limit does not admit it yet. `waiting`: for a timer, a signal, a run. `running`. `undoing`: it failed or was cancelled, and
 * its undos run. `halted`: a person or a deployment is needed; nothing is undone. `suspended`: an operator paused it.
 */
export const states = [
  "queued",
  "waiting",
  "running",
  "undoing",
  "completed",
  "failed",
  "cancelled",
  "halted",
  "suspended"
] as const
export type State = (typeof states)[number]

/** States in which an owner may have work to do. */
export const activeStates = ["queued", "waiting", "running", "undoing"] as const satisfies ReadonlyArray<State>
/** States of an execution that has not ended. */
export const unendedStates = [...activeStates, "halted", "suspended"] as const satisfies ReadonlyArray<State>
export type UnendedState = (typeof unendedStates)[number]
/** States of an execution that has ended. */
export const endStates = ["completed", "failed", "cancelled"] as const satisfies ReadonlyArray<State>

export const isActive = (state: State): boolean => activeStates.some((active) => active === state)
export const hasEnded = (state: State): boolean => endStates.some((ended) => ended === state)

/** A version of a flow. */
export interface FlowVersion {
  readonly flow: string
  readonly version: number
}

/** A version that a process has registered. */
export interface RegisteredVersion extends FlowVersion {
  /** Whether the process only continues what has begun. */
  readonly drain?: boolean | undefined
}

/** The executions of a version in a state, of those that have not ended. */
export interface StateCount extends FlowVersion {
  readonly state: State
  readonly count: number
  /** When the first of them started. */
  readonly oldest: number
}

/** Returns the name of a version of a flow. */
export const versionName = ({ flow, version }: FlowVersion): string => `${flow}@${version}`

/** The execution of a key of a flow, for its whole life. */
export interface Execution extends FlowVersion {
  readonly id: string
  /** What the flow's `idempotencyKey` returns. */
  readonly key: string
  readonly input: Schema.Json
  readonly state: State
  /** The result; null unless completed. */
  readonly result: Schema.Json
  /** The error as JSON, by the flow's schema; null when it did not fail with one. */
  readonly error: Schema.Json
  /** Why it failed, was cancelled or halted, for people. */
  readonly failure: Failure | null
  /** Counts its restarts by `Flow.continueAs`, from 0. */
  readonly chapter: number
  /** Counts the commands that discarded entries, from 0. */
  readonly round: number
  readonly tags: ReadonlyArray<string>
  /** The execution that started it with `Flow.start`. */
  readonly parent: string | null
  /** Its keys for the limits of its flow, in their order; null for a limit of the whole flow. */
  readonly limits: ReadonlyArray<string | null>
  /** Since when it is in the queue of its limits, where a suspended one keeps its place; null when it was admitted. */
  readonly queuedAt: number | null
  /** When it starts, of one that was submitted for later; null once it has begun or entered its queue. */
  readonly startsAt: number | null
  /** Its order among queued executions with the same keys: larger first. */
  readonly priority: number
  /** When it ends as failed with `DeadlineExceeded`, unless it has ended; null: never. */
  readonly deadlineAt: number | null
  /** Increments with each claim: writes of older owners are refused. */
  readonly epoch: number
  /** The process that has claimed it. */
  readonly owner: string | null
  /** When an owner is needed next; null: not before a message arrives. */
  readonly wakeAt: number | null
  /** Counts the messages sent to it. */
  readonly mail: number
  readonly startedAt: number
  readonly changedAt: number
  readonly endedAt: number | null
}

/** When an execution starts, in which order, and until when. */
export type Times = Pick<Execution, "startsAt" | "priority" | "deadlineAt">

/** What changes of them; null: it stays. */
export type ChangedTimes = { readonly [K in keyof Times]: Times[K] | null }

/** A limit of the executions of a flow that have begun and not ended (`concurrency`), or of their starts (`rate`). */
export interface Limit {
  /** Whether it applies to each key, not to the whole flow. */
  readonly keyed: boolean
  readonly concurrency: number | null
  readonly rate: { readonly count: number; readonly perMillis: number } | null
}

/** The place of an execution in a queue, and what it waits for. */
export interface QueuePlace {
  /** The index of the limit that does not admit it, from 0; null: it is admitted when a process has room. */
  readonly limit: number | null
  /** Its key for that limit; null: the limit is for the whole flow. */
  readonly key: string | null
  /** Its place among those with the same keys, from 1. */
  readonly place: number
  /** Some of the executions that hold the limit. */
  readonly holders: ReadonlyArray<string>
  /** When the rate admits the next one; null when it waits for the end of another. */
  readonly admitsAt: number | null
}

/** The result of an admission. */
export interface Admitted {
  readonly executions: ReadonlyArray<Execution>
  /** Whether more may be admitted immediately. */
  readonly more: boolean
  /** When a rate admits more; null: not before an execution ends or is queued. */
  readonly next: number | null
}

/**
 * `cancel` and `outcome` are no steps: they record the position of a cancel in the order, and the end of the body before its undos.
 */
export const entryKinds = ["step", "sleep", "signal", "inbox", "run", "child", "patch", "cancel", "outcome"] as const
export type EntryKind = (typeof entryKinds)[number]

/**
 * `running`: begun. `retrying`: this attempt failed, another one begins at `due`. `interrupted`: another branch ended first. The last
 * three are ends.
 */
export const entryStates = ["running", "retrying", "succeeded", "failed", "interrupted"] as const
export type EntryState = (typeof entryStates)[number]

/** How often a process stood still while it ran a step, and lost its executions because of that. */
export interface Stalled {
  readonly times: number
  /** The process of the last time. */
  readonly host: string
  /** How long that one stood still, in milliseconds. */
  readonly millis: number
}

/** An attempt of a step, or a wait. The pair of path and attempt is unique among entries that are not discarded. */
export interface Entry {
  readonly path: string
  /** Counts from 1. */
  readonly attempt: number
  /** How often a `retry` repeated the step after it had succeeded; part of its idempotency scope. */
  readonly redo: number
  readonly name: string
  readonly kind: EntryKind
  readonly input: Schema.Json
  readonly state: EntryState
  /** The result or the error. */
  readonly value: Schema.Json
  readonly failure: Failure | null
  /** The position of its start in the order of starts and ends of the execution. */
  readonly begun: number
  /** The position of its end in the same order; null before its end. */
  readonly ended: number | null
  readonly startedAt: number
  readonly endedAt: number | null
  /** When a timer is due, the deadline of a wait, or when the next attempt begins. */
  readonly due: number | null
  /** The awaited external event, such as the end of a run of a workspace; null otherwise. */
  readonly subject: string | null
  /** The host where it runs, or ran. */
  readonly host: string | null
  /** Absent or null when its process has never stood still. */
  readonly stalled?: Stalled | null
  /**
   * What its code has recorded with `Flow.details`, in this attempt or in earlier ones. Written only where it is not absent; null
   * deletes that of all attempts.
   */
  readonly details?: Schema.Json
}

/** The undo of a call of `Flow.compensate`, by the path of the call. */
export interface Undo {
  readonly path: string
  readonly redo: number
  readonly state: "pending" | "done" | "failed" | "skipped"
  /** The order of registration; undos run in reverse order. */
  readonly position: number
  readonly failure: Failure | null
}

/** What remains of a chapter that `Flow.continueAs` has ended. */
export interface Chapter {
  readonly chapter: number
  /** How many entries it had, discarded ones included. */
  readonly entries: number
  readonly startedAt: number
  readonly endedAt: number
}

/** A message to the owner of an execution. */
export interface Message {
  /** Its number among the messages of the execution, from 1: `mail` when it was sent, under the lock of the execution. */
  readonly seq: number
  /**
   * `signal` and `inbox`: `name` is that of the signal with its key. `done`: ends the wait at the path `name`. `cancel` and `suspend`:
   * the commands.
   */
  readonly kind: "signal" | "inbox" | "done" | "cancel" | "suspend"
  readonly name: string
  /** Identifies a message of an inbox; empty for the other kinds. */
  readonly id: string
  readonly value: Schema.Json
  readonly at: number
}

export type NewMessage = Pick<Message, "kind" | "name" | "id" | "value">

/**
 * The newest protocol of messages that this build reads. 1: an owner keeps the messages that it has read. 2: one that has read a
 * suspend continues when the suspend is not there any more.
 */
export const newestProtocol = 2
/** The protocol of processes that register none. */
export const firstProtocol = 1

/**
 * `applied`: it was carried out, or nothing was left to do. `superseded`: a later command came before it. `too late`: the execution had
 * ended, or was undoing already.
 */
export const commandOutcomes = ["applied", "superseded", "too late"] as const
export type CommandOutcome = (typeof commandOutcomes)[number]

/** A command that was accepted. */
export interface CommandRow {
  /** Counts the commands of the execution, from 1. */
  readonly number: number
  /** Unique among the commands of the execution. */
  readonly id: string
  /** Any text: a newer build may have more commands. */
  readonly command: string
  readonly by: string | null
  readonly at: number
  /** The round of the execution in which it was accepted: in a later one it is void. */
  readonly round: number
  /** The message by which the owner gets it; null when it needs none, or its owner would not understand it. */
  readonly seq: number | null
  /** Null while it is pending. */
  readonly outcome: CommandOutcome | null
  readonly endedAt: number | null
}

/** The record that an owner needs to run an execution. */
export interface History {
  readonly execution: Execution
  /** Without discarded ones; in the order of `begun`. */
  readonly entries: ReadonlyArray<Entry>
  readonly undos: ReadonlyArray<Undo>
  /** In the order of arrival. */
  readonly messages: ReadonlyArray<Message>
  /** The new `redo` of each path whose entries a `retry` discarded, without interrupted ones. */
  readonly redos: ReadonlyMap<string, number>
}

/** The identity of a claim. */
export interface Fence {
  readonly id: string
  readonly epoch: number
}

/** One atomic write of an owner. */
export interface Write {
  /** Members of the execution to replace. */
  readonly execution: Partial<
    Pick<
      Execution,
      "state" | "result" | "error" | "failure" | "input" | "chapter" | "tags" | "owner" | "wakeAt" | "endedAt"
    >
  > & {
    /** It has begun. */
    readonly startsAt?: null
    /** It leaves the queue of its limits. */
    readonly queuedAt?: null
  }
  /** Whole entries, which are inserted or replace those with the same path and attempt. */
  readonly entries: ReadonlyArray<Entry>
  /** Whole undos, by path. */
  readonly undos: ReadonlyArray<Undo>
  /** Messages to delete, by `seq`: equal ones may be sent again afterwards. */
  readonly taken: ReadonlyArray<number>
  /** The suspends that this write carries out, by `seq`: deleted only when it leaves the execution suspended. */
  readonly suspends?: ReadonlyArray<number>
  /** What becomes of the commands of these messages, by `seq`. */
  readonly settled?: ReadonlyArray<{ readonly seq: number; readonly outcome: CommandOutcome }>
  /** Steps begin with this write: it is refused when a command was sent after `seen`. */
  readonly begins?: boolean
  /**
   * The last message that the owner has read: a write that releases the claim makes the execution due when `mail` is larger. One that
   * would be halted or suspended is then waiting and due, since there may be another command.
   */
  readonly seen: number
  /**
   * Starts a new chapter, which `execution` names: entries and undos, those of this write included, and the messages up to `seen` are
   * deleted, and a summary of the chapter remains. Later messages belong to the new chapter.
   */
  readonly newChapter?: boolean
  /** What the execution says of itself; absent when that is nothing. */
  readonly said?: SaidWrite | undefined
}

/** Another process has claimed the execution: this one must drop its results. */
export class OwnershipLost extends Data.TaggedError("OwnershipLost")<{ readonly id: string }> {}

/** The record of an execution that has not begun: what it has from the one that it is a fork of. */
export interface FirstRecord extends Pick<History, "entries" | "undos"> {}

/** A new execution. */
export interface NewExecution
  extends
    Pick<
      Execution,
      "id" | "flow" | "version" | "key" | "input" | "tags" | "parent" | "limits" | "state" | "owner" | "wakeAt"
    >,
    Partial<Times> {
  /** Stored in the same write. */
  readonly messages: ReadonlyArray<NewMessage>
  /** Stored in the same write; default: none. */
  readonly record?: FirstRecord | undefined
}

/** How the calls of a burst become one execution. */
export interface Debounce {
  readonly key: string
  /** It starts so long after the last call, */
  readonly quietMillis: number
  /** and so long after the first one at the latest. */
  readonly mostMillis: number
}

/** A process of an operating system. */
export interface Place {
  readonly host: string
  /** Differs after each start of the system. */
  readonly boot: string
  /** Within it a pid is one process. */
  readonly namespace: string
  readonly pid: number
  /** Differs between processes with the same pid. */
  readonly startedAt: string
}

/** A step, by its execution and its path. */
export interface StepName {
  readonly execution: string
  readonly path: string
}

/** The code that keeps an event loop: that of a step, other code, or that of any of the running steps. */
export type Keeper =
  | { readonly _tag: "Step"; readonly step: StepName }
  | { readonly _tag: "Other" }
  | { readonly _tag: "Unknown" }

/** A process whose event loop stands still. */
export interface Standing {
  /** How long it has stood still, in milliseconds. */
  readonly millis: number
  readonly keeper: Keeper
}

/** A process that runs flows. */
export interface Process {
  readonly id: string
  readonly host: string
  readonly flows: ReadonlyArray<RegisteredVersion>
  /** The newest protocol of messages that it reads; absent: the first. */
  readonly protocol?: number
  /** When its lease expires, by the clock of leases; null for exclusive storage. */
  readonly expiresAt: number | null
  /** Absent when it is not known. */
  readonly place?: Place
  /** Only for a process that stands still. */
  readonly standing?: Standing
}

/** A process as it registers itself. */
export interface Registration extends Omit<Process, "expiresAt"> {
  /** How long its lease is valid, from now on; null for exclusive storage. */
  readonly leaseMillis: number | null
}

/** The locked rows of an execution that a command may change. */
export interface Locked extends History {
  /** The last commands, the oldest first. */
  readonly commands: ReadonlyArray<CommandRow>
  /** The protocol of the process that owns it; null when none does. */
  readonly protocol: number | null
}

/** The command of a change, to be recorded. */
export interface Recorded extends Pick<CommandRow, "id" | "command" | "by" | "outcome"> {
  /** Set for one that is recorded already, and is decided again. */
  readonly number?: number
  /** The message of an earlier command with which it is carried out; by default that of the change. */
  readonly seq?: number | null
}

/** The change of a command to the rows of an execution. */
export interface Change {
  readonly record?: Recorded
  /** What becomes of earlier commands, by `number`. */
  readonly settled?: ReadonlyArray<Pick<CommandRow, "number"> & { readonly outcome: CommandOutcome }>
  /** Whether the process that runs it goes on with it; otherwise its writes are refused from now on. */
  readonly keepsOwner?: boolean
  /** The command that is sent with the change, unless it waits to be read already. */
  readonly command?: "cancel" | "suspend"
  readonly execution: Partial<
    Pick<Execution, "state" | "failure" | "error" | "result" | "endedAt" | "wakeAt" | "version" | "round" | keyof Times>
  >
  /** Paths and attempts to discard, with the new `redo` of the path. */
  readonly aside: ReadonlyArray<Pick<Entry, "path" | "attempt"> & { readonly redo: number }>
  /** Undos to discard, by path. */
  readonly asideUndos: ReadonlyArray<string>
  readonly undos: ReadonlyArray<Undo>
  /** Messages to delete, by `seq`, such as the cancel of a retried execution. */
  readonly taken: ReadonlyArray<number>
}

export interface Page {
  readonly flow?: string
  readonly version?: number
  readonly key?: string
  readonly states?: ReadonlyArray<State>
  readonly tag?: string
  /** Executions that started at or after this time, and before `startedBefore`: milliseconds since 1970. */
  readonly startedFrom?: number
  readonly startedBefore?: number
  /** The last execution of the previous page. */
  readonly before?: Pick<Execution, "id" | "startedAt">
  readonly limit: number
}

/** An execution that waits for an external event, at a path. */
export interface Awaiting {
  readonly execution: string
  readonly path: string
  readonly subject: string
}

/** The row that remains of an expired execution. */
export interface Expired extends FlowVersion {
  readonly id: string
  readonly key: string
  readonly state: State
  readonly endedAt: number
}
