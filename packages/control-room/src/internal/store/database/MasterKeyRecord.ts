/**
 * Which master key a database belongs to. Only the fingerprint of the key is stored.
 */
import * as Effect from "effect/Effect"
import { queryOne, Row, text } from "@signalbox/sql/Table"
import { Database } from "./Database.ts"

const select = "SELECT fingerprint FROM master_key"
const fingerprintOf = <E>(found: Effect.Effect<ReadonlyArray<object>, E>) =>
  queryOne(Row({ fingerprint: text }), found, (row) => row.fingerprint)

/** Returns the fingerprint of the master key of the database; null before the first start. */
export const known = Effect.flatMap(Database, ({ client }) => fingerprintOf(client.unsafe(select)))

/** Like `known`, in a service that has started. */
export const ofService = Effect.flatMap(Database, ({ sql }) => fingerprintOf(sql.unsafe(select)))

/** Binds the database to this key unless it is bound already; returns the fingerprint of its key. */
export const claim = Effect.fnUntraced(function* (fingerprint: string) {
  const { client: sql } = yield* Database
  yield* sql`INSERT INTO master_key ${sql.insert({ id: 1, fingerprint })} ON CONFLICT DO NOTHING`
  return yield* known
})

/** Unbinds a database in which nothing is sealed from its key; false, with nothing changed, when something is. */
export const forget = Effect.gen(function* () {
  const { client: sql } = yield* Database
  const [sealed] = yield* sql`SELECT 1 FROM data_key LIMIT 1`
  if (sealed !== undefined) return false
  yield* sql`DELETE FROM master_key`
  return true
})
