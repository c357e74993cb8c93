/** Indexes of live rows for the queries that the service repeats every second, however many rows have ended. */
export const statements: ReadonlyArray<string> = [
  `CREATE INDEX step_run_leased ON step_run (lease_expires_at) WHERE state = 'awaiting_worker' AND worker_id IS NOT NULL`,
  `CREATE INDEX step_run_running ON step_run (worker_id) WHERE state = 'in_progress'`,
  `CREATE INDEX step_run_limited ON step_run (timeout_at) WHERE state = 'in_progress' AND timeout_at IS NOT NULL`
]
