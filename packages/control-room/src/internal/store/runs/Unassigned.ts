/**
 * Unassigned step runs, and the workers that are online.
 */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { flag, id, json, nullable, query, Row, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../database/Database.ts"
import * as Chunks from "../database/Chunks.ts"
import * as Labels from "./Labels.ts"
import { pausedColumn, selectPaused } from "../processes/Pauses.ts"

/** Step runs of a workspace that wait for the same task, group and labels. */
export interface Need {
  readonly workspaceId: WorkspaceId
  readonly task: string
  /** Null for a task that workers define themselves. */
  readonly taskPackage: { readonly id: string; readonly name: string } | null
  readonly group: { readonly id: string; readonly name: string } | null
  readonly labels: ReadonlyArray<string>
}

/** A need of step runs that were not reported, and the text by which they are found. */
export interface Unreported extends Need {
  readonly key: string
}

const needRow = Row({
  key: text,
  workspace_id: id(WorkspaceId),
  task_name: text,
  package_id: nullable(text),
  package_name: nullable(text),
  worker_group_id: nullable(text),
  group_name: nullable(text),
  labels: nullable(text)
})

/** What a worker can take. */
export interface Offer {
  readonly tasks: ReadonlyArray<string>
  readonly packages: boolean
  /** The ids of its groups. */
  readonly groups: ReadonlyArray<string>
  readonly labels: ReadonlyArray<string>
  readonly paused?: boolean | undefined
  /** It takes nothing more, and another may follow it. */
  readonly draining?: boolean | undefined
}

const offerRow = Row({
  id: text,
  tasks: json<ReadonlyArray<string>>(),
  packages: flag,
  labels: text,
  worker_group_id: nullable(text),
  ...pausedColumn,
  draining: flag
})

export class Unassigned extends Context.Service<
  Unassigned,
  {
    /** What step runs have been waiting for since `cutoff`, without those already reported. */
    readonly needs: (cutoff: string) => Effect.Effect<ReadonlyArray<Unreported>>
    /** What the workers of a workspace with a heartbeat since `cutoff` can take. */
    readonly offers: (workspace: WorkspaceId, cutoff: string) => Effect.Effect<ReadonlyArray<Offer>>
    /** Records once what some of the step runs with this need since `cutoff` lack, and returns their number; the others are next. */
    readonly report: (need: Unreported, cutoff: string, message: string) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/Unassigned") {
  static readonly layer = Layer.effect(
    Unassigned,
    Effect.gen(function* () {
      const { newId, now, sql, transaction } = yield* Database
      // The conditions and the columns of an index. Labels are JSON, so the text has one meaning.
      const untold = sql.literal(
        "state = 'awaiting_worker' AND worker_id IS NULL AND wait_told = 0 AND blocked_by IS NULL"
      )
      const key = sql.literal(
        "(step_run.workspace_id || '/' || coalesce(step_run.package_id, '') || '/' || coalesce(step_run.worker_group_id, '') || '/' || " +
          "coalesce(step_run.labels, '') || '/' || step_run.task_name)"
      )

      return Unassigned.of({
        needs: Effect.fnUntraced(function* (cutoff) {
          // From one need to the next in the index, and of each the step run that has waited longest. Without a join, which Postgres
          // would rather do by reading all step runs.
          const longest = yield* query(
            Row({ key: text, id: nullable(text) }),
            sql`
              WITH RECURSIVE needs (need) AS (
                SELECT (SELECT min(${key}) FROM step_run WHERE ${untold})
                UNION ALL
                SELECT (SELECT min(${key}) FROM step_run WHERE ${untold} AND ${key} > needs.need)
                FROM needs WHERE need IS NOT NULL
              )
              SELECT need AS key,
                (SELECT id FROM step_run WHERE ${untold} AND ${key} = needs.need ORDER BY state_updated_at LIMIT 1) AS id
              FROM needs WHERE need IS NOT NULL`
          )
          return yield* Chunks.flatMap(
            longest.flatMap(({ id }) => id ?? []),
            (ids) =>
              query(
                needRow,
                sql`
                  SELECT ${key} AS key, step_run.workspace_id, step_run.task_name, step_run.package_id,
                    task_package.name AS package_name, step_run.worker_group_id, worker_group.name AS group_name, step_run.labels
                  FROM step_run
                  LEFT JOIN task_package ON task_package.id = step_run.package_id
                  LEFT JOIN worker_group ON worker_group.id = step_run.worker_group_id
                  WHERE ${sql.in("step_run.id", ids)} AND step_run.state_updated_at <= ${cutoff}`,
                (row) => ({
                  key: row.key,
                  workspaceId: row.workspace_id,
                  task: row.task_name,
                  taskPackage:
                    row.package_id === null ? null : { id: row.package_id, name: row.package_name ?? row.package_id },
                  group:
                    row.worker_group_id === null
                      ? null
                      : { id: row.worker_group_id, name: row.group_name ?? row.worker_group_id },
                  labels: Labels.decode(row.labels)
                })
              )
          )
        }),
        offers: Effect.fnUntraced(function* (workspace, cutoff) {
          const rows = yield* query(
            offerRow,
            sql`
              SELECT worker.id, worker.tasks, worker.packages, worker.labels, worker.draining, worker_group_member.worker_group_id,
                ${sql.literal(selectPaused("worker"))}
              FROM worker LEFT JOIN worker_group_member ON worker_group_member.worker_id = worker.id
              WHERE worker.workspace_id = ${workspace} AND worker.last_seen_at >= ${cutoff}`
          )
          return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap(([first, ...others]) =>
            first === undefined
              ? []
              : [
                  {
                    tasks: first.tasks,
                    packages: first.packages,
                    labels: Labels.decode(first.labels),
                    paused: first.paused !== null,
                    draining: first.draining,
                    groups: [first, ...others].flatMap((row) => row.worker_group_id ?? [])
                  }
                ]
          )
        }),
        report: Effect.fnUntraced(function* (need, cutoff, message) {
          const rows = yield* query(
            Row({ id: text }),
            sql`
              UPDATE step_run SET wait_told = 1 WHERE id IN (
                SELECT id FROM step_run WHERE ${untold} AND ${key} = ${need.key} AND state_updated_at <= ${cutoff}
                ORDER BY state_updated_at LIMIT ${Chunks.rowsPerChunk} ${Dialect.skipLocked(sql, "step_run")})
              RETURNING id`
          )
          const at = yield* now
          const event = Effect.fnUntraced(function* (id: string) {
            return { id: yield* newId, step_run_id: id, event_type: "NO_WORKER", created_at: at, message }
          })
          yield* Chunks.forEach(rows, (some) =>
            Effect.flatMap(
              Effect.forEach(some, ({ id }) => event(id)),
              (events) => sql`INSERT INTO step_run_event ${sql.insert(events)}`
            )
          )
          return rows.length
        }, transaction)
      })
    })
  )
}
