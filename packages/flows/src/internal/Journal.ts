/**
 * What is recorded of executions, behind one interface: in memory, on SQLite and on Postgres. Every write of an owner names
 * the epoch of its claim and changes nothing once another process has claimed the execution.
 *
 * Times are milliseconds since 1970. Inputs, results and errors are JSON by the schemas of the flow.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Failure } from "../FlowEvents.ts"
import type { Share } from "./Partitions.ts"

/**
 * `queued`: behind a limit, not begun. `waiting`: for a timer, a signal, a run. `running`. `undoing`: it failed or was cancelled, and
 * what it did is undone. `halted`: a person or a deployment is needed; nothing is undone. `suspended`: an operator paused it.
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
/** States of an execution that is to go on: by itself, or when somebody resumes it. */
export const unendedStates = [...activeStates, "halted", "suspended"] as const satisfies ReadonlyArray<State>
export type UnendedState = (typeof unendedStates)[number]
/** States that an execution has when it is over, unless it is retried. */
export const endStates = ["completed", "failed", "cancelled"] as const satisfies ReadonlyArray<State>

export const isActive = (state: State): boolean => activeStates.some((active) => active === state)
export const hasEnded = (state: State): boolean => endStates.some((ended) => ended === state)

/** A version of a flow. */
export interface FlowVersion {
  readonly flow: string
  readonly version: number
}

/** What a flow and a version are known by together. */
export const versionName = ({ flow, version }: FlowVersion): string => `${flow}@${version}`

/** One execution for one key of a flow, for its whole life. */
export interface Execution extends FlowVersion {
  readonly id: string
  /** What the flow's `idempotencyKey` returns. */
  readonly key: string
  readonly input: Schema.Json
  readonly state: State
  /** The result; null unless completed. */
  readonly result: Schema.Json
  /** The error by the flow's schema; null when it did not fail with one. */
  readonly error: Schema.Json
  /** For people: why it failed, was cancelled or halted. */
  readonly failure: Failure | null
  /** Counts the inputs that `Flow.continueAs` gave it, from 0. */
  readonly chapter: number
  /** Counts the commands that set records aside, from 0. */
  readonly round: number
  readonly tags: ReadonlyArray<string>
  /** The execution that started it with `Flow.start`. */
  readonly parent: string | null
  /** Its keys at the limits of its flow, in their order; null where a limit is for the whole flow. */
  readonly limits: ReadonlyArray<string | null>
  /** Since when it is in the queue of its limits, where a suspended one keeps its place; null once it was admitted. */
  readonly queuedAt: number | null
  /** Rises with each claim: what an older owner writes is refused. */
  readonly epoch: number
  /** The process that runs it, or holds it in memory. */
  readonly owner: string | null
  /** When an owner is needed next; null: not before something arrives. */
  readonly wakeAt: number | null
  /** Counts the messages that were sent to it. */
  readonly mail: number
  readonly startedAt: number
  readonly changedAt: number
  readonly endedAt: number | null
}

/** What limits the executions of a flow that have begun and not ended (`concurrency`), and how many begin (`rate`). */
export interface Limit {
  /** Whether it is for each key, not for the whole flow. */
  readonly keyed: boolean
  readonly concurrency: number | null
  readonly rate: { readonly count: number; readonly perMillis: number } | null
}

/** What an execution in a queue waits for. */
export interface QueuePlace {
  /** The limit that does not admit it, by its place in the list, from 0; null: it is admitted once a process has room. */
  readonly limit: number | null
  /** Its key at that limit; null: the limit is for the whole flow. */
  readonly key: string | null
  /** Its place among those with the same keys, from 1. */
  readonly place: number
  /** Some of those that have begun and hold the limit. */
  readonly holders: ReadonlyArray<string>
  /** When the rate admits the next one; null when it waits for the end of another. */
  readonly admitsAt: number | null
}

/** What was admitted. */
export interface Admitted {
  readonly executions: ReadonlyArray<Execution>
  /** Whether more may be admitted at once. */
  readonly more: boolean
  /** When a rate admits more; null: not before one ends or is queued. */
  readonly next: number | null
}

/**
 * `cancel` and `outcome` are no steps: they record where in the order of things a cancel arrived, and how the body ended
 * when undoing began.
 */
