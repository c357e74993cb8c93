/**
 * Secrets: their items are encrypted under a separate data key, which is new with every write. Workspace, name and
 * version are authenticated with them, so that no row can be replaced by another or by an older one.
 */
import { SecretName, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Secret } from "@signalbox/api/contract/Secrets"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Fragment } from "effect/sql/Statement"
import { DataKeys } from "./DataKeys.ts"
import { decrypt, encrypt } from "../vault/Encryption.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"

interface Row {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly description: string | null
  /** A JSON array. */
  readonly hosts: string
  readonly version: number
  readonly items: string
}

/** The content of a secret to write. */
export interface Content {
  /** A JSON object. */
  readonly items: Redacted.Redacted
  /** Undefined: unchanged, null in a new secret. */
  readonly description: string | null | undefined
  /** Undefined: unchanged, none in a new secret. */
  readonly hosts?: ReadonlyArray<string> | undefined
}

const view = (row: Pick<Row, "name" | "description" | "hosts">): Secret => ({
  name: SecretName.make(row.name),
  description: row.description,
  hosts: JSON.parse(row.hosts)
})

const contextOf = (row: Pick<Row, "workspace_id" | "name" | "version">) =>
  `secret ${JSON.stringify([row.workspace_id, row.name, row.version])}`

/** Why the room does not send a secret to a server. */
export const notSentTo = (field: string, secret: string, host: string) =>
  `${field}: the secret "${secret}" is not for ${host}; write it with this host among its \`hosts\` (\`signalbox secrets create ${secret} --host ${host}\` with its items)`

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

      const seal = (key: Uint8Array, row: Omit<Row, "items">, { items }: Content): Row => ({
        ...row,
        items: encrypt(key, Buffer.from(Redacted.value(items)), contextOf(row))
      })

      const create = Effect.fnUntraced(function* (workspace: WorkspaceId, name: string, content: Content) {
        const id = yield* newId
        const at = yield* now
        const { description = null, hosts = [] } = content
        const row = { id, workspace_id: workspace, name, description, hosts: JSON.stringify(hosts), version: 1 }
        const key = yield* dataKeys.renew(id)
        const made = yield* Effect.orDie(
          sql`INSERT INTO secret ${sql.insert({ ...seal(key, row, content), created_at: at, updated_at: at })}
            ON CONFLICT DO NOTHING RETURNING id`
        )
        if (made.length === 1) return view(row)
        yield* dataKeys.remove(id)
        return null
      }, transaction)

      /** Row and key belong together: with a lock other transactions do not write between the two. */
      const locked = (workspace: WorkspaceId, name: string, lock: Fragment) =>
        Effect.map(
          Effect.orDie(sql<Row>`SELECT * FROM secret WHERE workspace_id = ${workspace} AND name = ${name} ${lock}`),
          ([row]) => row ?? null
        )

      const itemsOf = Effect.fnUntraced(function* (row: Row) {
        const items = yield* decrypt(yield* dataKeys.get(row.id), row.items, contextOf(row))
        return Redacted.make(new TextDecoder().decode(items), { label: "items of a secret" })
      })

      const write = <E>(
        workspace: WorkspaceId,
        name: string,
        contentOf: (row: Row) => Effect.Effect<Content, E>
      ): Effect.Effect<Secret | null, E> =>
        transaction(
          Effect.gen(function* () {
            const known = yield* locked(workspace, name, forUpdate)
            if (known === null) return null
            const content = yield* contentOf(known)
            const description = content.description === undefined ? known.description : content.description
            const key = yield* dataKeys.renew(known.id)
            const hosts = content.hosts === undefined ? known.hosts : JSON.stringify(content.hosts)
            const row = seal(key, { ...known, description, hosts, version: known.version + 1 }, content)
            const changed = { description, hosts, version: row.version, items: row.items, updated_at: yield* now }
            yield* Effect.orDie(sql`UPDATE secret SET ${sql.update(changed)} WHERE id = ${known.id}`)
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
          const found = yield* page<Pick<Row, "id" | "name" | "description" | "hosts">>(
            sql`SELECT id, name, description, hosts FROM secret`,
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          )
          return { ...found, rows: found.rows.map((row) => ({ id: row.id, ...view(row) })) }
        }),
        create,
        update,
        edit: (workspace, name, edit) =>
          write(workspace, name, (row) => Effect.flatMap(Effect.orDie(itemsOf(row)), edit)),
        put,
        remove: Effect.fnUntraced(
          function* (workspace, name) {
            const [removed] = yield* sql<{ readonly id: string }>`
            DELETE FROM secret WHERE workspace_id = ${workspace} AND name = ${name} RETURNING id`
            if (removed === undefined) return false
            yield* dataKeys.remove(removed.id)
            return true
          },
          Effect.orDie,
          transaction
        ),
        read: Effect.fnUntraced(
          function* (workspace, name) {
            const row = yield* locked(workspace, name, forShare)
            return row === null ? null : { secret: view(row), items: yield* itemsOf(row) }
          },
          Effect.orDie,
          transaction
        )
      })
    })
  )
}
