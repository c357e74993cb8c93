/**
 * What an execution is run with, and what becomes of a stay in memory.
 */
import type * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Gates } from "../Gates.ts"
import type { Execution, History, Message, OwnershipLost, Write } from "../Journal.ts"

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

export interface Options {
  readonly execution: Pick<Execution, "id" | "flow" | "version" | "chapter" | "state" | "mail">
  readonly history: Pick<History, "entries" | "undos" | "messages" | "redos">
  readonly host: Host
  readonly body: Body
  /** Called with the session before anything runs. */
  readonly onSession: (session: Session) => void
}
