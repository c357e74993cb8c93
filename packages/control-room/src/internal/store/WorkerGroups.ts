/**
 * Worker groups, their members, and the link tokens with which workers join them.
 */
import { LinkTokenId, WorkerGroupId, type WorkerId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { GroupLinkToken, WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Refused } from "../Refused.ts"
import * as Tokens from "../Tokens.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import { parsePaused, selectPaused } from "./Pauses.ts"
import * as Dialect from "@signalbox/sql/Dialect"

interface GroupRow {
  readonly id: string
  readonly name: string
  readonly paused: string | null
}

interface TokenRow {
  readonly id: string
  readonly worker_group_id: string
  readonly name: string
  readonly expires_at: string | null
}

const view = (row: GroupRow): WorkerGroup => ({
  id: WorkerGroupId.make(row.id),
  name: row.name,
  paused: parsePaused(row.paused)
})

const tokenView = (row: TokenRow): GroupLinkToken => ({
  id: LinkTokenId.make(row.id),
  name: row.name,
  expires_at: row.expires_at,
  worker_group: { id: WorkerGroupId.make(row.worker_group_id) }
})

export class WorkerGroups extends Context.Service<
  WorkerGroups,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<WorkerGroup | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<WorkerGroup>>
    /** Returns which of these ids are groups of the workspace, and locks those until the transaction ends. */
    readonly lock: (workspace: WorkspaceId, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, name: string) => Effect.Effect<WorkerGroup | null>
    /** Null when the name is in use. */
    readonly rename: (group: WorkerGroup, name: string) => Effect.Effect<WorkerGroup | null>
    /**
     * Deletes a group with its link tokens and memberships. Refused while a step of a process, or of a run that is not
     * completed, names it.
     */
    readonly remove: (workspace: WorkspaceId, id: WorkerGroupId) => Effect.Effect<void, Refused>

    /** The groups of a worker, oldest first. */
    readonly ofWorker: (worker: WorkerId) => Effect.Effect<ReadonlyArray<WorkerGroup>>
    readonly addWorker: (group: WorkerGroupId, worker: WorkerId) => Effect.Effect<void>
    /** False when the worker is not in the group. */
    readonly removeWorker: (group: WorkerGroupId, worker: WorkerId) => Effect.Effect<boolean>

    readonly getLinkToken: (group: WorkerGroupId, id: string) => Effect.Effect<GroupLinkToken | null>
    /** Like `getLinkToken`, and locks the row until the transaction ends. */
    readonly lockLinkToken: (group: WorkerGroupId, id: string) => Effect.Effect<GroupLinkToken | null>
    readonly listLinkTokens: (group: WorkerGroupId, page: PageRequest) => Effect.Effect<Rows<GroupLinkToken>>
    /** Creates a token; its text is returned only here. */
    readonly createLinkToken: (
      group: WorkerGroupId,
      name: string,
      expiresAt: string | null
    ) => Effect.Effect<{ readonly view: GroupLinkToken; readonly token: string }>
    readonly updateLinkToken: (token: GroupLinkToken) => Effect.Effect<void>
    /** Deletes some link tokens that expired before `cutoff`, and returns how many. */
    readonly sweepLinkTokens: (cutoff: string, limit: number) => Effect.Effect<number>
    /** False when it does not exist. */
    readonly removeLinkToken: (group: WorkerGroupId, id: string) => Effect.Effect<boolean>
  }
