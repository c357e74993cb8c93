/**
 * Idempotency records: the responses of POST requests with a key.
 */
import type { Permission } from "@signalbox/api/contract/Authorization"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, json, nullable, queryOne, Table, text } from "@signalbox/sql/Table"

const recordTable = Table("idempotency_key", {
  workspace_id: id(WorkspaceId),
  key: text,
  fingerprint: text,
  status: integer,
  body: text,
  created_at: text,
  expires_at: text,
  maker: nullable(text),
  permissions: json<ReadonlyArray<Permission>>(),
  seen: nullable(text)
})
const recordRow = recordTable.pick(
  "fingerprint",
  "status",
  "body",
  "created_at",
  "expires_at",
  "maker",
  "permissions",
  "seen"
)

export interface IdempotencyRecord {
  /** Hash of the method, the path and the body. */
  readonly fingerprint: string
  readonly status: number
  /** Sealed: a response may contain a key. */
  readonly body: string
  /** Seconds from its creation until it expires. */
  readonly lifetime: number
  /** The key, session or run that made the request; null: a node of an older version did not say. */
  readonly maker: string | null
  /** Those that the request was asked for beyond what its endpoint always needs. */
  readonly permissions: ReadonlyArray<Permission>
  /** How secret fields of payloads are in it; `none`: it has no payloads. Null: a node of an older version did not say. */
  readonly seen: string | null
}

export class IdempotencyRecords extends Context.Service<
  IdempotencyRecords,
  {
    /** Locks the key until the current transaction ends: concurrent requests with the same key wait here. */
    readonly lock: (workspace: WorkspaceId, key: string) => Effect.Effect<void>
    readonly find: (workspace: WorkspaceId, key: string) => Effect.Effect<IdempotencyRecord | null>
    /** Stores the response, in the same transaction as the changes. */
    readonly store: (workspace: WorkspaceId, key: string, record: IdempotencyRecord) => Effect.Effect<void>
    /** Deletes up to `limit` expired records, and returns how many they were. */
    readonly sweep: (limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/IdempotencyRecords") {
  static readonly layer = Layer.effect(
    IdempotencyRecords,
    Effect.gen(function* () {
      const { millis, now, sql } = yield* Database
      return IdempotencyRecords.of({
        lock: (workspace, key) => Dialect.lockName(sql, `idempotency ${workspace} ${key}`),
        find: Effect.fnUntraced(function* (workspace, key) {
          const row = yield* queryOne(
            recordRow,
            sql`
              SELECT ${recordRow.columns} FROM idempotency_key
              WHERE workspace_id = ${workspace} AND key = ${key} AND expires_at > ${yield* now}`
          )
          if (row === null) return null
          const { body, created_at, expires_at, fingerprint, maker, permissions, seen, status } = row
          const lifetime = Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 1000)
          return { fingerprint, status, body, lifetime, maker, permissions, seen }
        }),
        store: Effect.fnUntraced(function* (workspace, key, { lifetime, permissions, ...record }) {
          const time = yield* millis
          yield* sql`DELETE FROM idempotency_key WHERE workspace_id = ${workspace} AND key = ${key}`
          yield* sql`INSERT INTO idempotency_key ${recordTable.insert({
            workspace_id: workspace,
            key,
            ...record,
            permissions,
            created_at: new Date(time).toISOString(),
            expires_at: new Date(time + lifetime * 1000).toISOString()
          })}`
        }),
        sweep: Effect.fnUntraced(function* (limit) {
          const rows = yield* sql`
            DELETE FROM idempotency_key WHERE (workspace_id, key) IN (
              SELECT workspace_id, key FROM idempotency_key WHERE expires_at <= ${yield* now}
              ORDER BY expires_at LIMIT ${limit} ${Dialect.skipLocked(sql, "idempotency_key")})
            RETURNING key`
          return rows.length
        })
      })
    })
  )
}
