/**
 * The record of executions, as one interface: on SQLite, in a file or in memory, and on Postgres. Every write of an owner names
 * the epoch of its claim and changes nothing when another process has claimed the execution.
 *
 * Times are milliseconds since 1970. Inputs, results and errors are JSON by the schemas of the flow.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Share } from "../model/Partitions.ts"
import type { RecordedAnswer, Said, SaidBefore } from "../model/Said.ts"
import type {
  Admitted,
  Awaiting,
  Change,
  Chapter,
  CommandRow,
  Debounce,
  Entry,
  Execution,
  Expired,
  Fence,
  FlowVersion,
  History,
  Limit,
  Locked,
  Message,
  NewExecution,
  NewMessage,
  OwnershipLost,
  Page,
  Process,
  QueuePlace,
  RegisteredVersion,
  Registration,
  State,
  StateCount,
  Write
} from "../model/Execution.ts"

/** What a transaction of a caller can contain too. */
export interface Within {
  /** Creates an execution unless one with the flow and key exists; returns the existing one, or the expired row. */
  readonly create: (
    execution: NewExecution
  ) => Effect.Effect<
    | { readonly _tag: "Created"; readonly execution: Execution }
    | { readonly _tag: "Existing"; readonly execution: Execution }
    | { readonly _tag: "Expired"; readonly expired: Expired }
  >
  readonly findKey: (flow: string, key: string) => Effect.Effect<Execution | null>
  /**
   * Adds a message, and makes the execution due when no process owns it; needs no claim. `repeated`: a message of this kind, name and
   * id exists with this value (`isSame` of the stored one; default: the same JSON); `conflict`: with another one. `absent`: the execution
   * does not exist. `ended`: it accepts no messages. Returns the owner, to notify it.
   */
  readonly send: (
    id: string,
    message: NewMessage,
    isSame?: (stored: Schema.Json, sent: Schema.Json) => boolean
  ) => Effect.Effect<{
    readonly outcome: "sent" | "repeated" | "conflict" | "absent" | "ended"
    readonly owner: string | null
  }>
}

