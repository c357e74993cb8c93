/**
 * Limits: queues, slots and admissions. See `Admission.ts`.
 *
 * A slot is a row that is written in the transaction of the start. The end of an execution does not write it: `ended_at` puts the
 * execution into the index of slots to release, so no end can miss that.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Admitted, Execution, FlowVersion, Limit } from "../../model/Execution.ts"
import type { Journal } from "../Journal.ts"
import { type Bucket, empty, verdictOf } from "../../model/Limits.ts"
import * as Admission from "../Admission.ts"
import { bucketOf } from "./Lanes.ts"
import { executionColumns, type ExecutionRow, toExecution } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { isAmong, put, rowsOf, table } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const rateTable = table<{ readonly bucket: string; readonly recovered_at: number; readonly wakes_at: number | null }>(
  "flow_rate",
  ["flow", "bucket"],
  { bucket: "TEXT", recovered_at: "REAL", wakes_at: "INTEGER" }
)
const slotTable = table<{ readonly bucket: string; readonly execution: string }>(
  "flow_slot",
  ["flow", "bucket", "execution"],
  { bucket: "TEXT", execution: "TEXT" }
)

/** The number of rows that are released together, and of expired rates that are deleted with the update of one. */
const releasedAtATime = 100
const mostHolders = 5

