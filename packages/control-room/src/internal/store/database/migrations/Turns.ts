/** Step runs are given by turns between processes. */
export const statements: ReadonlyArray<string> = [
  // Of its first item. Step runs that wait already have none, and keep the place of their sort key.
  `ALTER TABLE step_run ADD COLUMN priority INTEGER NOT NULL DEFAULT 0`,
  // One goes from process to process in it, and finds the first of each, however many wait.
  `DROP INDEX step_run_awaiting`,
  `CREATE INDEX step_run_awaiting ON step_run (workspace_id, task_name, process_id, sort_key, id)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL`,
  `DROP INDEX step_run_awaiting_package`,
  `CREATE INDEX step_run_awaiting_package ON step_run (workspace_id, process_id, sort_key, id)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL AND package_id IS NOT NULL`,
  // What a process has of the workers is counted in it.
  `DROP INDEX step_run_running`,
  `CREATE INDEX step_run_held ON step_run (process_id, worker_id)
    WHERE worker_id IS NOT NULL AND state IN ('awaiting_worker', 'in_progress')`,
  // Written only while another process waits: a room with one process has no row of it.
  `CREATE TABLE turn (
    process_id TEXT PRIMARY KEY REFERENCES process (id) ON DELETE CASCADE,
    ended_at INTEGER NOT NULL
  )`
]
