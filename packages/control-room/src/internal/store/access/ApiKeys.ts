/**
 * API keys of workspaces.
 */
import type { ApiKey as ApiKeyView, KeyAuthor } from "@signalbox/api/contract/ApiKeys"
import type { Permission } from "@signalbox/api/contract/Authorization"
import { ApiKeyId, UserId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { flag, id, json, nullable, query, queryOne, Table, text } from "@signalbox/sql/Table"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tokens from "../../vault/Tokens.ts"
import { accountTable } from "./Accounts.ts"
import { AuthorizationChanges } from "./AuthorizationChanges.ts"
import { grantedColumns, permissionsOf } from "./Memberships.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { Notifier } from "../database/Notifier.ts"

const keyTable = Table("api_key", {
  id: id(ApiKeyId),
  workspace_id: id(WorkspaceId),
  name: text,
  secret_hash: text,
  permissions: json<ReadonlyArray<Permission>>(),
  created_at: text,
  created_by: nullable(json<KeyAuthor>()),
  owner_id: nullable(id(UserId)),
  expires_at: nullable(text),
  last_used_at: nullable(text)
})
type KeyRow = typeof keyTable.Type

/** A key with what authentication needs. */
export interface ApiKey {
  readonly id: ApiKeyId
  readonly workspaceId: WorkspaceId
  readonly name: string
  readonly secretHash: string
  readonly permissions: ReadonlySet<Permission>
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** How many keys are cached between requests; those used least recently are dropped first. */
const remembered = 10_000
/** How long they are cached where other nodes may change a key: a change is in effect within that time, even if nobody is notified. */
const rememberedMillis = 1000

/** A key that was looked up. */
interface Known {
  readonly key: ApiKey
  /** Until when it serves without being looked up again. */
  readonly until: number
  usedAt: number
}

/** A key with its owner, and the role of the owner in the workspace of the key. */
const ownedRow = keyTable.and({ login: nullable(text), disabled: nullable(flag), ...grantedColumns })
type OwnedRow = typeof ownedRow.Type

const both = (permissions: ReadonlyArray<Permission>, held: ReadonlySet<Permission>) =>
  new Set(permissions.filter((permission) => held.has(permission)))

/** What a key may do now: never more than its owner. Null: its owner may not sign in. */
const parse = (row: OwnedRow): ApiKey | null => {
  if (row.disabled === true) return null
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    secretHash: row.secret_hash,
    expiresAt: row.expires_at === null ? Infinity : Date.parse(row.expires_at),
    permissions:
      row.owner_id === null
        ? new Set(row.permissions)
        : both(row.permissions, permissionsOf(row.role, row.role_permissions))
  }
}

const view = ({
  created_at,
  created_by,
  expires_at,
  id,
  last_used_at,
  login,
  name,
  owner_id,
  permissions
}: OwnedRow): ApiKeyView => ({
  id,
  name,
  permissions,
  created_at,
  created_by,
  owner: owner_id === null ? null : { id: owner_id, login: login ?? "" },
  expires_at,
  last_used_at
})

/** How exact the last use of a key is: it is not written at every request. */
const useMillis = 60_000

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** Returns the key of a token, null when it is unknown or revoked. Reads the database once per key. */
    readonly authenticate: (token: Tokens.Token) => Effect.Effect<ApiKey | null>
    /** Returns the key with this id, null when it is unknown, has expired, or may not be used. */
    readonly ofId: (id: string) => Effect.Effect<ApiKey | null>
    /** The name of a key; null when the workspace has no such key. */
    readonly nameOf: (workspace: WorkspaceId, id: string) => Effect.Effect<string | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<ApiKeyView>>
    /** Creates a key; its text is returned only here. `owner`: null, of the workspace. */
    readonly create: (
      workspace: WorkspaceId,
      name: string,
      permissions: ReadonlyArray<Permission>,
      of?: {
        readonly owner?: UserId | null
        readonly expiresAt?: string | null
        /** Null: a command on this machine. */
        readonly createdBy?: KeyAuthor | null
      }
    ) => Effect.Effect<{ readonly view: ApiKeyView; readonly key: string }>
    /** Whether a key that belongs to the workspace is older than the first account of the room, or there is none. */
    readonly predatesAccounts: (id: string) => Effect.Effect<boolean>
    /** Gives a key a permission, and returns the id of the key; null: it has it. */
    readonly grant: (key: string, permission: Permission) => Effect.Effect<ApiKeyId | null>
    /** Hands a key over to another owner; null: to the workspace. */
    readonly setOwner: (id: ApiKeyId, owner: UserId | null) => Effect.Effect<void>
    /** The key of a workspace, without what authenticates it. */
    readonly find: (workspace: WorkspaceId, id: string) => Effect.Effect<ApiKeyView | null>
    /** The keys that a user owns. */
    readonly ownedBy: (owner: UserId) => Effect.Effect<ReadonlyArray<ApiKeyView>>
    /** Revokes a key, which is then unknown. False when it does not exist. */
    readonly remove: (workspace: WorkspaceId, id: string) => Effect.Effect<boolean>
  }