export class Journal extends Context.Service<
  Journal,
  Within & {
    /** The time of the storage. */
    readonly now: Effect.Effect<number>

    /**
     * Creates executions of a flow in one transaction, or joins those that exist: returns all in the order of the list, those with the
     * same key more than once, and which were `created`. Nothing is created when the execution of a key has expired.
     */
    readonly createMany: (
      flow: string,
      executions: ReadonlyArray<Omit<NewExecution, "flow" | "owner" | "messages">>
    ) => Effect.Effect<
      | {
          readonly _tag: "Created"
          readonly executions: ReadonlyArray<Execution>
          readonly created: ReadonlyArray<Execution>
        }
      | { readonly _tag: "Expired"; readonly expired: Expired }
    >
    /**
     * Creates a delayed execution for a debounce key, or replaces the input, tags and limits of the last one while it has not begun, and
     * moves its start. Both are one transaction, which excludes claims of the execution.
     */
    readonly debounce: (
      execution: Omit<NewExecution, "key" | "owner" | "messages" | "state" | "wakeAt" | "startsAt">,
      debounce: Debounce,
      /** Returns the input as it is stored with the execution of this id. */
      inputOf?: (id: string) => Schema.Json
    ) => Effect.Effect<{ readonly isNew: boolean; readonly execution: Execution }>
    readonly find: (id: string) => Effect.Effect<Execution | null>
    /** Returns a page of executions, the newest first. */
    readonly list: (page: Page) => Effect.Effect<ReadonlyArray<Execution>>
    /** Counts the executions that have not ended, by version and state: of one flow, or of all. */
    readonly unendedCounts: (flow?: string) => Effect.Effect<ReadonlyArray<StateCount>>
    readonly history: (id: string) => Effect.Effect<History | null>
    /** Returns the discarded entries of the last chapter, the oldest first. */
    readonly aside: (id: string) => Effect.Effect<ReadonlyArray<Entry>>
    /** Returns the ended chapters, the oldest first; of more than `mostChapters` the last ones. */
    readonly chapters: (id: string) => Effect.Effect<ReadonlyArray<Chapter>>

    /** Writes for an owner. Returns false, and writes nothing, when steps were to begin and a command has not been read. */
    readonly write: (fence: Fence, write: Write) => Effect.Effect<boolean, OwnershipLost>

    /** Returns messages of an execution that arrived after `seq`. */
    readonly messages: (id: string, after: number) => Effect.Effect<ReadonlyArray<Message>>

    /** Returns what an owner needs to know of what an execution has said of itself; null when that is nothing. */
    readonly saidBefore: (id: string) => Effect.Effect<SaidBefore | null>
    /** Returns the values of all states of an execution, in the order in which they were set. */
    readonly states: (id: string) => Effect.Effect<ReadonlyArray<Said>>
    /** Returns the value of a state, by its name with its key; null when it was not set. */
    readonly state: (id: string, name: string) => Effect.Effect<Said | null>
    /** Returns the names of the feeds of an execution that have items, in their order. */
    readonly feeds: (id: string) => Effect.Effect<ReadonlyArray<string>>
    /** Returns items of a feed in their order: the first ones after a number, or the last ones. */
    readonly feed: (
      id: string,
      name: string,
      page: { readonly after: number | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Said>>
    /** Returns what an execution has said after a number: the last value of each state, and the items of all feeds. */
    readonly said: (id: string, after: number, limit: number) => Effect.Effect<ReadonlyArray<Said>>
    /** Returns the answer to a request, by its name with its key and the id of its message; null when there is none. */
    readonly answer: (id: string, name: string, message: string) => Effect.Effect<RecordedAnswer | null>

    /**
     * Changes an execution by a command: `decide` gets its locked rows, and returns a change, or fails. A change increments the epoch
     * and clears the owner, so that writes of the former owner are refused, unless it `keepsOwner`: then the owner, or the next one, has
     * something to read. Null changes nothing. `decide` may run more than once. Returns null when the execution does not exist.
     */
    readonly change: <E>(
      id: string,
      decide: (locked: Locked) => Effect.Effect<Change | null, E>
    ) => Effect.Effect<Execution | null, E>
    /** Returns the last commands of an execution, the oldest first. */
    readonly commands: (id: string) => Effect.Effect<ReadonlyArray<CommandRow>>
    /**
     * Returns executions with pending commands that no owner will read: because they have ended, because an owner of an earlier protocol
     * has left them so, or because their owner would understand now what waits for it.
     */
    readonly unsettled: Effect.Effect<ReadonlyArray<string>>

    /**
     * Registers a process, or renews its lease and its versions. Returns false when its lease had expired and its claims are lost; it is
     * then registered without claims.
     */
    readonly renew: (process: Registration) => Effect.Effect<boolean>
    /** Removes a process and releases its claims. */
    readonly leave: (process: string) => Effect.Effect<void>
    /**
     * Releases the claims of expired and unregistered processes, and of those in `gone`; returns the number of executions. Counts the
     * losses of the steps in which such a process stood still (`stalled`).
     */
    readonly reap: (gone?: ReadonlyArray<string>) => Effect.Effect<number>
    /** Returns the processes whose lease is valid. */
    readonly processes: Effect.Effect<ReadonlyArray<Process>>
    /**
     * Claims active and due executions of these versions that no process owns, the longest due first: also those that were to start
     * later, at their time, and those in a queue, at their deadline. No two processes get the same one. The claims are committed when
     * this returns. Without a share, the process may claim all; of a version that it drains, only those that have begun, and children.
     */
    readonly claim: (
      process: string,
      flows: ReadonlyArray<RegisteredVersion>,
      now: number,
      limit: number,
      share?: Share
    ) => Effect.Effect<ReadonlyArray<Execution>>
    /** Claims one execution that no living process owns, also when it is not due. Null: it has an owner, is queued, or has ended. */
    readonly claimOne: (process: string, id: string) => Effect.Effect<Execution | null>
    /** Returns when the next execution of these versions may be claimed; null: no unowned one will be due. */
    readonly nextDue: (flows: ReadonlyArray<RegisteredVersion>, share?: Share) => Effect.Effect<number | null>
    /** Returns the executions of a process that have messages after the last one seen by its writes. */
    readonly unread: (process: string) => Effect.Effect<ReadonlyArray<string>>

    /**
     * Sets the limits of a flow for all processes, unless those of a newer version are set. Returns whether executions of the flow may be
     * queued: false for a flow that has never had a limit.
     */
    readonly limit: (flow: FlowVersion, limits: ReadonlyArray<Limit>) => Effect.Effect<boolean>
    /**
     * Claims queued executions of a version that all limits of the flow admit: at most `most`, keys in turns. Releases the slots of ended
     * executions first. Across all processes, no limit is exceeded.
     */
    readonly admit: (process: string, flow: FlowVersion, most: number) => Effect.Effect<Admitted>
    /**
     * Writes what a flow makes of the input of an execution that was created without it, for its owner: the execution then runs; or with
     * keys for limits it is put into its queue, without an owner.
     */
    readonly prepare: (fence: Fence, prepared: Pick<Execution, "tags" | "limits">) => Effect.Effect<void, OwnershipLost>
    /**
     * Puts a claimed execution, whose time to start has come, into the queue of its limits, and releases it. Nothing happens when
     * another process has claimed it.
     */
    readonly enqueue: (fence: Fence) => Effect.Effect<void>
    /** Returns the place of an execution in its queue; null when it is not queued. */
    readonly queuePlace: (id: string) => Effect.Effect<QueuePlace | null>

    /** Returns the waits of executions that have not ended whose subject begins with this. */
    readonly awaiting: (prefix: string) => Effect.Effect<ReadonlyArray<Awaiting>>
    /** Like `awaiting`, for these subjects. */
    readonly awaitingAny: (subjects: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Awaiting>>
    /** Returns which of these executions exist and have not ended. */
    readonly unended: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>

    /** Deletes the data of up to `limit` executions in these states that ended before a time; their key, state and end remain. */
    readonly expire: (states: ReadonlyArray<State>, endedBefore: number, limit: number) => Effect.Effect<number>
    /** Deletes up to `limit` rows of expired executions that ended before a time. */
    readonly forget: (endedBefore: number, limit: number) => Effect.Effect<number>

    /** Returns the value stored under a name, such as the progress of a schedule; null when there is none. */
    readonly read: (name: string) => Effect.Effect<Schema.Json>
    /**
     * Replaces the value `expected` (null: none) by another one; returns false when the current value differs. Null deletes the value,
     * also when it is already deleted.
     */
    readonly swap: (name: string, expected: Schema.Json, value: Schema.Json) => Effect.Effect<boolean>
    /** Returns the names of values that begin with this, in the order of their code points. */
    readonly names: (prefix: string) => Effect.Effect<ReadonlyArray<string>>

    /** The client of its tables. */
    readonly sql: SqlClient
    /**
     * Writes in a transaction of a client of the same database, which may be part of another one; subscribers are notified after its
     * commit. Unlike the other members it repeats nothing when the database fails.
     */
    readonly within: <A, E, R>(
      sql: SqlClient,
      use: (journal: Within) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | SqlError, R>
    /**
     * Runs the transaction of a step, unless one of its attempts has committed it: then it returns the value of that attempt. The value
     * is recorded in the same commit.
     */
    readonly once: <E, R>(
      sql: SqlClient,
      step: { readonly execution: string; readonly scope: string },
      run: Effect.Effect<Schema.Json, E, R>
    ) => Effect.Effect<Schema.Json, E | SqlError, R>
    /** Whether a transaction that failed so may succeed later: the database is away, full or busy. */
    readonly isPassing: (error: SqlError) => boolean

    /**
     * Runs `onChange` with the id of a process and of an execution whenever an execution of the process got a message or was changed by
     * `change`, and with null and the id of an execution when that became due without an owner, or has `ended`; concurrent changes of one
     * execution are combined. Runs it with null twice at the start and whenever notifications may have been lost.
     */
    readonly changes: (
      onChange: (process: string | null, execution: string | null, ended: boolean) => Effect.Effect<void>
    ) => Effect.Effect<never>
  }
>()("@signalbox/flows/Journal") {}
