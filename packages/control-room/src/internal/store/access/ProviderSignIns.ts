/** Sign-ins with a provider that a browser has begun: each comes back once, within ten minutes, in the same browser. */
import { UserId } from "@signalbox/api/contract/Ids"
import { id, nullable, queryOne, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tokens from "../../vault/Tokens.ts"
import { Database } from "../database/Database.ts"

export const signInLifetime = Duration.minutes(10)

const table = Table("provider_sign_in", {
  id: text,
  secret_hash: text,
  provider: text,
  state: text,
  nonce: text,
  verifier: text,
  /** Where the console goes afterwards: a fragment of its address. */
  place: text,
  /** The account whose invitation was opened; null: whoever signs in. */
  account_id: nullable(id(UserId)),
  /** The invitation. */
  link_id: nullable(text),
  /** The session that the browser has, which the new one replaces. */
  session_id: nullable(text),
  expires_at: text
})
type Row = typeof table.Type

/** What comes back with the browser. */
export type Begun = Omit<Row, "id" | "secret_hash" | "expires_at">

export class ProviderSignIns extends Context.Service<
  ProviderSignIns,
  {
    /** Notes what a browser begins; returns the text of its cookie. */
    readonly begin: (begun: Begun) => Effect.Effect<string>
    /**
     * Uses up what the browser with this cookie has begun with a provider. Null when it is unknown, used, or expired, or when the state
     * is another one, which leaves it: a page of others cannot use it up.
     */
    readonly take: (token: Tokens.Token, provider: string, state: string) => Effect.Effect<Begun | null>
    /** Deletes up to this many that have expired, and returns how many it deleted. */
    readonly sweep: (limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/ProviderSignIns") {
  static readonly layer = Layer.effect(
    ProviderSignIns,
    Effect.gen(function* () {
      const { millis, newId, sql, transaction } = yield* Database
      const iso = (time: number) => new Date(time).toISOString()
      return ProviderSignIns.of({
        begin: Effect.fnUntraced(function* (begun) {
          const id = yield* newId
          const { hash, token } = Tokens.make("providerSignIn", id)
          const expires_at = iso((yield* millis) + Duration.toMillis(signInLifetime))
          yield* sql`INSERT INTO provider_sign_in ${table.insert({ ...begun, id, secret_hash: hash, expires_at })}`
          return token
        }),
        take: Effect.fnUntraced(function* (token, provider, state) {
          if (token.kind !== "providerSignIn") return null
          const row = yield* queryOne(
            table,
            sql`
              SELECT ${table.columns} FROM provider_sign_in
              WHERE id = ${token.id} AND provider = ${provider} AND state = ${state} AND expires_at > ${iso(yield* millis)}`
          )
          if (row === null || !Tokens.matches(token.secret, row.secret_hash)) return null
          // Of two that come back at the same moment, one deletes it.
          const taken = yield* sql`DELETE FROM provider_sign_in WHERE id = ${token.id} RETURNING id`
          return taken.length === 1 ? row : null
        }, transaction),
        sweep: Effect.fnUntraced(function* (limit) {
          const now = iso(yield* millis)
          const rows = yield* sql`DELETE FROM provider_sign_in WHERE id IN (
              SELECT id FROM provider_sign_in WHERE expires_at <= ${now} LIMIT ${limit}) RETURNING id`
          return rows.length
        })
      })
    })
  )
}
