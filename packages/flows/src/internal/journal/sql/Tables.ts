/**
 * Rows as parameters, so that the text of a statement does not depend on the number of its rows.
 */
import { isPostgres } from "@signalbox/sql/Dialect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

type Type = "TEXT" | "INTEGER" | "REAL"
type Types<A> = Readonly<Record<keyof A & string, Type>>
type Column = string | number | null
type Columns<A> = { readonly [K in keyof A]: Column }

/** The columns of rows that are passed to statements, in the SQL of both databases. */
interface Listed {
  readonly postgres: string
  readonly sqlite: string
}

const inPostgres: Readonly<Record<Type, string>> = { TEXT: "TEXT", INTEGER: "BIGINT", REAL: "DOUBLE PRECISION" }

const listed = (types: Readonly<Record<string, Type>>): Listed => {
  const columns = Object.entries(types)
  return {
    postgres: columns.map(([name, type]) => `${name} ${inPostgres[type]}`).join(", "),
    sqlite: columns.map(([name]) => `value ->> '${name}' AS ${name}`).join(", ")
  }
}

/**
 * Returns rows as the table `r`. (They are JSON; texts that are values are encoded once more, because Postgres reads no NUL from
 * JSON, and encoded texts have none.)
 */
const recordset = (sql: SqlClient, { postgres, sqlite }: Listed, rows: ReadonlyArray<object>): Fragment => {
  const json = JSON.stringify(rows)
  return isPostgres(sql)
    ? sql`json_to_recordset(CAST(${json} AS JSON)) AS r(${sql.literal(postgres)})`
    : sql`(SELECT ${sql.literal(sqlite)} FROM json_each(${json})) AS r`
}

/** Returns small rows as the table `r`. */
export const rowsOf = <A extends Columns<A>>(sql: SqlClient, types: Types<A>, rows: ReadonlyArray<A>): Fragment =>
  recordset(sql, listed(types), rows)

/** The condition that a column is one of few texts: for rows of JSON, Postgres would plan a join with many. */
export const isAmong = (sql: SqlClient, column: string, texts: ReadonlyArray<string>): Fragment => {
  const rows = sql`SELECT r.one FROM ${rowsOf(
    sql,
    { one: "TEXT" },
    texts.map((one) => ({ one }))
  )}`
  return isPostgres(sql) ? sql`${sql.literal(column)} = ANY (ARRAY(${rows}))` : sql`${sql.literal(column)} IN (${rows})`
}

/** A table for `put`. */
export interface Table<A> {
  readonly name: string
  readonly names: string
  readonly listed: Listed
  /** The ON CONFLICT clause. */
  readonly conflict: string
  /** Returns the key by which rows of one statement are deduplicated; null when they always differ. */
  readonly keyOf: ((row: A) => string) | null
}

/** Defines a table. `key`: rows replace those with the same values of these columns. */
export const table = <A extends Columns<A>>(name: string, key: ReadonlyArray<string>, types: Types<A>): Table<A> => {
  const names = Object.keys(types)
  const replaced = names.filter((column) => !key.includes(column)).map((column) => `${column} = excluded.${column}`)
  const replacing = replaced.length === 0 ? "NOTHING" : `UPDATE SET ${replaced.join(", ")}`
  const keyOf = (row: A) => JSON.stringify(Object.entries(row).filter(([column]) => key.includes(column)))
  return {
    name,
    names: names.join(", "),
    listed: listed(types),
    conflict: key.length === 0 ? "" : `ON CONFLICT (${key.join(", ")}) DO ${replacing}`,
    keyOf: key.length === 0 ? null : keyOf
  }
}

/** A statement can put a row only once, so this keeps the last row of each key. */
const lasts = <A>(rows: ReadonlyArray<A>, keyOf: Table<A>["keyOf"]): ReadonlyArray<A> =>
  keyOf === null || rows.length < 2 ? rows : [...new Map(rows.map((row) => [keyOf(row), row])).values()]

/**
 * Returns statements that insert or replace rows, all with the columns `fixed`. On Postgres it is one statement, which may be part of
 * another one with a table `where`: then it applies only if that table has a row. On SQLite, where JSON is slow, it is one for each row.
 */
export const put = <A extends Columns<A>>(
  sql: SqlClient,
  { conflict, keyOf, listed, name, names }: Table<A>,
  fixed: Readonly<Record<string, string | number>>,
  all: ReadonlyArray<A>,
  where?: string
): ReadonlyArray<Fragment> => {
  if (all.length === 0) return []
  const rows = lasts(all, keyOf)
  const [into, onConflict] = [sql.literal(name), sql.literal(conflict)]
  if (!isPostgres(sql)) {
    return rows.map((row) => sql`INSERT INTO ${into} ${sql.insert({ ...fixed, ...row })} ${onConflict}`)
  }
  const from = where === undefined ? sql.literal("") : sql.literal(`${where}, `)
  return [
    sql`
      INSERT INTO ${into} (${sql.literal([...Object.keys(fixed), names].join(", "))})
      SELECT ${sql.csv(Object.values(fixed).map((value) => sql`${value}`))}, r.* FROM ${from}${recordset(sql, listed, rows)}
      ${onConflict}`
  ]
}
