/** How the database of the current project carries statements out. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import { onPostgres } from "./Service.ts"

/** The text of a statement, and its parameters. */
export type Recorded = readonly [text: string, parameters: ReadonlyArray<unknown>]

/** Runs an effect and returns its result with the statements that it made, in their order. */
export const recorded = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const statements: Array<Recorded> = []
  const result = yield* Effect.provideService(effect, Statement.CurrentTransformer, (statement) =>
    Effect.sync(() => {
      statements.push(statement.compile())
      return statement
    })
  )
  return { result, statements }
})

/** The plan of a statement, a line for each of its steps. */
export const planOf = Effect.fnUntraced(function* ([text, parameters]: Recorded) {
  const sql = yield* SqlClient.SqlClient
  const explain = onPostgres ? "EXPLAIN" : "EXPLAIN QUERY PLAN"
  const rows = yield* sql.unsafe<Record<string, unknown>>(`${explain} ${text}`, [...parameters])
  return rows.map((row) => String(row["detail"] ?? row["QUERY PLAN"])).join("\n")
})

/** The plan that walks an index wherever one serves: of few rows Postgres may rather read all. */
export const indexedPlanOf = (statement: Recorded) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    onPostgres
      ? sql.withTransaction(Effect.andThen(sql`SET LOCAL enable_seqscan = off`, planOf(statement)))
      : planOf(statement)
  )

/** Lets Postgres count the rows of its tables, as it does by itself after a while. */
export const analysed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (onPostgres) yield* sql`ANALYZE`
})
