/**
 * The order in which items are given to step runs, and step runs to workers: by a key that is fixed when they begin to
 * wait. Also when items are due, and by which reference and tags they are found.
 */
import type { Statement } from "@signalbox/sql/Migrations"

/** Waiting rows get the time since which they wait; for all others the key means nothing. */
const keyed = (table: string, since: string, where: string): Statement => ({
  sqlite: `UPDATE ${table} SET sort_key = CAST(round((julianday(${since}) - 2440587.5) * 86400000) AS INTEGER)
    WHERE ${where}`,
  postgres: `UPDATE ${table} SET sort_key = (extract(epoch FROM ${since}::timestamptz) * 1000)::bigint WHERE ${where}`
})

export const statements: ReadonlyArray<Statement> = [
  `ALTER TABLE work_item ADD COLUMN priority INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE work_item ADD COLUMN sort_key INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE work_item ADD COLUMN due_at TEXT`,
  `ALTER TABLE work_item ADD COLUMN at_risk_at TEXT`,
  `ALTER TABLE work_item ADD COLUMN reference TEXT`,
  // A JSON array for views; null without tags. Filters use the table.
  `ALTER TABLE work_item ADD COLUMN tags TEXT`,
  `ALTER TABLE process_run ADD COLUMN priority INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE step_run ADD COLUMN sort_key INTEGER NOT NULL DEFAULT 0`,
  keyed("work_item", "created_at", "state = 'pending' AND step_run_id IS NULL"),
  keyed("step_run", "state_updated_at", "state IN ('new', 'awaiting_worker')"),
  `DROP INDEX work_item_ready`,
  `CREATE INDEX work_item_ready ON work_item (process_run_id, step, sort_key, id)
    WHERE state = 'pending' AND step_run_id IS NULL AND not_before IS NULL`,
  `DROP INDEX step_run_awaiting`,
  `CREATE INDEX step_run_awaiting ON step_run (workspace_id, task_name, sort_key, id)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL`,
  `DROP INDEX step_run_awaiting_package`,
  `CREATE INDEX step_run_awaiting_package ON step_run (workspace_id, sort_key, id)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL AND package_id IS NOT NULL`,
  `CREATE UNIQUE INDEX work_item_open_reference ON work_item (workspace_id, process_id, reference)
    WHERE reference IS NOT NULL AND state IN ('new', 'pending', 'in_progress', 'failed')`,
  `CREATE INDEX work_item_by_reference ON work_item (workspace_id, reference, id) WHERE reference IS NOT NULL`,
  `CREATE INDEX work_item_due ON work_item (workspace_id, id)
    WHERE due_at IS NOT NULL AND state IN ('new', 'pending', 'in_progress')`,
  // Its columns have the names of those of items, so that one walks it like the table of items.
  `CREATE TABLE work_item_tag (
    workspace_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    id TEXT NOT NULL REFERENCES work_item (id) ON DELETE CASCADE,
    PRIMARY KEY (workspace_id, tag, id)
  )`,
  `CREATE INDEX work_item_tag_by_item ON work_item_tag (id)`
]
