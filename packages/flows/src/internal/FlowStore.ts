/**
 * What is kept of durable flows: the executions, and their steps. Management reads it, whichever engine runs.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Failure } from "../FlowEvents.ts"
import type { FlowPayload, StepInfo } from "./FlowPayload.ts"

export const executionStates = ["running", "completed", "failed", "canceled"] as const
export type ExecutionState = (typeof executionStates)[number]

/** What a version of a flow does, or did, for one key. Times are milliseconds since 1970. */
export interface Execution extends FlowPayload {
  readonly id: string
  readonly state: ExecutionState
  /** The result by the flow's schema; null unless completed. */
  readonly result: Schema.Json
  /** The error by the flow's schema, null when it failed otherwise. */
  readonly error: Schema.Json
  /** For people: null unless failed or canceled. */
  readonly failure: Failure | null
  readonly startedAt: number
  readonly endedAt: number | null
}

/** An attempt of a step that has ended. */
export interface RecordedStep extends StepInfo {
  readonly path: string
  /** Counts from 1. */
  readonly attempt: number
  readonly state: "succeeded" | "failed"
  /** The result or the error by the step's schema. */
  readonly value: Schema.Json
  readonly failure: Failure | null
  readonly startedAt: number
  readonly endedAt: number
}

/** An execution that waits, at a path, for something outside: `kind` is what it is, such as a run, and `subject` which. */
export interface Wait {
  readonly execution: string
  readonly path: string
  readonly kind: string
  readonly subject: string
}

/** What an execution waits for until a time: a sleep, the pause before another attempt, a limit. */
export interface Timer {
  /** The path of what waits; of a pause, with `/attempt 2` and the like at its end. */
  readonly path: string
  readonly due: number
}

/** A part of the list of executions. */
export interface ExecutionPage {
  readonly flow?: string
  readonly version?: number
  readonly state?: ExecutionState
  /** The last execution of the page before. */
  readonly before?: Pick<Execution, "id" | "startedAt">
  readonly limit: number
}

export class FlowStore extends Context.Service<
  FlowStore,
  {
    /**
     * Makes the execution unless there is one of this flow and key with this generation or a later one; answers the
     * latest. `id` is that of the new one.
     */
    readonly claim: (id: string, payload: FlowPayload) => Effect.Effect<Execution>
    readonly find: (id: string) => Effect.Effect<Execution | null>
    /** Executions of all versions, registered or not, the newest first. */
    readonly list: (page: ExecutionPage) => Effect.Effect<ReadonlyArray<Execution>>
    /** The ended attempts of an execution's steps, in the order of their end. */
    readonly steps: (execution: string) => Effect.Effect<ReadonlyArray<RecordedStep>>
    /** `steps`, for the body of an execution that begins to run: its engine may know them already. */
    readonly replay: (execution: string) => Effect.Effect<ReadonlyArray<RecordedStep>>
    /** Keeps an attempt of a step; keeping it again changes nothing. It is not worked out when the engine has kept it. */
    readonly recordStep: (execution: string, step: Effect.Effect<RecordedStep>) => Effect.Effect<void>
    /** Keeps how an execution ended; keeping it again changes nothing. */
    readonly recordEnd: (
      execution: string,
      end: Pick<Execution, "state" | "result" | "error" | "failure">
    ) => Effect.Effect<void>
    /** Keeps that an execution waits for something outside; keeping it again changes nothing. */
    readonly recordWait: (wait: Wait) => Effect.Effect<void>
    /** Who waits for something of this kind, or for this one; executions that have ended wait no more. */
    readonly waits: (kind: string, subject?: string) => Effect.Effect<ReadonlyArray<Wait>>
    /** What an execution waits for outside. */
    readonly waitsOf: (execution: string) => Effect.Effect<ReadonlyArray<Wait>>
    readonly endWait: (execution: string, path: string) => Effect.Effect<void>
    /** Keeps that a timer is set, for engines that keep theirs elsewhere; keeping it again changes nothing. */
    readonly recordTimer: (execution: string, timer: Timer) => Effect.Effect<void>
    /** The timers of an execution that have not fired, or of which it is not known. */
    readonly timers: (execution: string) => Effect.Effect<ReadonlyArray<Timer>>
    /** Up to when a schedule has been carried out, in milliseconds since 1970; one that is new begins `now`. */
    readonly scheduledTo: (schedule: string, now: number) => Effect.Effect<number>
    /** Keeps that a schedule has been carried out up to a time; false when it is no longer at `from`. */
    readonly advanceSchedule: (schedule: string, from: number, to: number) => Effect.Effect<boolean>
  }
>()("@signalbox/flows/FlowStore") {}
