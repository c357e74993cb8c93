/** Runs and step runs as lines that people read. */
import { ProcessRunId } from "@signalbox/api/contract/Ids"
import type * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Argument from "effect/cli/Argument"
import { columns } from "../connection/Connection.ts"
import type { Columns } from "./List.ts"
import type { Change, ShownStepRun, WatchedStepRun } from "./Watching.ts"

export const runArgument = Argument.String("run").pipe(
  Argument.withDescription("The id of a run"),
  Argument.withSchema(ProcessRunId)
)

const seconds = (duration: number | null) => (duration === null ? "" : `${duration} s`)

export const runColumns: Columns<ProcessRuns.ProcessRun> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  "created at": ({ created_at }) => created_at,
  duration: ({ duration }) => seconds(duration),
  process: ({ process }) => process.name
}

export const runLine = (run: ProcessRuns.ProcessRun) =>
  columns([run.id, 36], [run.state, 11], [run.created_at, 24], [seconds(run.duration), 10], [run.process.name, 0])

/** A step run, and below it what it waits for. */
export const stepRunLines = (stepRun: WatchedStepRun) => {
  const line = columns(
    [stepRun.id, 36],
    [stepRun.state, 15],
    [stepRun.error?.code ?? "", 14],
    [seconds(stepRun.duration), 10],
    [stepRun.step.name, 0],
    [stepRun.task_package === null ? "" : `(version ${stepRun.task_package.version})`, 0]
  )
  return [`  ${line}`, ...(stepRun.no_worker === null ? [] : [`    ${stepRun.no_worker}`])].join("\n")
}

/** The same, and what its log lacks. */
export const shownLines = (stepRun: ShownStepRun) =>
  stepRun.log_incomplete === null
    ? stepRunLines(stepRun)
    : `${stepRunLines(stepRun)}\n    the log is incomplete, but the task was not affected: ${stepRun.log_incomplete}`

export const changeLines = (change: Change) => ("run" in change ? runLine(change.run) : stepRunLines(change.step_run))