>()("@signalbox/control-room/store/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const { millis, newId, now, page, sql, transaction } = yield* Database
      const notifier = yield* Notifier
      const changes = yield* AuthorizationChanges
      const select = sql`
        SELECT ${keyTable.of("api_key")}, account.login, account.disabled, membership.role,
          role.permissions AS role_permissions
        FROM api_key LEFT JOIN account ON account.id = api_key.owner_id
        LEFT JOIN membership ON membership.account_id = api_key.owner_id AND membership.workspace_id = api_key.workspace_id
        LEFT JOIN role ON role.workspace_id = membership.workspace_id AND role.name = membership.role`
      /** By the hash of the secret. */
      const known = new Map<string, Known>()
      let revocations = 0

      const forget = (id: string) => {
        for (const [hash, { key }] of known) if (key.id === id) known.delete(hash)
      }

      // Nodes notify each other of revocations; after a lost connection, keys are read again soon.
      yield* notifier.subscribe("key revoked", (id) =>
        Effect.sync(() => {
          revocations++
          if (id === null) known.clear()
          else forget(id)
        })
      )

      // Nodes notify each other when permissions change.
      yield* notifier.subscribe("permissions changed", () =>
        Effect.sync(() => {
          revocations++
          known.clear()
        })
      )

      const remember = (entry: Known) => {
        known.delete(entry.key.secretHash)
        known.set(entry.key.secretHash, entry)
        const oldest = known.size > remembered ? known.keys().next() : undefined
        if (oldest?.done === false) known.delete(oldest.value)
      }

      const find = Effect.fnUntraced(function* (id: string) {
        return yield* queryOne(ownedRow, sql`${select} WHERE api_key.id = ${id}`, parse)
      })

      const loginOf = (account: UserId) =>
        queryOne(accountTable.pick("login"), sql`SELECT login FROM account WHERE id = ${account}`, (row) => row.login)

      /** Notes that a key is used, to the minute; a database that takes no writes does not make it useless. */
      const use = (id: ApiKeyId, time: number) =>
        Effect.ignoreCause(
          sql`UPDATE api_key SET last_used_at = ${new Date(time - (time % useMillis)).toISOString()} WHERE id = ${id}`
        )

      const ask = Effect.fnUntraced(function* (token: Tokens.Token, time: number) {
        const before = revocations
        const key = yield* find(token.id)
        if (key === null || !Tokens.matches(token.secret, key.secretHash)) return null
        if (key.expiresAt <= time) return null
        yield* use(key.id, time)
        // A key that was read before a revocation may be the one revoked: it serves this request and is not cached.
        if (revocations === before) {
          const until = notifier.shared ? time + rememberedMillis : Infinity
          remember({ key, until: Math.min(until, key.expiresAt), usedAt: time })
        }
        return key
      })

      return ApiKeys.of({
        authenticate: (token) =>
          Effect.withFiber((fiber) => {
            if (token.kind !== "apiKey") return Effect.succeed(null)
            const time = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
            const entry = known.get(Tokens.hash(token.secret))
            if (entry === undefined || entry.key.id !== token.id || entry.until <= time) return ask(token, time)
            // The order matters once some are dropped.
            if (known.size >= remembered) remember(entry)
            if (time - entry.usedAt < useMillis) return Effect.succeed(entry.key)
            entry.usedAt = time
            return Effect.as(use(entry.key.id, time), entry.key)
          }),
        grant: Effect.fnUntraced(function* (text, permission) {
          const token = Tokens.parse(text)
          const key = token === null ? null : yield* find(token.id)
          if (key === null || key.permissions.has(permission)) return null
          const permissions = [...key.permissions, permission]
          yield* sql`UPDATE api_key SET ${keyTable.update({ permissions })} WHERE id = ${key.id}`
          forget(key.id)
          return key.id
        }),
        ofId: Effect.fnUntraced(function* (id) {
          const key = yield* find(id)
          return key !== null && key.expiresAt > (yield* millis) ? key : null
        }),
        predatesAccounts: (id) =>
          Effect.map(
            sql`
              SELECT id FROM api_key WHERE id = ${id} AND owner_id IS NULL
                AND NOT EXISTS (SELECT 1 FROM account WHERE account.created_at <= api_key.created_at)`,
            (rows) => rows.length > 0
          ),
        nameOf: (workspace, id) =>
          queryOne(
            keyTable.pick("name"),
            sql`SELECT name FROM api_key WHERE id = ${id} AND workspace_id = ${workspace}`,
            (row) => row.name
          ),
        list: (workspace, request) =>
          page(
            { rows: ownedRow, select: sql`SELECT * FROM (${select}) AS owned`, as: view },
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (workspace, name, permissions, of) {
          const id = ApiKeyId.make(yield* newId)
          const { hash, token } = Tokens.make("apiKey", id)
          const row: KeyRow = {
            id,
            workspace_id: workspace,
            name,
            secret_hash: hash,
            permissions: [...new Set(permissions)],
            created_at: yield* now,
            created_by: of?.createdBy ?? null,
            owner_id: of?.owner ?? null,
            expires_at: of?.expiresAt ?? null,
            last_used_at: null
          }
          yield* sql`INSERT INTO api_key ${keyTable.insert(row)}`
          const owned = row.owner_id === null ? null : yield* loginOf(row.owner_id)
          const own = { login: owned, disabled: null, role: null, role_permissions: null }
          return { view: view({ ...row, ...own }), key: token }
        }, transaction),
        setOwner: Effect.fnUntraced(function* (id, owner) {
          yield* sql`UPDATE api_key SET ${keyTable.update({ owner_id: owner })} WHERE id = ${id}`
          yield* changes.tell("key revoked", id)
        }, transaction),
        find: (workspace, id) =>
          queryOne(ownedRow, sql`${select} WHERE api_key.id = ${id} AND api_key.workspace_id = ${workspace}`, view),
        ownedBy: (owner) => query(ownedRow, sql`${select} WHERE api_key.owner_id = ${owner} ORDER BY api_key.id`, view),
        remove: Effect.fnUntraced(function* (workspace, id) {
          const rows = yield* sql`DELETE FROM api_key WHERE workspace_id = ${workspace} AND id = ${id} RETURNING id`
          if (rows.length === 0) return false
          yield* changes.tell("key revoked", id)
          return true
        }, transaction)
      })
    })
  )
}
