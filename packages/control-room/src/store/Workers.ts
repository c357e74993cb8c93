/**
 * Workers and the tokens with which they are linked.
 */
import { WorkerId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { LinkToken } from "@signalbox/api/contract/Workers"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tokens from "../Tokens.ts"
import { Database } from "./Database.ts"

interface LinkRow {
  readonly id: string
  readonly workspace_id: string
  readonly secret_hash: string
  readonly expires_at: string
}

interface WorkerRow {
  readonly id: string
  readonly workspace_id: string
  readonly secret_hash: string
}

export interface StoredWorker {
  readonly id: WorkerId
  readonly workspaceId: WorkspaceId
  readonly secretHash: string
}

export class Workers extends Context.Service<
  Workers,
  {
    readonly createLinkToken: (workspace: WorkspaceId, expiresAt: string) => Effect.Effect<LinkToken>
    /** Uses a link token up and makes the worker; null when the token is unknown, used or expired. */
    readonly link: (
      token: Tokens.Token,
      name: string
    ) => Effect.Effect<{ readonly worker: StoredWorker; readonly token: string } | null>
    readonly find: (id: string) => Effect.Effect<StoredWorker | null>
    readonly seen: (id: WorkerId) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Workers") {
  static readonly layer = Layer.effect(
    Workers,
    Effect.gen(function* () {
      const { newId, now, sql, transaction } = yield* Database
      return Workers.of({
        createLinkToken: Effect.fnUntraced(function* (workspace, expiresAt) {
          const id = yield* newId
          const { hash, token } = Tokens.make("link", id)
          const row = { id, workspace_id: workspace, secret_hash: hash, expires_at: expiresAt }
          yield* Effect.orDie(sql`INSERT INTO link_token ${sql.insert(row)}`)
          return { id, expires_at: expiresAt, link_token: token }
        }),
        link: Effect.fnUntraced(function* (token, name) {
          const at = yield* now
          const [row] = yield* Effect.orDie(
            sql<LinkRow>`DELETE FROM link_token WHERE id = ${token.id} AND expires_at > ${at} RETURNING *`
          )
          // A wrong secret uses the token up too: guessing at one burns it.
          if (row === undefined || !Tokens.matches(token.secret, row.secret_hash)) return null
          const id = yield* newId
          const made = Tokens.make("worker", id)
          yield* Effect.orDie(
            sql`INSERT INTO worker ${sql.insert({
              id,
              workspace_id: row.workspace_id,
              name,
              secret_hash: made.hash,
              created_at: at,
              last_seen_at: at
            })}`
          )
          const worker = {
            id: WorkerId.make(id),
            workspaceId: WorkspaceId.make(row.workspace_id),
            secretHash: made.hash
          }
          return { worker, token: made.token }
        }, transaction),
        find: (id) =>
          Effect.orDie(
            Effect.map(sql<WorkerRow>`SELECT * FROM worker WHERE id = ${id}`, ([row]) =>
              row === undefined
                ? null
                : {
                    id: WorkerId.make(row.id),
                    workspaceId: WorkspaceId.make(row.workspace_id),
                    secretHash: row.secret_hash
                  }
            )
          ),
        seen: Effect.fnUntraced(function* (id) {
          yield* Effect.orDie(sql`UPDATE worker SET last_seen_at = ${yield* now} WHERE id = ${id}`)
        })
      })
    })
  )
}
