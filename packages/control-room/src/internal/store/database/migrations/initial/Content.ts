/** Files, assets, task packages and assistants. */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE file (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    name TEXT NOT NULL,
    size BIGINT NOT NULL,
    blob TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (owner_id, name)
  )`,
  `CREATE INDEX file_by_owner ON file (owner_id, id)`,
  `CREATE INDEX file_by_blob ON file (blob)`,
  `CREATE TABLE asset (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    content_type TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE INDEX asset_by_workspace ON asset (workspace_id, id)`,
  `CREATE TABLE asset_upload (
    id TEXT PRIMARY KEY,
    asset_id TEXT NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
    content_type TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    expires_at TEXT NOT NULL
  )`,
  `CREATE INDEX asset_upload_by_asset ON asset_upload (asset_id, id)`,
  `CREATE INDEX asset_upload_pending ON asset_upload (expires_at) WHERE status = 'pending'`,
  // `current_version`: null while a package has no content.
  `CREATE TABLE task_package (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    created_at TEXT NOT NULL,
    current_version INTEGER,
    current_since TEXT,
    current_by TEXT,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE INDEX task_package_by_workspace ON task_package (workspace_id, id)`,
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
  `CREATE INDEX package_source_due ON package_source (look_at) WHERE look_at IS NOT NULL`,
  `CREATE TABLE assistant (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    task_name TEXT NOT NULL,
    package_id TEXT NOT NULL REFERENCES task_package (id),
    created_at TEXT NOT NULL,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE INDEX assistant_by_workspace ON assistant (workspace_id, id)`,
  `CREATE INDEX assistant_by_package ON assistant (package_id)`,
  `CREATE TABLE assistant_run (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    assistant_id TEXT NOT NULL REFERENCES assistant (id),
    assistant_name TEXT NOT NULL,
    state TEXT NOT NULL,
    error_code TEXT,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    last_seen_at TEXT NOT NULL,
    run_token_hash TEXT NOT NULL,
    package_version INTEGER
  )`,
  `CREATE INDEX assistant_run_by_workspace ON assistant_run (workspace_id, id)`,
  `CREATE INDEX assistant_run_by_assistant ON assistant_run (assistant_id, id)`,
  `CREATE INDEX assistant_run_live ON assistant_run (last_seen_at) WHERE state = 'in_progress'`,
  `CREATE INDEX assistant_run_by_end ON assistant_run (ended_at) WHERE ended_at IS NOT NULL`
]
