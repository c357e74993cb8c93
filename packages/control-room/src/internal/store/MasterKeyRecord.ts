/**
 * Which master key a database belongs to. Only the fingerprint of the key is stored.
 */
import * as Effect from "effect/Effect"
import { Database } from "./Database.ts"

/** Returns the fingerprint of the master key of the database; null before the first start. */
export const known = Effect.gen(function* () {
  const { sql } = yield* Database
  const [row] = yield* sql<{ readonly fingerprint: string }>`SELECT fingerprint FROM master_key`
  return row?.fingerprint ?? null
})

/** Binds the database to this key unless it is bound already; returns the fingerprint of its key. */
export const claim = Effect.fnUntraced(function* (fingerprint: string) {
  const { sql } = yield* Database
  yield* sql`INSERT INTO master_key ${sql.insert({ id: 1, fingerprint })} ON CONFLICT DO NOTHING`
  return yield* known
})

/** Unbinds a database in which nothing is sealed from its key; false, with nothing changed, when something is. */
export const forget = Effect.gen(function* () {
  const { sql } = yield* Database
  const [sealed] = yield* sql`SELECT 1 FROM data_key LIMIT 1`
  if (sealed !== undefined) return false
  yield* sql`DELETE FROM master_key`
  return true
})
