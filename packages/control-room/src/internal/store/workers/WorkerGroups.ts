/**
 * Worker groups, their members, and the link tokens with which workers join them.
 */
import { LinkTokenId, WorkerGroupId, type WorkerId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { GroupLinkToken, WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Refused } from "../../engine/Refused.ts"
import * as Tokens from "../../vault/Tokens.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { pausedColumn, selectPaused } from "../processes/Pauses.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, nullable, query, queryOne, Row, text } from "@signalbox/sql/Table"

const groupRow = Row({ id: id(WorkerGroupId), name: text, ...pausedColumn })

const tokenRow = Row({
  id: id(LinkTokenId),
  worker_group_id: id(WorkerGroupId),
  name: text,
  expires_at: nullable(text)
})

const tokenView = ({ expires_at, id, name, worker_group_id }: typeof tokenRow.Type): GroupLinkToken => ({
  id,
  name,
  expires_at,
  worker_group: { id: worker_group_id }
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
        const groups =
          yield* sql`SELECT id FROM worker_group WHERE workspace_id = ${workspace} AND id = ${id} ${Dialect.forDelete(sql)}`
        if (groups.length === 0) {
          return yield* new Refused({ code: "NOT_FOUND", message: `this workspace has no worker group ${id}` })
        }
        const process = yield* queryOne(
          Row({ name: text }),
          sql`
            SELECT name FROM process WHERE workspace_id = ${workspace} AND deleted_at IS NULL AND id IN (
              SELECT process_id FROM process_step WHERE worker_group_id = ${id} AND process_run_id IS NULL)
            ORDER BY id LIMIT 1`
        )
        if (process !== null) {
          return yield* new Refused({
            code: "CONFLICT",
            message: `a step of the process "${process.name}" names this worker group; remove it there first`
          })
        }
        const run = yield* queryOne(
          Row({ id: text, state: text }),
          sql`
            SELECT id, state FROM process_run
            WHERE workspace_id = ${workspace} AND state IN ('new', 'in_progress', 'stopping', 'unresolved')
              AND deleted_at IS NULL
              AND id IN (SELECT process_run_id FROM process_step WHERE worker_group_id = ${id}) ORDER BY id LIMIT 1`
        )
        if (run !== null) {
          return yield* new Refused({
            code: "CONFLICT",
            message: `a step of the process run ${run.id}, which is ${run.state}, names this worker group; complete or delete that run first`
          })
        }
        yield* sql`DELETE FROM worker_group WHERE id = ${id}`
        yield* sql`DELETE FROM pause WHERE workspace_id = ${workspace} AND subject_id = ${id}`
      }, transaction)

      const paused = sql.literal(selectPaused("worker_group"))
      const select = sql`SELECT id, name, ${paused} FROM worker_group`

      return WorkerGroups.of({
        get: (workspace, id) => queryOne(groupRow, sql`${select} WHERE workspace_id = ${workspace} AND id = ${id}`),
        list: (workspace, request) =>
          page({ rows: groupRow, select }, [sql`workspace_id = ${workspace}`], "newest first", request),
        lock: (workspace, ids) =>
          ids.length === 0
            ? Effect.succeed(new Set<string>())
            : Effect.map(
                query(
                  Row({ id: text }),
                  sql`
                    SELECT id FROM worker_group
                    WHERE workspace_id = ${workspace} AND ${sql.in("id", ids)} ${Dialect.forShare(sql)}`
                ),
                (rows) => new Set(rows.map((row) => row.id))
              ),
        create: Effect.fnUntraced(function* (workspace, name) {
          const row = { id: WorkerGroupId.make(yield* newId), name, workspace_id: workspace, created_at: yield* now }
          yield* sql`INSERT INTO worker_group ${sql.insert(row)}`
          return { id: row.id, name, paused: null }
        }, nullWhenTaken),
        rename: Effect.fnUntraced(function* (group, name) {
          yield* sql`UPDATE worker_group SET name = ${name} WHERE id = ${group.id}`
          return { ...group, name }
        }, nullWhenTaken),
        remove,
        ofWorker: (worker) =>
          query(
            groupRow,
            sql`
              SELECT worker_group.id, worker_group.name, ${paused} FROM worker_group_member
              JOIN worker_group ON worker_group.id = worker_group_member.worker_group_id
              WHERE worker_group_member.worker_id = ${worker} ORDER BY worker_group.id`
          ),
        addWorker: (group, worker) =>
          sql`INSERT INTO worker_group_member ${sql.insert({ worker_id: worker, worker_group_id: group })}
            ON CONFLICT DO NOTHING`,
        removeWorker: (group, worker) =>
          Effect.map(
            sql`DELETE FROM worker_group_member
              WHERE worker_id = ${worker} AND worker_group_id = ${group} RETURNING worker_id`,
            (rows) => rows.length === 1
          ),
        getLinkToken: (group, id) =>
          queryOne(
            tokenRow,
            sql`
              SELECT ${tokenRow.columns} FROM group_link_token
              WHERE worker_group_id = ${group} AND id = ${id}`,
            tokenView
          ),
        lockLinkToken: (group, id) =>
          queryOne(
            tokenRow,
            sql`
              SELECT ${tokenRow.columns} FROM group_link_token
              WHERE worker_group_id = ${group} AND id = ${id} ${Dialect.forUpdate(sql)}`,
            tokenView
          ),
        listLinkTokens: (group, request) =>
          page(
            {
              rows: tokenRow,
              select: sql`SELECT ${tokenRow.columns} FROM group_link_token`,
              as: tokenView
            },
            [sql`worker_group_id = ${group}`],
            "newest first",
            request
          ),
        createLinkToken: Effect.fnUntraced(function* (group, name, expiresAt) {
          const id = LinkTokenId.make(yield* newId)
          const { hash, token } = Tokens.make("link", id)
          const row = { id, worker_group_id: group, name, expires_at: expiresAt }
          yield* sql`INSERT INTO group_link_token ${sql.insert({ ...row, secret_hash: hash, created_at: yield* now })}`
          return { view: tokenView(row), token }
        }),
        sweepLinkTokens: (cutoff, limit) =>
          Effect.map(
            sql`
              DELETE FROM group_link_token WHERE id IN (
                SELECT id FROM group_link_token WHERE expires_at < ${cutoff}
                ORDER BY expires_at LIMIT ${limit} ${Dialect.skipLocked(sql, "group_link_token")})
              RETURNING id`,
            (rows) => rows.length
          ),
        updateLinkToken: ({ expires_at, id, name }) =>
          sql`UPDATE group_link_token SET ${sql.update({ name, expires_at })} WHERE id = ${id}`,
        removeLinkToken: (group, id) =>
          Effect.map(
            sql`DELETE FROM group_link_token WHERE worker_group_id = ${group} AND id = ${id} RETURNING id`,
            (rows) => rows.length === 1
          )
      })
    })
  )
}
