/** What workers can take, and whether an unassigned step run was reported. */
export const statements: ReadonlyArray<string> = [
  `ALTER TABLE worker ADD COLUMN tasks TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE worker ADD COLUMN packages INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE step_run_event ADD COLUMN message TEXT`,
  `ALTER TABLE step_run ADD COLUMN wait_told INTEGER NOT NULL DEFAULT 0`,
  `CREATE INDEX step_run_untold ON step_run (state_updated_at)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL AND wait_told = 0`
]
