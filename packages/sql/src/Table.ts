/**
 * Declares the columns of a table once. The type of its rows, the list of columns for `SELECT`, and parsing and encoding of values
 * come from the declaration; a query that selects something else declares that by the same codecs.
 *
 * ```ts
 * import type { Sql } from "@signalbox/sql/Sql"
 * import {
 *   flag,
 *   integer,
 *   nullable,
 *   query,
 *   queryOne,
 *   Row,
 *   Table,
 *   text
 * } from "@signalbox/sql/Table"
 *
 * const item = Table("item", {
 *   id: text,
 *   name: text,
 *   open: flag,
 *   due_at: nullable(text)
 * })
 * const counted = Row({ n: integer })
 *
 * export const open = (sql: Sql) =>
 *   query(item, sql`SELECT ${item.columns} FROM item WHERE open = 1`)
 * export const count = (sql: Sql) =>
 *   queryOne(counted, sql`SELECT count(*) AS n FROM item`)
 * export const add = (sql: Sql) => {
 *   const row = { id: "1", name: "first", open: true, due_at: null }
 *   return sql`INSERT INTO item ${item.insert(row)}`
 * }
 * ```
 */
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Fragments from "effect/sql/Statement"

/** A value as the drivers of both databases return it. (`EXISTS` is a boolean on Postgres and a number on SQLite.) */
export type Stored = string | number | boolean | null

/** How a column is stored, and what it is in the program. */
export interface Column<out A> {
  /** Its type in SQL, as `Dialect.definition` translates it. */
  readonly type: "TEXT" | "INTEGER" | "REAL"
  /** Whether a stored value can be one of this column. */
  readonly accepts: (stored: unknown) => boolean
  /** Null: a value is what is stored. */
  readonly parse: ((stored: unknown) => A) | null
  readonly encode: ((value: unknown) => Stored) | null
}

const isText = (stored: unknown) => typeof stored === "string"
const isNumber = (stored: unknown) => typeof stored === "number"

const textOf = <A extends string>(): Column<A> => ({ type: "TEXT", accepts: isText, parse: null, encode: null })

export const text: Column<string> = textOf()
export const integer: Column<number> = { type: "INTEGER", accepts: isNumber, parse: null, encode: null }
export const real: Column<number> = { type: "REAL", accepts: isNumber, parse: null, encode: null }

/** 0 or 1, as no boolean of Postgres exists on SQLite; also the result of `EXISTS`. */
export const flag: Column<boolean> = {
  type: "INTEGER",
  accepts: (stored) => typeof stored === "number" || typeof stored === "boolean",
  parse: (stored) => stored === 1 || stored === true,
  encode: (value) => (value === true ? 1 : 0)
}

/** An id, or one of a few words, of this schema. It was checked when it was written, and is not checked again. */
export const id = <A extends string>(_schema: Schema.Schema<A>): Column<A> => textOf<A>()

/** One of a few words, for a type without a schema. The program has written it, so it is not checked. */
export const word = <A extends string>(): Column<A> => textOf<A>()

/** A column with a conversion of its own, stored as text. */
export const converted = <A>(parse: (stored: string) => A, encode: (value: A) => string): Column<A> => ({
  type: "TEXT",
  accepts: isText,
  // `accepts` is asked first.
  parse: (stored) => parse(stored as string),
  // `insert` and `update` take values of the type of the column alone.
  encode: (value) => encode(value as A)
})

/** JSON that the program has written, so its type is not checked. */
export const json = <A>(): Column<A> =>
  // The type is that of what was written.
  converted((stored) => JSON.parse(stored) as A, JSON.stringify)

/** A column that can be NULL. */
export const nullable = <A>({ accepts, encode, parse, type }: Column<A>): Column<A | null> => ({
  type,
  accepts: (stored) => stored === null || accepts(stored),
  parse: parse === null ? null : (stored) => (stored === null ? null : parse(stored)),
  encode: encode === null ? null : (value) => (value === null ? null : encode(value))
})

/** Columns by their names. */
export type Columns = Readonly<Record<string, Column<unknown>>>

/** A parsed row of these columns. */
export type RowOf<C extends Columns> = { readonly [K in keyof C]: C[K] extends Column<infer A> ? A : never }

