/**
 * Commands on runs with very many items: each chunk of rows is one step in an index, however many are settled, wait for
 * their retry, or have ended.
 */
export const statements: ReadonlyArray<string> = [
  // Items that are due immediately, and those that wait for a retry, by its time.
  `DROP INDEX work_item_waiting`,
  `CREATE INDEX work_item_ready ON work_item (process_run_id, step, id)
    WHERE state = 'pending' AND step_run_id IS NULL AND not_before IS NULL`,
  `DROP INDEX work_item_delayed`,
  `CREATE INDEX work_item_delayed ON work_item (process_run_id, step, not_before, id)
    WHERE state = 'pending' AND step_run_id IS NULL AND not_before IS NOT NULL`,
  // For the exception that an event of an unresolved run names.
  `CREATE INDEX work_item_failed ON work_item (process_run_id, state_updated_at, id) WHERE state = 'failed'`,
  `DROP INDEX output_by_step_run`,
  `CREATE INDEX output_by_step_run ON output (step_run_id, parent_id, id) WHERE released = 0`,
  `CREATE INDEX step_run_open ON step_run (process_run_id, id) WHERE state IN ('new', 'awaiting_worker', 'in_progress')`
]
