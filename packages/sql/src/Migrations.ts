/**
 * Migrations as lists of statements, the same for SQLite and Postgres.
 */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as Dialect from "./Dialect.ts"
import { unhurried } from "./QueryDeadline.ts"

/** In the dialect of SQLite, which `Dialect.definition` translates; or one for each, where that cannot. */
export type Statement = string | { readonly sqlite: string; readonly postgres: string }

export interface Options {
  /** The table of applied migrations. */
  readonly table: string
  /** Statements by `0001_name`. */
  readonly migrations: Readonly<Record<string, ReadonlyArray<Statement>>>
}

const textOf = (sql: SqlClient.SqlClient, statement: Statement): string => {
  if (typeof statement === "string") return Dialect.definition(sql, statement)
  return Dialect.isPostgres(sql) ? Dialect.definition(sql, statement.postgres) : statement.sqlite
}

const run = (statements: ReadonlyArray<Statement>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const statement of statements) yield* sql.unsafe(textOf(sql, statement))
  })

/**
 * Creates the effect that runs the migrations not applied yet, each once however many processes start concurrently.
 *
 * ```ts
 * import * as Migrations from "@signalbox/sql/Migrations"
 *
 * export const migrate = Migrations.make({
 *   table: "migration",
 *   migrations: { "0001_init": ["CREATE TABLE item (id TEXT PRIMARY KEY, payload TEXT NOT NULL)"] }
 * })
 * ```
 */
export const make = ({ migrations, table }: Options) => {
  const loader = Migrator.fromRecord(
    Object.fromEntries(Object.entries(migrations).map(([name, statements]) => [name, run(statements)]))
  )
  return unhurried(Migrator.make({})({ loader, table }))
}
