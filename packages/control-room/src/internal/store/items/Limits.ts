/**
 * What limits have given: which items are in hand in which buckets, and which step runs and lanes wait for one
 * (docs/decisions/0051-limits-by-key.md).
 *
 * A worker is given an item with the name of its buckets locked, without ever waiting: a locked bucket counts as full. What
 * leaves locks none. So no order of locks is needed, and a transaction that does both cannot block another.
 */
import { ProcessRunId, type ProcessId, type WorkItemId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, json, nullable, query, queryOne, real, Row, Table, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import * as Engine from "../../engine/Limits.ts"
import type { Run, RunStep } from "../../engine/State.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database } from "../database/Database.ts"
import { Notifier } from "../database/Notifier.ts"
import * as LimitLanes from "./LimitLanes.ts"
import type { ItemMove } from "./RunItems.ts"

const claimTable = Table("limit_claim", {
  item_id: text,
  bucket: text,
  process_run_id: id(ProcessRunId),
  step: integer,
  given_at: nullable(integer)
})
const bucketRow = claimTable.pick("bucket")
const countRow = Row({ n: integer })
const dueRow = Row({ due_at: real })
const processRow = Row({ steps: json<ReadonlyArray<RunStep>>(), limits: nullable(json<Engine.ProcessLimits>()) })

/** How many items a transaction has freed of each bucket: so many more it may give without a lock. */
export type Freed = Map<string, number>

export class Limits extends Context.Service<
  Limits,
  {
    /** Items of a run that begin to wait, or have another payload. For callers that have locked the run, like the next four. */
    readonly enter: (run: Run, items: ReadonlyArray<WorkItemId>) => Effect.Effect<void>
    /** Items have been moved: those that leave a step run free its buckets, those that wait again enter. */
    readonly moved: (run: Run, moves: ReadonlyArray<ItemMove>) => Effect.Effect<void>
    /** No item of the run waits. */
    readonly settled: (run: ProcessRunId) => Effect.Effect<void>
    /** Up to so many items of a step for which step runs are made now, as there may be room for them. */
    readonly next: (run: Run, step: number, limit: number) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** Gives up to so many waiting items of a step. `freed`: by this transaction; changed. */
    readonly take: (run: Run, step: number, limit: number, freed: Freed) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** The buckets that these items, which are in hand, will free. */
    readonly held: (items: ReadonlyArray<WorkItemId>) => Effect.Effect<Freed>
    /** Gives a worker the first item of a step run; returns what has no room for it. */
    readonly lease: (process: ProcessId, item: WorkItemId) => Effect.Effect<Engine.Bucket | null>
    /** Leases of step runs with these first items have expired. */
    readonly expire: (items: ReadonlyArray<WorkItemId>) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Limits") {
  static readonly layer = Layer.effect(
    Limits,
    Effect.gen(function* () {
      const { millis, sql } = yield* Database
      const { notify } = yield* Notifier
      const lanes = yield* LimitLanes.make
      /** Those that wait elsewhere look when this transaction is committed. */
      const told = notify("limits", "")

      const allowances = (process: ProcessId) =>
        Effect.map(queryOne(processRow, sql`SELECT steps, limits FROM process WHERE id = ${process}`), (row) =>
          Engine.allowances(process, row?.limits ?? null, row?.steps ?? [])
        )

      const count = (claims: Fragment) =>
        Effect.map(queryOne(countRow, sql`SELECT count(*) AS n FROM limit_claim WHERE ${claims}`), (row) => row?.n ?? 0)

      /** How many step runs of a step of a run wait for a bucket. Those of later steps, behind a gate, keep none from it. */
      const waitingIn = (run: ProcessRunId, step: number, bucket: string) =>
        count(sql`bucket = ${bucket} AND process_run_id = ${run} AND step = ${step} AND given_at IS NULL`)

      const dueAt = (bucket: string) =>
        Effect.map(
          queryOne(dueRow, sql`SELECT due_at FROM limit_rate WHERE bucket = ${bucket}`),
          (row) => row?.due_at ?? 0
        )

      /** How many more items a bucket has room for, by what is committed and what this transaction has written. */
      const roomOf = Effect.fnUntraced(function* (bucket: Engine.Bucket, { limit, per }: Engine.Allowance) {
        return per === null
          ? limit - (yield* count(sql`bucket = ${bucket.name} AND given_at IS NOT NULL`))
          : Engine.paid(yield* dueAt(bucket.name), limit, per, yield* millis)
      })

      const claim = Effect.fnUntraced(function* (
        run: ProcessRunId,
        { id, step }: LimitLanes.Head,
        buckets: ReadonlyArray<Engine.Bucket>,
        at: number | null
      ) {
        for (const { name } of buckets) {
          const row = { item_id: id, bucket: name, process_run_id: run, step, given_at: at }
          yield* sql`
            INSERT INTO limit_claim ${claimTable.insert(row)}
            ON CONFLICT (item_id, bucket) DO UPDATE SET given_at = excluded.given_at`
        }
      })

      /** Whether what waits elsewhere for a bucket has waited so much longer that it is its turn. */
      const isOthersTurn = Effect.fnUntraced(function* (bucket: string, place: number) {
        const before = place - Engine.turnMillis
        const found = yield* sql`
          SELECT 1 FROM limit_lane WHERE blocked_by = ${bucket} AND place < ${before}
          UNION ALL
          SELECT 1 FROM step_run WHERE state = 'awaiting_worker' AND blocked_by = ${bucket} AND sort_key < ${before}
          LIMIT 1`
        return found.length > 0
      })

      /** The first of these buckets that has no room; null: all have, and their rates are paid. */
      const give = Effect.fnUntraced(function* (
        buckets: ReadonlyArray<Engine.Bucket>,
        allowed: Engine.Allowances,
        freed: Freed,
        place: number
      ) {
        for (const bucket of buckets) {
          const allowance = Engine.allowanceOf(allowed, bucket)
          if (allowance === null) continue
          const isFreed = (freed.get(bucket.name) ?? 0) > 0
          const isMine = isFreed
            ? !(yield* isOthersTurn(bucket.name, place))
            : yield* Dialect.tryLockName(sql, `limit ${bucket.name}`)
          // A statement of its own after the lock, so that it sees what was committed until then.
          if (!isMine || (yield* roomOf(bucket, allowance)) < 1) return bucket
        }
        for (const bucket of buckets) {
          const left = freed.get(bucket.name) ?? 0
          if (left > 0) freed.set(bucket.name, left - 1)
          const allowance = Engine.allowanceOf(allowed, bucket)
          if (allowance === null || allowance.per === null) continue
          const due = Engine.afterOne(yield* dueAt(bucket.name), allowance.limit, allowance.per, yield* millis)
          yield* sql`
            INSERT INTO limit_rate ${sql.insert({ bucket: bucket.name, due_at: due })}
            ON CONFLICT (bucket) DO UPDATE SET due_at = excluded.due_at`
        }
        return null
      })

      const isCounted = ({ kind }: Engine.Bucket) => kind === "concurrency"

      const leave = Effect.fnUntraced(function* (run: Run, items: ReadonlyArray<WorkItemId>) {
        const left = yield* Chunks.flatMap(items, (some) =>
          query(bucketRow, sql`DELETE FROM limit_claim WHERE ${sql.in("item_id", some)} RETURNING bucket`)
        )
        if (left.length === 0) return
        for (const [bucket, of] of Map.groupBy(left, (row) => row.bucket)) {
          yield* lanes.unblock(run.id, bucket, of.length)
        }
        yield* told
      })

      return Limits.of({
        enter: lanes.enter,
        moved: Effect.fnUntraced(function* (run, moves) {
          const ids = (of: ReadonlyArray<ItemMove>) => of.map(({ id }) => id)
          yield* leave(run, ids(moves.filter(({ to }) => to !== "in_progress")))
          yield* lanes.enter(run, ids(moves.filter(({ notBefore, to }) => to === "pending" && notBefore === null)))
        }),
        settled: lanes.clear,
        next: Effect.fnUntraced(function* (run, step, limit) {
          const allowed = yield* allowances(run.processId)
          return yield* lanes.walk(
            run,
            step,
            limit,
            Effect.fnUntraced(function* (head) {
              for (const bucket of head.buckets) {
                const allowance = Engine.allowanceOf(allowed, bucket)
                if (allowance === null) continue
                const waiting = yield* waitingIn(run.id, step, bucket.name)
                if ((yield* roomOf(bucket, allowance)) <= waiting) return bucket
              }
              yield* claim(run.id, head, head.buckets, null)
              return null
            })
          )
        }),
        take: Effect.fnUntraced(function* (run, step, limit, freed) {
          const allowed = yield* allowances(run.processId)
          return yield* lanes.walk(
            run,
            step,
            limit,
            Effect.fnUntraced(function* (head) {
              const full = yield* give(head.buckets, allowed, freed, head.place)
              if (full === null) yield* claim(run.id, head, head.buckets.filter(isCounted), yield* millis)
              // Another transaction may have it now, and leave it without a notice.
              else yield* told
              return full
            })
          )
        }),
        held: Effect.fnUntraced(function* (items) {
          const rows = yield* Chunks.flatMap(items, (some) =>
            query(
              bucketRow,
              sql`SELECT bucket FROM limit_claim WHERE ${sql.in("item_id", some)} AND given_at IS NOT NULL`
            )
          )
          const freed: Freed = new Map()
          for (const { bucket } of rows) {
            // A rate is not given back.
            if (isCounted(Engine.bucketOf(bucket))) freed.set(bucket, (freed.get(bucket) ?? 0) + 1)
          }
          return freed
        }),
        lease: Effect.fnUntraced(function* (process, item) {
          const buckets = yield* query(
            bucketRow,
            sql`SELECT bucket FROM limit_claim WHERE item_id = ${item} ORDER BY bucket`,
            (row) => Engine.bucketOf(row.bucket)
          )
          const full = yield* give(buckets, yield* allowances(process), new Map(), 0)
          if (full !== null) {
            yield* told
            return full
          }
          yield* sql`UPDATE limit_claim SET given_at = ${yield* millis} WHERE item_id = ${item}`
          return null
        }),
        expire: Effect.fnUntraced(function* (items) {
          if (items.length === 0) return
          yield* Chunks.forEach(
            items,
            (some) => sql`UPDATE limit_claim SET given_at = NULL WHERE ${sql.in("item_id", some)}`
          )
          yield* told
        })
      })
    })
  )
}
