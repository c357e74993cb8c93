/** The task packages and worker groups that steps of processes and runs name: the rows of `process_step`. */
import type { ProcessId, ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type { Sql } from "@signalbox/sql/Sql"
import type { RunStep } from "../../engine/State.ts"
import * as Chunks from "../database/Chunks.ts"

const named = (step: RunStep): boolean =>
  step.task.package_id !== undefined || (step.worker_group !== undefined && step.worker_group !== null)

/** Inserts the names of the steps of a process, or of a run that starts with them. */
export const insert = Effect.fnUntraced(function* (
  sql: Sql,
  process: ProcessId,
  run: ProcessRunId | null,
  steps: ReadonlyArray<RunStep>
) {
  const rows = steps.filter(named).map(({ id, task, task_package_version, worker_group }) => ({
    process_id: process,
    process_run_id: run,
    step_id: id,
    package_id: task.package_id ?? null,
    package_version: task_package_version ?? null,
    worker_group_id: worker_group?.id ?? null
  }))
  yield* Chunks.forEach(rows, (some) => sql`INSERT INTO process_step ${sql.insert(some)}`)
})

/** Replaces the names of the steps of a process. */
export const replace = Effect.fnUntraced(function* (sql: Sql, process: ProcessId, steps: ReadonlyArray<RunStep>) {
  yield* sql`DELETE FROM process_step WHERE process_id = ${process} AND process_run_id IS NULL`
  yield* insert(sql, process, null, steps)
})

/** Deletes the names of the steps of a run. */
export const removeOfRun = (sql: Sql, run: ProcessRunId, steps: ReadonlyArray<RunStep>) =>
  steps.some(named) ? sql`DELETE FROM process_step WHERE process_run_id = ${run}` : Effect.void
