/**
 * What the calls of a branch need: the branch, and the services of its execution.
 */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { FlowEvent } from "../../../FlowEvents.ts"
import type { Gates } from "../../body/Pacing.ts"
import type { Numbered } from "../../body/Position.ts"
import type { Entry } from "../../model/Execution.ts"
import type { Branch, Branches, Code } from "../Branches.ts"
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
}

export interface Caller {
  readonly branch: Branch
  readonly services: Services
}
