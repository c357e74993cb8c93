/**
 * Idempotency keys.
 */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE idempotency_key (
    workspace_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (workspace_id, key)
  )`,
  `CREATE INDEX idempotency_key_by_age ON idempotency_key (created_at)`
]
