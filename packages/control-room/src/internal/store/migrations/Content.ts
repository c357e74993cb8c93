/**
 * Assets, assistants, task packages, artifacts and console messages. Their bytes are rows of `file`, whose owner is the
 * asset, the package, or the step run that left the artifact.
 */
export const statements: ReadonlyArray<string> = [
  `CREATE INDEX file_by_owner ON file (owner_id, id)`,
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
  `CREATE TABLE task_package (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    tasks TEXT NOT NULL,
    digest TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE INDEX task_package_by_workspace ON task_package (workspace_id, id)`,
  `ALTER TABLE step_run ADD COLUMN package_id TEXT`,
  `CREATE INDEX step_run_awaiting_package ON step_run (workspace_id, id)
    WHERE state = 'awaiting_worker' AND package_id IS NOT NULL`,
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
    run_token_hash TEXT NOT NULL
  )`,
  `CREATE INDEX assistant_run_by_workspace ON assistant_run (workspace_id, id)`,
  `CREATE INDEX assistant_run_by_assistant ON assistant_run (assistant_id, id)`,
  `CREATE INDEX assistant_run_live ON assistant_run (last_seen_at) WHERE state = 'in_progress'`,
  `ALTER TABLE step_run ADD COLUMN messages_received BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE step_run ADD COLUMN events_received BIGINT NOT NULL DEFAULT 0`,
  `CREATE TABLE console_message (
    id TEXT PRIMARY KEY,
    step_run_id TEXT NOT NULL REFERENCES step_run (id) ON DELETE CASCADE,
    timestamp TEXT NOT NULL,
    message TEXT NOT NULL
  )`,
  `CREATE INDEX console_message_by_step_run ON console_message (step_run_id, id)`
]
