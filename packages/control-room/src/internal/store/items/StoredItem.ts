/**
 * Work items as rows and as the repositories return them: what `WorkItems`, `RunItems` and `Outputs` share.
 */
import { ProcessId, ProcessRunId, StepId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"
import type * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { flag, id, integer, json, nullable, Table, text, word } from "@signalbox/sql/Table"
import { atRiskAt, sortKey } from "../../engine/Order.ts"
import type { Exception, Item, RunStep } from "../../engine/State.ts"

/** All columns that the program reads or writes; `sort_key` and `not_before` are the order in which items are taken. */
export const workItemTable = Table("work_item", {
  id: id(WorkItemId),
  workspace_id: id(WorkspaceId),
  process_id: id(ProcessId),
  process_run_id: nullable(id(ProcessRunId)),
  step: nullable(integer),
  step_id: nullable(id(StepId)),
  step_run_id: nullable(id(StepRunId)),
  state: word<WorkItemState>(),
  state_updated_at: nullable(text),
  created_at: text,
  payload: text,
  attempts: integer,
  released_by: nullable(id(StepRunId)),
  exception: nullable(json<Exception>()),
  failure: nullable(text),
  not_before: nullable(text),
  priority: integer,
  sort_key: integer,
  due_at: nullable(text),
  at_risk_at: nullable(text),
  reference: nullable(text),
  tags: nullable(json<ReadonlyArray<string>>())
})

/** The id of an item, as most statements return it. */
export const itemId = workItemTable.pick("id")

/** An item without its payload. */
export const summaryRow = workItemTable.pick(
  "id",
  "workspace_id",
  "process_id",
  "process_run_id",
  "step_id",
  "step_run_id",
  "state",
  "state_updated_at",
  "created_at",
  "exception",
  "priority",
  "due_at",
  "at_risk_at",
  "reference",
  "tags"
)

/** An item as commands on runs need it. */
export const stateRow = workItemTable.pick(
  "id",
  "workspace_id",
  "process_id",
  "process_run_id",
  "step",
  "step_run_id",
  "state",
  "attempts",
  "released_by"
)

/** An item as it is shown. */
export const itemRow = summaryRow.and(workItemTable.pick("step", "attempts", "released_by", "payload").fields)

/** An item as a task is given it: every item is read so once, so it has nothing else. */
export const givenRow = workItemTable.pick(
  "id",
  "step",
  "step_run_id",
  "state",
  "attempts",
  "released_by",
  "payload",
  "not_before"
)

type SummaryRow = typeof summaryRow.Type
type ItemRow = typeof itemRow.Type

/** Whether a file names the item as its owner; selected by `hasFiles`. */
export const withFiles = { has_files: flag }
export const hasFiles = "EXISTS (SELECT 1 FROM file WHERE file.owner_id = work_item.id) AS has_files"

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
  id: row.id,
  workspaceId: row.workspace_id,
  processId: row.process_id,
  processRunId: row.process_run_id,
  stepId: row.step_id,
  stepRun: row.step_run_id,
  state: row.state,
  stateUpdatedAt: row.state_updated_at,
  createdAt: row.created_at,
  exception: row.exception,
  priority: row.priority,
  dueAt: row.due_at,
  atRiskAt: row.at_risk_at,
  reference: row.reference,
  tags: row.tags ?? []
})

export const parseState = (row: typeof stateRow.Type): StoredState => ({
  id: row.id,
  workspaceId: row.workspace_id,
  processId: row.process_id,
  processRunId: row.process_run_id,
  step: row.step ?? 0,
  stepRun: row.step_run_id,
  state: row.state,
  attempts: row.attempts,
  releasedBy: row.released_by
})

export const parseGiven = (row: typeof givenRow.Type & { readonly has_files: boolean }): GivenItem => ({
  id: row.id,
  step: row.step ?? 0,
  stepRun: row.step_run_id,
  state: row.state,
  attempts: row.attempts,
  releasedBy: row.released_by,
  payload: ExactJson.parse(row.payload),
  mayHaveFiles: row.has_files
})

/** `mayHaveFiles`: true where the query did not select it. */
export const parseItem = (row: ItemRow, mayHaveFiles = true): StoredItem => ({
  ...parseSummary(row),
  step: row.step ?? 0,
  payload: ExactJson.parse(row.payload),
  attempts: row.attempts,
  releasedBy: row.released_by,
  mayHaveFiles
})

export const parsePageItem = (row: ItemRow, mayHaveFiles: boolean): StoredPageItem => ({
  ...parseSummary(row),
  payload: row.payload,
  mayHaveFiles
})

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
    id: WorkItemId.make(id),
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
    tags: order.tags.length === 0 ? null : order.tags
  }) as const
