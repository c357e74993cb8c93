/** What step runs wait for is found without reading each of them: by a text that says it. */
export const statements: ReadonlyArray<string> = [
  `DROP INDEX step_run_untold`,
  `CREATE INDEX step_run_untold ON step_run (
    (workspace_id || '/' || coalesce(package_id, '') || '/' || coalesce(worker_group_id, '') || '/' || coalesce(labels, '') || '/' || task_name),
    state_updated_at
  ) WHERE state = 'awaiting_worker' AND worker_id IS NULL AND wait_told = 0 AND blocked_by IS NULL`
]
