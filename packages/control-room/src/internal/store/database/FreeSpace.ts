/**
 * Pages of an SQLite file that deleted rows have left free. SQLite uses them for new rows, and keeps them; Postgres has its own
 * vacuum.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { isPostgres } from "@signalbox/sql/Dialect"
import * as Sql from "@signalbox/sql/Sql"
import { integer, queryOne, Row } from "@signalbox/sql/Table"

/** Pages (of 4 KB) that a statement gives back: some milliseconds. */
const slice = 100
/** The file keeps this part of itself free, for what comes next. */
const kept = 10

const pagesRow = Row({ free: integer, all: integer })

/** Creates an effect that gives a slice of free pages back to the file system, and returns whether there are more. */
export const make = Effect.gen(function* () {
  const sql = Sql.make(yield* SqlClient.SqlClient)
  if (isPostgres(sql)) return Effect.succeed(false)
  const pages = Effect.map(
    queryOne(
      pagesRow,
      sql`SELECT freelist_count AS free, page_count AS "all" FROM pragma_freelist_count, pragma_page_count`
    ),
    (row) => row ?? { free: 0, all: 0 }
  )
  // A file of an older version keeps its free pages until `compact`.
  const row = yield* queryOne(Row({ auto_vacuum: integer }), sql`SELECT auto_vacuum FROM pragma_auto_vacuum`)
  if (row?.auto_vacuum !== 2) return Effect.succeed(false)
  return Effect.gen(function* () {
    const before = yield* pages
    if (before.free < slice || before.free * kept < before.all) return false
    yield* sql`PRAGMA incremental_vacuum(${sql.literal(String(slice))})`
    return true
  })
})
