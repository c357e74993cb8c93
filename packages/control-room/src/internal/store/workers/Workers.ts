/**
 * Workers and the tokens with which they are linked.
 */
import { ProcessRunId, StepRunId, WorkerGroupId, WorkerId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { LinkToken, Worker } from "@signalbox/api/contract/Workers"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { lostAfter } from "../../settings/Limits.ts"
import * as Tokens from "../../vault/Tokens.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import * as Labels from "../runs/Labels.ts"
import { pausedColumn, selectPaused } from "../processes/Pauses.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { flag, id, query, queryOne, Row, Table, text } from "@signalbox/sql/Table"

const workerTable = Table("worker", {
  id: id(WorkerId),
  workspace_id: id(WorkspaceId),
  name: text,
  secret_hash: text,
  created_at: text,
  last_seen_at: text,
  tasks: text,
  packages: flag,
  /** As `Labels` encodes them. */
  labels: text,
  draining: flag
})

const linkRow = workerTable.pick("workspace_id", "secret_hash")
const groupLinkRow = linkRow.and({ worker_group_id: text })
const viewRow = workerTable.pick("id", "name", "last_seen_at", "labels", "draining").and(pausedColumn)
const memberRow = Row({ worker_id: id(WorkerId), id: id(WorkerGroupId), name: text })
const inHandRow = Row({ worker_id: id(WorkerId), id: id(StepRunId), step_name: text, process_run_id: id(ProcessRunId) })
const takesRow = workerTable.pick("tasks", "packages", "labels", "draining")

/** What a worker can take. */
export interface Takes {
  readonly tasks: ReadonlyArray<string>
  readonly packages: boolean
  /** Undefined: those that it had. */
  readonly labels?: ReadonlyArray<string> | undefined
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
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<Worker | null>
    /** `group`: only its members; null: all workers. */
    readonly list: (
      workspace: WorkspaceId,
      group: WorkerGroupId | null,
      page: PageRequest
    ) => Effect.Effect<Rows<Worker>>
    readonly rename: (id: WorkerId, name: string) => Effect.Effect<void>
    /** Deletes a worker that holds no lease; false when it holds one, or does not exist. */
    readonly remove: (id: WorkerId) => Effect.Effect<boolean>
    /**
     * Creates the worker; null when the token is unknown, used or expired. A worker's link token is then used up; that
     * of a group adds the worker to the group.
     */
    readonly link: (
      token: Tokens.Token,
      name: string,
      tasks: ReadonlyArray<string>,
      /** Default: none. */
      labels?: ReadonlyArray<string>
    ) => Effect.Effect<{ readonly worker: StoredWorker; readonly token: string } | null>
    /** Deletes some expired link tokens, and returns how many. */
    readonly sweepLinkTokens: (limit: number) => Effect.Effect<number>
    readonly find: (id: string) => Effect.Effect<StoredWorker | null>
    /** Records a heartbeat and what the worker can take, written only when that has changed; returns whether it drains. */
    readonly seen: (id: WorkerId, takes?: Takes) => Effect.Effect<boolean>
    /** A worker that drains leases nothing more. */
    readonly setDraining: (id: WorkerId, draining: boolean) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Workers") {
  static readonly layer = Layer.effect(
    Workers,
    Effect.gen(function* () {
      const { millis, newId, now, page, sql, transaction } = yield* Database

      const forDelete = Dialect.forDelete(sql)
      const inHand = sql.literal("state IN ('new', 'awaiting_worker', 'in_progress')")
      const paused = sql.literal(selectPaused("worker"))
      const select = sql`SELECT id, name, last_seen_at, labels, draining, ${paused} FROM worker`
      const views = Effect.fnUntraced(function* (rows: ReadonlyArray<typeof viewRow.Type>) {
        if (rows.length === 0) return []
        const cutoff = new Date((yield* millis) - Duration.toMillis(lostAfter)).toISOString()
        const ids = rows.map(({ id }) => id)
        const stepRuns = yield* query(
          inHandRow,
          sql`
            SELECT worker_id, id, step_name, process_run_id FROM step_run
            WHERE ${sql.in("worker_id", ids)} AND ${inHand} ORDER BY id`
        )
        const groups = yield* query(
          memberRow,
          sql`
            SELECT worker_group_member.worker_id, worker_group.id, worker_group.name FROM worker_group_member
            JOIN worker_group ON worker_group.id = worker_group_member.worker_group_id
            WHERE ${sql.in("worker_group_member.worker_id", ids)} ORDER BY worker_group.id`
        )
        const groupsOf = Map.groupBy(groups, ({ worker_id }) => worker_id)
        const stepRunsOf = Map.groupBy(stepRuns, ({ worker_id }) => worker_id)
        return rows.map(({ draining, id, labels, last_seen_at, name, paused }): Worker => {
          const has = stepRunsOf.get(id) ?? []
          return {
            id,
            name,
            state: last_seen_at < cutoff ? "offline" : has.length > 0 ? "busy" : "idle",
            labels: Labels.decode(labels),
            draining,
            paused,
            last_seen_at,
            worker_groups: (groupsOf.get(id) ?? []).map(({ id, name }) => ({ id, name })),
            step_runs: has.map((stepRun) => ({
              id: stepRun.id,
              step: stepRun.step_name,
              process_run: { id: stepRun.process_run_id }
            }))
          }
        })
      })

      /** Redeems a link token: its workspace and group. */
      const redeem = Effect.fnUntraced(function* (token: Tokens.Token, at: string) {
        // A wrong secret also uses up the token of a worker, against guessing.
        const single = yield* queryOne(
          linkRow,
          sql`DELETE FROM link_token WHERE id = ${token.id} AND expires_at > ${at} RETURNING ${linkRow.columns}`
        )
        const group = yield* queryOne(
          groupLinkRow,
          sql`
            SELECT group_link_token.secret_hash, group_link_token.worker_group_id, worker_group.workspace_id
            FROM group_link_token JOIN worker_group ON worker_group.id = group_link_token.worker_group_id
            WHERE group_link_token.id = ${token.id}
              AND (group_link_token.expires_at IS NULL OR group_link_token.expires_at > ${at})`
        )
        const found = single ?? group
        if (found === null || !Tokens.matches(token.secret, found.secret_hash)) return null
        return { workspaceId: found.workspace_id, group: group?.worker_group_id ?? null }
      })

      return Workers.of({
        get: (workspace, id) =>
          query(viewRow, sql`${select} WHERE workspace_id = ${workspace} AND id = ${id}`).pipe(
            Effect.flatMap(views),
            Effect.map(([worker]) => worker ?? null)
          ),
        list: Effect.fnUntraced(function* (workspace, group, request) {
          const members = sql`id IN (SELECT worker_id FROM worker_group_member WHERE worker_group_id = ${group})`
          const { hasMore, rows } = yield* page(
            { rows: viewRow, select },
            [sql`workspace_id = ${workspace}`, ...(group === null ? [] : [members])],
            "newest first",
            request
          )
          return { hasMore, rows: yield* views(rows) }
        }),
        rename: (id, name) => sql`UPDATE worker SET name = ${name} WHERE id = ${id}`,
        remove: Effect.fnUntraced(function* (id) {
          // Waits for concurrent leasing, so that the new leases are counted.
          yield* sql`SELECT id FROM worker WHERE id = ${id} ${forDelete}`
          const removed = yield* queryOne(
            workerTable.pick("workspace_id"),
            sql`
              DELETE FROM worker WHERE id = ${id}
                AND NOT EXISTS (SELECT 1 FROM step_run WHERE step_run.worker_id = worker.id AND ${inHand})
              RETURNING workspace_id`
          )
          if (removed === null) return false
          yield* sql`DELETE FROM pause WHERE workspace_id = ${removed.workspace_id} AND subject_id = ${id}`
          return true
        }, transaction),
        createLinkToken: Effect.fnUntraced(function* (workspace, expiresAt) {
          const id = yield* newId
          const { hash, token } = Tokens.make("link", id)
          const row = { id, workspace_id: workspace, secret_hash: hash, expires_at: expiresAt }
          yield* sql`INSERT INTO link_token ${sql.insert(row)}`
          return { id, expires_at: expiresAt, link_token: token }
        }),
        link: Effect.fnUntraced(function* (token, name, tasks, labels = []) {
          const at = yield* now
          const redeemed = yield* redeem(token, at)
          if (redeemed === null) return null
          const id = WorkerId.make(yield* newId)
          const made = Tokens.make("worker", id)
          yield* sql`INSERT INTO worker ${workerTable.insert({
            id,
            workspace_id: redeemed.workspaceId,
            name,
            secret_hash: made.hash,
            created_at: at,
            last_seen_at: at,
            tasks: JSON.stringify(tasks),
            labels: Labels.encode(labels)
          })}`
          if (redeemed.group !== null) {
            yield* sql`INSERT INTO worker_group_member ${sql.insert({ worker_id: id, worker_group_id: redeemed.group })}`
          }
          const worker = { id, workspaceId: redeemed.workspaceId, secretHash: made.hash }
          return { worker, token: made.token }
        }, transaction),
        sweepLinkTokens: Effect.fnUntraced(function* (limit) {
          const rows = yield* sql`
            DELETE FROM link_token WHERE id IN (
              SELECT id FROM link_token WHERE expires_at <= ${yield* now}
              ORDER BY expires_at LIMIT ${limit} ${Dialect.skipLocked(sql, "link_token")})
            RETURNING id`
          return rows.length
        }),
        find: (id) =>
          queryOne(
            workerTable.pick("id", "workspace_id", "secret_hash"),
            sql`SELECT id, workspace_id, secret_hash FROM worker WHERE id = ${id}`,
            ({ id, secret_hash: secretHash, workspace_id: workspaceId }) => ({ id, workspaceId, secretHash })
          ),
        seen: Effect.fnUntraced(function* (id, takes) {
          const known = yield* queryOne(
            takesRow,
            sql`UPDATE worker SET last_seen_at = ${yield* now} WHERE id = ${id} RETURNING tasks, packages, labels, draining`
          )
          const drains = known?.draining === true
          if (takes === undefined || known === null) return drains
          const labels = takes.labels === undefined ? known.labels : Labels.encode(takes.labels)
          const told = { tasks: JSON.stringify(takes.tasks), packages: takes.packages, labels }
          if (told.tasks === known.tasks && told.packages === known.packages && labels === known.labels) return drains
          yield* sql`UPDATE worker SET ${workerTable.update(told)} WHERE id = ${id}`
          return drains
        }),
        setDraining: (id, draining) => sql`UPDATE worker SET draining = ${draining ? 1 : 0} WHERE id = ${id}`
      })
    })
  )
}
