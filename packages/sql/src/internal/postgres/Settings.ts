/**
 * The settings of Postgres that statements rely on: of a connection, or of each transaction behind a connection pooler.
 */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, SqlError, UnknownError } from "effect/sql/SqlError"
import { type PostgresOptions, PostgresSettingsError } from "../../PostgresOptions.ts"
import { nullable, queryOne, Row, text } from "../../Table.ts"

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

export const schemaOf = ({ schema = "signalbox" }: PostgresOptions) => schema

export const of = (options: PostgresOptions): Readonly<Record<string, string>> => ({
  search_path: quoted(schemaOf(options)),
  // A statement that waits longer for a lock fails, and can be retried.
  lock_timeout: "30s",
  // Ends the transaction of a node that died without closing its connections, and with it its locks.
  idle_in_transaction_session_timeout: "60s",
  // Ends a statement that runs or waits for a lock when its connection was closed.
  client_connection_check_interval: "1s"
})

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`

/** The statement that gives the current transaction these settings. */
export const forTransaction = (settings: Readonly<Record<string, string>>): string =>
  `SELECT ${Object.entries(settings)
    .map(([name, value]) => `set_config(${literal(name)}, ${literal(value)}, true)`)
    .join(", ")}`

const settingsError = (message: string) =>
  new SqlError({ reason: new UnknownError({ message, cause: new PostgresSettingsError({ message }) }) })

const remedy =
  "also set the direct address of the server, as SIGNALBOX_DATABASE_DIRECT_URL (--database-direct-url) or, in a program, `directUrl`"

const settingsRow = Row({ schema: nullable(text), lock: text, idle: text })

const problemOf = (options: PostgresOptions, { idle, lock, schema }: typeof settingsRow.Type): string | null => {
  const wanted = schemaOf(options)
  const isPooled = options.directUrl !== undefined
  if (schema !== wanted) {
    return isPooled
      ? `the schema ${wanted} is not found through the connection pooler: its address leads to another database than the direct one, or to a user who may not use the schema`
      : `new tables would be in ${schema === null ? "no schema" : `the schema ${schema}`} instead of ${wanted}: the address is that of a connection pooler, which drops the settings of connections; ${remedy}`
  }
  if (lock !== "0" && idle !== "0") return null
  const name = lock === "0" ? "lock_timeout" : "idle_in_transaction_session_timeout"
  return isPooled
    ? `${name} is not set in a transaction: the connection pooler must give a transaction one connection (pool_mode = transaction or session)`
    : `${name} is not set: the address is that of a connection pooler, which drops the settings of connections; ${remedy}`
}

/** Fails when connections do not have the settings: tables would otherwise be created in another schema. */
export const check = Effect.fnUntraced(function* (sql: SqlClient, options: PostgresOptions) {
  const row = yield* queryOne(
    settingsRow,
    sql`
      SELECT current_schema() AS schema, current_setting('lock_timeout') AS lock,
        current_setting('idle_in_transaction_session_timeout') AS idle`
  )
  const problem = problemOf(options, row ?? { schema: null, lock: "0", idle: "0" })
  if (problem !== null) return yield* settingsError(problem)
})

/** Names the remedy when a pooler has refused the settings of a connection. */
export const explained = (error: SqlError): SqlError => {
  const { cause, message } = error.reason
  const said = cause instanceof Error ? cause.message : message
  return isSqlError(error) && /unsupported startup parameter/i.test(said)
    ? settingsError(`the address is that of a connection pooler (${said}): ${remedy}`)
    : error
}
