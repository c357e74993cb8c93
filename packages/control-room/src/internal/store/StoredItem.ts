/**
 * Work items as rows and as the repositories return them: what `WorkItems`, `RunItems` and `Outputs` share.
 */
import { ProcessId, ProcessRunId, StepId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"
import type * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { atRiskAt, sortKey } from "../engine/Order.ts"
import type { Exception, Item, RunStep } from "../engine/State.ts"

export interface SummaryRow {
  readonly id: string
  readonly workspace_id: string
  readonly process_id: string
  readonly process_run_id: string | null
  readonly step_id: string | null
  readonly step_run_id: string | null
  readonly state: WorkItemState
  readonly state_updated_at: string | null
  readonly created_at: string
  readonly exception: string | null
  readonly priority: number
  readonly due_at: string | null
  readonly at_risk_at: string | null
  readonly reference: string | null
  readonly tags: string | null
}

/** The columns of a row that concern its order. */
export const orderColumns = "priority, due_at, at_risk_at, reference, tags"

export interface StateRow extends Pick<
  SummaryRow,
  "id" | "workspace_id" | "process_id" | "process_run_id" | "step_run_id" | "state"
> {
  readonly step: number | null
  readonly attempts: number
  readonly released_by: string | null
}

export interface ItemRow extends SummaryRow, StateRow {
  readonly payload: string
  /** Only where selected: whether a file names the item as its owner. */
  readonly has_files?: unknown
  /** Only in pages: bytes that its files take in its view. */
  readonly extra_bytes?: number
}

/** A row of what a task is given. */
export interface GivenRow extends Pick<
  ItemRow,
  "id" | "state" | "attempts" | "released_by" | "step_run_id" | "payload"
> {
  readonly step: number | null
  readonly not_before: string | null
  readonly has_files: unknown
}

/** Selects `GivenRow`s: every item is read so once, so it has nothing else. */
export const selectGiven =
  "SELECT id, step, step_run_id, state, attempts, released_by, payload, not_before, EXISTS (SELECT 1 FROM file WHERE file.owner_id = work_item.id) AS has_files FROM work_item"

/** Selects `StateRow`s. */
export const selectState =
  "SELECT id, workspace_id, process_id, process_run_id, step, step_run_id, state, attempts, released_by FROM work_item"

/** Selects `ItemRow`s. */
export const selectItem = `SELECT id, workspace_id, process_id, process_run_id, step, step_id, step_run_id, state, state_updated_at, created_at, payload, attempts, released_by, exception, ${orderColumns}, EXISTS (SELECT 1 FROM file WHERE file.owner_id = work_item.id) AS has_files FROM work_item`

/**
 * SQL for the bytes that the files of a row take in its view: for each its name, once more encoded in its address, and
 * a signature.
 */
export const fileBytes = (owner: "work_item" | "output") => {
  const files = `FROM file WHERE file.owner_id = ${owner}.id`
  // Most have none, and EXISTS is cheaper than a sum.
  return `CASE WHEN EXISTS (SELECT 1 ${files}) THEN (SELECT sum(640 + 4 * octet_length(file.name)) ${files}) ELSE 0 END`
}

/** A work item as stored, without its payload and without what only runs need. */
export interface StoredSummary {
  readonly id: WorkItemId
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId | null
  readonly stepId: StepId | null
  readonly stepRun: StepRunId | null
  readonly state: WorkItemState
  readonly stateUpdatedAt: string | null
  readonly createdAt: string
  readonly exception: Exception | null
  readonly priority: number
  readonly dueAt: string | null
  readonly atRiskAt: string | null
  readonly reference: string | null
  readonly tags: ReadonlyArray<string>
}

/** A work item without its payload, as commands on runs need it. */
export interface StoredState extends Item {
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId | null
}

/** A work item as stored. */
export interface StoredItem extends Item, StoredSummary {
  readonly id: WorkItemId
  readonly stepRun: StepRunId | null
  readonly state: WorkItemState
  readonly payload: Schema.Json
  /** False when the item certainly has no files, so that they need not be queried. */
  readonly mayHaveFiles: boolean
}

/** A work item with what a task is given of it. */
export interface GivenItem extends Item, Pick<StoredItem, "payload" | "mayHaveFiles"> {}

/**
 * A work item as a page shows it; its payload is JSON text, so that megabytes of it are neither parsed nor stringified.
 */
export interface StoredPageItem extends StoredSummary {
  readonly payload: string
  readonly mayHaveFiles: boolean
}

export const parseSummary = (row: SummaryRow): StoredSummary => ({
  id: WorkItemId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  processRunId: row.process_run_id === null ? null : ProcessRunId.make(row.process_run_id),
  stepId: row.step_id === null ? null : StepId.make(row.step_id),
  stepRun: row.step_run_id === null ? null : StepRunId.make(row.step_run_id),
  state: row.state,
  stateUpdatedAt: row.state_updated_at,
  createdAt: row.created_at,
  exception: parseException(row.exception),
  priority: row.priority,
  dueAt: row.due_at,
  atRiskAt: row.at_risk_at,
  reference: row.reference,
  tags: row.tags === null ? [] : JSON.parse(row.tags)
})

/** True where the query did not select it. */
export const mayHaveFiles = (selected: unknown) => selected === undefined || Boolean(selected)

export const parseState = (row: StateRow): StoredState => ({
  id: WorkItemId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  processRunId: row.process_run_id === null ? null : ProcessRunId.make(row.process_run_id),
  step: row.step ?? 0,
  stepRun: row.step_run_id === null ? null : StepRunId.make(row.step_run_id),
  state: row.state,
  attempts: row.attempts,
  releasedBy: row.released_by === null ? null : StepRunId.make(row.released_by)
})

export const parseGiven = (row: GivenRow): GivenItem => ({
  id: WorkItemId.make(row.id),
  step: row.step ?? 0,
  stepRun: row.step_run_id === null ? null : StepRunId.make(row.step_run_id),
  state: row.state,
  attempts: row.attempts,
  releasedBy: row.released_by === null ? null : StepRunId.make(row.released_by),
  payload: ExactJson.parse(row.payload),
  mayHaveFiles: Boolean(row.has_files)
})

export const parseItem = (row: ItemRow): StoredItem => ({
  ...parseSummary(row),
  step: row.step ?? 0,
  payload: ExactJson.parse(row.payload),
  attempts: row.attempts,
  releasedBy: row.released_by === null ? null : StepRunId.make(row.released_by),
  mayHaveFiles: mayHaveFiles(row.has_files ?? row.extra_bytes)
})

export const parsePageItem = (row: ItemRow): StoredPageItem => ({
  ...parseSummary(row),
  payload: row.payload,
  mayHaveFiles: mayHaveFiles(row.has_files ?? row.extra_bytes)
})

export const parseIds = (rows: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<WorkItemId> =>
  rows.map(({ id }) => WorkItemId.make(id))

/** Parses the exception in a column of work items. */
export const parseException = (text: string | null): Exception | null => (text === null ? null : JSON.parse(text))

/** The text of an exception for a column of work items. */
export const exceptionText = (exception: Exception | null) => (exception === null ? null : JSON.stringify(exception))

/** What the sender of an item says of its order; times as stored. */
export interface NewOrder {
  readonly priority: number
  readonly dueAt: string | null
  readonly tags: ReadonlyArray<string>
}

export const noOrder: NewOrder = { priority: 0, dueAt: null, tags: [] }

/** The row of an item to create: `new`, or pending in the first step of a run. `payload` is JSON text. */
export const newRow = ({
  at,
  id,
  order,
  payload,
  process,
  reference,
  run,
  workspace
}: {
  readonly id: string
  readonly at: string
  readonly workspace: WorkspaceId
  readonly process: ProcessId
  readonly payload: string
  readonly order: NewOrder
  readonly reference: string | null
  readonly run: { readonly id: ProcessRunId; readonly step: RunStep } | null
}) =>
  ({
    id,
    workspace_id: workspace,
    process_id: process,
    process_run_id: run?.id ?? null,
    step: run === null ? null : 0,
    step_id: run?.step.id ?? null,
    state: run === null ? "new" : "pending",
    state_updated_at: run === null ? null : at,
    created_at: at,
    payload,
    attempts: 0,
    priority: order.priority,
    sort_key: run === null ? 0 : sortKey(Date.parse(at), order.priority),
    due_at: order.dueAt,
    at_risk_at: order.dueAt === null ? null : atRiskAt(at, order.dueAt),
    reference,
    tags: order.tags.length === 0 ? null : JSON.stringify(order.tags)
  }) as const
