/** What waits for limits, in all runs: step runs and lanes that a bucket without room blocks, and which buckets have room again. */
import { type ProcessId, ProcessRunId, type StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, json, nullable, query, queryOne, real, Row, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Limits from "../../engine/Limits.ts"
import type { RunStep } from "../../engine/State.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database } from "../database/Database.ts"
import { processId, stepRunId } from "./StoredStepRun.ts"

const blockedRow = Row({ bucket: text, process_id: processId })
const runRow = Row({ process_run_id: id(ProcessRunId) })

/** How much waits for a bucket that has no limit any more is unblocked at once. */
const unlimited = 1000

/** Rates that have been idle for so long are forgotten. */
const idleMillis = 60 * 60 * 1000

/** A bucket that something waits for, and how much room it has. */
interface Room {
  readonly bucket: string
  readonly room: number
  /** Of a rate without room: when it has some. */
  readonly at: number | null
}

/** What has been unblocked. */
export interface Unblocked {
  /** Runs that may make step runs. */
  readonly runs: ReadonlyArray<ProcessRunId>
  readonly stepRuns: ReadonlyArray<StepRunId>
  /** When the next rate has room, in milliseconds since 1970; null: nothing waits for one. */
  readonly nextAt: number | null
}

/** What waits for a bucket, and what has it. */
export interface Waits {
  readonly bucket: Limits.Bucket
  readonly limit: number | null
  readonly in_hand: number
  readonly waiting: number
  readonly since: string | null
  readonly room_at: string | null
  readonly held_by: ReadonlyArray<{
    readonly work_item_id: WorkItemId
    readonly process_run_id: ProcessRunId
    readonly since: string
  }>
}

const heldRow = Row({ item_id: id(WorkItemId), process_run_id: id(ProcessRunId), given_at: integer, n: integer })

/** Of one process. */
const mostWaits = 100
const mostHolders = 5

export class Blocked extends Context.Service<
  Blocked,
  {
    /** Ends the blocking of as much as buckets have room for, what came first before the rest. Waits for no other transaction. */
    readonly unblock: Effect.Effect<Unblocked>
    /** Forgets some rates that have been idle, and returns how many. */
    readonly sweep: (limit: number) => Effect.Effect<number>
    /** What waits for limits of a process, what waits longest first. */
    readonly waits: (process: ProcessId) => Effect.Effect<ReadonlyArray<Waits>>
  }
>()("@signalbox/control-room/store/Blocked") {
  static readonly layer = Layer.effect(
    Blocked,
    Effect.gen(function* () {
      const { millis, sql, transaction } = yield* Database

      /** By process, from one bucket to the next in the indexes of what is blocked. */
      const blocked = query(
        blockedRow,
        sql`
          SELECT blocked_by AS bucket, process_id FROM limit_lane WHERE blocked_by IS NOT NULL GROUP BY blocked_by, process_id
          UNION
          SELECT blocked_by, process_id FROM step_run WHERE state = 'awaiting_worker' AND blocked_by IS NOT NULL
          GROUP BY blocked_by, process_id`
      )

      const allowancesOf = Effect.fnUntraced(function* (processes: ReadonlyArray<ProcessId>) {
        const rows = yield* Chunks.flatMap(processes, (some) =>
          query(
            Row({
              id: processId,
              steps: json<ReadonlyArray<RunStep>>(),
              limits: nullable(json<Limits.ProcessLimits>())
            }),
            sql`SELECT id, steps, limits FROM process WHERE ${sql.in("id", some)}`
          )
        )
        return new Map(rows.map(({ id, limits, steps }) => [id, Limits.allowances(id, limits, steps)]))
      })

      const roomsOf = Effect.fnUntraced(function* (waited: ReadonlyArray<typeof blockedRow.Type>) {
        const names = waited.map(({ bucket }) => bucket)
        const counts = yield* Chunks.flatMap(names, (some) =>
          query(
            Row({ bucket: text, n: integer }),
            sql`
              SELECT bucket, count(*) AS n FROM limit_claim
              WHERE ${sql.in("bucket", some)} AND given_at IS NOT NULL GROUP BY bucket`
          )
        )
        const rates = yield* Chunks.flatMap(names, (some) =>
          query(
            Row({ bucket: text, due_at: real }),
            sql`SELECT bucket, due_at FROM limit_rate WHERE ${sql.in("bucket", some)}`
          )
        )
        const held = new Map(counts.map(({ bucket, n }) => [bucket, n]))
        const dueAt = new Map(rates.map(({ bucket, due_at }) => [bucket, due_at]))
        const allowed = yield* allowancesOf([...new Set(waited.map(({ process_id }) => process_id))])
        const now = yield* millis
        return waited.map(({ bucket, process_id }): Room => {
          const allowance = Limits.allowanceOf(allowed.get(process_id) ?? new Map(), Limits.bucketOf(bucket))
          if (allowance === null) return { bucket, room: unlimited, at: null }
          const { limit, per } = allowance
          if (per === null) return { bucket, room: limit - (held.get(bucket) ?? 0), at: null }
          const due = dueAt.get(bucket) ?? 0
          return {
            bucket,
            room: Limits.paid(due, limit, per, now),
            at: Limits.paidAt(Math.min(due, now + per), limit, per)
          }
        })
      })

      const stepRunsOf = ({ bucket, room }: Room) =>
        query(
          stepRunId,
          sql`
            UPDATE step_run SET blocked_by = NULL WHERE id IN (
              SELECT id FROM step_run WHERE state = 'awaiting_worker' AND blocked_by = ${bucket}
              ORDER BY sort_key, id LIMIT ${room} ${Dialect.skipLocked(sql, "step_run")})
            RETURNING id`,
          (row) => row.id
        )

      /** Not those of runs that have as many step runs waiting for the bucket already. */
      const lanesOf = ({ bucket, room }: Room) =>
        query(
          runRow,
          sql`
            UPDATE limit_lane SET blocked_by = NULL WHERE (process_run_id, step, lane) IN (
              SELECT process_run_id, step, lane FROM limit_lane
              WHERE blocked_by = ${bucket} AND (
                SELECT count(*) FROM limit_claim
                WHERE limit_claim.bucket = ${bucket} AND limit_claim.process_run_id = limit_lane.process_run_id
                  AND limit_claim.step = limit_lane.step AND given_at IS NULL) < ${room}
              ORDER BY place LIMIT ${room} ${Dialect.skipLocked(sql, "limit_lane")})
            RETURNING process_run_id`,
          (row) => row.process_run_id
        )

      /** How many items wait for a bucket, in lanes and in step runs, and since when. */
      const waitingFor = (bucket: string) =>
        queryOne(
          Row({ n: integer, since: nullable(text) }),
          sql`
            SELECT CAST(sum(n) AS BIGINT) AS n, min(since) AS since FROM (
              SELECT count(*) AS n, min(state_updated_at) AS since FROM step_run
              WHERE state = 'awaiting_worker' AND blocked_by = ${bucket}
              UNION ALL
              SELECT count(*), min(work_item.state_updated_at) FROM limit_lane JOIN work_item
                ON work_item.process_run_id = limit_lane.process_run_id AND work_item.step = limit_lane.step
                  AND work_item.lane = limit_lane.lane
              WHERE limit_lane.blocked_by = ${bucket} AND work_item.state = 'pending' AND work_item.step_run_id IS NULL
                AND work_item.not_before IS NULL AND work_item.lane IS NOT NULL) AS waiting`
        )

      const heldOf = (bucket: string) =>
        query(
          heldRow,
          sql`
            SELECT item_id, process_run_id, given_at, count(*) OVER () AS n FROM limit_claim
            WHERE bucket = ${bucket} AND given_at IS NOT NULL ORDER BY given_at, item_id LIMIT ${mostHolders}`
        )

      const timeOf = (millis: number) => new Date(millis).toISOString()

      return Blocked.of({
        sweep: Effect.fnUntraced(function* (limit) {
          const before = (yield* millis) - idleMillis
          const gone = yield* sql`
            DELETE FROM limit_rate WHERE bucket IN (
              SELECT bucket FROM limit_rate WHERE due_at < ${before}
              LIMIT ${limit} ${Dialect.skipLocked(sql, "limit_rate")})
            RETURNING bucket`
          return gone.length
        }),
        waits: Effect.fnUntraced(function* (process) {
          const waited = yield* query(
            blockedRow.and({ place: integer }),
            sql`
              SELECT bucket, process_id, min(place) AS place FROM (
                SELECT blocked_by AS bucket, process_id, place FROM limit_lane WHERE blocked_by IS NOT NULL
                UNION ALL
                SELECT blocked_by, process_id, sort_key FROM step_run
                WHERE state = 'awaiting_worker' AND blocked_by IS NOT NULL) AS waiting
              WHERE process_id = ${process} GROUP BY bucket, process_id ORDER BY place LIMIT ${mostWaits}`
          )
          const allowed = (yield* allowancesOf([process])).get(process) ?? new Map()
          const rooms = yield* roomsOf(waited)
          return yield* Effect.forEach(
            rooms,
            Effect.fnUntraced(function* ({ at, bucket: name }): Effect.fn.Return<Waits> {
              const bucket = Limits.bucketOf(name)
              const waiting = yield* waitingFor(name)
              const held = yield* heldOf(name)
              return {
                bucket,
                limit: Limits.allowanceOf(allowed, bucket)?.limit ?? null,
                in_hand: held[0]?.n ?? 0,
                waiting: waiting?.n ?? 0,
                since: waiting?.since ?? null,
                room_at: at === null ? null : timeOf(at),
                held_by: held.map(({ given_at, item_id, process_run_id }) => ({
                  work_item_id: item_id,
                  process_run_id,
                  since: timeOf(given_at)
                }))
              }
            })
          )
        }),
        unblock: Effect.gen(function* () {
          const waited = yield* blocked
          const found: Unblocked = { runs: [], stepRuns: [], nextAt: null }
          if (waited.length === 0) return found
          const rooms = yield* roomsOf(waited)
          const [withRoom, without] = [rooms.filter(({ room }) => room > 0), rooms.filter(({ room }) => room <= 0)]
          const times = without.flatMap(({ at }) => at ?? [])
          const nextAt = times.length === 0 ? null : Math.min(...times)
          if (withRoom.length === 0) return { ...found, nextAt }
          return yield* transaction(
            Effect.gen(function* () {
              const stepRuns = (yield* Effect.forEach(withRoom, stepRunsOf)).flat()
              const runs = new Set((yield* Effect.forEach(withRoom, lanesOf)).flat())
              return { stepRuns, runs: [...runs].toSorted(), nextAt }
            })
          )
        })
      })
    })
  )
}
