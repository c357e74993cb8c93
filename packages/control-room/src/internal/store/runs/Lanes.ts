/**
 * The step runs of one process that wait for one task, or for packages, are a lane. Finding all lanes takes some steps in an
 * index for each, however many step runs wait.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Sql } from "@signalbox/sql/Sql"
import type { Fragment } from "effect/sql/Statement"

/** What a worker asks for: tasks that it defines, and whether it takes those of packages. */
export interface Takes {
  readonly tasks: ReadonlyArray<string>
  readonly packages: boolean
}

/** The condition that a row of `step_run` waits for a worker, and for nothing else. */
export const unassigned = (sql: Sql) =>
  sql.literal("state = 'awaiting_worker' AND worker_id IS NULL AND blocked_by IS NULL")

/** How many step runs of a process workers have: the condition is that of an index. */
export const heldBy = (sql: Sql, process: Fragment) => sql`
  (SELECT count(*) FROM step_run WHERE process_id = ${process} AND worker_id IS NOT NULL
    AND state IN ('awaiting_worker', 'in_progress'))`

/** The condition that a row of `step_run` is of a lane; null for `task`: packages. */
export const ofLane = (sql: Sql, { process, task }: { readonly process: string; readonly task: string | null }) =>
  task === null
    ? sql`package_id IS NOT NULL AND process_id = ${process}`
    : sql`task_name = ${task} AND package_id IS NULL AND process_id = ${process}`

/**
 * Steps through the index from one process that waits to the next, for each task, and for packages. Without joins, which
 * Postgres would rather do by reading all step runs.
 */
export const lanesOf = (sql: Sql, workspace: WorkspaceId, awaiting: Fragment, { packages, tasks }: Takes) => {
  const waits = sql`workspace_id = ${workspace} AND ${unassigned(sql)}`
  const ofFirst = (column: "sort_key" | "priority", what: Fragment) => sql`
    (SELECT ${sql(column)} FROM step_run WHERE ${awaiting} AND ${what} AND process_id = lane.process
      ORDER BY sort_key, id LIMIT 1) AS ${sql(column)}`
  const columns = (task: Fragment, what: Fragment) => sql`
    SELECT ${task} AS task, process AS process_id, ${ofFirst("sort_key", what)}, ${ofFirst("priority", what)},
      (SELECT ended_at FROM turn WHERE process_id = lane.process) AS ended_at,
      ${heldBy(sql, sql.literal("lane.process"))} AS held`
  const ofTasks = {
    lanes: sql`
      task_lane (task, process) AS (
        SELECT offered.column1, (SELECT min(process_id) FROM step_run WHERE ${waits} AND task_name = offered.column1)
        FROM (VALUES ${sql.csv(tasks.map((task) => sql`(${task})`))}) AS offered
        UNION ALL
        SELECT lane.task, (
          SELECT min(process_id) FROM step_run
          WHERE ${waits} AND task_name = lane.task AND process_id > lane.process)
        FROM task_lane AS lane WHERE lane.process IS NOT NULL
      )`,
    select: sql`
      ${columns(sql.literal("task"), sql.literal("task_name = lane.task AND package_id IS NULL"))}
      FROM task_lane AS lane WHERE process IS NOT NULL`
  }
  const ofPackages = {
    lanes: sql`
      package_lane (process) AS (
        SELECT (SELECT min(process_id) FROM step_run WHERE ${waits} AND package_id IS NOT NULL)
        UNION ALL
        SELECT (
          SELECT min(process_id) FROM step_run
          WHERE ${waits} AND package_id IS NOT NULL AND process_id > lane.process)
        FROM package_lane AS lane WHERE lane.process IS NOT NULL
      )`,
    select: sql`
      ${columns(sql.literal("NULL"), sql.literal("package_id IS NOT NULL"))}
      FROM package_lane AS lane WHERE process IS NOT NULL`
  }
  const kinds = [...(tasks.length > 0 ? [ofTasks] : []), ...(packages ? [ofPackages] : [])]
  return sql`
    WITH RECURSIVE ${sql.csv(kinds.map(({ lanes }) => lanes))}
    ${sql.join(" UNION ALL ", false)(kinds.map(({ select }) => select))}`
}

/** The first or the last process that waits for one of these: two steps in the index for each. */
export const processOf = (sql: Sql, which: "min" | "max", workspace: WorkspaceId, { packages, tasks }: Takes) => {
  const end = (what: Fragment) =>
    sql`(SELECT ${sql.literal(which)}(process_id) FROM step_run WHERE workspace_id = ${workspace} AND ${unassigned(sql)} AND ${what})`
  const [task] = tasks
  if (tasks.length === 1 && task !== undefined && !packages) return end(sql`task_name = ${task}`)
  // One query for all tasks: SQLite takes no union of as many as a worker may have.
  const ofTasks = sql`
    SELECT ${end(sql.literal("task_name = offered.column1"))} AS process_id
    FROM (VALUES ${sql.csv(tasks.map((task) => sql`(${task})`))}) AS offered`
  const ends = [
    ...(tasks.length > 0 ? [ofTasks] : []),
    ...(packages ? [sql`SELECT ${end(sql.literal("package_id IS NOT NULL"))} AS process_id`] : [])
  ]
  return sql`(SELECT ${sql.literal(which)}(process_id) FROM (${sql.join(" UNION ALL ", false)(ends)}) AS ends)`
}
