/**
 * Data keys: 32 random bytes for each thing that is encrypted, stored wrapped under a key that is derived from the
 * master key. A new master key therefore changes only these rows.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { query, queryOne, Table, text } from "@signalbox/sql/Table"
import { randomBytes } from "node:crypto"
import { Database } from "../database/Database.ts"
import * as MasterKeyRecord from "../database/MasterKeyRecord.ts"
import { type CannotOpen, decrypt, encrypt } from "../../vault/Encryption.ts"
import { fingerprint, MasterKey, MasterKeyError } from "../../vault/MasterKey.ts"

const keyTable = Table("data_key", { id: text, wrapped: text })

const wrappingKey = (master: MasterKey["Service"]) => master.derive("data-keys/v1")
const contextOf = (id: string) => `data key ${id}`

/** Returns the key of this id as it is stored; null when there is none. For what only reads. */
export const storedKey = Effect.fnUntraced(function* (master: MasterKey["Service"], id: string) {
  const { sql } = yield* Database
  const row = yield* queryOne(keyTable, sql`SELECT id, wrapped FROM data_key WHERE id = ${id}`)
  return row === null ? null : yield* decrypt(wrappingKey(master), row.wrapped, contextOf(id))
})

export class DataKeys extends Context.Service<
  DataKeys,
  {
    /** Returns the key of this id; creates it when it does not exist. */
    readonly get: (id: string) => Effect.Effect<Uint8Array>
    /** Replaces the key of this id by a new one: values encrypted under the old one are lost. */
    readonly renew: (id: string) => Effect.Effect<Uint8Array>
    readonly remove: (id: string) => Effect.Effect<void>
    /**
     * Wraps every data key under another master key, atomically, and returns how many. Call it while nothing else
     * uses the database; from then on only the new master key opens it. Fails, with nothing changed, when a key does not
     * open.
     */
    readonly rewrap: (next: MasterKey["Service"]) => Effect.Effect<number, CannotOpen>
  }
>()("@signalbox/control-room/store/DataKeys") {
  /** Refuses to start with a master key other than the one that the database belongs to. */
  static readonly layer = Layer.effect(
    DataKeys,
    Effect.gen(function* () {
      const { sql, transaction } = yield* Database
      const master = yield* MasterKey
      const wrapping = wrappingKey(master)

      const own = fingerprint(master)
      if ((yield* MasterKeyRecord.claim(own)) !== own) {
        return yield* new MasterKeyError({
          message:
            "this is not the master key of this database: its secrets cannot be opened. Restore the key from a backup"
        })
      }

      const wrap = (key: Uint8Array, id: string) => encrypt(wrapping, key, contextOf(id))
      const find = Effect.fnUntraced(function* (id: string) {
        const row = yield* queryOne(keyTable, sql`SELECT id, wrapped FROM data_key WHERE id = ${id}`)
        return row === null ? null : yield* Effect.orDie(decrypt(wrapping, row.wrapped, contextOf(id)))
      })

      return DataKeys.of({
        get: Effect.fnUntraced(function* (id) {
          const found = yield* find(id)
          if (found !== null) return found
          // Concurrent callers all use the key of the first.
          const row = { id, wrapped: wrap(randomBytes(32), id) }
          yield* sql`INSERT INTO data_key ${sql.insert(row)} ON CONFLICT DO NOTHING`
          return (
            (yield* find(id)) ?? (yield* Effect.die(new Error(`the data key ${id} was deleted by another transaction`)))
          )
        }),
        renew: Effect.fnUntraced(function* (id) {
          const key = randomBytes(32)
          yield* sql`INSERT INTO data_key ${sql.insert({ id, wrapped: wrap(key, id) })}
            ON CONFLICT (id) DO UPDATE SET wrapped = excluded.wrapped`
          return key
        }),
        remove: (id) => sql`DELETE FROM data_key WHERE id = ${id}`,
        rewrap: Effect.fn("DataKeys.rewrap")(function* (next) {
          const nextWrapping = wrappingKey(next)
          const rows = yield* query(keyTable, sql`SELECT id, wrapped FROM data_key ORDER BY id`)
          for (const { id, wrapped } of rows) {
            const key = yield* decrypt(wrapping, wrapped, contextOf(id))
            const changed = encrypt(nextWrapping, key, contextOf(id))
            yield* sql`UPDATE data_key SET wrapped = ${changed} WHERE id = ${id}`
          }
          yield* sql`UPDATE master_key SET fingerprint = ${fingerprint(next)}`
          return rows.length
        }, transaction)
      })
    })
  )
}
