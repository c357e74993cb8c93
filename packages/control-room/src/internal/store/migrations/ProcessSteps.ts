/**
 * Which task package and which worker group the steps of processes and of their runs name, so that the deletion of one
 * finds its users in an index. Before, the steps were searched as text.
 */
import type { Statement } from "@signalbox/sql/Migrations"

/**
 * JSON without its `\u` escapes, which no id contains: Postgres cannot read those of NUL and of lone surrogates. After
 * a backslash that is itself escaped, `\u` is not an escape.
 */
const withoutEscapes = (column: string) =>
  String.raw`regexp_replace(${column}, '(?<!\\)((?:\\\\)*)\\u[0-9a-fA-F]{4}', '\1', 'g')`

/** Fills the table from the steps of `process` or `process_run`; `run`: the SQL of their run column. */
const filled = (table: "process" | "process_run", process: string, run: string, where: string): Statement => ({
  sqlite: `INSERT INTO process_step (process_id, process_run_id, step_id, package_id, worker_group_id)
    SELECT ${process}, ${run}, json_extract(step.value, '$.id'), json_extract(step.value, '$.task.package_id'),
      json_extract(step.value, '$.worker_group.id')
    FROM ${table}, json_each(${table}.steps) AS step
    WHERE ${where} AND (json_extract(step.value, '$.task.package_id') IS NOT NULL
      OR json_extract(step.value, '$.worker_group.id') IS NOT NULL)`,
  postgres: `INSERT INTO process_step (process_id, process_run_id, step_id, package_id, worker_group_id)
    SELECT ${process}, ${run}, step ->> 'id', step -> 'task' ->> 'package_id', step -> 'worker_group' ->> 'id'
    FROM ${table}, json_array_elements(${withoutEscapes(`${table}.steps`)}::json) AS step
    WHERE ${where} AND (step -> 'task' ->> 'package_id' IS NOT NULL OR step -> 'worker_group' ->> 'id' IS NOT NULL)`
})

export const statements: ReadonlyArray<Statement> = [
  // One row for each step that names either. Those of a run belong to the definition that it was started with.
  `CREATE TABLE process_step (
    process_id TEXT NOT NULL REFERENCES process (id) ON DELETE CASCADE,
    process_run_id TEXT REFERENCES process_run (id) ON DELETE CASCADE,
    step_id TEXT NOT NULL,
    package_id TEXT,
    worker_group_id TEXT
  )`,
  `CREATE INDEX process_step_by_process ON process_step (process_id)`,
  `CREATE INDEX process_step_by_run ON process_step (process_run_id) WHERE process_run_id IS NOT NULL`,
  `CREATE INDEX process_step_by_package ON process_step (package_id) WHERE package_id IS NOT NULL`,
  `CREATE INDEX process_step_by_group ON process_step (worker_group_id) WHERE worker_group_id IS NOT NULL`,
  filled("process", "process.id", "NULL", "process.deleted_at IS NULL"),
  filled("process_run", "process_run.process_id", "process_run.id", "process_run.state <> 'completed'")
]
