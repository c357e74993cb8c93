/** Who changed what, in one chain for each workspace. */
import type { Statement } from "@signalbox/sql/Migrations"

/** Keys that may do everything in their workspace may read its audit. */
const granted = {
  sqlite: `json_insert(permissions, '$[#]', 'Audit.read_audit')`,
  postgres: `(permissions::jsonb || '["Audit.read_audit"]'::jsonb)::text`
}
const grant = (permissions: string) => `
  UPDATE api_key SET permissions = ${permissions}
  WHERE permissions LIKE '%"Workspace.manage_api_keys"%' AND permissions NOT LIKE '%"Audit.read_audit"%'`

export const statements: ReadonlyArray<Statement> = [
  // Of a workspace, or of the room as a whole. An entry is written without a number and with its own MAC; a tick gives it both its
  // number and the MAC that links it to the entry before. One that the service has not written has neither.
  `CREATE TABLE audit_entry (
    workspace_id TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER,
    mac TEXT,
    previous_mac TEXT,
    created_at TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT,
    session_id TEXT,
    address TEXT,
    request_id TEXT,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id TEXT,
    resource_name TEXT,
    changes TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE UNIQUE INDEX audit_entry_by_number ON audit_entry (workspace_id, number)`,
  `CREATE INDEX audit_entry_unlinked ON audit_entry (workspace_id, id) WHERE number IS NULL AND mac IS NOT NULL`,
  `CREATE INDEX audit_entry_by_resource ON audit_entry (workspace_id, resource_id, id)`,
  `CREATE INDEX audit_entry_by_type ON audit_entry (workspace_id, resource_type, id)`,
  `CREATE INDEX audit_entry_by_actor ON audit_entry (workspace_id, actor_id, id)`,
  `CREATE INDEX audit_entry_by_action ON audit_entry (workspace_id, action, id)`,
  // The end of each chain; whoever links entries has its row locked.
  `CREATE TABLE audit_chain (
    workspace_id TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    mac TEXT NOT NULL
  )`,
  // Has a row from a restore to the first start after it, which writes the entries of it.
  `CREATE TABLE audit_restore (backup_created_at TEXT PRIMARY KEY)`,
  { sqlite: grant(granted.sqlite), postgres: grant(granted.postgres) }
]
