/**
 * API keys of workspaces.
 */
import { type ApiKey as ApiKeyView } from "@signalbox/api/contract/ApiKeys"
import type { Permission } from "@signalbox/api/contract/Authorization"
import { ApiKeyId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { id, json, queryOne, Table, text } from "@signalbox/sql/Table"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tokens from "../../vault/Tokens.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { Notifier } from "../database/Notifier.ts"

const keyTable = Table("api_key", {
  id: id(ApiKeyId),
  workspace_id: id(WorkspaceId),
  name: text,
  secret_hash: text,
  permissions: json<ReadonlyArray<Permission>>(),
  created_at: text
})
type KeyRow = typeof keyTable.Type

/** A key with what authentication needs. */
export interface ApiKey {
  readonly id: ApiKeyId
  readonly workspaceId: WorkspaceId
  readonly secretHash: string
  readonly permissions: ReadonlySet<Permission>
}

/** How many keys are cached between requests; those used least recently are dropped first. */
const remembered = 10_000
/** How long they are cached where other nodes may change a key: a change is in effect within that time, even if nobody is notified. */
const rememberedMillis = 1000

const parse = (row: KeyRow): ApiKey => ({
  id: row.id,
  workspaceId: row.workspace_id,
  secretHash: row.secret_hash,
  permissions: new Set(row.permissions)
})

const view = ({ created_at, id, name, permissions }: KeyRow): ApiKeyView => ({ id, name, permissions, created_at })

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** Returns the key of a token, null when it is unknown or revoked. Reads the database once per key. */
    readonly authenticate: (token: Tokens.Token) => Effect.Effect<ApiKey | null>
    /** The name of a key; null when the workspace has no such key. */
    readonly nameOf: (workspace: WorkspaceId, id: string) => Effect.Effect<string | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<ApiKeyView>>
    /** Creates a key; its text is returned only here. */
    readonly create: (
      workspace: WorkspaceId,
      name: string,
      permissions: ReadonlyArray<Permission>
    ) => Effect.Effect<{ readonly view: ApiKeyView; readonly key: string }>
    /** Gives a key a permission, unless it has it. */
    readonly grant: (key: string, permission: Permission) => Effect.Effect<void>
    /** Revokes a key, which is then unknown. False when it does not exist. */
    readonly remove: (workspace: WorkspaceId, id: string) => Effect.Effect<boolean>
  }
>()("@signalbox/control-room/store/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const { newId, now, page, sql, transaction } = yield* Database
      const notifier = yield* Notifier
      /** By the hash of the secret. */
      const known = new Map<string, { readonly key: ApiKey; readonly until: number }>()
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

      const remember = (key: ApiKey, until: number) => {
        known.delete(key.secretHash)
        known.set(key.secretHash, { key, until })
        const oldest = known.size > remembered ? known.keys().next() : undefined
        if (oldest?.done === false) known.delete(oldest.value)
      }

      const find = Effect.fnUntraced(function* (id: string) {
        return yield* queryOne(keyTable, sql`SELECT ${keyTable.columns} FROM api_key WHERE id = ${id}`, parse)
      })

      const ask = Effect.fnUntraced(function* (token: Tokens.Token, time: number) {
        const before = revocations
        const key = yield* find(token.id)
        if (key === null || !Tokens.matches(token.secret, key.secretHash)) return null
        // A key that was read before a revocation may be the one revoked: it serves this request and is not cached.
        if (revocations === before) remember(key, time + rememberedMillis)
        return key
      })

      return ApiKeys.of({
        authenticate: (token) =>
          Effect.withFiber((fiber) => {
            if (token.kind !== "apiKey") return Effect.succeed(null)
            const time = notifier.shared ? fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() : 0
            const entry = known.get(Tokens.hash(token.secret))
            if (entry === undefined || entry.key.id !== token.id || entry.until <= time) return ask(token, time)
            // The order matters once some are dropped.
            if (known.size >= remembered) remember(entry.key, entry.until)
            return Effect.succeed(entry.key)
          }),
        grant: Effect.fnUntraced(function* (text, permission) {
          const token = Tokens.parse(text)
          const key = token === null ? null : yield* find(token.id)
          if (key === null || key.permissions.has(permission)) return
          const permissions = [...key.permissions, permission]
          yield* sql`UPDATE api_key SET ${keyTable.update({ permissions })} WHERE id = ${key.id}`
          forget(key.id)
        }),
        nameOf: (workspace, id) =>
          queryOne(
            keyTable.pick("name"),
            sql`SELECT name FROM api_key WHERE id = ${id} AND workspace_id = ${workspace}`,
            (row) => row.name
          ),
        list: (workspace, request) =>
          page(
            { rows: keyTable, select: sql`SELECT ${keyTable.columns} FROM api_key`, as: view },
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (workspace, name, permissions) {
          const id = ApiKeyId.make(yield* newId)
          const { hash, token } = Tokens.make("apiKey", id)
          const row: KeyRow = {
            id,
            workspace_id: workspace,
            name,
            secret_hash: hash,
            permissions: [...new Set(permissions)],
            created_at: yield* now
          }
          yield* sql`INSERT INTO api_key ${keyTable.insert(row)}`
          return { view: view(row), key: token }
        }),
        remove: Effect.fnUntraced(function* (workspace, id) {
          const rows = yield* sql`DELETE FROM api_key WHERE workspace_id = ${workspace} AND id = ${id} RETURNING id`
          if (rows.length === 0) return false
          yield* notifier.notify("key revoked", id)
          return true
        }, transaction)
      })
    })
  )
}
