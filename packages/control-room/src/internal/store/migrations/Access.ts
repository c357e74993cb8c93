/**
 * API keys, secrets, workers and their groups.
 */
export const statements: ReadonlyArray<string> = [
  `CREATE INDEX api_key_by_workspace ON api_key (workspace_id, id)`,
  `CREATE TABLE master_key (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL
  )`,
  `CREATE TABLE data_key (
    id TEXT PRIMARY KEY,
    wrapped TEXT NOT NULL
  )`,
  `CREATE TABLE secret (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    description TEXT,
    version INTEGER NOT NULL,
    items TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE INDEX secret_by_workspace ON secret (workspace_id, id)`,
  `CREATE TABLE transit_key (
    workspace_id TEXT PRIMARY KEY REFERENCES workspace (id),
    public_key TEXT NOT NULL,
    private_key TEXT NOT NULL
  )`,
  `CREATE INDEX worker_by_workspace ON worker (workspace_id, id)`,
  `CREATE TABLE worker_group (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE INDEX worker_group_by_workspace ON worker_group (workspace_id, id)`,
  `CREATE TABLE worker_group_member (
    worker_id TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    worker_group_id TEXT NOT NULL REFERENCES worker_group (id) ON DELETE CASCADE,
    PRIMARY KEY (worker_id, worker_group_id)
  )`,
  `CREATE INDEX worker_group_member_by_group ON worker_group_member (worker_group_id)`,
  `CREATE TABLE group_link_token (
    id TEXT PRIMARY KEY,
    worker_group_id TEXT NOT NULL REFERENCES worker_group (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    expires_at TEXT,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX group_link_token_by_group ON group_link_token (worker_group_id, id)`,
  `ALTER TABLE step_run ADD COLUMN worker_group_id TEXT`
]
