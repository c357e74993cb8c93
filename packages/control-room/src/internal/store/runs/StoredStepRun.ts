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
import type * as Arr from "effect/Array"
import * as Engine from "../../engine/Engine.ts"
import type { Hand, Item, StepRun } from "../../engine/State.ts"
import type { Sql } from "@signalbox/sql/Sql"
import { flag, id, integer, json, nullable, Table, text, word } from "@signalbox/sql/Table"
import { secondsBetween } from "./ProcessRuns.ts"

export const stepRunTable = Table("step_run", {
  id: id(StepRunId),
  workspace_id: id(WorkspaceId),
  process_id: id(ProcessId),
  process_run_id: id(ProcessRunId),
  step: integer,
  step_id: id(StepId),
  step_name: text,
  task_name: text,
  worker_group_id: nullable(text),
  /** As `Labels` encodes them. */
  labels: nullable(text),
  timeout_seconds: nullable(integer),
  env: json<Readonly<Record<string, string>>>(),
  state: word<StepRunState>(),
  state_updated_at: text,
  error_code: nullable(word<StepRunErrorCode>()),
  started_at: nullable(text),
  ended_at: nullable(text),
  first_item_id: id(WorkItemId),
  timeout_at: nullable(text),
  stop_requested: flag,
  worker_id: nullable(text),
  lease_hash: nullable(text),
  lease_expires_at: nullable(text),
  run_token_hash: nullable(text),
  package_id: nullable(id(TaskPackageId)),
  package_version: nullable(integer),
  package_digest: nullable(text),
  sort_key: integer,
  priority: integer,
  /** Whether its item is under a limit. */
  limited: flag
})
export type StepRunRow = typeof stepRunTable.Type

/** The process of something. */
export const processId = id(ProcessId)

/** The id of a step run, as most statements return it. */
export const stepRunId = stepRunTable.pick("id")

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
  id: row.id,
  workspaceId: row.workspace_id,
  processId: row.process_id,
  processRunId: row.process_run_id,
  step: row.step,
  stepId: row.step_id,
  state: row.state,
  taskName: row.task_name,
  timeoutSeconds: row.timeout_seconds,
  env: row.env,
  firstItem: row.first_item_id,
  stopRequested: row.stop_requested,
  workerId: row.worker_id,
  leaseHash: row.lease_hash,
  runTokenHash: row.run_token_hash,
  packageId: row.package_id,
  packageVersion: row.package_version
})

/** The columns that a step run shows: its environment may be large. */
export const viewRow = stepRunTable.pick(
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
)

export const view = (row: typeof viewRow.Type): StepRunView => ({
  id: row.id,
  state: row.state,
  state_updated_at: row.state_updated_at,
  error: row.error_code === null ? null : { code: row.error_code },
  started_at: row.started_at,
  ended_at: row.ended_at,
  duration: secondsBetween(row.started_at, row.ended_at),
  step: { id: row.step_id, name: row.step_name },
  task_package:
    row.package_id === null || row.package_version === null || row.package_digest === null
      ? null
      : { id: row.package_id, version: row.package_version, digest: row.package_digest }
})

/** A step run, the worker that owns it, and its open items. */
export interface Reserved extends Hand {
  readonly stepRun: StepRun & Pick<StoredStepRun, "workerId" | "leaseHash">
}

const leasedRow = stepRunTable.pick("id", "step", "state", "worker_id", "lease_hash")

export const reservedRow = leasedRow.and({
  item_id: nullable(id(WorkItemId)),
  item_state: nullable(word<WorkItemState>()),
  attempts: nullable(integer),
  released_by: nullable(id(StepRunId))
})

/** The columns of `reservedRow`, of a step run and its item. */
export const reservedColumns = (sql: Sql) => sql`${leasedRow.of("step_run")}, work_item.id AS item_id,
  work_item.state AS item_state, work_item.attempts, work_item.released_by`

/** The step run of these rows, each of another item, in their order. */
export const parseReserved = (rows: Arr.NonEmptyReadonlyArray<typeof reservedRow.Type>): Reserved => {
  const { id, lease_hash: leaseHash, state, step, worker_id: workerId } = rows[0]
  const items = rows.flatMap((row): ReadonlyArray<Item> => {
    if (row.item_id === null || row.item_state === null) return []
    const { attempts, item_id, item_state, released_by: releasedBy } = row
    return [{ id: item_id, step, state: item_state, stepRun: id, attempts: attempts ?? 0, releasedBy }]
  })
  const stepRun = { id, step, state, workerId, leaseHash }
  return { stepRun, ...Engine.handOf(stepRun, items) }
}
