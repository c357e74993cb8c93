/** What the steps of a run are counted and timed by, without a look at its rows. */
export const statements: ReadonlyArray<string> = [
  `CREATE INDEX work_item_settled ON work_item (process_run_id, state, step) WHERE state IN ('done', 'failed')`,
  `CREATE INDEX step_run_times ON step_run (process_run_id, step, started_at, ended_at) WHERE started_at IS NOT NULL`
]
