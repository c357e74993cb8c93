/**
 * Indexes of ended rows by the time of their end, and of deleted rows by their mark, so that retention scans nothing.
 */
export const statements: ReadonlyArray<string> = [
  // Since when it is marked as deleted: for readers it no longer exists, and its rows are deleted in small
  // transactions.
  `ALTER TABLE process ADD COLUMN deleted_at TEXT`,
  `ALTER TABLE process_run ADD COLUMN deleted_at TEXT`,
  `CREATE INDEX process_deleted ON process (deleted_at) WHERE deleted_at IS NOT NULL`,
  `CREATE INDEX process_run_deleted ON process_run (deleted_at) WHERE deleted_at IS NOT NULL`,
  `CREATE INDEX process_run_by_end ON process_run (ended_at) WHERE ended_at IS NOT NULL AND deleted_at IS NULL`,
  // Whether its console, events and artifacts were deleted by retention.
  `ALTER TABLE step_run ADD COLUMN details_gone INTEGER NOT NULL DEFAULT 0`,
  `CREATE INDEX step_run_by_end ON step_run (ended_at) WHERE ended_at IS NOT NULL AND details_gone = 0`,
  // Of all outputs, released or not: deleting a run needs every one.
  `DROP INDEX output_by_run`,
  `CREATE INDEX output_by_run ON output (process_run_id, id)`,
  `CREATE INDEX assistant_run_by_end ON assistant_run (ended_at) WHERE ended_at IS NOT NULL`,
  `CREATE INDEX link_token_by_expiry ON link_token (expires_at)`,
  `CREATE INDEX group_link_token_by_expiry ON group_link_token (expires_at) WHERE expires_at IS NOT NULL`
]
