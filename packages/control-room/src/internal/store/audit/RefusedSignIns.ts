/**
 * Refused sign-ins. Whoever guesses passwords would fill the audit: they are counted for each account and minute, and each count becomes
 * one entry of the room's chain once its minute is over.
 */
import { integer, nullable, query, Table, text } from "@signalbox/sql/Table"
import * as Dialect from "@signalbox/sql/Dialect"
import type { UserId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../database/Database.ts"
import { AuditEntries, roomChain } from "./AuditEntries.ts"

const refusedTable = Table("refused_sign_in", {
  minute: text,
  account_id: text,
  login: text,
  attempts: integer,
  address: nullable(text)
})

/** Logins that nobody has are counted together: people type their passwords there, and there is no end of them. */
const nobody = { id: "", login: "" }

/** Counts that become entries in one transaction. */
const atOnce = 100

const minuteOf = (time: string) => time.slice(0, 16)

export class RefusedSignIns extends Context.Service<
  RefusedSignIns,
  {
    /** Counts an attempt that was refused. Null: the login that was given belongs to nobody. */
    readonly count: (
      account: { readonly id: UserId; readonly login: string } | null,
      address: string | null
    ) => Effect.Effect<void>
    /** Writes an entry for each account and minute that is over. */
    readonly enter: Effect.Effect<void>
  }
>()("@signalbox/control-room/store/RefusedSignIns") {
  static readonly layer = Layer.effect(
    RefusedSignIns,
    Effect.gen(function* () {
      const { now, sql, transaction } = yield* Database
      const { write } = yield* AuditEntries

      const enterSome = Effect.gen(function* () {
        const rows = yield* query(
          refusedTable,
          sql`DELETE FROM refused_sign_in WHERE (minute, account_id) IN (
              SELECT minute, account_id FROM refused_sign_in WHERE minute < ${minuteOf(yield* now)}
              ORDER BY minute, account_id LIMIT ${atOnce} ${Dialect.skipLocked(sql, "refused_sign_in")})
            RETURNING ${refusedTable.columns}`
        )
        for (const { account_id, address, attempts, login, minute } of rows) {
          yield* write({
            workspaceId: roomChain,
            // Who it was is what nobody knows.
            actor: { type: "system", id: null },
            origin: { sessionId: null, address, requestId: null },
            action: "refuseSignIn",
            resource: { type: "user", id: account_id || null, name: login || null },
            before: null,
            after: { attempts, minute: `${minute}Z` }
          })
        }
        return rows.length
      }).pipe(transaction)

      return RefusedSignIns.of({
        count: Effect.fnUntraced(function* (account, address) {
          const { id, login } = account ?? nobody
          const row = { minute: minuteOf(yield* now), account_id: id, login, attempts: 1, address }
          yield* sql`INSERT INTO refused_sign_in ${refusedTable.insert(row)} ON CONFLICT (minute, account_id)
            DO UPDATE SET attempts = refused_sign_in.attempts + 1, address = excluded.address`
        }),
        enter: Effect.gen(function* () {
          while ((yield* enterSome) === atOnce) yield* Effect.yieldNow
        })
      })
    })
  )
}