export const entryKinds = ["step", "sleep", "signal", "inbox", "run", "child", "patch", "cancel", "outcome"] as const
export type EntryKind = (typeof entryKinds)[number]

/**
 * `running`: begun. `retrying`: this attempt failed, another one begins at `due`. `interrupted`: it was cut off by what
 * ended first. The last three are ends.
 */
export const entryStates = ["running", "retrying", "succeeded", "failed", "interrupted"] as const
export type EntryState = (typeof entryStates)[number]

/** An attempt of a step, or something waited for. The pair of path and attempt is unique among those not set aside. */
export interface Entry {
  readonly path: string
  /** Counts from 1. */
  readonly attempt: number
  /** How often the step was to be done again by a `retry` after it had succeeded; part of its idempotency scope. */
  readonly redo: number
  readonly name: string
  readonly kind: EntryKind
  readonly input: Schema.Json
  readonly state: EntryState
  /** The result or the error. */
  readonly value: Schema.Json
  readonly failure: Failure | null
  /** Its place in the order of begins and ends of the execution. */
  readonly begun: number
  /** The place of its end in the same order; null while it has none. */
  readonly ended: number | null
  readonly startedAt: number
  readonly endedAt: number | null
  /** When a timer is due, a wait is over at the latest, or the next attempt begins. */
  readonly due: number | null
  /** What is awaited outside, such as a run of a workspace; null otherwise. */
  readonly subject: string | null
  /** Where it runs, or ran. */
  readonly host: string | null
}

/** What undoes a call of `Flow.compensate`, by the path of the call. */
export interface Undo {
  readonly path: string
  readonly redo: number
  readonly state: "pending" | "done" | "failed" | "skipped"
  /** The order of registration: the last one is undone first. */
  readonly position: number
  readonly failure: Failure | null
}

/** Something that arrived from outside, for the owner to take. */
export interface Message {
  /** Its number among the messages of the execution, from 1: `mail` when it was sent, under the lock of the execution. */
  readonly seq: number
  /**
   * `signal` and `inbox`: `name` is that of the signal with its key. `done`: the wait at the path `name` is over.
   * `cancel` and `suspend`: the commands.
   */
  readonly kind: "signal" | "inbox" | "done" | "cancel" | "suspend"
  readonly name: string
  /** Tells messages of an inbox apart; empty for the other kinds. */
  readonly id: string
  readonly value: Schema.Json
  readonly at: number
}

export type NewMessage = Pick<Message, "kind" | "name" | "id" | "value">

/** All that an owner needs to run an execution. */
export interface History {
  readonly execution: Execution
  /** Not those set aside; in the order of `begun`. */
  readonly entries: ReadonlyArray<Entry>
  readonly undos: ReadonlyArray<Undo>
  /** In the order of arrival. */
  readonly messages: ReadonlyArray<Message>
  /** The `redo` that a path has from now on, for those that a `retry` has set aside and that were not cut off. */
  readonly redos: ReadonlyMap<string, number>
}

/** What a claim is known by. */
export interface Fence {
  readonly id: string
  readonly epoch: number
}

/** One write of an owner: all of it or nothing. */
export interface Write {
  /** Replaces the members of the execution that it names. */
  readonly execution: Partial<
    Pick<
      Execution,
      "state" | "result" | "error" | "failure" | "input" | "chapter" | "tags" | "owner" | "wakeAt" | "endedAt"
    >
  >
  /** Whole entries: inserted, or put in the place of those with the same path and attempt. */
  readonly entries: ReadonlyArray<Entry>
  /** Whole undos, by path. */
  readonly undos: ReadonlyArray<Undo>
  /** Messages that are deleted, by `seq`: the same may be sent again then. */
  readonly taken: ReadonlyArray<number>
  /**
   * The last message that the owner has read: a write that gives up the claim wakes the execution when `mail` is past it. One that
   * would be halted is waiting then, and due: it may be a cancel.
   */
  readonly seen: number
  /**
   * The begin of a new chapter, which `execution` names: entries and undos, those of this write included, and the messages
   * up to `seen` are set aside. Later messages belong to the new chapter.
   */
  readonly newChapter?: boolean
}

