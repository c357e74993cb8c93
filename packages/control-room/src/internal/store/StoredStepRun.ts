/** Rows of step runs, and parsing them. */
import {
  ProcessId,
  ProcessRunId,
  StepId,
  StepRunId,
  TaskPackageId,
  WorkItemId,
  WorkspaceId
} from "@signalbox/api/contract/Ids"
import type { StepRun as StepRunView, StepRunErrorCode, StepRunState } from "@signalbox/api/contract/StepRuns"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"
import type { Item, StepRun } from "../engine/State.ts"
import { secondsBetween } from "./ProcessRuns.ts"

/** A row of `step_run`. */
export interface StepRunRow {
  readonly id: string
  readonly workspace_id: string
  readonly process_id: string
  readonly process_run_id: string
  readonly step: number
  readonly step_id: string
  readonly step_name: string
  readonly task_name: string
  readonly timeout_seconds: number | null
  readonly env: string
  readonly state: StepRunState
  readonly state_updated_at: string
  readonly error_code: StepRunErrorCode | null
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly first_item_id: string
  readonly timeout_at: string | null
  readonly stop_requested: number
  readonly worker_id: string | null
  readonly lease_hash: string | null
  readonly run_token_hash: string | null
  readonly package_id: string | null
  readonly package_version: number | null
  readonly package_digest: string | null
}

/** A step run as stored. */
export interface StoredStepRun extends StepRun {
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId
  readonly stepId: StepId
  readonly taskName: string
  readonly timeoutSeconds: number | null
  readonly env: Readonly<Record<string, string>>
  readonly firstItem: WorkItemId
  /** Whether its task was asked to end. */
  readonly stopRequested: boolean
  readonly workerId: string | null
  readonly leaseHash: string | null
  readonly runTokenHash: string | null
  /** Null for a task that workers define themselves. */
  readonly packageId: string | null
  /** The version of its package that it was leased with; null: it was not. */
  readonly packageVersion: number | null
}

export const parseStepRun = (row: StepRunRow): StoredStepRun => ({
  id: StepRunId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  processRunId: ProcessRunId.make(row.process_run_id),
  step: row.step,
  stepId: StepId.make(row.step_id),
  state: row.state,
  taskName: row.task_name,
  timeoutSeconds: row.timeout_seconds,
  env: JSON.parse(row.env),
  firstItem: WorkItemId.make(row.first_item_id),
  stopRequested: row.stop_requested === 1,
  workerId: row.worker_id,
  leaseHash: row.lease_hash,
  runTokenHash: row.run_token_hash,
  packageId: row.package_id,
  packageVersion: row.package_version
})

/** The columns that a step run shows: its environment may be large. */
export const viewColumns = [
  "id",
  "state",
  "state_updated_at",
  "error_code",
  "started_at",
  "ended_at",
  "step_id",
  "step_name",
  "package_id",
  "package_version",
  "package_digest"
] as const
export type ViewRow = Pick<StepRunRow, (typeof viewColumns)[number]>

export const view = (row: ViewRow): StepRunView => ({
  id: StepRunId.make(row.id),
  state: row.state,
  state_updated_at: row.state_updated_at,
  error: row.error_code === null ? null : { code: row.error_code },
  started_at: row.started_at,
  ended_at: row.ended_at,
  duration: secondsBetween(row.started_at, row.ended_at),
  step: { id: StepId.make(row.step_id), name: row.step_name },
  task_package:
    row.package_id === null || row.package_version === null || row.package_digest === null
      ? null
      : { id: TaskPackageId.make(row.package_id), version: row.package_version, digest: row.package_digest }
})

/** Parses the ids of rows. */
export const parseStepRunIds = (rows: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<StepRunId> =>
  rows.map(({ id }) => StepRunId.make(id))

/** A step run, the worker that owns it, and its reserved item. */
export interface Reserved {
  readonly stepRun: StepRun & Pick<StoredStepRun, "workerId" | "leaseHash">
  readonly item: Item | null
}

export interface ReservedRow extends Pick<StepRunRow, "id" | "step" | "state" | "worker_id" | "lease_hash"> {
  readonly item_id: string | null
  readonly item_state: WorkItemState | null
  readonly attempts: number | null
  readonly released_by: string | null
}

export const parseReserved = (row: ReservedRow): Reserved => {
  const stepRun = StepRunId.make(row.id)
  return {
    stepRun: { id: stepRun, step: row.step, state: row.state, workerId: row.worker_id, leaseHash: row.lease_hash },
    item:
      row.item_id === null || row.item_state === null
        ? null
        : {
            id: WorkItemId.make(row.item_id),
            step: row.step,
            state: row.item_state,
            stepRun,
            attempts: row.attempts ?? 0,
            releasedBy: row.released_by === null ? null : StepRunId.make(row.released_by)
          }
  }
}
