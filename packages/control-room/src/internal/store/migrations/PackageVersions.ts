/**
 * Versions of task packages. The zip of a version is a row of `file` whose owner is the version; that of the first one
 * keeps the package as its owner, so a package that was there before and its version have one id.
 */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE task_package_version (
    workspace_id TEXT NOT NULL,
    package_id TEXT NOT NULL REFERENCES task_package (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    size INTEGER NOT NULL,
    tasks TEXT NOT NULL,
    rolled_back INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    created_by TEXT,
    note TEXT,
    PRIMARY KEY (workspace_id, package_id, version)
  )`,
  `CREATE INDEX task_package_version_by_package ON task_package_version (workspace_id, package_id, id)`,
  // Null while a package has no content.
  `ALTER TABLE task_package ADD COLUMN current_version INTEGER`,
  `ALTER TABLE task_package ADD COLUMN current_since TEXT`,
  `ALTER TABLE task_package ADD COLUMN current_by TEXT`,
  `INSERT INTO task_package_version
      (workspace_id, package_id, version, id, digest, size, tasks, created_at, created_by)
    SELECT task_package.workspace_id, task_package.id, 1, task_package.id, task_package.digest, file.size,
      task_package.tasks, coalesce(package_source.fetched_at, file.created_at),
      CASE WHEN package_source.commit_id IS NULL THEN NULL
        ELSE '{"type":"commit","id":"' || package_source.commit_id || '","name":null}' END
    FROM task_package JOIN file ON file.owner_id = task_package.id
      LEFT JOIN package_source ON package_source.package_id = task_package.id
    WHERE task_package.digest IS NOT NULL`,
  `UPDATE task_package SET current_version = 1,
      current_since = (SELECT created_at FROM task_package_version WHERE id = task_package.id),
      current_by = (SELECT created_by FROM task_package_version WHERE id = task_package.id)
    WHERE EXISTS (SELECT 1 FROM task_package_version WHERE id = task_package.id)`,
  `ALTER TABLE task_package DROP COLUMN digest`,
  `ALTER TABLE task_package DROP COLUMN tasks`,
  // The version that a step names; null: the current one.
  `ALTER TABLE process_step ADD COLUMN package_version INTEGER`,
  // What a step run was leased with.
  `ALTER TABLE step_run ADD COLUMN package_version INTEGER`,
  `ALTER TABLE step_run ADD COLUMN package_digest TEXT`,
  `CREATE INDEX step_run_holding_package ON step_run (workspace_id, package_id, package_version)
    WHERE state IN ('awaiting_worker', 'in_progress') AND package_version IS NOT NULL`,
  `ALTER TABLE assistant_run ADD COLUMN package_version INTEGER`
]
