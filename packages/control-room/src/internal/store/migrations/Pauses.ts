/** What is paused, and how many failures in a row count towards a pause. */
export const statements: ReadonlyArray<string> = [
  // The subject is a process, a step, a worker or a worker group; the detail is JSON: by whom, why and since when.
  `CREATE TABLE pause (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    subject_id TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (workspace_id, subject_id)
  )`,
  // Only while the last attempt failed: a row is written on a failure, and deleted by the first success after it.
  `CREATE TABLE failure_streak (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    subject_id TEXT NOT NULL,
    failures INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, subject_id)
  )`,
  `ALTER TABLE process ADD COLUMN pause_after_failures INTEGER`
]
