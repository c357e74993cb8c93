/** Tickets that open a session of the console, and its sessions. Both end with the key that they are of. */
const columns = `
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    api_key_id TEXT NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
    secret_hash TEXT NOT NULL,
    expires_at TEXT NOT NULL`

export const statements: ReadonlyArray<string> = [
  `CREATE TABLE console_ticket (${columns})`,
  `CREATE INDEX console_ticket_by_key ON console_ticket (api_key_id)`,
  `CREATE INDEX console_ticket_by_expiry ON console_ticket (expires_at)`,
  `CREATE TABLE console_session (${columns},
    last_used_at TEXT NOT NULL
  )`,
  `CREATE INDEX console_session_by_key ON console_session (api_key_id)`,
  `CREATE INDEX console_session_by_expiry ON console_session (expires_at)`
]
