/** The expiry of each idempotency key: a request may ask for more than the 24 hours that all had before. */
import type { Statement } from "@signalbox/sql/Migrations"

const iso = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`

export const statements: ReadonlyArray<Statement> = [
  {
    sqlite: `ALTER TABLE idempotency_key ADD COLUMN expires_at TEXT NOT NULL DEFAULT ''`,
    // Nodes that are not updated yet insert rows without it.
    postgres: `ALTER TABLE idempotency_key ADD COLUMN expires_at TEXT NOT NULL
      DEFAULT to_char((now() AT TIME ZONE 'UTC') + interval '1 day', ${iso})`
  },
  {
    sqlite: `UPDATE idempotency_key SET expires_at = strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+1 day')`,
    postgres: `UPDATE idempotency_key SET expires_at = to_char(created_at::timestamp + interval '1 day', ${iso})`
  },
  `DROP INDEX idempotency_key_by_age`,
  `CREATE INDEX idempotency_key_by_expiry ON idempotency_key (expires_at)`
]
