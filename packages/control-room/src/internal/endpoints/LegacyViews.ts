/**
 * Runs, step runs and work items in the names and words of the older interface.
 */
import type { File } from "@signalbox/api/contract/Files"
import type { ProcessRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { LegacyRun, LegacyStepRun, LegacyWorkItem } from "@signalbox/api/contract/LegacyShapes"
import type { ProcessRun, ProcessRunState } from "@signalbox/api/contract/ProcessRuns"
import type { StepRun, StepRunState } from "@signalbox/api/contract/StepRuns"
import type { ExceptionType, WorkItemState } from "@signalbox/api/contract/WorkItems"
import type { StoredSummary } from "../store/items/StoredItem.ts"

/** The most items of a list, and how many it has without a `limit`: its clients read only the first page. */
export const pageSize = 1000

/** The size of a page that a request asks for. */
export const sizeOf = ({ limit = pageSize }: { readonly limit?: number | undefined }) => Math.min(limit, pageSize)

/** The word for each state, and the result of what is in it. */
const runWords = {
  new: { state: "INI", result: null },
  in_progress: { state: "IP", result: null },
  stopping: { state: "IP", result: null },
  completed: { state: "COMPL", result: "COMPL" },
  unresolved: { state: "PENDING", result: "ERR" }
} as const satisfies Record<ProcessRunState, Pick<LegacyRun, "state" | "result">>

const stepRunWords = {
  new: { state: "INI", result: null },
  awaiting_worker: { state: "IND", result: null },
  in_progress: { state: "IP", result: null },
  completed: { state: "COMPL", result: "COMPL" },
  failed: { state: "COMPL", result: "ERR" }
} as const satisfies Record<StepRunState, Pick<LegacyStepRun, "state" | "result">>

const itemWords = {
  new: "NEW",
  pending: "PENDING",
  in_progress: "IN_PROGRESS",
  done: "COMPLETED",
  failed: "FAILED"
} as const satisfies Record<WorkItemState, LegacyWorkItem["state"]>

const exceptionWords = {
  application: "APPLICATION",
  business: "BUSINESS",
  orchestrator: "ORCHESTRATOR",
  unspecified: "UNSPECIFIED"
} as const satisfies Record<ExceptionType, string>

const isIn = <K extends string>(table: Readonly<Record<K, unknown>>, state: string): state is K =>
  Object.hasOwn(table, state)

/** The words for a state. Its type is open, though the service has no states besides those of the table. */
const wordsOf = <K extends string, W>(table: Readonly<Record<K, W>>, state: string, otherwise: K): W =>
  table[isIn(table, state) ? state : otherwise]

const timesOf = ({ duration, ended_at, started_at }: Pick<ProcessRun, "duration" | "ended_at" | "started_at">) => ({
  startTs: started_at,
  endTs: ended_at,
  duration: duration ?? 0
})

/** A run; `errorCode` where the caller knows it. */
export const runView = (
  workspaceId: WorkspaceId,
  run: ProcessRun,
  runNo: number,
  errorCode: string | null = null
): LegacyRun => ({
  id: run.id,
  ...wordsOf(runWords, run.state, "in_progress"),
  errorCode,
  workspaceId,
  processId: run.process.id,
  processName: run.process.name,
  runNo,
  createTs: run.created_at,
  ...timesOf(run)
})

export const stepRunView = (run: ProcessRunId, stepRun: StepRun): LegacyStepRun => {
  const code = stepRun.error?.code ?? null
  const { result, state } = wordsOf(stepRunWords, stepRun.state, "in_progress")
  return {
    id: stepRun.id,
    state,
    result: code === "TIMEOUT" ? "TIMEOUT" : result,
    errorCode: code,
    activityId: stepRun.step.id,
    stepId: stepRun.step.id,
    activityName: stepRun.step.name,
    processRunId: run,
    stateTs: stepRun.state_updated_at,
    ...timesOf(stepRun)
  }
}

/** A work item without payload and files. */
export const itemView = (item: StoredSummary, processName: string, processRunNo: number | null): LegacyWorkItem => ({
  id: item.id,
  state: itemWords[item.state],
  stateTs: item.stateUpdatedAt ?? item.createdAt,
  createTs: item.createdAt,
  queueTs: item.createdAt,
  workspaceId: item.workspaceId,
  processId: item.processId,
  processName,
  processRunId: item.processRunId,
  processRunNo,
  activityId: item.stepId,
  activityRunId: item.stepRun,
  batchPriority: 0,
  exception: item.exception === null ? null : { ...item.exception, type: exceptionWords[item.exception.type] }
})

export const fileView = ({ download, id, name, size }: File) => ({
  id,
  fileName: name,
  fileSize: size,
  url: download.url
})
