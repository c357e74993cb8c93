/**
 * The interface between an engine and the other processes on the same storage: the identity of this process, and the executions that
 * it claims. The correctness of the journal does not depend on it, because each claim is fenced by its epoch.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Execution, RegisteredVersion } from "../model/Execution.ts"
import type { StepCode } from "./StepCode.ts"

/** The callbacks of the engine for its ownership. */
export interface Holder {
  /** Returns the versions that it runs now. */
  readonly flows: () => ReadonlyArray<RegisteredVersion>
  /** A message was sent to an execution that this process may own. */
  readonly poke: (id: string) => void
  /** Drops all executions, because the claims of this process are lost. */
  readonly drop: Effect.Effect<void>
  /** Executions of other processes were released, and the end of one may not have been notified. */
  readonly freed: () => void
  /** This process may be able to claim more. */
  readonly wake: () => void
  /** Carries out the commands that no owner will read. */
  readonly settle: Effect.Effect<void>
  /** Releases matching executions to other processes, when their running steps have ended. */
  readonly giveBack: (which: (id: string) => boolean) => void
}

export class Ownership extends Context.Service<
  Ownership,
  {
    /** Returns the id with which this process claims; a new one after its claims were lost. */
    readonly self: () => string
    /** Whether other processes may use the same storage. */
    readonly isShared: boolean
    /** The longest pause between polls for executions that other processes released. */
    readonly longestPauseMillis: number
    /** Whether this process claims an execution as soon as it is due. */
    readonly isNear: (id: string) => boolean
    /** Registers this process with the versions that it runs now. */
    readonly announce: (flows: ReadonlyArray<RegisteredVersion>) => Effect.Effect<void>
    /** Claims due executions of these versions. */
    readonly claim: (flows: ReadonlyArray<RegisteredVersion>, limit: number) => Effect.Effect<ReadonlyArray<Execution>>
    /** Returns when the next execution is due, in milliseconds since 1970; null: not before a notification. */
    readonly nextDue: (flows: ReadonlyArray<RegisteredVersion>) => Effect.Effect<number | null>
    /** Keeps the claims of this process until it is interrupted. */
    readonly keep: (holder: Holder) => Effect.Effect<never>
    /** Starts the code of steps, so that the one that keeps the event loop can be named; undefined where nothing asks for it. */
    readonly within: StepCode["within"] | undefined
    /** Releases all claims, because the process ends. */
    readonly leave: Effect.Effect<void>
  }
>()("@signalbox/flows/Ownership") {}
