/**
 * Where SQL of SQLite and of Postgres differ.
 */
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

export const isPostgres = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/** Texts compare by their bytes and integers have 64 bits, as on SQLite; `SEQUENCE` counts the rows up. */
export const definition = (sql: SqlClient.SqlClient, statement: string): string =>
  isPostgres(sql)
    ? statement
        .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
        .replaceAll(/\bINTEGER\b/g, "BIGINT")
        .replaceAll(/\bREAL\b/g, "DOUBLE PRECISION")
        .replaceAll(/\bSEQUENCE\b/g, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
    : statement.replaceAll(/\bSEQUENCE\b/g, "INTEGER PRIMARY KEY")

/**
 * States of a Postgres that can not serve now, beside those that are known as errors of the connection: it shuts down or
 * starts, was failed over, or has no connection, memory or disk left.
 */
const away = /^(?:57P0[1-5]|53...|25006|25P03|58...)$/

/** Whether the statement may succeed when it is tried again. */
export const isPassing = (error: SqlError): boolean => {
  const { cause } = error.reason
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  return error.isRetryable || (typeof code === "string" && away.test(code))
}
