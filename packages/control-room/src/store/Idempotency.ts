/**
 * Idempotency records: what a POST with a key answered.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "./Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"

interface Row {
  readonly fingerprint: string
  readonly status: number
  readonly body: string
}

export interface IdempotencyRecord {
  /** Of the method, the path and the body. */
  readonly fingerprint: string
  readonly status: number
  /** Sealed: a response may hold a key. */
  readonly body: string
}

/** How long a key is kept. */
export const keptSeconds = 86_400

export class Idempotency extends Context.Service<
  Idempotency,
  {
    /** Until the transaction at hand ends, whoever comes with the same key waits here. */
    readonly hold: (workspace: WorkspaceId, key: string) => Effect.Effect<void>
    readonly find: (workspace: WorkspaceId, key: string) => Effect.Effect<IdempotencyRecord | null>
    /** Keeps what was answered, in the transaction of what was done. */
    readonly keep: (workspace: WorkspaceId, key: string, record: IdempotencyRecord) => Effect.Effect<void>
    /** Forgets some keys that are too old; answers how many. */
    readonly sweep: (limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/Idempotency") {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const { millis, now, sql } = yield* Database
      const since = Effect.map(millis, (time) => new Date(time - keptSeconds * 1000).toISOString())
      return Idempotency.of({
        hold: (workspace, key) => Effect.orDie(Dialect.holdName(sql, `idempotency ${workspace} ${key}`)),
        find: Effect.fnUntraced(function* (workspace, key) {
          const [row] = yield* sql<Row>`
            SELECT fingerprint, status, body FROM idempotency_key
            WHERE workspace_id = ${workspace} AND key = ${key} AND created_at > ${yield* since}`
          return row === undefined ? null : { fingerprint: row.fingerprint, status: row.status, body: row.body }
        }, Effect.orDie),
        keep: Effect.fnUntraced(function* (workspace, key, record) {
          yield* sql`DELETE FROM idempotency_key WHERE workspace_id = ${workspace} AND key = ${key}`
          yield* sql`INSERT INTO idempotency_key ${sql.insert({
            workspace_id: workspace,
            key,
            ...record,
            created_at: yield* now
          })}`
        }, Effect.orDie),
        sweep: Effect.fnUntraced(function* (limit) {
          const rows = yield* sql`
            DELETE FROM idempotency_key WHERE (workspace_id, key) IN (
              SELECT workspace_id, key FROM idempotency_key WHERE created_at <= ${yield* since}
              ORDER BY created_at LIMIT ${limit} ${Dialect.skipLocked(sql, "idempotency_key")})
            RETURNING key`
          return rows.length
        }, Effect.orDie)
      })
    })
  )
}
