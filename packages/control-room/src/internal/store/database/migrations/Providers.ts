/** Who somebody is at a provider, and attempts to sign in with one that have not come back yet. */
import type { Statement } from "@signalbox/sql/Migrations"

export const statements: ReadonlyArray<Statement> = [
  // The claim is part of it: a value means somebody else in another one.
  `CREATE TABLE account_identity (
    issuer TEXT NOT NULL,
    claim TEXT NOT NULL,
    subject TEXT NOT NULL,
    provider TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    last_sign_in_at TEXT NOT NULL,
    PRIMARY KEY (issuer, claim, subject)
  )`,
  `CREATE INDEX account_identity_by_account ON account_identity (account_id)`,
  `CREATE INDEX account_identity_by_sign_in ON account_identity (last_sign_in_at)`,
  `CREATE TABLE provider_sign_in (
    id TEXT PRIMARY KEY,
    secret_hash TEXT NOT NULL,
    provider TEXT NOT NULL,
    state TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    place TEXT NOT NULL,
    account_id TEXT REFERENCES account (id) ON DELETE CASCADE,
    link_id TEXT,
    session_id TEXT,
    expires_at TEXT NOT NULL
  )`,
  `CREATE INDEX provider_sign_in_by_expiry ON provider_sign_in (expires_at)`,
  // Whose groups gave the role; null: a person did.
  `ALTER TABLE membership ADD COLUMN provider TEXT`,
  `ALTER TABLE account_session ADD COLUMN provider TEXT`
]
