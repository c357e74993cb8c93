/**
 * Secrets: their items are encrypted under a separate data key, which is new with every write. Workspace, name and
 * version are authenticated with them, so that no row can be replaced by another or by an older one.
 */
import { SecretName, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Secret } from "@signalbox/api/contract/Secrets"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Fragment } from "effect/sql/Statement"
import { DataKeys } from "./DataKeys.ts"
import { decryptText, encrypt } from "../../vault/Encryption.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, json, nullable, queryOne, Table, text } from "@signalbox/sql/Table"

const secretTable = Table("secret", {
  id: text,
  workspace_id: id(WorkspaceId),
  name: text,
  description: nullable(text),
  hosts: json<ReadonlyArray<string>>(),
  version: integer,
  /** Encrypted. */
  items: text,
  created_at: text,
  updated_at: text
})
const secretRow = secretTable.pick("id", "workspace_id", "name", "description", "hosts", "version", "items")
type SecretRow = typeof secretRow.Type

/** The content of a secret to write. */
export interface Content {
  /** A JSON object. */
  readonly items: Redacted.Redacted
  /** Undefined: unchanged, null in a new secret. */
  readonly description: string | null | undefined
  /** Undefined: unchanged, none in a new secret. */
  readonly hosts?: ReadonlyArray<string> | undefined
}

const view = (row: Pick<SecretRow, "name" | "description" | "hosts">): Secret => ({
  name: SecretName.make(row.name),
  description: row.description,
  hosts: row.hosts
})

const contextOf = (row: Pick<SecretRow, "workspace_id" | "name" | "version">) =>
  `secret ${JSON.stringify([row.workspace_id, row.name, row.version])}`

/** Why the room does not send a secret to a server. */
export const notSentTo = (field: string, secret: string, host: string) =>
  `${field}: the secret "${secret}" must not be sent to ${host}; add the host to its \`hosts\` (\`signalbox secrets create ${secret} --host ${host}\` with its items)`

export class Secrets extends Context.Service<
  Secrets,
  {
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<Secret & { readonly id: string }>>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, name: string, content: Content) => Effect.Effect<Secret | null>
    /** Replaces all items. Null when the secret does not exist. */
    readonly update: (workspace: WorkspaceId, name: string, content: Content) => Effect.Effect<Secret | null>
    /**
     * Writes what `edit` returns for the current items (a JSON object), in one transaction; what it fails with changes nothing. Null
     * when the secret does not exist.
     */
    readonly edit: <E>(
      workspace: WorkspaceId,
      name: string,
      edit: (items: Redacted.Redacted) => Effect.Effect<Content, E>
    ) => Effect.Effect<Secret | null, E>
    /** Creates the secret, or replaces its items and description. */
    readonly put: (workspace: WorkspaceId, name: string, content: Content) => Effect.Effect<Secret>
    /** False when the secret does not exist. */
    readonly remove: (workspace: WorkspaceId, name: string) => Effect.Effect<boolean>
    /** A secret with its items as JSON. */
    readonly read: (
      workspace: WorkspaceId,
      name: string
    ) => Effect.Effect<{ readonly secret: Secret; readonly items: Redacted.Redacted } | null>
  }
>()("@signalbox/control-room/store/Secrets") {
  static readonly layer = Layer.effect(
    Secrets,
    Effect.gen(function* () {
      const { newId, now, page, sql, transaction } = yield* Database
      const dataKeys = yield* DataKeys
      const forUpdate = Dialect.forUpdate(sql)
      const forShare = Dialect.forShare(sql)

      const seal = (key: Uint8Array, row: Omit<SecretRow, "items">, { items }: Content): SecretRow => ({
        ...row,
        items: encrypt(key, Buffer.from(Redacted.value(items)), contextOf(row))
      })

      const create = Effect.fnUntraced(function* (workspace: WorkspaceId, name: string, content: Content) {
        const id = yield* newId
        const at = yield* now
        const { description = null, hosts = [] } = content
        const row = { id, workspace_id: workspace, name, description, hosts, version: 1 }
        const key = yield* dataKeys.renew(id)
        const made =
          yield* sql`INSERT INTO secret ${secretTable.insert({ ...seal(key, row, content), created_at: at, updated_at: at })}
            ON CONFLICT DO NOTHING RETURNING id`
        if (made.length === 1) return view(row)
        yield* dataKeys.remove(id)
        return null
      }, transaction)

      /** SecretRow and key belong together: with a lock other transactions do not write between the two. */
      const locked = (workspace: WorkspaceId, name: string, lock: Fragment) =>
        queryOne(
          secretRow,
          sql`SELECT ${secretRow.columns} FROM secret WHERE workspace_id = ${workspace} AND name = ${name} ${lock}`
        )

      const itemsOf = Effect.fnUntraced(function* (row: SecretRow) {
        const items = yield* decryptText(yield* dataKeys.get(row.id), row.items, contextOf(row))
        return Redacted.make(items, { label: "items of a secret" })
      })

      const write = <E>(
        workspace: WorkspaceId,
        name: string,
        contentOf: (row: SecretRow) => Effect.Effect<Content, E>
      ): Effect.Effect<Secret | null, E> =>
        transaction(
          Effect.gen(function* () {
            const known = yield* locked(workspace, name, forUpdate)
            if (known === null) return null
            const content = yield* contentOf(known)
            const description = content.description === undefined ? known.description : content.description
            const key = yield* dataKeys.renew(known.id)
            const hosts = content.hosts ?? known.hosts
            const row = seal(key, { ...known, description, hosts, version: known.version + 1 }, content)
            const changed = { description, hosts, version: row.version, items: row.items, updated_at: yield* now }
            yield* sql`UPDATE secret SET ${secretTable.update(changed)} WHERE id = ${known.id}`
            return view(row)
          })
        )

      const update = (workspace: WorkspaceId, name: string, content: Content) =>
        write(workspace, name, () => Effect.succeed(content))

      const put = (workspace: WorkspaceId, name: string, content: Content): Effect.Effect<Secret> =>
        Effect.gen(function* () {
          const whole = { items: content.items, description: content.description ?? null }
          const written = (yield* update(workspace, name, whole)) ?? (yield* create(workspace, name, whole))
          // Another transaction created it in between.
          return written ?? (yield* put(workspace, name, content))
        })

      return Secrets.of({
        list: Effect.fnUntraced(function* (workspace, request) {
          return yield* page(
            {
              rows: secretTable.pick("id", "name", "description", "hosts"),
              select: sql`SELECT id, name, description, hosts FROM secret`,
              as: (row) => ({ id: row.id, ...view(row) })
            },
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          )
        }),
        create,
        update,
        edit: (workspace, name, edit) => write(workspace, name, (row) => Effect.flatMap(itemsOf(row), edit)),
        put,
        remove: Effect.fnUntraced(function* (workspace, name) {
          const removed = yield* queryOne(
            secretTable.pick("id"),
            sql`DELETE FROM secret WHERE workspace_id = ${workspace} AND name = ${name} RETURNING id`
          )
          if (removed === null) return false
          yield* dataKeys.remove(removed.id)
          return true
        }, transaction),
        read: Effect.fnUntraced(function* (workspace, name) {
          const row = yield* locked(workspace, name, forShare)
          return row === null ? null : { secret: view(row), items: yield* itemsOf(row) }
        }, transaction)
      })
    })
  )
}
