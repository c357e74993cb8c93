/** Labels of workers, those that step runs ask for, and workers that drain. */
export const statements: ReadonlyArray<string> = [
  `ALTER TABLE worker ADD COLUMN labels TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE worker ADD COLUMN draining INTEGER NOT NULL DEFAULT 0`,
  // Sorted JSON, so that equal sets are equal text; null: any worker.
  `ALTER TABLE step_run ADD COLUMN labels TEXT`,
  `CREATE INDEX step_run_labels ON step_run (workspace_id, labels)
    WHERE state = 'awaiting_worker' AND labels IS NOT NULL`
]
