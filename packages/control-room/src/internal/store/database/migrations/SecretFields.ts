/** Secret fields of payloads, and who may see them. */
import type { Statement } from "@signalbox/sql/Migrations"

/** Keys that read work items have read everything in them until now. */
const granted = {
  sqlite: `json_insert(permissions, '$[#]', 'Processes.read_sensitive')`,
  postgres: `(permissions::jsonb || '["Processes.read_sensitive"]'::jsonb)::text`
}
const grant = (permissions: string) => `
  UPDATE api_key SET permissions = ${permissions}
  WHERE permissions LIKE '%"Processes.read_work_items"%' AND permissions NOT LIKE '%"Processes.read_sensitive"%'`

export const statements: ReadonlyArray<Statement> = [
  // JSON: pointers besides those of the input schema; null: none.
  `ALTER TABLE process ADD COLUMN sensitive TEXT`,
  `ALTER TABLE process ADD COLUMN sensitive_files INTEGER NOT NULL DEFAULT 1`,
  // How the caller saw secret fields: 'plain' or 'masked'; 'none': the response has no payload. Null: a node of an older version did not say.
  `ALTER TABLE idempotency_key ADD COLUMN seen TEXT`,
  { sqlite: grant(granted.sqlite), postgres: grant(granted.postgres) }
]