/** Another process has claimed the execution: what this one computed since must be dropped. */
export class OwnershipLost extends Data.TaggedError("OwnershipLost")<{ readonly id: string }> {}

/** A new execution. */
export interface NewExecution extends Pick<
  Execution,
  "id" | "flow" | "version" | "key" | "input" | "tags" | "parent" | "limits" | "state" | "owner" | "wakeAt"
> {
  /** Kept with it in the same write. */
  readonly messages: ReadonlyArray<NewMessage>
}

/** A process that runs flows. */
export interface Process {
  readonly id: string
  readonly host: string
  readonly flows: ReadonlyArray<FlowVersion>
  /** Null: it lives as long as it holds the storage. */
  readonly expiresAt: number | null
}

/** What a command does to the rows of an execution that no process runs. */
export interface Change {
  readonly execution: Partial<
    Pick<Execution, "state" | "failure" | "error" | "result" | "endedAt" | "wakeAt" | "version" | "round">
  >
  /** Paths and attempts to set aside, with the `redo` that the path has from then on. */
  readonly aside: ReadonlyArray<Pick<Entry, "path" | "attempt"> & { readonly redo: number }>
  /** Undos to set aside, by path. */
  readonly asideUndos: ReadonlyArray<string>
  readonly undos: ReadonlyArray<Undo>
  /** Messages that are deleted, by `seq`, such as a cancel of what is retried now. */
  readonly taken: ReadonlyArray<number>
}

export interface Page {
  readonly flow?: string
  readonly version?: number
  readonly key?: string
  readonly states?: ReadonlyArray<State>
  readonly tag?: string
  /** Those that started at or after, before: milliseconds since 1970. */
  readonly startedFrom?: number
  readonly startedBefore?: number
  /** The last execution of the page before. */
  readonly before?: Pick<Execution, "id" | "startedAt">
  readonly limit: number
}

/** An execution that awaits something outside, at a path. */
export interface Awaiting {
  readonly execution: string
  readonly path: string
  readonly subject: string
}

/** Of an execution that is no longer there: what `retainKeys` keeps. */
export interface Expired extends FlowVersion {
  readonly id: string
  readonly key: string
  readonly state: State
  readonly endedAt: number
}

