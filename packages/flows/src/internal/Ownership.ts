/**
 * The seam between an engine and the others that run flows on the same storage: who this process is, and which executions
 * are its own. What is recorded never depends on it, because each claim is fenced by its epoch.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Execution, FlowVersion } from "./Journal.ts"

/** What an owner has to do with its engine. */
export interface Holder {
  /** The versions that it runs now. */
  readonly flows: () => ReadonlyArray<FlowVersion>
  /** Something was sent to an execution that it may hold. */
  readonly poke: (id: string) => void
  /** The claims of this process are gone: drops what it runs. */
  readonly drop: Effect.Effect<void>
  /** Executions of others are free now, and whoever awaits one of them may not have been told. */
  readonly freed: () => void
  /** There may be more for this process to claim. */
  readonly look: () => void
  /** Gives back those of its executions that another process is to run, once their running steps have ended. */
  readonly giveBack: (which: (id: string) => boolean) => void
}

export class Ownership extends Context.Service<
  Ownership,
  {
    /** The id by which this process claims; another one once its claims were lost. */
    readonly self: () => string
    /** Whether other processes may use the same storage. */
    readonly isShared: boolean
    /** How long what others leave to this process may go unnoticed. */
    readonly longestPauseMillis: number
    /** Whether an execution is for this process to claim as soon as it is due. */
    readonly isNear: (id: string) => boolean
    /** Registers this process with the versions that it runs now. */
    readonly announce: (flows: ReadonlyArray<FlowVersion>) => Effect.Effect<void>
    /** Claims executions of these versions that are due and that are for this process. */
    readonly claim: (flows: ReadonlyArray<FlowVersion>, limit: number) => Effect.Effect<ReadonlyArray<Execution>>
    /** When there is something to claim next, in milliseconds since 1970; null: not before something arrives. */
    readonly nextDue: (flows: ReadonlyArray<FlowVersion>) => Effect.Effect<number | null>
    /** Stays the owner of what this process runs. */
    readonly keep: (holder: Holder) => Effect.Effect<never>
    /** The process ends: its claims are free at once. */
    readonly leave: Effect.Effect<void>
  }
>()("@signalbox/flows/Ownership") {}
