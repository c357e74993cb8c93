/**
 * Rows as parameters, so that the text of a statement does not depend on the number of its rows.
 */
import { isPostgres } from "@signalbox/sql/Dialect"
import {
  type Column,
  type Columns,
  encode,
  insertion,
  Row,
  type RowOf,
  type StoredRow,
  text
} from "@signalbox/sql/Table"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** The columns of rows that are passed to statements, in the SQL of both databases. */
export interface Listed {
  readonly postgres: string
  readonly sqlite: string
}

const inPostgres: Readonly<Record<Column<unknown>["type"], string>> = {
  TEXT: "TEXT",
  INTEGER: "BIGINT",
  REAL: "DOUBLE PRECISION"
}

const listed = (fields: Columns): Listed => {
  const columns = Object.entries(fields)
  return {
    postgres: columns.map(([name, { type }]) => `${name} ${inPostgres[type]}`).join(", "),
    sqlite: columns.map(([name]) => `value ->> '${name}' AS ${name}`).join(", ")
  }
}

/**
 * Returns encoded rows as the table `r`. (They are JSON; texts that are values are encoded once more, because Postgres reads no NUL
 * from JSON, and encoded texts have none.)
 */
const recordset = (sql: SqlClient, { postgres, sqlite }: Listed, rows: ReadonlyArray<object>): Fragment => {
  const json = JSON.stringify(rows)
  return isPostgres(sql)
    ? sql`json_to_recordset(CAST(${json} AS JSON)) AS r(${sql.literal(postgres)})`
    : sql`(SELECT ${sql.literal(sqlite)} FROM json_each(${json})) AS r`
}

/** A row with longer texts has a statement of its own: a shared one would make others wait for it. */
const longest = 32_000

/** Whether a stored row may share a statement with those of others. */
export const isSmall = (row: object): boolean => {
  let size = 0
  for (const stored of Object.values(row)) if (typeof stored === "string") size += stored.length
  return size <= longest
}

/** Returns stored rows as the table `r`; a value that is not there is NULL. */
export const storedRowsOf = <C extends Columns>(
  sql: SqlClient,
  row: Row<C>,
  rows: ReadonlyArray<Partial<StoredRow<C>>>
): Fragment => recordset(sql, listed(row.fields), rows)

/** Returns small rows as the table `r`. */
export const rowsOf = <C extends Columns>(sql: SqlClient, row: Row<C>, rows: ReadonlyArray<RowOf<C>>): Fragment =>
  storedRowsOf(
    sql,
    row,
    rows.map((one) => encode(row, one))
  )

const single = Row({ one: text })

/** The condition that a column is one of few stored texts: for rows of JSON, Postgres would plan a join with many. */
export const isAmong = (sql: SqlClient, column: string, texts: ReadonlyArray<string>): Fragment => {
  const rows = sql`SELECT r.one FROM ${rowsOf(
    sql,
    single,
    texts.map((one) => ({ one }))
  )}`
  return isPostgres(sql) ? sql`${sql.literal(column)} = ANY (ARRAY(${rows}))` : sql`${sql.literal(column)} IN (${rows})`
}

/** How `put` writes values as rows of a table. */
export interface Target<C extends Columns, A> {
  readonly name: string
  readonly write: (value: A) => StoredRow<C>
  readonly names: string
  readonly listed: Listed
  /** The ON CONFLICT clause. */
  readonly conflict: string
  /** Returns the key by which rows of one statement are deduplicated; null when they always differ. */
  readonly keyOf: ((row: StoredRow<C>) => string) | null
}

/** Defines how values are written to a table. `key`: rows replace those with the same values of these columns. */
export const target = <C extends Columns, A>(
  name: string,
  key: ReadonlyArray<string>,
  row: Row<C>,
  write: (value: A) => StoredRow<C>
): Target<C, A> => {
  const names = Object.keys(row.fields)
  const replaced = names.filter((column) => !key.includes(column)).map((column) => `${column} = excluded.${column}`)
  const replacing = replaced.length === 0 ? "NOTHING" : `UPDATE SET ${replaced.join(", ")}`
  const keyOf = (one: StoredRow<C>) => JSON.stringify(Object.entries(one).filter(([column]) => key.includes(column)))
  return {
    name,
    write,
    names: names.join(", "),
    listed: listed(row.fields),
    conflict: key.length === 0 ? "" : `ON CONFLICT (${key.join(", ")}) DO ${replacing}`,
    keyOf: key.length === 0 ? null : keyOf
  }
}

/** A statement can put a row only once, so this keeps the last row of each key. */
const lasts = <A>(rows: ReadonlyArray<A>, keyOf: ((row: A) => string) | null): ReadonlyArray<A> =>
  keyOf === null || rows.length < 2 ? rows : [...new Map(rows.map((row) => [keyOf(row), row])).values()]

/**
 * Returns statements that insert or replace rows, all with the stored values `fixed`. On Postgres it is one statement, which may be part
 * of another one with a table `where`: then it applies only if that table has a row, or to the rows `r` that have one `on` it. On SQLite,
 * where JSON is slow, it is one for each row.
 */
export const put = <C extends Columns, A>(
  sql: SqlClient,
  { conflict, keyOf, listed, name, names, write }: Target<C, A>,
  fixed: Readonly<Record<string, string | number>>,
  all: ReadonlyArray<A>,
  where?: string,
  on = sql``
): ReadonlyArray<Fragment> => {
  if (all.length === 0) return []
  const rows = lasts(all.map(write), keyOf)
  const [into, onConflict] = [sql.literal(name), sql.literal(conflict)]
  if (!isPostgres(sql)) {
    return rows.map((one) => sql`INSERT INTO ${into} ${insertion([one], fixed)} ${onConflict}`)
  }
  const from = where === undefined ? sql.literal("") : sql.literal(`${where}, `)
  return [
    sql`
      INSERT INTO ${into} (${sql.literal([...Object.keys(fixed), names].join(", "))})
      SELECT ${sql.csv([...Object.values(fixed).map((value) => sql`${value}`), sql`r.*`])} FROM ${from}${recordset(sql, listed, rows)}
      ${on} ${onConflict}`
  ]
}
