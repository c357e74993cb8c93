/**
 * Migrations as lists of statements, the same for SQLite and Postgres.
 */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as Dialect from "./Dialect.ts"
import { unhurried } from "./QueryDeadline.ts"

export interface Options {
  /** The table that records which migrations have run. */
  readonly table: string
  /** Statements by `0001_name`, in the words of SQLite; `Dialect.definition` translates them. */
  readonly migrations: Readonly<Record<string, ReadonlyArray<string>>>
}

const run = (statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const statement of statements) yield* sql.unsafe(Dialect.definition(sql, statement))
  })

/**
 * Runs the migrations that have not run yet, each once however many processes start. Does nothing when all of them have.
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
