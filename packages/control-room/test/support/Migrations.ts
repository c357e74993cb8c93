/** Takes newer migrations back, for tests of older schemas. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

/** The tables as they were before anything could be paused (`0023_pauses`). */
const beforePauses = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE pause`
  yield* sql`DROP TABLE failure_streak`
  yield* sql`ALTER TABLE process DROP COLUMN pause_after_failures`
})

/** The tables as they were before items and step runs had an order of their own (`0022_order`). */
const beforeOrder = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* beforePauses
  for (const index of ["work_item_open_reference", "work_item_by_reference", "work_item_due"]) {
    yield* sql`DROP INDEX ${sql(index)}`
  }
  for (const [index, on] of [
    ["work_item_ready", "work_item (process_run_id, step, id) WHERE state = 'pending' AND step_run_id IS NULL"],
    ["step_run_awaiting", "step_run (workspace_id, task_name, id) WHERE state = 'awaiting_worker'"],
    ["step_run_awaiting_package", "step_run (workspace_id, id) WHERE state = 'awaiting_worker'"]
  ] as const) {
    yield* sql`DROP INDEX ${sql(index)}`
    yield* sql.unsafe(`CREATE INDEX ${index} ON ${on}`)
  }
  yield* sql`DROP TABLE work_item_tag`
  for (const column of ["priority", "sort_key", "due_at", "at_risk_at", "reference", "tags"]) {
    yield* sql`ALTER TABLE work_item DROP COLUMN ${sql(column)}`
  }
  yield* sql`ALTER TABLE process_run DROP COLUMN priority`
  yield* sql`ALTER TABLE step_run DROP COLUMN sort_key`
})

/** The tables as they were before alerts (`0028_alerts`). */
const beforeAlerts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["alert_message", "alert_firing", "alert_target", "alert", "alert_channel"]) {
    yield* sql`DROP TABLE ${sql(table)}`
  }
  for (const table of ["process_success", "node_disk"]) yield* sql`DROP TABLE ${sql(table)}`
  yield* sql`DROP INDEX process_run_completed`
})

/** The tables as they were before runs belonged to traces (`0033_run_traces`). */
const beforeRunTraces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Those that are newer still (`0034_console_marks`, `0035_item_steps`, `0041_nodes`, and those after it).
  yield* sql`ALTER TABLE secret DROP COLUMN hosts`
  yield* sql`DROP INDEX alert_message_sent_with`
  for (const [table, column] of [
    ["alert", "gather_seconds"],
    ["alert_target", "last_sent_at"],
    ["alert_message", "sent_with"],
    ["alert_message", "receivers"],
    ["alert_channel", "wait_until"]
  ] as const) {
    yield* sql`ALTER TABLE ${sql(table)} DROP COLUMN ${sql(column)}`
  }
  for (const column of ["refused_count", "refused_at", "refused_because"]) {
    yield* sql`ALTER TABLE "trigger" DROP COLUMN ${sql(column)}`
  }
  for (const column of ["maker", "permissions"]) yield* sql`ALTER TABLE idempotency_key DROP COLUMN ${sql(column)}`
  yield* sql`DROP TABLE node`
  yield* sql`DROP INDEX work_item_by_step`
  yield* sql`DROP TABLE console_mark`
  yield* sql`ALTER TABLE process_run DROP COLUMN trace`
})

/** The tables as they were before the steps of a run were counted (`0032_run_steps`). */
const beforeRunSteps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* beforeRunTraces
  for (const index of ["work_item_settled", "step_run_times"]) yield* sql`DROP INDEX ${sql(index)}`
})

/** The tables as they were before groups of failures had an order (`0031_failure_order`). */
export const beforeFailureOrder = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* beforeRunSteps
  const made = [
    "work_item_by_failure_time",
    "failure_group_by_last_seen",
    "process_run_unresolved",
    "webhook_delivery_retried"
  ]
  const remade = ["failure_group_by_process", "failure_group_by_state"]
  for (const index of [...made, ...remade]) yield* sql`DROP INDEX ${sql(index)}`
  yield* sql`CREATE INDEX failure_group_by_state ON failure_group (workspace_id, state, id)`
  yield* sql`CREATE INDEX failure_group_by_process ON failure_group (process_id)`
  yield* sql`ALTER TABLE failure_group DROP COLUMN last_seen_at`
  for (const column of ["attempts", "singles"]) yield* sql`ALTER TABLE bulk_operation DROP COLUMN ${sql(column)}`
})

/** The tables as they were before packages had versions (`0030_package_versions`), but for the first one's content. */
export const beforePackageVersions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* beforeFailureOrder
  yield* sql`ALTER TABLE task_package ADD COLUMN digest TEXT`
  yield* sql`ALTER TABLE task_package ADD COLUMN tasks TEXT NOT NULL DEFAULT '[]'`
  yield* sql`UPDATE task_package SET digest = version.digest, tasks = version.tasks
    FROM task_package_version AS version WHERE version.id = task_package.id`
  yield* sql`DROP TABLE task_package_version`
  for (const column of ["current_version", "current_since", "current_by"]) {
    yield* sql`ALTER TABLE task_package DROP COLUMN ${sql(column)}`
  }
  yield* sql`DROP INDEX step_run_holding_package`
  for (const column of ["package_version", "package_digest"]) {
    yield* sql`ALTER TABLE step_run DROP COLUMN ${sql(column)}`
  }
  yield* sql`ALTER TABLE assistant_run DROP COLUMN package_version`
  yield* sql`ALTER TABLE process_step DROP COLUMN package_version`
})

/** The tables as they were before outputs were held (`0016_held_outputs`). */
export const beforeHeldOutputs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* beforePackageVersions
  yield* beforeAlerts
  yield* sql`DROP TABLE console_ticket`
  yield* sql`DROP TABLE console_session`
  yield* sql`DROP INDEX worker_by_name`
  yield* sql`DROP INDEX step_run_labels`
  yield* sql`ALTER TABLE step_run DROP COLUMN labels`
  for (const column of ["labels", "draining"]) yield* sql`ALTER TABLE worker DROP COLUMN ${sql(column)}`
  yield* sql`DROP TABLE bulk_operation`
  yield* sql`DROP TABLE failure_group`
  for (const index of ["work_item_by_failure", "work_item_without_failure"]) yield* sql`DROP INDEX ${sql(index)}`
  yield* sql`ALTER TABLE work_item DROP COLUMN failure`
  yield* beforeOrder
  for (const table of ["trigger_event", "trigger", "schedule_occurrence", "schedule"])
    yield* sql`DROP TABLE ${sql(table)}`
  yield* sql`DROP INDEX process_run_live_by_source`
  for (const column of ["source_type", "source_id", "source_name"]) {
    yield* sql`ALTER TABLE process_run DROP COLUMN ${sql(column)}`
  }
  yield* sql`DROP TABLE room_running`
  yield* sql`DROP TABLE blob_hold`
  yield* sql`ALTER TABLE process DROP COLUMN forward_done_items`
  for (const index of ["file_by_blob", "work_item_by_parent", "output_passed_on"]) {
    yield* sql`DROP INDEX ${sql(index)}`
  }
})
