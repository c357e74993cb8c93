/** What operators watch of the whole room. Counts end at 10,000, so that reading them takes the same time with any backlog. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { integer, nullable, query, queryOne, Row, text } from "@signalbox/sql/Table"
import { Database } from "../database/Database.ts"
import { lostAfter } from "../../settings/Limits.ts"

/** Where counts end. */
const most = 10_000

/** A number of things that wait, and for how many seconds the oldest has waited. */
export interface Waiting {
  readonly count: number
  readonly oldestSeconds: number
}

/** Items of a process that no step run processes yet. */
export interface WaitingItems extends Waiting {
  readonly workspace: string
  readonly process: string
  /** `new`: in the queue of the process; `pending`: in a run. */
  readonly state: "new" | "pending"
}

const itemRow = Row({
  workspace: text,
  process: text,
  new_items: integer,
  pending_items: integer,
  oldest_new: nullable(text),
  oldest_pending: nullable(text)
})

const waitingRow = Row({
  n: integer,
  since: nullable(text)
})

const workersRow = Row({
  online: nullable(integer),
  draining: nullable(integer),
  offline: nullable(integer)
})

/** The time at which an id was created, in milliseconds since 1970. */
const createdAt = (id: string) => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)

export class Measures extends Context.Service<
  Measures,
  {
    /** Processes of one name in workspaces of one name are counted together. */
    readonly items: Effect.Effect<ReadonlyArray<WaitingItems>>
    /** Step runs that wait for a worker. */
    readonly waitingStepRuns: Effect.Effect<Waiting>
    readonly runningStepRuns: Effect.Effect<number>
    readonly workers: Effect.Effect<Readonly<Record<"online" | "draining" | "offline", number>>>
    /** Deliveries of webhooks that have not succeeded yet and will be attempted again. */
    readonly deliveries: Effect.Effect<Waiting>
  }
>()("@signalbox/control-room/store/Measures") {
  static readonly layer = Layer.effect(
    Measures,
    Effect.gen(function* () {
      const { millis, sql } = yield* Database

      const waiting = (row: typeof waitingRow.Type | null, now: number): Waiting => ({
        count: row?.n ?? 0,
        oldestSeconds: row === null || row.since === null ? 0 : Math.max(0, now - Date.parse(row.since)) / 1000
      })
      const countOf = (state: "new" | "pending") => sql`(SELECT count(*) FROM (
        SELECT 1 AS one FROM work_item WHERE process_id = process.id AND state = ${state} LIMIT ${most}) AS counted)`
      const oldestOf = (state: "new" | "pending") =>
        sql`(SELECT min(id) FROM work_item WHERE process_id = process.id AND state = ${state})`

      return Measures.of({
        items: Effect.gen(function* () {
          const now = yield* millis
          const rows = yield* query(
            itemRow,
            sql`
              SELECT workspace.name AS workspace, process.name AS process,
                ${countOf("new")} AS new_items, ${countOf("pending")} AS pending_items,
                ${oldestOf("new")} AS oldest_new, ${oldestOf("pending")} AS oldest_pending
              FROM process JOIN workspace ON workspace.id = process.workspace_id WHERE process.deleted_at IS NULL`
          )
          const byNames = new Map<string, WaitingItems>()
          const add = (one: WaitingItems) => {
            const name = JSON.stringify([one.workspace, one.process, one.state])
            const known = byNames.get(name)
            byNames.set(name, {
              ...one,
              count: one.count + (known?.count ?? 0),
              oldestSeconds: Math.max(one.oldestSeconds, known?.oldestSeconds ?? 0)
            })
          }
          const age = (id: string | null) => (id === null ? 0 : Math.max(0, now - createdAt(id)) / 1000)
          for (const { new_items, oldest_new, oldest_pending, pending_items, process, workspace } of rows) {
            add({ workspace, process, state: "new", count: new_items, oldestSeconds: age(oldest_new) })
            add({ workspace, process, state: "pending", count: pending_items, oldestSeconds: age(oldest_pending) })
          }
          return [...byNames.values()]
        }),
        waitingStepRuns: Effect.gen(function* () {
          const row = yield* queryOne(
            waitingRow,
            sql`
              SELECT count(*) AS n, min(since) AS since FROM (
                SELECT state_updated_at AS since FROM step_run
                WHERE state = 'awaiting_worker' AND worker_id IS NULL AND blocked_by IS NULL LIMIT ${most}) AS counted`
          )
          return waiting(row, yield* millis)
        }),
        runningStepRuns: Effect.map(
          queryOne(
            Row({ n: integer }),
            sql`
              SELECT count(*) AS n FROM (
                SELECT 1 AS one FROM step_run
                WHERE state = 'in_progress' AND worker_id IS NOT NULL AND state IN ('awaiting_worker', 'in_progress')
                LIMIT ${most}) AS counted`
          ),
          (row) => row?.n ?? 0
        ),
        workers: Effect.gen(function* () {
          const cutoff = new Date((yield* millis) - Duration.toMillis(lostAfter)).toISOString()
          const row = yield* queryOne(
            workersRow,
            sql`
              SELECT sum(CASE WHEN last_seen_at >= ${cutoff} AND draining = 0 THEN 1 ELSE 0 END) AS online,
                sum(CASE WHEN last_seen_at >= ${cutoff} AND draining = 1 THEN 1 ELSE 0 END) AS draining,
                sum(CASE WHEN last_seen_at < ${cutoff} THEN 1 ELSE 0 END) AS offline
              FROM worker`
          )
          return { online: row?.online ?? 0, draining: row?.draining ?? 0, offline: row?.offline ?? 0 }
        }),
        deliveries: Effect.gen(function* () {
          const row = yield* queryOne(
            waitingRow,
            sql`
              SELECT count(*) AS n, min(since) AS since FROM (
                SELECT created_at AS since FROM webhook_delivery WHERE state = 'pending' LIMIT ${most}) AS counted`
          )
          return waiting(row, yield* millis)
        })
      })
    })
  )
}
