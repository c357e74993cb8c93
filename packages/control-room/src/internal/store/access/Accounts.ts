/** Accounts of people, which belong to the room. */
import { UserId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { flag, id, integer, nullable, queryOne, Row, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { loginKey } from "../../engine/Logins.ts"
import { Database } from "../database/Database.ts"

export const accountTable = Table("account", {
  id: id(UserId),
  login: text,
  /** By which it is found. */
  login_key: text,
  first_name: text,
  last_name: text,
  email: nullable(text),
  /** As `Passwords` stores it; null until one was chosen. */
  password: nullable(text),
  manages_room: flag,
  disabled: flag,
  created_at: text,
  last_sign_in_at: nullable(text),
  /** Sealed; null: the account asks for no code. */
  totp_secret: nullable(text),
  /** The last time step whose code was accepted. */
  totp_step: nullable(integer),
  /** By which the program that embeds the room knows the account, and signs it in; null: of nobody whom it signs in. */
  subject: nullable(text)
})
export type Account = typeof accountTable.Type

/** What a new account has. */
export type NewAccount = Pick<Account, "login" | "first_name" | "last_name" | "email" | "manages_room"> & {
  readonly subject?: string
}

/** What may change of an account. */
export type AccountValues = Partial<Omit<Account, "id" | "login" | "login_key" | "created_at">>

const countRow = Row({ n: integer })

export class Accounts extends Context.Service<
  Accounts,
  {
    /** Whether the room has an account. */
    readonly exist: Effect.Effect<boolean>
    /** Waits for others that change accounts or memberships, until the transaction ends: what must stay true of all together. */
    readonly lock: Effect.Effect<void>
    readonly find: (id: UserId) => Effect.Effect<Account | null>
    readonly byLogin: (login: string) => Effect.Effect<Account | null>
    /** The account of a subject of the program that embeds the room. */
    readonly ofSubject: (subject: string) => Effect.Effect<Account | null>
    /** Returns null when the login is taken. */
    readonly create: (account: NewAccount) => Effect.Effect<Account | null>
    readonly update: (id: UserId, values: AccountValues) => Effect.Effect<void>
    /** Removes an account with its memberships, sessions and keys. */
    readonly remove: (id: UserId) => Effect.Effect<void>
    /** Accounts that operate the room and have signed in, besides this one. Who was invited alone may never come. */
    readonly otherManagers: (id: UserId) => Effect.Effect<number>
    /** Stores the sealed secret of a second factor, and the step of its first code; false when the account has one. */
    readonly addSecondFactor: (id: UserId, secret: string, step: number) => Effect.Effect<boolean>
    /** Removes the second factor with its recovery codes. */
    readonly removeSecondFactor: (id: UserId) => Effect.Effect<void>
    /** Notes the time step of a code; false when one of it or of a later one was accepted before. */
    readonly acceptStep: (id: UserId, step: number) => Effect.Effect<boolean>
    /** Replaces the recovery codes by these hashes. */
    readonly setRecoveryCodes: (id: UserId, hashes: ReadonlyArray<string>) => Effect.Effect<void>
    /** Uses a recovery code up; false when it is unknown or was used. */
    readonly useRecoveryCode: (id: UserId, hash: string) => Effect.Effect<boolean>
  }
>()("@signalbox/control-room/store/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const { newId, now, nullWhenTaken, sql, transaction } = yield* Database
      const select = sql`SELECT ${accountTable.columns} FROM account`
      const setRecoveryCodes = Effect.fnUntraced(function* (account: UserId, hashes: ReadonlyArray<string>) {
        yield* sql`DELETE FROM recovery_code WHERE account_id = ${account}`
        for (const hash of hashes) {
          yield* sql`INSERT INTO recovery_code (account_id, code_hash) VALUES (${account}, ${hash})`
        }
      }, transaction)
      const update = (id: UserId, values: AccountValues) =>
        Effect.asVoid(sql`UPDATE account SET ${accountTable.update(values)} WHERE id = ${id}`)
      return Accounts.of({
        exist: Effect.map(sql`SELECT id FROM account LIMIT 1`, (rows) => rows.length > 0),
        lock: Dialect.lockName(sql, "accounts"),
        find: (id) => queryOne(accountTable, sql`${select} WHERE id = ${id}`),
        byLogin: (login) => queryOne(accountTable, sql`${select} WHERE login_key = ${loginKey(login)}`),
        ofSubject: (subject) => queryOne(accountTable, sql`${select} WHERE subject = ${subject}`),
        create: Effect.fnUntraced(function* ({ subject = null, ...account }) {
          const row: Account = {
            ...account,
            subject,
            id: UserId.make(yield* newId),
            login_key: loginKey(account.login),
            password: null,
            disabled: false,
            created_at: yield* now,
            last_sign_in_at: null,
            totp_secret: null,
            totp_step: null
          }
          return yield* nullWhenTaken(Effect.as(sql`INSERT INTO account ${accountTable.insert(row)}`, row))
        }),
        update,
        remove: (id) => Effect.asVoid(sql`DELETE FROM account WHERE id = ${id}`),
        otherManagers: (id) =>
          Effect.map(
            queryOne(
              countRow,
              sql`SELECT count(*) AS n FROM account WHERE manages_room = 1 AND disabled = 0 AND last_sign_in_at IS NOT NULL AND id <> ${id}`
            ),
            (row) => row?.n ?? 0
          ),
        addSecondFactor: (id, secret, step) =>
          Effect.map(
            sql`
              UPDATE account SET ${accountTable.update({ totp_secret: secret, totp_step: step })}
              WHERE id = ${id} AND totp_secret IS NULL RETURNING id`,
            (rows) => rows.length === 1
          ),
        acceptStep: (id, step) =>
          Effect.map(
            sql`
              UPDATE account SET totp_step = ${step}
              WHERE id = ${id} AND (totp_step IS NULL OR totp_step < ${step}) RETURNING id`,
            (rows) => rows.length === 1
          ),
        removeSecondFactor: Effect.fnUntraced(function* (id) {
          yield* update(id, { totp_secret: null, totp_step: null })
          yield* setRecoveryCodes(id, [])
        }, transaction),
        setRecoveryCodes,
        useRecoveryCode: (account, hash) =>
          Effect.map(
            sql`DELETE FROM recovery_code WHERE account_id = ${account} AND code_hash = ${hash} RETURNING code_hash`,
            (rows) => rows.length === 1
          )
      })
    })
  )
}
