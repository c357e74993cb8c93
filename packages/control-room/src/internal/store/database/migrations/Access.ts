/** What nodes know of permissions, and workspaces that ask for a second factor. */
import type { Statement } from "@signalbox/sql/Migrations"

export const statements: ReadonlyArray<Statement> = [
  // One row, which every change of who may do what raises.
  `CREATE TABLE authorization_revision (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL
  )`,
  `INSERT INTO authorization_revision (id, revision) VALUES (1, 0)`,
  `ALTER TABLE workspace ADD COLUMN second_factor_required INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE api_key ADD COLUMN created_by TEXT`,
  // By which a program that embeds the room knows the account.
  `ALTER TABLE account ADD COLUMN subject TEXT`,
  `CREATE UNIQUE INDEX account_by_subject ON account (subject) WHERE subject IS NOT NULL`
]
