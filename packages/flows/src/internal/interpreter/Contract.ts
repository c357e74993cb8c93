/**
 * The inputs of the interpreter, and the outcome of an activation.
 */
import type * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Gates } from "../body/Pacing.ts"
import type { Where } from "./Halts.ts"
import type { Restless } from "../model/Restless.ts"
import type { Execution, History, Message, OwnershipLost, Write } from "../model/Execution.ts"
import type { SaidBefore } from "../model/Said.ts"
import type { StepCode } from "../ownership/StepCode.ts"

/** The environment of an execution: an engine, or a script. */
export interface Host {
  /** Whether the execution outlives this process. */
  readonly durable: boolean
  readonly name: string
  /** The id of the process; null in a script. */
  readonly process: string | null
  readonly now: Effect.Effect<number>
  /** Returns false, and writes nothing, when steps were to begin and there is a command to be read before. */
  readonly write: (write: Write) => Effect.Effect<boolean, OwnershipLost>
  readonly messages: (after: number) => Effect.Effect<ReadonlyArray<Message>>
  /** The timer of bodies that do not come to rest. */
  readonly restless: Restless
  /** Shows that the body computes outside of a step since this time; null: not any more. */
  readonly outside: (since: number | null) => Effect.Effect<void>
  /** The rate gates of steps with durable retries; null in a script, which has none. */
  readonly gates: Gates | null
  /** Whether other executions wait for the memory of an idle one. */
  readonly isCrowded: () => boolean
  /** Starts the code of steps; absent where nothing asks which of them runs. */
  readonly within?: StepCode["within"] | undefined
  /** Set when a record is only replayed: called with the paths of new steps and waits, instead of beginning them. */
  readonly onEdge?: (reached: ReadonlyArray<string>) => void
}

/** The outcome of an activation. */
export type Outcome =
  | { readonly _tag: "Completed"; readonly result: Schema.Json }
  | { readonly _tag: "Failed"; readonly error: Schema.Json; readonly cause: Cause.Cause<unknown> }
  | { readonly _tag: "Cancelled" }
  /** Nothing was undone; a person or a deployment is needed. `mine` is false when another build may be able to continue. */
  | { readonly _tag: "Halted"; readonly cause: Cause.Cause<unknown>; readonly mine: boolean; readonly where: Where }
  | { readonly _tag: "Suspended" }
  /** It waits, and was evicted from memory. */
  | { readonly _tag: "Parked" }
  | { readonly _tag: "Continued"; readonly input: Schema.Json }

/** The body of an execution. */
export interface Body {
  /** Returns the result as JSON. */
  readonly run: Effect.Effect<Schema.Json, unknown>
  readonly encodeError: (error: unknown) => Effect.Effect<Schema.Json>
  /** The names of the states and feeds that the flow lists. */
  readonly says: ReadonlySet<string>
  readonly context: Context.Context<never>
}

/** A handle of an execution in memory. */
export interface Session {
  /** Called when a message has arrived. */
  readonly poke: () => void
  /** Called when others wait for memory: evicts an idle execution. */
  readonly crowd: () => void
  /** Lets running steps end, begins no others, and releases the execution. */
  readonly close: () => void
  /** Whether a step runs, or the body computes or waits outside of one. */
  readonly isBusy: () => boolean
  /** Interrupts running steps, and releases the execution. */
  readonly abort: () => void
  /** Cancels the execution, for a caller that is interrupted. */
  readonly cancel: () => void
}

export interface Options {
  readonly execution: Pick<
    Execution,
    "id" | "flow" | "version" | "chapter" | "state" | "mail" | "startsAt" | "deadlineAt"
  >
  readonly history: Pick<History, "entries" | "undos" | "messages" | "redos">
  /** What it has said of itself before; absent: nothing. */
  readonly said?: SaidBefore | undefined
  readonly host: Host
  readonly body: Body
  /** Called with the session before anything runs. */
  readonly onSession: (session: Session) => void
}
