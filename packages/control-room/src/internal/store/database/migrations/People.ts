/** People: accounts of the room, their roles in workspaces, their sessions, and keys that somebody owns. */
import type { Statement } from "@signalbox/sql/Migrations"

/** What was not there before; keys that manage keys get it. */
const granted = `["Workspace.read_users","Workspace.manage_users"]`

export const statements: ReadonlyArray<Statement> = [
  `CREATE TABLE account (
    id TEXT PRIMARY KEY,
    login TEXT NOT NULL,
    login_key TEXT NOT NULL UNIQUE,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    email TEXT,
    password TEXT,
    manages_room INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    last_sign_in_at TEXT,
    totp_secret TEXT,
    totp_step INTEGER
  )`,
  `CREATE TABLE recovery_code (
    account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    code_hash TEXT NOT NULL,
    PRIMARY KEY (account_id, code_hash)
  )`,
  `CREATE TABLE membership (
    account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    role TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (account_id, workspace_id)
  )`,
  `CREATE INDEX membership_by_workspace ON membership (workspace_id, account_id)`,
  `CREATE TABLE role (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    permissions TEXT NOT NULL,
    PRIMARY KEY (workspace_id, name)
  )`,
  `CREATE TABLE account_session (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    secret_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    address TEXT,
    browser TEXT NOT NULL
  )`,
  `CREATE INDEX account_session_by_account ON account_session (account_id, id)`,
  `CREATE INDEX account_session_by_expiry ON account_session (expires_at)`,
  // One for each account: another link makes the one before void.
  `CREATE TABLE account_link (
    account_id TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    id TEXT NOT NULL UNIQUE,
    secret_hash TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`,
  // Also for logins that do not exist, so that nobody finds out which do.
  `CREATE TABLE sign_in_pause (
    subject TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    until INTEGER NOT NULL
  )`,
  `ALTER TABLE api_key ADD COLUMN owner_id TEXT REFERENCES account (id) ON DELETE CASCADE`,
  `ALTER TABLE api_key ADD COLUMN expires_at TEXT`,
  `ALTER TABLE api_key ADD COLUMN last_used_at TEXT`,
  `CREATE INDEX api_key_by_owner ON api_key (owner_id) WHERE owner_id IS NOT NULL`,
  {
    sqlite: `
      UPDATE api_key SET permissions = (
        SELECT json_group_array(value) FROM (
          SELECT value FROM json_each(api_key.permissions) UNION SELECT value FROM json_each('${granted}')))
      WHERE permissions LIKE '%"Workspace.manage_api_keys"%'`,
    postgres: `
      UPDATE api_key SET permissions = (
        SELECT json_agg(value)::text FROM (
          SELECT value FROM json_array_elements_text(api_key.permissions::json)
          UNION SELECT value FROM json_array_elements_text('${granted}')) AS held)
      WHERE permissions LIKE '%"Workspace.manage_api_keys"%'`
  }
]
