/**
 * Git repositories that task packages come from.
 */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE package_source (
    package_id TEXT PRIMARY KEY REFERENCES task_package (id) ON DELETE CASCADE,
    workspace_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    repository TEXT NOT NULL,
    directory TEXT,
    credentials_secret TEXT,
    mode TEXT NOT NULL,
    reference TEXT NOT NULL,
    automatic INTEGER NOT NULL,
    commit_id TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    error TEXT,
    failed_at TEXT,
    look_at TEXT
  )`,
  `CREATE INDEX package_source_due ON package_source (look_at) WHERE look_at IS NOT NULL`
]