/** An encoded row of these columns. */
export type StoredRow<C extends Columns> = { readonly [K in keyof C]: Stored }

/** What a query selects. */
export interface Row<C extends Columns> {
  /** The type of a row, `typeof item.Type`; it has no value. */
  readonly Type: RowOf<C>
  readonly fields: C
  /** The columns in their order. */
  readonly list: ReadonlyArray<readonly [name: string, column: Column<unknown>]>
  /** Those that are stored in another form. */
  readonly conversions: ReadonlyArray<readonly [name: string, parse: (stored: unknown) => unknown]>
  /** The names for `SELECT` and `RETURNING`. */
  readonly columns: Fragments.Fragment
  /** The names for a query with joins, each of this table or alias. */
  readonly of: (table: string) => Fragments.Fragment
  /** Only these columns. */
  readonly pick: <K extends keyof C & string>(...names: ReadonlyArray<K>) => Row<Pick<C, K>>
  /** These columns and others. */
  readonly and: <D extends Columns>(more: D) => Row<C & D>
}

/** Values of some columns. */
export type Values<C extends Columns> = { readonly [K in keyof C]?: RowOf<C>[K] | undefined }

/** A table: `Row` with all columns that the program knows. */
export interface Table<C extends Columns> extends Row<C> {
  readonly name: string
  /** Encodes rows for `INSERT INTO`; the columns are those of the first row. */
  readonly insert: (rows: Partial<RowOf<C>> | Arr.NonEmptyReadonlyArray<Partial<RowOf<C>>>) => Fragments.Fragment
  /** Encodes values for `UPDATE SET`; a column whose value is undefined stays as it is. */
  readonly update: (values: Values<C>) => Fragments.Fragment
}

const literal = (sql: string) => Fragments.fragment([Fragments.literal(sql)])

