/** One state of the database for a backup: of the copy of an SQLite file, or as long as a transaction of Postgres is open. */
import { unhurried } from "@signalbox/sql/QueryDeadline"
import { flag, integer, nullable, query, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { Database } from "./Database.ts"

/** Names of blobs that are read in one step. */
const stepSize = 1000

/** What of a Postgres its tools need to know. */
export const server = Effect.gen(function* () {
  const { client: sql } = yield* Database
  const row = yield* queryOne(
    Row({ version: text, schema: text }),
    sql`SELECT current_setting('server_version_num') AS version, current_schema() AS schema`
  )
  return { major: Math.floor(Number(row?.version ?? 0) / 10_000), schema: row?.schema ?? null }
})

/** Runs an effect in a transaction of Postgres that sees one state; it receives the name by which others see it too. */
export const exported = <A, E, R>(use: (snapshot: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { client: sql } = yield* Database
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
        // It waits for `pg_dump` without a statement of its own.
        yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`
        const row = yield* queryOne(Row({ id: text }), sql`SELECT pg_export_snapshot() AS id`)
        return yield* use(row?.id ?? "")
      })
    )
  }).pipe(unhurried)

/** Passes the names of all blobs that files name, in parts. */
export const forEachBlob = Effect.fnUntraced(function* <E, R>(
  use: (blobs: ReadonlyArray<string>) => Effect.Effect<void, E, R>
) {
  const { client: sql } = yield* Database
  for (let after = ""; ;) {
    const rows = yield* query(
      Row({ blob: text }),
      sql`SELECT DISTINCT blob FROM file WHERE blob > ${after} ORDER BY blob LIMIT ${stepSize}`
    )
    yield* use(rows.map(({ blob }) => blob))
    const last = rows.at(-1)
    if (last === undefined || rows.length < stepSize) return
    after = last.blob
  }
}, unhurried)

/** Whether the schema of a Postgres exists, and has any table. */
export const schemaState = Effect.fnUntraced(function* (schema: string) {
  const { client: sql } = yield* Database
  const row = yield* queryOne(
    Row({ there: flag, tables: integer }),
    sql`
      SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = ${schema}) AS there,
        (SELECT count(*) FROM pg_tables WHERE schemaname = ${schema}) AS tables`
  )
  return { there: row?.there === true, tables: row?.tables ?? 0 }
})

export const createSchema = Effect.fnUntraced(function* (schema: string) {
  const { client: sql } = yield* Database
  yield* sql`CREATE SCHEMA ${sql(schema)}`
})

export const dropSchema = Effect.fnUntraced(function* (schema: string) {
  const { client: sql } = yield* Database
  yield* sql`DROP SCHEMA ${sql(schema)} CASCADE`
})

/** A key of a restored room, which is valid again whatever became of it after the backup. Times are ISO 8601, UTC. */
export const restoredKey = Row({
  id: text,
  name: text,
  workspace: text,
  created_at: text,
  /** Null: it was not used until the backup. */
  last_used_at: nullable(text)
})
export type RestoredKey = typeof restoredKey.Type

/** An account of a restored room, which may sign in as it could at the backup. Times are ISO 8601, UTC. */
export const restoredAccount = Row({
  id: text,
  login: text,
  disabled: flag,
  manages_room: flag,
  created_at: text,
  /** Null: it had not signed in until the backup. */
  last_sign_in_at: nullable(text)
})
export type RestoredAccount = typeof restoredAccount.Type

/** What must not come back: sessions, tickets, links, stored responses, and the nodes of the room that was backed up. Their tables are newer than some backups. */
const leftOut: ReadonlyArray<readonly [since: string, table: string]> = [
  ["0002", "idempotency_key"],
  ["0029", "console_session"],
  ["0029", "console_ticket"],
  ["0041", "node"],
  ["0055", "account_session"],
  ["0055", "account_link"],
  ["0055", "sign_in_pause"],
  ["0056", "provider_sign_in"]
]

/**
 * Deletes what must not come back into a restored room of this schema, notes for the audit that it was restored, and returns its keys and accounts.
 */
export const settle = Effect.fnUntraced(function* (migration: string, backupCreatedAt: string) {
  const sql = yield* SqlClient.SqlClient
  if (migration >= "0054") {
    yield* sql`INSERT INTO audit_restore ${sql.insert({ backup_created_at: backupCreatedAt })} ON CONFLICT DO NOTHING`
  }
  for (const [since, table] of leftOut) if (migration >= since) yield* sql`DELETE FROM ${sql(table)}`
  const lastUse = migration >= "0055" ? sql`api_key.last_used_at` : sql`NULL AS last_used_at`
  const keys = yield* query(
    restoredKey,
    sql`
      SELECT api_key.id, api_key.name, workspace.name AS workspace, api_key.created_at, ${lastUse}
      FROM api_key JOIN workspace ON workspace.id = api_key.workspace_id ORDER BY api_key.id`
  )
  if (migration < "0055") return { keys, accounts: [] }
  const accounts = yield* query(restoredAccount, sql`SELECT ${restoredAccount.columns} FROM account ORDER BY id`)
  return { keys, accounts }
})
