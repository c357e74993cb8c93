/** Workers, their groups, and the tokens that link them. */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE link_token (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    secret_hash TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`,
  `CREATE INDEX link_token_by_expiry ON link_token (expires_at)`,
  `CREATE TABLE worker (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    tasks TEXT NOT NULL DEFAULT '[]',
    packages INTEGER NOT NULL DEFAULT 0,
    labels TEXT NOT NULL DEFAULT '[]',
    draining INTEGER NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX worker_by_workspace ON worker (workspace_id, id)`,
  `CREATE INDEX worker_by_name ON worker (workspace_id, name, id)`,
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
  `CREATE INDEX group_link_token_by_expiry ON group_link_token (expires_at) WHERE expires_at IS NOT NULL`
]