class RowImpl<C extends Columns> implements Row<C> {
  declare readonly Type: RowOf<C>
  readonly fields: C
  readonly list: Row<C>["list"]
  readonly conversions: Row<C>["conversions"]
  #columns: Fragments.Fragment | undefined
  constructor(fields: C) {
    this.fields = fields
    this.list = Object.entries(fields)
    this.conversions = this.list.flatMap(([name, { parse }]) => (parse === null ? [] : [[name, parse] as const]))
  }
  get columns() {
    return (this.#columns ??= literal(Object.keys(this.fields).join(", ")))
  }
  of(table: string) {
    return literal(
      Object.keys(this.fields)
        .map((name) => `${table}.${name}`)
        .join(", ")
    )
  }
  pick<K extends keyof C & string>(...names: ReadonlyArray<K>): Row<Pick<C, K>> {
    // Each name is one of the columns.
    return Row(Object.fromEntries(names.map((name) => [name, this.fields[name]])) as Pick<C, K>)
  }
  and<D extends Columns>(more: D): Row<C & D> {
    return Row({ ...this.fields, ...more })
  }
}

class TableImpl<C extends Columns> extends RowImpl<C> implements Table<C> {
  readonly name: string
  constructor(name: string, fields: C) {
    super(fields)
    this.name = name
  }
  insert(rows: Partial<RowOf<C>> | Arr.NonEmptyReadonlyArray<Partial<RowOf<C>>>) {
    const [first, ...rest] = isMany<Partial<RowOf<C>>>(rows) ? rows : [rows]
    return insertion([encode(this, first), ...rest.map((row) => encode(this, row))])
  }
  update(values: Values<C>) {
    const encoded = encode(this, values)
    const segments: Array<Fragments.Segment> = []
    for (const name in encoded) {
      if (encoded[name] === undefined) continue
      const comma = segments.length === 0 ? "" : ", "
      segments.push(Fragments.literal(`${comma}${name} = `), Fragments.parameter(encoded[name]))
    }
    return Fragments.fragment(segments)
  }
}

const isMany = <A>(rows: A | Arr.NonEmptyReadonlyArray<A>): rows is Arr.NonEmptyReadonlyArray<A> => Array.isArray(rows)

/** Declares what a query selects, when that is not a table. */
export const Row = <C extends Columns>(fields: C): Row<C> => new RowImpl(fields)

/** Declares a table. */
export const Table = <C extends Columns>(name: string, fields: C): Table<C> => new TableImpl(name, fields)

/** Encodes values of columns, as a database stores them; an undefined one is not there. */
export const encode = <C extends Columns, V extends Values<C>>(
  { fields }: Row<C>,
  values: V
): { readonly [K in keyof V]: Stored } => {
  const encoded: Record<string, unknown> = { ...values }
  for (const name in encoded) {
    const to = fields[name]?.encode
    if (to !== undefined && to !== null && encoded[name] !== undefined) encoded[name] = to(encoded[name])
  }
  // What has no encoding is stored as it is.
  return encoded as { readonly [K in keyof V]: Stored }
}

type StoredValues = Readonly<Record<string, Stored | undefined>>

/**
 * Returns encoded rows for `INSERT INTO`, all with the values `fixed`; the other columns are those of the first one. (Names of columns
 * are written as they are, like those of `SELECT`: the helpers of the client quote each of them each time.)
 */
export const insertion = (
  rows: Arr.NonEmptyReadonlyArray<StoredValues>,
  fixed: StoredValues = {}
): Fragments.Fragment => {
  const same = Object.keys(fixed)
  const names = Object.keys(rows[0])
  const segments: Array<Fragments.Segment> = []
  let before = `(${[...same, ...names].join(", ")}) VALUES (`
  const add = (value: Stored | undefined) => {
    segments.push(Fragments.literal(before), Fragments.parameter(value))
    before = ", "
  }
  for (const row of rows) {
    for (const name of same) add(fixed[name])
    for (const name of names) add(row[name])
    before = "), ("
  }
  segments.push(Fragments.literal(")"))
  return Fragments.fragment(segments)
}

const parseColumns = <C extends Columns>(
  { conversions, list }: Row<C>,
  rows: ReadonlyArray<object>
): ReadonlyArray<RowOf<C>> => {
  const [first] = rows
  if (first === undefined) return []
  for (const [name, { accepts }] of list) {
    const stored: unknown = Reflect.get(first, name)
    if (!accepts(stored)) {
      throw new Error(`the column ${name} of a query is ${stored === null ? "NULL" : typeof stored}, not as declared`)
    }
  }
  // The rows belong to this query alone, so they are changed where they are.
  if (conversions.length > 0) {
    for (const row of rows) {
      for (const [name, convert] of conversions) Reflect.set(row, name, convert(Reflect.get(row, name)))
    }
  }
  // Each column was checked or converted.
  return rows as ReadonlyArray<RowOf<C>>
}

/**
 * Parses the rows of a query; throws when it does not select what is declared. The first row tells that: all rows have the same
 * columns. Most columns are stored as they are used, so most rows need no work.
 */
export const parse = <C extends Columns, B = RowOf<C>>(
  row: Row<C>,
  rows: ReadonlyArray<object>,
  /** Turns a row into what the caller returns; default: it is returned as it is. */
  as?: ((row: RowOf<C>) => B) | undefined
): ReadonlyArray<B> => {
  const parsed = parseColumns(row, rows)
  // Without `as`, `B` is the type of the rows.
  return as === undefined ? (parsed as ReadonlyArray<unknown> as ReadonlyArray<B>) : parsed.map((one) => as(one))
}

/** Runs a statement, and parses its rows. */
export const query = <C extends Columns, E, R, B = RowOf<C>>(
  row: Row<C>,
  statement: Effect.Effect<ReadonlyArray<object>, E, R>,
  as?: ((row: RowOf<C>) => B) | undefined
): Effect.Effect<ReadonlyArray<B>, E, R> => Effect.map(statement, (rows) => parse(row, rows, as))

/** Runs a statement, and parses its first row; null when it has none. */
export const queryOne = <C extends Columns, E, R, B = RowOf<C>>(
  row: Row<C>,
  statement: Effect.Effect<ReadonlyArray<object>, E, R>,
  as?: ((row: RowOf<C>) => B) | undefined
): Effect.Effect<B | null, E, R> =>
  Effect.map(statement, (rows) => parse(row, rows.length > 1 ? rows.slice(0, 1) : rows, as)[0] ?? null)
