/**
 * What the calls of a branch need: the branch, and the services of its execution.
 */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { FlowEvent } from "../../../FlowEvents.ts"
import type { Gates } from "../../body/Pacing.ts"
import type { Numbered } from "../../body/Position.ts"
import type { Entry } from "../../model/Execution.ts"
import type { Answer } from "../../model/Said.ts"
import type { Branch, Branches, Code } from "../Branches.ts"
import type { Asked, Kept } from "../state/Saying.ts"
import type { Spec } from "./Spec.ts"

/** The same for all branches of an execution. */
export interface Services {
  readonly id: string
  /** Part of the idempotency scope of every step: another one in each chapter. */
  readonly origin: string
  readonly durable: boolean
  readonly gates: Gates | null
  /** Whether the journal is only replayed, without external calls. */
  readonly replays: boolean
  readonly publish: (event: (now: number) => FlowEvent) => Effect.Effect<void>
  /** Whether the replay has reached everything recorded. */
  readonly isLive: () => boolean
  readonly recordedAt: (path: string) => Entry | undefined
  readonly redoOf: (path: string) => number
  readonly park: <A, E>(branch: Branch, spec: Spec) => Effect.Effect<A, E>
  readonly branches: Branches
  /** The names used below each prefix. */
  readonly names: Map<string, Numbered>
  /** Whether a place is in an undo, whose calls are not undone. */
  readonly isUndo: (prefix: string) => boolean
  readonly register: (branch: Branch, path: string, undo: Code<unknown, unknown>) => void
  readonly continueAs: (input: Schema.Json) => void
  /** The names of the states and feeds that the flow lists. */
  readonly says: ReadonlySet<string>
  /** Counts what the body says of itself; returns whether it says it for the first time. */
  readonly isNew: () => boolean
  /** Sets a state, by its name with its key. */
  readonly set: (name: string, value: Schema.Json) => void
  readonly append: (feed: Kept, value: Schema.Json) => void
  /** Returns the id of a received message, by its number as an entry has it. */
  readonly messageId: (subject: string | null) => string
  /** Called when the body has received a request. */
  readonly asked: (request: Asked) => void
  /** Begins the answer to a request; returns how it is recorded, or null when there is none to be answered. */
  readonly answer: (request: Omit<Asked, "input">) => ((answer: Pick<Answer, "state" | "value">) => void) | null
}

export interface Caller {
  readonly branch: Branch
  readonly services: Services
}
