/** Browsers of people that are signed in, and links by which people choose a password. */
import type { Permission } from "@signalbox/api/contract/Authorization"
import { UserId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { UserSession } from "@signalbox/api/contract/Users"
import { flag, id, nullable, query, queryOne, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tokens from "../../vault/Tokens.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { AuthorizationChanges } from "./AuthorizationChanges.ts"
import { idleLifetime, sessionLifetime, useResolution } from "./ConsoleSessions.ts"
import { grantedColumns, permissionsOf } from "./Memberships.ts"

const sessionTable = Table("account_session", {
  id: text,
  account_id: id(UserId),
  secret_hash: text,
  created_at: text,
  last_used_at: text,
  expires_at: text,
  address: nullable(text),
  browser: text,
  /** The provider that its person has signed in with; null: none. */
  provider: nullable(text)
})

const linkTable = Table("account_link", {
  account_id: id(UserId),
  id: text,
  secret_hash: text,
  expires_at: text
})

const sessionRow = sessionTable.and({
  ...grantedColumns,
  login: text,
  first_name: text,
  last_name: text,
  manages_room: flag,
  disabled: flag
})

/** A session, and what its account may do in one workspace. */
export interface AccountSession {
  readonly id: string
  readonly account: {
    readonly id: UserId
    readonly login: string
    readonly first_name: string
    readonly last_name: string
    readonly manages_room: boolean
  }
  /** Empty where the account is no member. */
  readonly permissions: ReadonlySet<Permission>
  readonly expiresAt: string
  /** The provider that its person has signed in with; null: none. */
  readonly provider: string | null
}

const view = (row: typeof sessionRow.Type): AccountSession => {
  const held = permissionsOf(row.role, row.role_permissions)
  return {
    id: row.id,
    account: {
      id: row.account_id,
      login: row.login,
      first_name: row.first_name,
      last_name: row.last_name,
      manages_room: row.manages_room
    },
    permissions: row.manages_room && held.size > 0 ? new Set([...held, "Room.manage"]) : held,
    expiresAt: row.expires_at,
    provider: row.provider
  }
}

const listed = sessionTable.pick("id", "created_at", "last_used_at", "expires_at", "address", "browser")

export class AccountSessions extends Context.Service<
  AccountSessions,
  {
    /** Opens a session; its text is returned only here. */
    readonly open: (
      account: UserId,
      from: { readonly address: string | null; readonly browser: string; readonly provider?: string | undefined }
    ) => Effect.Effect<string>
    /**
     * The session of a token, with what it may do in the workspace; null when it is unknown or has ended, or its account is disabled.
     * `isUse`: whether that counts as a use of it.
     */
    readonly find: (
      token: Tokens.Token,
      workspace: WorkspaceId | null,
      isUse: boolean
    ) => Effect.Effect<AccountSession | null>
    readonly close: (token: Tokens.Token) => Effect.Effect<void>
    /** Ends the session of this id, which the browser replaces by another. */
    readonly replace: (id: string) => Effect.Effect<void>
    readonly list: (account: UserId, page: PageRequest) => Effect.Effect<Rows<UserSession>>
    /** Ends the sessions of an account: one, or all but one. */
    readonly end: (
      account: UserId,
      which: { readonly only: string } | { readonly except: string | null }
    ) => Effect.Effect<void>
    /** Ends the sessions of members of a workspace who have a password and no second factor. */
    readonly endWithoutFactor: (workspace: WorkspaceId) => Effect.Effect<void>
    /** Makes a link by which the account chooses a password once, and every other of it void. Returned only here. */
    readonly createLink: (
      account: UserId,
      lifetime: Duration.Duration
    ) => Effect.Effect<{ readonly link: string; readonly expiresAt: string }>
    /** The account of a link; null when it is unknown, used or expired. */
    readonly ofLink: (link: Tokens.Token) => Effect.Effect<UserId | null>
    /** Uses a link up; false when it is unknown, used or expired. Of two at the same moment one gets true. */
    readonly useLink: (link: Tokens.Token) => Effect.Effect<boolean>
    readonly voidLink: (account: UserId) => Effect.Effect<void>
    /** Uses up the link of this id, which was opened before; false when it was used or replaced since, or has expired. */
    readonly useOpenedLink: (account: UserId, link: string) => Effect.Effect<boolean>
    /** Deletes up to this many sessions and links that have expired, and returns how many it deleted. */
    readonly sweep: (limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/AccountSessions") {
  static readonly layer = Layer.effect(
    AccountSessions,
    Effect.gen(function* () {
      const { millis, newId, page, sql, transaction } = yield* Database
      const changes = yield* AuthorizationChanges
      const iso = (time: number) => new Date(time).toISOString()
      const later = (time: number, duration: Duration.Duration) => iso(time + Duration.toMillis(duration))
      const before = (time: number, duration: Duration.Duration) => iso(time - Duration.toMillis(duration))

      /** Of an account that a workspace may not let in. */
      const withoutFactor = sql`account.password IS NOT NULL AND account.totp_secret IS NULL`

      // A session that began before the workspace required a second factor gets nothing there.
      const lookUp = (token: Tokens.Token, workspace: WorkspaceId | null) =>
        queryOne(
          sessionRow,
          sql`
            SELECT ${sessionTable.of("account_session")}, membership.role, role.permissions AS role_permissions,
              account.login, account.first_name, account.last_name, account.manages_room, account.disabled
            FROM account_session JOIN account ON account.id = account_session.account_id
            LEFT JOIN membership ON membership.account_id = account.id AND membership.workspace_id = ${workspace}
              AND NOT (${withoutFactor} AND membership.workspace_id IN (
                SELECT id FROM workspace WHERE second_factor_required = 1))
            LEFT JOIN role ON role.workspace_id = membership.workspace_id AND role.name = membership.role
            WHERE account_session.id = ${token.id}`
        )

      return AccountSessions.of({
        open: Effect.fnUntraced(function* (account, { address, browser, provider }) {
          const id = yield* newId
          const { hash, token } = Tokens.make("userSession", id)
          const now = yield* millis
          const row: typeof sessionTable.Type = {
            id,
            account_id: account,
            secret_hash: hash,
            created_at: iso(now),
            last_used_at: iso(now),
            expires_at: later(now, sessionLifetime),
            address,
            browser: browser.slice(0, 255),
            provider: provider ?? null
          }
          yield* sql`INSERT INTO account_session ${sessionTable.insert(row)}`
          return token
        }),
        find: Effect.fnUntraced(function* (token, workspace, isUse) {
          if (token.kind !== "userSession") return null
          const row = yield* lookUp(token, workspace)
          if (row === null || row.disabled || !Tokens.matches(token.secret, row.secret_hash)) return null
          const now = yield* millis
          if (row.expires_at <= iso(now) || row.last_used_at <= before(now, idleLifetime)) return null
          if (isUse && row.last_used_at <= before(now, useResolution)) {
            yield* sql`UPDATE account_session SET last_used_at = ${iso(now)} WHERE id = ${row.id}`
          }
          return view(row)
        }),
        close: Effect.fnUntraced(function* (token) {
          const row = yield* lookUp(token, null)
          if (row === null || !Tokens.matches(token.secret, row.secret_hash)) return
          yield* sql`DELETE FROM account_session WHERE id = ${row.id}`
          yield* changes.tell("session closed", row.account_id)
        }, transaction),
        replace: Effect.fnUntraced(function* (id) {
          const [row] = yield* query(
            sessionTable.pick("account_id"),
            sql`DELETE FROM account_session WHERE id = ${id} RETURNING account_id`
          )
          if (row !== undefined) yield* changes.tell("session closed", row.account_id)
        }, transaction),
        list: (account, request) =>
          page(
            { rows: listed, select: sql`SELECT ${listed.columns} FROM account_session` },
            [sql`account_id = ${account}`],
            "newest first",
            request
          ),
        end: Effect.fnUntraced(function* (account, which) {
          const chosen = "only" in which ? sql`id = ${which.only}` : sql`id <> ${which.except ?? ""}`
          yield* sql`DELETE FROM account_session WHERE account_id = ${account} AND ${chosen}`
          yield* changes.tell("session closed", account)
        }, transaction),
        endWithoutFactor: Effect.fnUntraced(function* (workspace) {
          yield* sql`
            DELETE FROM account_session WHERE account_id IN (
              SELECT account.id FROM membership JOIN account ON account.id = membership.account_id
              WHERE membership.workspace_id = ${workspace} AND ${withoutFactor})`
          yield* changes.tell("permissions changed", "")
        }, transaction),
        createLink: Effect.fnUntraced(function* (account, lifetime) {
          const id = yield* newId
          const { hash, token } = Tokens.make("accountLink", id)
          const expiresAt = later(yield* millis, lifetime)
          const row: typeof linkTable.Type = { account_id: account, id, secret_hash: hash, expires_at: expiresAt }
          yield* sql`DELETE FROM account_link WHERE account_id = ${account}`
          yield* sql`INSERT INTO account_link ${linkTable.insert(row)}`
          return { link: token, expiresAt }
        }, transaction),
        ofLink: Effect.fnUntraced(function* (link) {
          if (link.kind !== "accountLink") return null
          const row = yield* queryOne(
            linkTable,
            sql`
              SELECT ${linkTable.columns} FROM account_link
              WHERE id = ${link.id} AND expires_at > ${iso(yield* millis)}`
          )
          return row !== null && Tokens.matches(link.secret, row.secret_hash) ? row.account_id : null
        }),
        useLink: Effect.fnUntraced(function* ({ id, kind, secret }) {
          if (kind !== "accountLink") return false
          const used = yield* sql`
            DELETE FROM account_link
            WHERE id = ${id} AND secret_hash = ${Tokens.hash(secret)} AND expires_at > ${iso(yield* millis)}
            RETURNING id`
          return used.length === 1
        }),
        voidLink: (account) => Effect.asVoid(sql`DELETE FROM account_link WHERE account_id = ${account}`),
        useOpenedLink: Effect.fnUntraced(function* (account, link) {
          const used = yield* sql`
            DELETE FROM account_link
            WHERE account_id = ${account} AND id = ${link} AND expires_at > ${iso(yield* millis)} RETURNING id`
          return used.length === 1
        }),
        sweep: Effect.fnUntraced(function* (limit) {
          const now = iso(yield* millis)
          const sessions = yield* sql`DELETE FROM account_session WHERE id IN (
              SELECT id FROM account_session WHERE expires_at <= ${now} LIMIT ${limit}) RETURNING id`
          const links = yield* sql`DELETE FROM account_link WHERE id IN (
              SELECT id FROM account_link WHERE expires_at <= ${now} LIMIT ${limit}) RETURNING id`
          return Math.max(sessions.length, links.length)
        }, transaction)
      })
    })
  )
}
