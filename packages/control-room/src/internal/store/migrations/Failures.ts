/**
 * Failures in groups: the fingerprint of each failed item, and what people say of a group. Items that failed before get
 * theirs from a background task, so that the migration computes nothing.
 */
export const statements: ReadonlyArray<string> = [
  // Set while the item is failed.
  `ALTER TABLE work_item ADD COLUMN failure TEXT`,
  `CREATE INDEX work_item_by_failure ON work_item (workspace_id, failure, id, state_updated_at)
    WHERE state = 'failed' AND failure IS NOT NULL`,
  `CREATE INDEX work_item_without_failure ON work_item (id) WHERE state = 'failed' AND failure IS NULL`,
  // Counts and times come from the items: a row is written by its first item, by people, and when a resolved group
  // recurs.
  `CREATE TABLE failure_group (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    id TEXT NOT NULL,
    process_id TEXT NOT NULL REFERENCES process (id) ON DELETE CASCADE,
    step_id TEXT,
    type TEXT NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at TEXT NOT NULL,
    state TEXT NOT NULL,
    muted_until TEXT,
    note TEXT,
    assignee TEXT,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE INDEX failure_group_by_state ON failure_group (workspace_id, state, id)`,
  `CREATE INDEX failure_group_by_age ON failure_group (updated_at)`,
  `CREATE INDEX failure_group_by_process ON failure_group (process_id)`
]
