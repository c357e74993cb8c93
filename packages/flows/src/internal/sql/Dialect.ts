/**
 * Where SQL of SQLite and of Postgres differ.
 */
import type * as SqlClient from "effect/sql/SqlClient"

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
