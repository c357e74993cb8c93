/** What the engine knows of a run, and what it can decide: the changes to write, or a refusal. */
import type { ProcessId, ProcessRunId, StepId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { StepDefinition } from "@signalbox/api/contract/Processes"
import type { ProcessRunAction, ProcessRunState } from "@signalbox/api/contract/ProcessRuns"
import type { StepRunErrorCode, StepRunEventType, StepRunState } from "@signalbox/api/contract/StepRuns"
import type { ExceptionType, WorkItemState } from "@signalbox/api/contract/WorkItems"
import type * as Result from "effect/Result"
import type { ProcessLimits } from "./Limits.ts"

/** A step as a run started with it. */
export interface RunStep extends StepDefinition {
  readonly id: StepId
  /** After how many failures in a row the process of the run is paused. */
  readonly pause_process_after?: number
  /** The limits of its process, if it has any. */
  readonly process_limits?: ProcessLimits
}

/** What is paused after how many failures in a row. */
export interface FailureLimit {
  readonly kind: "process" | "step"
  readonly subject: ProcessId | StepId
  readonly limit: number
}

/** The counters of one step of a run. Always equal to a recount of the rows. */
export interface StepCounts {
  /** Pending items without a step run. */
  readonly waiting: number
  /** Pending and in-progress items. */
  readonly open: number
  /** Step runs that have not ended. */
  readonly live: number
  /** Of these, those in state `new`. */
  readonly held: number
}

export interface Stop {
  readonly asDone: boolean
  readonly reason: string
}

export interface Run {
  readonly id: ProcessRunId
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly state: ProcessRunState
  readonly steps: ReadonlyArray<RunStep>
  readonly counts: ReadonlyArray<StepCounts>
  /** Failed items. */
  readonly failed: number
  readonly stop: Stop | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  /** Whether state, stop and times are certainly as stored: then only the counters are written. */
  readonly unmoved?: boolean
}

export interface StepRun {
  readonly id: StepRunId
  /** Index of its step. */
  readonly step: number
  readonly state: StepRunState
}

export interface Exception {
  readonly code: string
  readonly type: ExceptionType
  readonly message: string
}

/** What failures of one kind have in common. */
export interface FailureKind {
  /** The same for failures of one step that differ in numbers, ids and paths only. */
  readonly fingerprint: string
  readonly step: StepId | null
  readonly type: Exception["type"]
  readonly code: string
  /** Normalised. */
  readonly message: string
}

/** How a task releases its reserved item. */
export interface Release {
  /** Null: completed. */
  readonly exception: Exception | null
  /** The outputs of this attempt; `incomplete`: a failed attempt whose outputs must not be passed on. */
  readonly outputs: "none" | "some" | "incomplete"
}

export interface Item {
  readonly id: WorkItemId
  readonly step: number
  readonly state: WorkItemState
  readonly stepRun: StepRunId | null
  /** Attempts begun since the item was created or last retried by hand. */
  readonly attempts: number
  /** The step run that released it last. */
  readonly releasedBy: StepRunId | null
}

/** The open items of a step run. */
export interface Hand {
  /** The one that it processes, or will when it starts. */
  readonly item: Item | null
  /** Those that it was given ahead and has not begun, in their order. */
  readonly ahead: ReadonlyArray<Item>
}

export type Change =
  | {
      readonly _tag: "ItemMoved"
      readonly id: WorkItemId
      readonly to: WorkItemState
      readonly stepRun: StepRunId | null
      readonly attempts: number
      readonly releasedBy: StepRunId | null
      /** The earliest time at which a step run may take it; null: immediately. */
      readonly notBefore: string | null
      /** Undefined: stays as it is. */
      readonly exception: Exception | null | undefined
      /** Null unless it fails. */
      readonly failure: FailureKind | null
    }
  /** A waiting item is assigned to a step run that has not begun it; null: it waits again, at its place. */
  | { readonly _tag: "ItemAhead"; readonly id: WorkItemId; readonly stepRun: StepRunId | null }
  | { readonly _tag: "ItemDeleted"; readonly id: WorkItemId }
  /** All items of all steps that are pending without a step run. */
  | {
      readonly _tag: "WaitingSettled"
      readonly to: "done" | "failed"
      readonly exception: Exception | null
      /** Of each step with such items; null where there are none, or none fails. */
      readonly failures: ReadonlyArray<FailureKind | null>
    }
  | { readonly _tag: "StepRunCreated"; readonly step: number; readonly item: WorkItemId; readonly state: StepRunState }
  /** All step runs of a step that are `new`. */
  | { readonly _tag: "StepRunsQueued"; readonly step: number }
  | {
      readonly _tag: "StepRunMoved"
      readonly id: StepRunId
      readonly to: StepRunState
      readonly error: StepRunErrorCode | null
      /** Set when it starts: the end of its time limit; null: no limit. */
      readonly timeoutAt: string | null
    }
  /** How long a step run that has started may run from now on; null: as long as it takes. */
  | { readonly _tag: "StepRunLimited"; readonly id: StepRunId; readonly timeoutAt: string | null }
  | { readonly _tag: "StopRequested"; readonly stepRun: StepRunId }
  /** An attempt that counts towards pauses; `failure`: what to call its exception, null for a success. */
  | {
      readonly _tag: "AttemptEnded"
      readonly stepRun: StepRunId
      readonly failure: string | null
      readonly limits: ReadonlyArray<FailureLimit>
    }
  /** The held outputs of these items that the step run made. */
  | { readonly _tag: "OutputsDropped"; readonly stepRun: StepRunId; readonly items: ReadonlyArray<WorkItemId> }
  /** A held output with the payload and files of a completed item. */
  | { readonly _tag: "ItemForwarded"; readonly stepRun: StepRunId; readonly item: WorkItemId }
  /** The outputs of a step run are passed on: to a step as items, or, with `step` null, to the outputs of the run. */
  | {
      readonly _tag: "OutputsReleased"
      readonly stepRun: StepRunId
      readonly step: number | null
      readonly state: "pending" | "done" | "failed"
      readonly exception: Exception | null
      /** Null unless they fail. */
      readonly failure: FailureKind | null
    }
  | {
      readonly _tag: "Event"
      readonly stepRun: StepRunId
      readonly type: StepRunEventType
      readonly item: WorkItemId | null
    }
  | Notification

/** Event published for the run, consistent with the state in the same outcome. */
export interface Notification {
  readonly _tag: "Notification"
  readonly action: ProcessRunAction
}

/** Why the command was refused. */
export interface Refusal {
  readonly code: "CONFLICT" | "LEASE_LOST"
  readonly message: string
}

export interface Outcome {
  readonly run: Run
  readonly changes: ReadonlyArray<Change>
}

export type Decision = Result.Result<Outcome, Refusal>
