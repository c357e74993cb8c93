/** Who keeps blobs from being removed, in a database that several nodes use. */
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"

export const make = Effect.gen(function* () {
  const { millis, now, sql } = yield* Database
  return {
    any: Effect.flatMap(now, (at) => sql`SELECT id FROM blob_hold WHERE expires_at > ${at} LIMIT 1`).pipe(
      Effect.map((rows) => rows.length > 0)
    ),
    add: Effect.fnUntraced(function* (id: string, lifetime: number) {
      yield* sql`DELETE FROM blob_hold WHERE expires_at <= ${yield* now}`
      yield* sql`INSERT INTO blob_hold ${sql.insert({ id, expires_at: new Date((yield* millis) + lifetime).toISOString() })}`
    }),
    /** Returns whether it was still there. */
    extend: Effect.fnUntraced(function* (id: string, lifetime: number) {
      const rows = yield* sql`
        UPDATE blob_hold SET expires_at = ${new Date((yield* millis) + lifetime).toISOString()}
        WHERE id = ${id} AND expires_at > ${yield* now} RETURNING id`
      return rows.length === 1
    }),
    remove: (id: string) => Effect.asVoid(sql`DELETE FROM blob_hold WHERE id = ${id}`)
  }
})
