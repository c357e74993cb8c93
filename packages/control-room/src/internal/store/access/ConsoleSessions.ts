/**
 * Sessions of the console: a browser that was let in with a key of the workspace, or with a ticket that a key has made. A
 * session has the permissions of its key and ends with it.
 */
import type { Permission } from "@signalbox/api/contract/Authorization"
import { ApiKeyId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { id, queryOne, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tokens from "../../vault/Tokens.ts"
import { Database } from "../database/Database.ts"
import { type ApiKey, ApiKeys } from "./ApiKeys.ts"
import { AuthorizationChanges } from "./AuthorizationChanges.ts"

/** How long a session lasts, used or not. */
export const sessionLifetime = Duration.hours(12)
/** How long a session lasts without a request. */
export const idleLifetime = Duration.hours(1)
/** How exact the last use of a session is: it is not written at every request. */
export const useResolution = Duration.minutes(1)

/** Whose session it is. */
export interface ConsoleSession {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly key: { readonly id: ApiKeyId; readonly name: string }
  readonly permissions: ReadonlySet<Permission>
  readonly expiresAt: string
}

const sessionTable = Table("console_session", {
  id: text,
  workspace_id: id(WorkspaceId),
  api_key_id: id(ApiKeyId),
  secret_hash: text,
  expires_at: text,
  last_used_at: text
})

const ticketRow = sessionTable.pick("workspace_id", "api_key_id", "secret_hash")

const view = (row: typeof sessionTable.Type, { id, name, permissions }: ApiKey): ConsoleSession => ({
  id: row.id,
  workspaceId: row.workspace_id,
  key: { id, name },
  permissions,
  expiresAt: row.expires_at
})

export class ConsoleSessions extends Context.Service<
  ConsoleSessions,
  {
    /** Creates a ticket of a key, which opens one session until it expires. Its text is returned only here. */
    readonly createTicket: (
      workspace: WorkspaceId,
      key: string,
      lifetime: Duration.Duration
    ) => Effect.Effect<{ readonly ticket: string; readonly expiresAt: string }>
    /** Uses a ticket up and returns the key that it is of; null when it is unknown, used or expired. */
    readonly redeem: (
      ticket: Tokens.Token
    ) => Effect.Effect<{ readonly workspaceId: WorkspaceId; readonly keyId: string } | null>
    /** Opens a session of a key; its text is returned only here. */
    readonly open: (workspace: WorkspaceId, key: string) => Effect.Effect<string>
    /** Returns the session of a token, null when it is unknown or has ended; counts as a use of it. */
    readonly find: (token: Tokens.Token) => Effect.Effect<ConsoleSession | null>
    /** Like `find`, and does not count as a use. */
    readonly look: (token: Tokens.Token) => Effect.Effect<ConsoleSession | null>
    readonly close: (token: Tokens.Token) => Effect.Effect<void>
    /** Deletes up to this many tickets and sessions that have expired, and returns how many it deleted. */
    readonly sweep: (limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/ConsoleSessions") {
  static readonly layer = Layer.effect(
    ConsoleSessions,
    Effect.gen(function* () {
      const { millis, newId, sql, transaction } = yield* Database
      const changes = yield* AuthorizationChanges
      const keys = yield* ApiKeys
      const iso = (time: number) => new Date(time).toISOString()
      const later = (time: number, duration: Duration.Duration) => iso(time + Duration.toMillis(duration))
      const before = (time: number, duration: Duration.Duration) => iso(time - Duration.toMillis(duration))

      const lookUp = Effect.fnUntraced(function* (token: Tokens.Token) {
        const row = yield* queryOne(
          sessionTable,
          sql`SELECT ${sessionTable.columns} FROM console_session WHERE id = ${token.id}`
        )
        return row !== null && Tokens.matches(token.secret, row.secret_hash) ? row : null
      })

      /** With what its key may do now, which is never more than the owner of the key. */
      const live = Effect.fnUntraced(function* (token: Tokens.Token) {
        if (token.kind !== "session") return null
        const row = yield* lookUp(token)
        const now = yield* millis
        if (row === null || row.expires_at <= iso(now) || row.last_used_at <= before(now, idleLifetime)) return null
        const key = yield* keys.ofId(row.api_key_id)
        return key === null ? null : { row, now, session: view(row, key) }
      })

      return ConsoleSessions.of({
        createTicket: Effect.fnUntraced(function* (workspace, key, lifetime) {
          const id = yield* newId
          const { hash, token } = Tokens.make("ticket", id)
          const expiresAt = later(yield* millis, lifetime)
          const row = { id, workspace_id: workspace, api_key_id: key, secret_hash: hash, expires_at: expiresAt }
          yield* sql`INSERT INTO console_ticket ${sql.insert(row)}`
          return { ticket: token, expiresAt }
        }),
        redeem: Effect.fnUntraced(function* (ticket) {
          if (ticket.kind !== "ticket") return null
          const row = yield* queryOne(
            ticketRow,
            sql`
              SELECT workspace_id, api_key_id, secret_hash FROM console_ticket
              WHERE id = ${ticket.id} AND expires_at > ${iso(yield* millis)}`
          )
          if (row === null || !Tokens.matches(ticket.secret, row.secret_hash)) return null
          // Of two that redeem it at the same moment, one deletes it.
          const used = yield* sql`DELETE FROM console_ticket WHERE id = ${ticket.id} RETURNING id`
          return used.length === 0 ? null : { workspaceId: row.workspace_id, keyId: row.api_key_id }
        }, transaction),
        open: Effect.fnUntraced(function* (workspace, key) {
          const id = yield* newId
          const { hash, token } = Tokens.make("session", id)
          const now = yield* millis
          yield* sql`INSERT INTO console_session ${sql.insert({
            id,
            workspace_id: workspace,
            api_key_id: key,
            secret_hash: hash,
            expires_at: later(now, sessionLifetime),
            last_used_at: iso(now)
          })}`
          return token
        }),
        find: Effect.fnUntraced(function* (token) {
          const found = yield* live(token)
          if (found === null) return null
          const { now, row, session } = found
          if (row.last_used_at <= before(now, useResolution)) {
            yield* sql`UPDATE console_session SET last_used_at = ${iso(now)} WHERE id = ${row.id}`
          }
          return session
        }),
        look: (token) => Effect.map(live(token), (found) => found?.session ?? null),
        close: Effect.fnUntraced(function* (token) {
          const row = token.kind === "session" ? yield* lookUp(token) : null
          if (row === null) return
          yield* sql`DELETE FROM console_session WHERE id = ${token.id}`
          yield* changes.tell("session closed", row.api_key_id)
        }, transaction),
        sweep: Effect.fnUntraced(function* (limit) {
          const now = yield* millis
          const expired = iso(now)
          const tickets = yield* sql`DELETE FROM console_ticket WHERE id IN (
              SELECT id FROM console_ticket WHERE expires_at <= ${expired} LIMIT ${limit}) RETURNING id`
          const sessions = yield* sql`DELETE FROM console_session WHERE id IN (
              SELECT id FROM console_session WHERE expires_at <= ${expired} LIMIT ${limit}) RETURNING id`
          return Math.max(tickets.length, sessions.length)
        }, transaction)
      })
    })
  )
}