>()("@signalbox/control-room/store/WorkerGroups") {
  static readonly layer = Layer.effect(
    WorkerGroups,
    Effect.gen(function* () {
      const { newId, now, nullWhenTaken, page, sql, transaction } = yield* Database
      const remove = Effect.fnUntraced(function* (workspace: WorkspaceId, id: WorkerGroupId) {
        const groups = yield* Effect.orDie(
          sql`SELECT id FROM worker_group WHERE workspace_id = ${workspace} AND id = ${id} ${Dialect.forDelete(sql)}`
        )
        if (groups.length === 0) {
          return yield* new Refused({ code: "NOT_FOUND", message: `this workspace has no worker group ${id}` })
        }
        const [process] = yield* Effect.orDie(
          sql<{ readonly name: string }>`
            SELECT name FROM process WHERE workspace_id = ${workspace} AND deleted_at IS NULL AND id IN (
              SELECT process_id FROM process_step WHERE worker_group_id = ${id} AND process_run_id IS NULL)
            ORDER BY id LIMIT 1`
        )
        if (process !== undefined) {
          return yield* new Refused({
            code: "CONFLICT",
            message: `a step of the process "${process.name}" names this worker group; remove it there first`
          })
        }
        const [run] = yield* Effect.orDie(
          sql<{ readonly id: string; readonly state: string }>`
            SELECT id, state FROM process_run
            WHERE workspace_id = ${workspace} AND state IN ('new', 'in_progress', 'stopping', 'unresolved')
              AND deleted_at IS NULL
              AND id IN (SELECT process_run_id FROM process_step WHERE worker_group_id = ${id}) ORDER BY id LIMIT 1`
        )
        if (run !== undefined) {
          return yield* new Refused({
            code: "CONFLICT",
            message: `a step of the process run ${run.id}, which is ${run.state}, names this worker group; complete or delete that run first`
          })
        }
        yield* Effect.orDie(sql`DELETE FROM worker_group WHERE id = ${id}`)
        yield* Effect.orDie(sql`DELETE FROM pause WHERE workspace_id = ${workspace} AND subject_id = ${id}`)
      }, transaction)

      const paused = sql.literal(selectPaused("worker_group"))
      const select = sql`SELECT id, name, ${paused} FROM worker_group`

      return WorkerGroups.of({
        get: (workspace, id) =>
          Effect.orDie(
            Effect.map(sql<GroupRow>`${select} WHERE workspace_id = ${workspace} AND id = ${id}`, ([row]) =>
              row === undefined ? null : view(row)
            )
          ),
        list: (workspace, request) =>
          Effect.map(
            page<GroupRow>(select, [sql`workspace_id = ${workspace}`], "newest first", request),
            ({ hasMore, rows }) => ({ hasMore, rows: rows.map(view) })
          ),
        lock: (workspace, ids) =>
          ids.length === 0
            ? Effect.succeed(new Set<string>())
            : Effect.orDie(
                Effect.map(
                  sql<{ readonly id: string }>`
                    SELECT id FROM worker_group
                    WHERE workspace_id = ${workspace} AND ${sql.in("id", ids)} ${Dialect.forShare(sql)}`,
                  (rows) => new Set(rows.map((row) => row.id))
                )
              ),
        create: Effect.fnUntraced(function* (workspace, name) {
          const row = { id: yield* newId, name, workspace_id: workspace, created_at: yield* now }
          yield* sql`INSERT INTO worker_group ${sql.insert(row)}`
          return view({ ...row, paused: null })
        }, nullWhenTaken),
        rename: Effect.fnUntraced(function* (group, name) {
          yield* sql`UPDATE worker_group SET name = ${name} WHERE id = ${group.id}`
          return { ...group, name }
        }, nullWhenTaken),
        remove,
        ofWorker: (worker) =>
          Effect.orDie(
            Effect.map(
              sql<GroupRow>`
                SELECT worker_group.id, worker_group.name, ${paused} FROM worker_group_member
                JOIN worker_group ON worker_group.id = worker_group_member.worker_group_id
                WHERE worker_group_member.worker_id = ${worker} ORDER BY worker_group.id`,
              (rows) => rows.map(view)
            )
          ),
        addWorker: (group, worker) =>
          Effect.orDie(
            sql`INSERT INTO worker_group_member ${sql.insert({ worker_id: worker, worker_group_id: group })}
              ON CONFLICT DO NOTHING`
          ),
        removeWorker: (group, worker) =>
          Effect.orDie(
            Effect.map(
              sql`DELETE FROM worker_group_member
                WHERE worker_id = ${worker} AND worker_group_id = ${group} RETURNING worker_id`,
              (rows) => rows.length === 1
            )
          ),
        getLinkToken: (group, id) =>
          Effect.orDie(
            Effect.map(
              sql<TokenRow>`
                SELECT id, worker_group_id, name, expires_at FROM group_link_token
                WHERE worker_group_id = ${group} AND id = ${id}`,
              ([row]) => (row === undefined ? null : tokenView(row))
            )
          ),
        lockLinkToken: (group, id) =>
          Effect.orDie(
            Effect.map(
              sql<TokenRow>`
                SELECT id, worker_group_id, name, expires_at FROM group_link_token
                WHERE worker_group_id = ${group} AND id = ${id} ${Dialect.forUpdate(sql)}`,
              ([row]) => (row === undefined ? null : tokenView(row))
            )
          ),
        listLinkTokens: (group, request) =>
          Effect.map(
            page<TokenRow>(
              sql`SELECT id, worker_group_id, name, expires_at FROM group_link_token`,
              [sql`worker_group_id = ${group}`],
              "newest first",
              request
            ),
            ({ hasMore, rows }) => ({ hasMore, rows: rows.map(tokenView) })
          ),
        createLinkToken: Effect.fnUntraced(function* (group, name, expiresAt) {
          const id = yield* newId
          const { hash, token } = Tokens.make("link", id)
          const row = { id, worker_group_id: group, name, expires_at: expiresAt }
          yield* sql`INSERT INTO group_link_token ${sql.insert({ ...row, secret_hash: hash, created_at: yield* now })}`
          return { view: tokenView(row), token }
        }, Effect.orDie),
        sweepLinkTokens: (cutoff, limit) =>
          Effect.orDie(
            Effect.map(
              sql`
                DELETE FROM group_link_token WHERE id IN (
                  SELECT id FROM group_link_token WHERE expires_at < ${cutoff}
                  ORDER BY expires_at LIMIT ${limit} ${Dialect.skipLocked(sql, "group_link_token")})
                RETURNING id`,
              (rows) => rows.length
            )
          ),
        updateLinkToken: ({ expires_at, id, name }) =>
          Effect.orDie(sql`UPDATE group_link_token SET ${sql.update({ name, expires_at })} WHERE id = ${id}`),
        removeLinkToken: (group, id) =>
          Effect.orDie(
            Effect.map(
              sql`DELETE FROM group_link_token WHERE worker_group_id = ${group} AND id = ${id} RETURNING id`,
              (rows) => rows.length === 1
            )
          )
      })
    })
  )
}
