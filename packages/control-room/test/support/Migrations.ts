/** Takes newer migrations back, for tests of older schemas. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

/** The tables as they were before outputs were held (`0016_held_outputs`). */
export const beforeHeldOutputs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE console_ticket`
  yield* sql`DROP TABLE console_session`
  yield* sql`DROP INDEX worker_by_name`
  yield* sql`DROP INDEX step_run_labels`
  yield* sql`ALTER TABLE step_run DROP COLUMN labels`
  for (const column of ["labels", "draining"]) yield* sql`ALTER TABLE worker DROP COLUMN ${sql(column)}`
  yield* sql`ALTER TABLE process DROP COLUMN forward_done_items`
  for (const index of ["file_by_blob", "work_item_by_parent", "output_passed_on"]) {
    yield* sql`DROP INDEX ${sql(index)}`
  }
})
