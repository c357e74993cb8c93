/** Refused sign-ins, counted for each account and minute until they become entries of the audit. */
import type { Statement } from "@signalbox/sql/Migrations"

export const statements: ReadonlyArray<Statement> = [
  `CREATE TABLE refused_sign_in (
    minute TEXT NOT NULL,
    account_id TEXT NOT NULL,
    login TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    address TEXT,
    PRIMARY KEY (minute, account_id)
  )`
]
