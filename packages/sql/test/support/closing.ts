/** Writes, waits until the log has been copied, and closes the database of the first argument. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as SqliteClient from "../../src/SqliteClient.ts"

const [filename = ""] = process.argv.slice(2)

const main = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`CREATE TABLE item (id INTEGER)`
  yield* Effect.sleep("1500 millis")
})
await Effect.runPromise(Effect.provide(main, SqliteClient.layer({ filename })))
console.log("closed")
