/**
 * Groups of failures in the order of their last failure; attempts of bulk operations; and what the rules of alerts look
 * for in large tables.
 */
export const statements: ReadonlyArray<string> = [
  // Written once in a while, unlike the times of the items: it orders the groups, and need not be exact.
  `ALTER TABLE failure_group ADD COLUMN last_seen_at TEXT NOT NULL DEFAULT ''`,
  `CREATE INDEX work_item_by_failure_time ON work_item (workspace_id, failure, state_updated_at)
    WHERE state = 'failed' AND failure IS NOT NULL`,
  `UPDATE failure_group SET last_seen_at = coalesce((
    SELECT max(state_updated_at) FROM work_item
    WHERE work_item.workspace_id = failure_group.workspace_id AND work_item.state = 'failed'
      AND work_item.failure = failure_group.id), updated_at)`,
  `CREATE INDEX failure_group_by_last_seen ON failure_group (workspace_id, last_seen_at, id)`,
  `DROP INDEX failure_group_by_process`,
  `CREATE INDEX failure_group_by_process ON failure_group (process_id, last_seen_at, id)`,
  `DROP INDEX failure_group_by_state`,
  `CREATE INDEX failure_group_by_state ON failure_group (workspace_id, state, last_seen_at, id)`,
  `CREATE INDEX process_run_unresolved ON process_run (workspace_id, ended_at)
    WHERE state = 'unresolved' AND deleted_at IS NULL`,
  `CREATE INDEX webhook_delivery_retried ON webhook_delivery (webhook_id, state, last_attempt_at)
    WHERE state = 'pending' AND attempts > 0`,
  // How often the next part of a job was begun, and how many of its targets are still taken one at a time.
  `ALTER TABLE bulk_operation ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE bulk_operation ADD COLUMN singles INTEGER NOT NULL DEFAULT 0`
]
