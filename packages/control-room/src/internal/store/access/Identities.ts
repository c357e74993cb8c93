/** Who an account is at a provider: what its issuer calls a person, and never an address of e-mail. */
import { UserId } from "@signalbox/api/contract/Ids"
import { id, query, queryOne, Row, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../database/Database.ts"

const identityTable = Table("account_identity", {
  issuer: text,
  /** The claim of the subject. */
  claim: text,
  subject: text,
  /** The id of the provider in the settings when it was bound. */
  provider: text,
  account_id: id(UserId),
  created_at: text,
  last_sign_in_at: text
})

/** A person at a provider. */
export type Identity = Pick<typeof identityTable.Type, "issuer" | "claim" | "subject">

const accountRow = Row({ account_id: id(UserId) })

export class Identities extends Context.Service<
  Identities,
  {
    /** The account of an identity; null: it is bound to none. */
    readonly find: (identity: Identity) => Effect.Effect<UserId | null>
    /** Binds an identity to an account; false when it is bound to one already. */
    readonly bind: (identity: Identity, provider: string, account: UserId) => Effect.Effect<boolean>
    /** Notes a sign-in with the identity. */
    readonly signedIn: (identity: Identity) => Effect.Effect<void>
    /** Counts the time without a sign-in from now on, for an account that is enabled again. */
    readonly touch: (account: UserId) => Effect.Effect<void>
    /** Accounts that sign in with providers alone, are not disabled, and have not signed in since a time. */
    readonly stale: (since: string) => Effect.Effect<ReadonlyArray<UserId>>
  }
>()("@signalbox/control-room/store/Identities") {
  static readonly layer = Layer.effect(
    Identities,
    Effect.gen(function* () {
      const { now, nullWhenTaken, sql } = yield* Database
      const is = ({ claim, issuer, subject }: Identity) =>
        sql`issuer = ${issuer} AND claim = ${claim} AND subject = ${subject}`
      return Identities.of({
        find: (identity) =>
          Effect.map(
            queryOne(accountRow, sql`SELECT account_id FROM account_identity WHERE ${is(identity)}`),
            (row) => row?.account_id ?? null
          ),
        bind: Effect.fnUntraced(function* (identity, provider, account) {
          const time = yield* now
          const row = { ...identity, provider, account_id: account, created_at: time, last_sign_in_at: time }
          const bound = Effect.as(sql`INSERT INTO account_identity ${identityTable.insert(row)}`, true)
          return (yield* nullWhenTaken(bound)) ?? false
        }),
        signedIn: Effect.fnUntraced(function* (identity) {
          yield* sql`UPDATE account_identity SET last_sign_in_at = ${yield* now} WHERE ${is(identity)}`
        }),
        touch: Effect.fnUntraced(function* (account) {
          yield* sql`UPDATE account_identity SET last_sign_in_at = ${yield* now} WHERE account_id = ${account}`
        }),
        stale: (since) =>
          query(
            accountRow,
            sql`
              SELECT account_id FROM account_identity JOIN account ON account.id = account_identity.account_id
              WHERE account.password IS NULL AND account.disabled = 0
              GROUP BY account_id HAVING max(account_identity.last_sign_in_at) <= ${since} ORDER BY account_id`,
            ({ account_id }) => account_id
          )
      })
    })
  )
}
