/**
 * Migrations as lists of statements, the same for SQLite and Postgres.
 */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as Dialect from "./Dialect.ts"
import { bypassing } from "./internal/postgres/DirectClient.ts"
import { unhurried } from "./QueryDeadline.ts"
import { integer, queryOne, Row, text } from "./Table.ts"

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

/** Fails when the database has a migration that this version does not know: its tables may mean something else by now. */
const checkKnown = Effect.fnUntraced(function* ({ migrations, table }: Options) {
  const sql = yield* SqlClient.SqlClient
  const newest = yield* queryOne(
    Row({ migration_id: integer, name: text }),
    sql`SELECT migration_id, name FROM ${sql(table)} ORDER BY migration_id DESC LIMIT 1`
  )
  const known = Object.keys(migrations).sort().at(-1) ?? "nothing"
  if (newest === null || newest.migration_id <= Number.parseInt(known)) return
  const found = `${String(newest.migration_id).padStart(4, "0")}_${newest.name}`
  return yield* new Migrator.MigrationError({
    kind: "BadState",
    message: `the database is of a newer version (its schema is at ${found}, and this version knows ${known}): start that version again, or restore a backup from before the upgrade into an empty folder or database`
  })
})

/**
 * Creates the effect that runs the migrations not applied yet, each once however many processes start concurrently. Returns
 * those that it ran. Fails with a `MigrationError` of the kind `BadState`, and changes nothing, when a newer version has run more.
 *
 * ```ts
 * import * as Migrations from "@signalbox/sql/Migrations"
 *
 * export const migrate = Migrations.make({
 *   table: "migration",
 *   migrations: {
 *     "0001_init": [
 *       "CREATE TABLE item (id TEXT PRIMARY KEY, payload TEXT NOT NULL)"
 *     ]
 *   }
 * })
 * ```
 */
export const make = (options: Options) => {
  const { migrations, table } = options
  const loader = Migrator.fromRecord(
    Object.fromEntries(Object.entries(migrations).map(([name, statements]) => [name, run(statements)]))
  )
  // A newer database has every migration of this version, so that none is run before the check.
  return Effect.tap(Migrator.make({})({ loader, table }), () => checkKnown(options)).pipe(bypassing, unhurried)
}
