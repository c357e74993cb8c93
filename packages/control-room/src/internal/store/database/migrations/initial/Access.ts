/** Workspaces, API keys, secrets and sessions of the console. */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE workspace (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    organization_name TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    permissions TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
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
  `CREATE TABLE idempotency_key (
    workspace_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    PRIMARY KEY (workspace_id, key)
  )`,
  `CREATE INDEX idempotency_key_by_expiry ON idempotency_key (expires_at)`,
  `CREATE TABLE console_ticket (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    api_key_id TEXT NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
    secret_hash TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`,
  `CREATE INDEX console_ticket_by_key ON console_ticket (api_key_id)`,
  `CREATE INDEX console_ticket_by_expiry ON console_ticket (expires_at)`,
  `CREATE TABLE console_session (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    api_key_id TEXT NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
    secret_hash TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    last_used_at TEXT NOT NULL
  )`,
  `CREATE INDEX console_session_by_key ON console_session (api_key_id)`,
  `CREATE INDEX console_session_by_expiry ON console_session (expires_at)`
]