export class Journal extends Context.Service<
  Journal,
  {
    /** The time of the storage. */
    readonly now: Effect.Effect<number>

    /** Creates an execution unless there is one of the flow and key; returns the one that is there, or what is left of it. */
    readonly create: (
      execution: NewExecution
    ) => Effect.Effect<
      | { readonly _tag: "Created"; readonly execution: Execution }
      | { readonly _tag: "Existing"; readonly execution: Execution }
      | { readonly _tag: "Expired"; readonly expired: Expired }
    >
    readonly find: (id: string) => Effect.Effect<Execution | null>
    readonly findKey: (flow: string, key: string) => Effect.Effect<Execution | null>
    /** The newest first. */
    readonly list: (page: Page) => Effect.Effect<ReadonlyArray<Execution>>
    readonly history: (id: string) => Effect.Effect<History | null>
    /** Entries that were set aside, the oldest first. */
    readonly aside: (id: string) => Effect.Effect<ReadonlyArray<Entry>>

    /** A write of an owner. */
    readonly write: (fence: Fence, write: Write) => Effect.Effect<void, OwnershipLost>

    /**
     * Adds a message and wakes the execution when no process runs it; needs no claim. `repeated`: a message of this kind,
     * name and id is there, with this value; `conflict`: with another one. `absent`: there is no such execution. `ended`:
     * it takes no messages any more. Returns the owner to be told.
     */
    readonly send: (
      id: string,
      message: NewMessage
    ) => Effect.Effect<{
      readonly outcome: "sent" | "repeated" | "conflict" | "absent" | "ended"
      readonly owner: string | null
    }>
    /** Messages of an execution that arrived after `seq`. */
    readonly messages: (id: string, after: number) => Effect.Effect<ReadonlyArray<Message>>

    /**
     * Changes an execution at rest, or ends one: `decide` sees its rows, locked, and returns what to change or why not. The
     * epoch rises and the owner is none, so that what ran it can write nothing more; nothing happens when it returns null.
     * It may run more than once. Null when there is no such execution.
     */
    readonly change: <E>(
      id: string,
      decide: (history: History) => Effect.Effect<Change | null, E>
    ) => Effect.Effect<Execution | null, E>

    /**
     * Registers a process, or renews its lease and what it runs. False: its lease had expired and its claims are gone; from
     * now on it is registered as one without any.
     */
    readonly renew: (process: Process) => Effect.Effect<boolean>
    /** The process ends: its claims are free at once. */
    readonly leave: (process: string) => Effect.Effect<void>
    /** Frees what expired processes, and those that are not registered, had claimed; returns how many executions. */
    readonly reap: (now: number) => Effect.Effect<number>
    /** All processes that live at this time. */
    readonly processes: (now: number) => Effect.Effect<ReadonlyArray<Process>>
    /**
     * Claims executions of these versions that are active and due and that no process owns, those that are due longest
     * first. No two processes get the same one. The claims are committed when this returns. Without a share, all are for
     * this process.
     */
    readonly claim: (
      process: string,
      flows: ReadonlyArray<FlowVersion>,
      now: number,
      limit: number,
      share?: Share
    ) => Effect.Effect<ReadonlyArray<Execution>>
    /** Claims one execution that no living process owns, whether due or not. Null: another has it, it is in a queue, or it ended. */
    readonly claimOne: (process: string, id: string) => Effect.Effect<Execution | null>
    /** When the next execution of these versions that no process owns may be claimed; null: none will be. */
    readonly nextDue: (flows: ReadonlyArray<FlowVersion>, share?: Share) => Effect.Effect<number | null>
    /** Executions of a process that have messages past what its last write had seen. */
    readonly unread: (process: string) => Effect.Effect<ReadonlyArray<string>>

    /**
     * Sets the limits of a flow, for every process, unless those of a newer version are set. Returns whether executions of
     * the flow may be queued: false for one that has never had a limit.
     */
    readonly limit: (flow: FlowVersion, limits: ReadonlyArray<Limit>) => Effect.Effect<boolean>
    /**
     * Admits queued executions of a version that all limits of the flow admit, and claims them: at most `most`, keys in
     * turns. The slots of what has ended are freed first. In every process together, no limit is exceeded.
     */
    readonly admit: (process: string, flow: FlowVersion, most: number) => Effect.Effect<Admitted>
    /** What an execution in a queue waits for; null when it is in none. */
    readonly queuePlace: (id: string) => Effect.Effect<QueuePlace | null>

    /** Who awaits something whose subject begins with this; executions that have ended await nothing. */
    readonly awaiting: (prefix: string) => Effect.Effect<ReadonlyArray<Awaiting>>
    /** Like `awaiting`, for these subjects alone. */
    readonly awaitingAny: (subjects: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Awaiting>>
    /** Returns which of these executions exist and have not ended. */
    readonly unended: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>

    /** Deletes up to `limit` executions in a state that ended before a time, with all their rows; keeps key, state and end. */
    readonly expire: (states: ReadonlyArray<State>, endedBefore: number, limit: number) => Effect.Effect<number>
    /** Deletes up to `limit` rows of expired executions that ended before a time. */
    readonly forget: (endedBefore: number, limit: number) => Effect.Effect<number>

    /** A value kept under a name, such as how far a schedule has been carried out. */
    readonly read: (name: string) => Effect.Effect<Schema.Json>
    /**
     * Puts a value in the place of `expected` (null: none); false when another one is there. Null deletes what is there, also
     * when that is gone already.
     */
    readonly swap: (name: string, expected: Schema.Json, value: Schema.Json) => Effect.Effect<boolean>
    /** Names of the values whose name begins with this, in the order of their code points. */
    readonly names: (prefix: string) => Effect.Effect<ReadonlyArray<string>>

    /**
     * Runs `onChange` with the id of a process and of an execution whenever one that the process owns was sent something or
     * was taken from it by `change`, and with null and the id of an execution when that became due while no process owns it,
     * or has `ended`; once for several changes of one execution that come together. With null twice at the begin and
     * whenever changes may have been missed.
     */
    readonly changes: (
      onChange: (process: string | null, execution: string | null, ended: boolean) => Effect.Effect<void>
    ) => Effect.Effect<never>
  }
>()("@signalbox/flows/Journal") {}
