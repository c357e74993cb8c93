/** How many items of a process or step are in hand at a time, and begin in a time, of each key. */
export const statements: ReadonlyArray<string> = [
  // JSON; null: none.
  `ALTER TABLE process ADD COLUMN limits TEXT`,
  // The values of an item for the limits of its step; null: it is under none. Set when it begins to wait in the step.
  `ALTER TABLE work_item ADD COLUMN lane TEXT`,
  `CREATE INDEX work_item_lane ON work_item (process_run_id, step, lane, sort_key, id)
    WHERE state = 'pending' AND step_run_id IS NULL AND not_before IS NULL AND lane IS NOT NULL`,
  // Whether its item is under a limit, and the bucket that has no room for it.
  `ALTER TABLE step_run ADD COLUMN limited INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE step_run ADD COLUMN blocked_by TEXT`,
  `DROP INDEX step_run_awaiting`,
  `CREATE INDEX step_run_awaiting ON step_run (workspace_id, task_name, process_id, sort_key, id)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL AND blocked_by IS NULL`,
  `DROP INDEX step_run_awaiting_package`,
  `CREATE INDEX step_run_awaiting_package ON step_run (workspace_id, process_id, sort_key, id)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL AND blocked_by IS NULL AND package_id IS NOT NULL`,
  `CREATE INDEX step_run_blocked ON step_run (blocked_by, sort_key, id)
    WHERE state = 'awaiting_worker' AND blocked_by IS NOT NULL`,
  // Items of a step of a run that wait with the same values. `place` is never after that of its first item; a row may be without
  // items. Transactions that have locked the run write it, and those that end what blocks it, which skip locked rows.
  `CREATE TABLE limit_lane (
    process_run_id TEXT NOT NULL REFERENCES process_run (id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    lane TEXT NOT NULL,
    process_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    given_at INTEGER NOT NULL DEFAULT 0,
    blocked_by TEXT,
    PRIMARY KEY (process_run_id, step, lane)
  )`,
  `CREATE INDEX limit_lane_next ON limit_lane (process_run_id, step, place, given_at, lane) WHERE blocked_by IS NULL`,
  `CREATE INDEX limit_lane_blocked ON limit_lane (blocked_by, place) WHERE blocked_by IS NOT NULL`,
  `CREATE INDEX limit_lane_blocked_of_run ON limit_lane (process_run_id, blocked_by, place) WHERE blocked_by IS NOT NULL`,
  // An item of a step run and a bucket that it is in. `given_at`: since when a worker has it; null: the step run waits.
  `CREATE TABLE limit_claim (
    item_id TEXT NOT NULL,
    bucket TEXT NOT NULL,
    process_run_id TEXT NOT NULL,
    step INTEGER NOT NULL,
    given_at INTEGER,
    PRIMARY KEY (item_id, bucket)
  )`,
  `CREATE INDEX limit_claim_given ON limit_claim (bucket) WHERE given_at IS NOT NULL`,
  `CREATE INDEX limit_claim_waiting ON limit_claim (bucket, process_run_id, step) WHERE given_at IS NULL`,
  // When all attempts of a rate are paid for.
  `CREATE TABLE limit_rate (bucket TEXT PRIMARY KEY, due_at REAL NOT NULL)`,
  `CREATE INDEX limit_rate_due ON limit_rate (due_at)`
]