export const make = ({ isPostgres, now, persist, sql, token, transaction }: Store) => {
  const columns = sql.literal(executionColumns)
  const each = (statements: ReadonlyArray<Fragment>) =>
    Effect.forEach(statements, (statement) => sql`${statement}`, { discard: true })

  const load = Effect.fnUntraced(function* (flow: string, buckets: ReadonlyArray<string>) {
    const listed = rowsOf(
      sql,
      { bucket: "TEXT" },
      buckets.map((bucket) => ({ bucket }))
    )
    const found = yield* sql<{ readonly bucket: string; readonly held: number; readonly recovered_at: number | null }>`
      SELECT r.bucket,
        (SELECT count(*) FROM flow_slot s WHERE s.flow = ${flow} AND s.bucket = r.bucket) AS held,
        (SELECT recovered_at FROM flow_rate b WHERE b.flow = ${flow} AND b.bucket = r.bucket) AS recovered_at
      FROM ${listed}`
    return new Map(
      found.map(({ bucket, held, recovered_at }): [string, Bucket] => [
        bucket,
        { held: Number(held), recoveredAt: recovered_at ?? 0 }
      ])
    )
  })

  /** Reads the first rows of several lists: one statement on Postgres; on SQLite, which has no LATERAL, one for each list. */
  const firsts = Effect.fnUntraced(function* <A extends object>(
    lists: ReadonlyArray<{ readonly name: string; readonly most: number }>,
    of: (name: string | Fragment, most: number | Fragment) => Fragment
  ) {
    if (isPostgres) {
      const rows = rowsOf(sql, { name: "TEXT", most: "INTEGER" }, [...lists])
      return yield* sql<A>`SELECT h.* FROM ${rows} CROSS JOIN LATERAL (${of(sql.literal("r.name"), sql.literal("r.most"))}) h`
    }
    return (yield* Effect.forEach(lists, ({ most, name }) => sql<A>`${of(name, most)}`)).flat()
  })

  const claimed = (process: string, at: number, mine: string, holds: boolean): Fragment => sql`
    state = 'running', owner = ${process}, token = ${mine}, epoch = epoch + 1, changed_at = ${at}, wake_at = ${at},
    lane = NULL, queued_at = NULL, slots = ${sql.literal(holds ? "1" : "NULL")}`

  const rowsOfFlow = (
    { flow: named, version }: FlowVersion,
    process: string,
    at: number,
    mine: string
  ): Admission.Rows => {
    const flow = Texts.toText(named)
    const release = Effect.gen(function* () {
      const buckets: Array<string> = []
      for (;;) {
        const released = yield* sql<{ readonly id: string }>`
          UPDATE flow_run SET slots = NULL WHERE id IN (
            SELECT id FROM flow_run
            WHERE flow = ${flow} AND slots = 1 AND (ended_at IS NOT NULL OR lane IS NOT NULL)
            ORDER BY id LIMIT ${releasedAtATime} ${Dialect.skipLocked(sql, "flow_run")}
          ) RETURNING id`
        if (released.length > 0) {
          const ids = released.map(({ id }) => id)
          const freed = yield* sql<{ readonly bucket: string }>`
            DELETE FROM flow_slot WHERE ${isAmong(sql, "execution", ids)} RETURNING bucket`
          buckets.push(...freed.map(({ bucket }) => bucket))
        }
        if (released.length < releasedAtATime) return buckets
      }
    })
    return {
      limits: Effect.map(
        sql<{ readonly limits: string; readonly turns: number }>`
          SELECT limits, turns FROM flow_limit WHERE flow = ${flow} ${Dialect.forUpdate(sql)}`,
        ([row]) =>
          // Written from a list of limits.
          row === undefined ? null : { limits: JSON.parse(row.limits) as ReadonlyArray<Limit>, turns: row.turns }
      ),
      release,
      recovered: Effect.map(
        sql<{ readonly bucket: string }>`
          UPDATE flow_rate SET wakes_at = NULL WHERE flow = ${flow} AND wakes_at <= ${at} RETURNING bucket`,
        (rows) => rows.map(({ bucket }) => bucket)
      ),
      load: (buckets) => load(flow, buckets),
      unblock: Effect.fnUntraced(function* (buckets) {
        const lanes = yield* firsts<{ readonly lane: string }>(
          buckets.map(({ bucket, most }) => ({ name: bucket, most })),
          (bucket, most) => sql`
            SELECT lane FROM flow_lane WHERE flow = ${flow} AND blocked = ${bucket} ORDER BY turn, lane LIMIT ${most}`
        )
        if (lanes.length === 0) return 0
        yield* sql`
          UPDATE flow_lane SET blocked = NULL WHERE flow = ${flow} AND ${isAmong(
            sql,
            "lane",
            lanes.map(({ lane }) => lane)
          )}`
        return lanes.length
      }),
      lanes: (most) =>
        Effect.map(
          sql<{ readonly lane: string; readonly keys: string; readonly stamp: number }>`
            SELECT lane, keys, stamp FROM flow_lane
            WHERE flow = ${flow} AND version = ${version} AND blocked IS NULL ORDER BY turn, lane LIMIT ${most}`,
          (rows) =>
            // Written from a list of keys.
            rows.map(({ keys, ...row }) => ({ ...row, keys: JSON.parse(keys) as Execution["limits"] }))
        ),
      heads: (lanes) =>
        Effect.map(
          firsts<{ readonly lane: string; readonly id: string }>(
            lanes.map(({ lane, most }) => ({ name: lane, most })),
            (lane, most) => sql`SELECT lane, id FROM flow_run WHERE lane = ${lane} ORDER BY queued_at, id LIMIT ${most}`
          ),
          (rows) => rows.map(({ id, lane }) => ({ lane, id: Texts.fromText(id) }))
        ),
      begin: (ids, holds) =>
        Effect.map(
          sql<ExecutionRow>`
            UPDATE flow_run SET ${claimed(process, at, mine, holds)}
            WHERE ${isAmong(sql, "id", ids.map(Texts.toText))} AND lane IS NOT NULL RETURNING ${columns}`,
          (rows) => {
            const begun = new Map(rows.map((row) => [Texts.fromText(row.id), toExecution(row)]))
            return ids.flatMap((id) => begun.get(id) ?? [])
          }
        ),
      save: Effect.fnUntraced(function* ({ emptied, lanes, rates, slots }, turns) {
        yield* each(
          put(
            sql,
            slotTable,
            { flow },
            slots.map(({ bucket, execution }) => ({ bucket, execution: Texts.toText(execution) }))
          )
        )
        if (lanes.length > 0) {
          const turned = rowsOf(sql, { lane: "TEXT", turn: "INTEGER", blocked: "TEXT" }, lanes)
          yield* sql`
            UPDATE flow_lane SET turn = r.turn, blocked = r.blocked FROM ${turned}
            WHERE flow_lane.flow = ${flow} AND flow_lane.lane = r.lane`
        }
        if (emptied.length > 0) {
          const empties = emptied.map(({ lane, stamp }) => ({ lane, stamp }))
          yield* sql`
            DELETE FROM flow_lane WHERE flow = ${flow} AND (lane, stamp) IN (
              SELECT r.lane, r.stamp FROM ${rowsOf(sql, { lane: "TEXT", stamp: "INTEGER" }, empties)})`
        }
        if (rates.length > 0) {
          yield* sql`
            DELETE FROM flow_rate WHERE flow = ${flow} AND wakes_at IS NULL AND bucket IN (
              SELECT bucket FROM flow_rate WHERE flow = ${flow} AND recovered_at <= ${at}
              ORDER BY recovered_at LIMIT ${2 * rates.length})`
          yield* each(
            put(
              sql,
              rateTable,
              { flow },
              rates.map(({ bucket, recoveredAt, wakesAt }) => ({
                bucket,
                recovered_at: recoveredAt,
                wakes_at: wakesAt
              }))
            )
          )
        }
        if (lanes.length > 0 || slots.length > 0)
          yield* sql`UPDATE flow_limit SET turns = ${turns} WHERE flow = ${flow}`
      }),
      next: Effect.map(
        sql<{ readonly at: number | null }>`
          SELECT min(wakes_at) AS at FROM flow_rate WHERE flow = ${flow} AND wakes_at IS NOT NULL`,
        ([row]) => row?.at ?? null
      )
    }
  }

  const admit: (typeof Journal.Service)["admit"] = Effect.fnUntraced(function* (process, flow, most) {
    const at = yield* now
    const mine = token()
    const owner = Texts.toText(process)
    const rows = rowsOfFlow(flow, owner, at, mine)
    // An empty queue needs no lock.
    const queued = yield* persist(sql`SELECT 1 FROM flow_lane WHERE flow = ${Texts.toText(flow.flow)} LIMIT 1`)
    if (queued.length === 0) return { executions: [], more: false, next: null }
    let isRepeated = false
    return yield* transaction(
      Effect.gen(function* () {
        // Otherwise executions of a lost response would not run until the lease expires.
        const before = isRepeated
          ? yield* sql<ExecutionRow>`SELECT ${columns} FROM flow_run WHERE owner = ${owner} AND token = ${mine}`
          : []
        isRepeated = true
        const again: Admitted = { executions: before.map(toExecution), more: true, next: null }
        return before.length > 0 ? again : yield* Admission.admit(rows, flow, most, at)
      })
    )
  })

  const limit: (typeof Journal.Service)["limit"] = Effect.fnUntraced(function* ({ flow: named, version }, limits) {
    const flow = Texts.toText(named)
    if (limits.length === 0) {
      const known = yield* persist(sql`SELECT 1 FROM flow_limit WHERE flow = ${flow}`)
      if (known.length === 0) return false
    }
    yield* transaction(
      Effect.gen(function* () {
        yield* sql`
          INSERT INTO flow_limit (flow, version, limits, turns) VALUES (${flow}, ${version}, ${JSON.stringify(limits)}, 0)
          ON CONFLICT (flow) DO UPDATE SET version = excluded.version, limits = excluded.limits
          WHERE flow_limit.version <= excluded.version`
        // Unblocks the lanes that the former limits refused.
        yield* sql`SELECT turns FROM flow_limit WHERE flow = ${flow} ${Dialect.forUpdate(sql)}`
        yield* sql`UPDATE flow_lane SET blocked = NULL WHERE flow = ${flow} AND blocked IS NOT NULL`
      })
    )
    return true
  })

  const holdersOf = (flow: string, bucket: string) =>
    Effect.map(
      sql<{ readonly execution: string }>`
        SELECT s.execution FROM flow_slot s JOIN flow_run r ON r.id = s.execution
        WHERE s.flow = ${flow} AND s.bucket = ${bucket} AND r.slots = 1 AND r.ended_at IS NULL AND r.lane IS NULL
        ORDER BY s.execution LIMIT ${mostHolders}`,
      (rows) => rows.map(({ execution }) => Texts.fromText(execution))
    )

  const place = Effect.fnUntraced(function* (id: string, at: number) {
    const [row] = yield* sql<ExecutionRow & { readonly lane: string }>`
      SELECT ${columns}, lane FROM flow_run WHERE id = ${id} AND lane IS NOT NULL`
    if (row === undefined) return null
    const { flow, limits: keys, queuedAt } = toExecution(row)
    const [ahead] = yield* sql<{ readonly count: number }>`
      SELECT count(*) AS count FROM flow_run WHERE lane = ${row.lane} AND (queued_at, id) < (${queuedAt}, ${id})`
    const [known] = yield* sql<{ readonly limits: string }>`SELECT limits FROM flow_limit WHERE flow = ${row.flow}`
    // Written from a list of limits.
    const limits = JSON.parse(known?.limits ?? "[]") as ReadonlyArray<Limit>
    const found = { limit: null, key: null, place: Number(ahead?.count ?? 0) + 1, holders: [], admitsAt: null }
    const named = limits.map((limit, index) => bucketOf(flow, index, limit, keys[index] ?? null))
    const buckets = yield* load(row.flow, named)
    for (const [index, limit] of limits.entries()) {
      const name = named[index]
      if (name === undefined || keys[index] === undefined) continue
      const verdict = verdictOf(limit, buckets.get(name) ?? empty, at)
      if (verdict._tag === "Admitted") continue
      const holders = verdict._tag === "Full" ? yield* holdersOf(row.flow, name) : []
      const key = limit.keyed ? (keys[index] ?? null) : null
      return { ...found, limit: index, key, holders, admitsAt: verdict._tag === "TooSoon" ? verdict.at : null }
    }
    return found
  })

  const queuePlace: (typeof Journal.Service)["queuePlace"] = (id) =>
    Effect.flatMap(now, (at) => persist(place(Texts.toText(id), at)))

  return { limit, admit, queuePlace }
}
