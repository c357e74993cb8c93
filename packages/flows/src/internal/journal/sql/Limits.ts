/**
 * Limits: queues, slots and admissions. See `Admission.ts`.
 *
 * A slot is a row that is written in the transaction of the start. The end of an execution does not write it: `ended_at` puts the
 * execution into the index of slots to release, so no end can miss that.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import {
  type Columns,
  encode,
  integer,
  json,
  nullable,
  query,
  queryOne,
  real,
  Row,
  Table,
  text
} from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Admitted, Execution, FlowVersion, Limit } from "../../model/Execution.ts"
import type { Journal } from "../Journal.ts"
import { type Bucket, empty, verdictOf } from "../../model/Limits.ts"
import * as Admission from "../Admission.ts"
import { bucketOf } from "./Lanes.ts"
import { writer } from "./Members.ts"
import { anyText, executionId, executionRow, toExecution } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { isAmong, put, rowsOf, target } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const limitTable = Table("flow_limit", {
  flow: anyText,
  version: real,
  limits: json<ReadonlyArray<Limit>>(),
  turns: integer
})
const limitRow = limitTable.pick("limits", "turns")
const limitsRow = limitTable.pick("limits")

const laneTable = Table("flow_lane", {
  lane: text,
  keys: json<Execution["limits"]>(),
  stamp: integer,
  turn: integer,
  blocked: nullable(text)
})
const laneRow = laneTable.pick("lane", "keys", "stamp")
const laneName = laneTable.pick("lane")
const turnRow = laneTable.pick("lane", "turn", "blocked")
const stampRow = laneTable.pick("lane", "stamp")
const headRow = laneName.and({ id: anyText })

const rateRow = Row({ bucket: text, recovered_at: real, wakes_at: nullable(integer) })
const rates = target("flow_rate", ["flow", "bucket"], rateRow, writer<Admission.Rate>()(rateRow, {}))
const slotRow = Row({ bucket: text, execution: anyText })
const slots = target("flow_slot", ["flow", "bucket", "execution"], slotRow, (slot: typeof slotRow.Type) =>
  encode(slotRow, slot)
)
const bucketRow = Row({ bucket: text })
const loadedRow = bucketRow.and({ held: integer, recovered_at: nullable(real) })
const holderRow = Row({ execution: anyText })

const listRow = Row({ name: text, most: integer })
const nextRow = Row({ at: nullable(integer) })
const countRow = Row({ count: integer })
const placeRow = executionRow.and({ lane: text })

/** The order of a lane, which is that of its index. */
const placed = ["(-COALESCE(priority, 0))", "queued_at", "id"].join(", ")

/** The number of rows that are released together, and of expired rates that are deleted with the update of one. */
const releasedAtATime = 100
const mostHolders = 5

export const make = ({ isPostgres, now, persist, sql, token, transaction }: Store) => {
  const { columns } = executionRow
  const inLane = sql.literal(placed)
  const each = (statements: ReadonlyArray<Fragment>) =>
    Effect.forEach(statements, (statement) => sql`${statement}`, { discard: true })

  const load = Effect.fnUntraced(function* (flow: string, buckets: ReadonlyArray<string>) {
    const listed = rowsOf(
      sql,
      bucketRow,
      buckets.map((bucket) => ({ bucket }))
    )
    const found = yield* query(
      loadedRow,
      sql`
        SELECT r.bucket,
          (SELECT count(*) FROM flow_slot s WHERE s.flow = ${flow} AND s.bucket = r.bucket) AS held,
          (SELECT recovered_at FROM flow_rate b WHERE b.flow = ${flow} AND b.bucket = r.bucket) AS recovered_at
        FROM ${listed}`,
      ({ bucket, held, recovered_at }): [string, Bucket] => [bucket, { held, recoveredAt: recovered_at ?? 0 }]
    )
    return new Map(found)
  })

  /** Reads the first rows of several lists: one statement on Postgres; on SQLite, which has no LATERAL, one for each list. */
  const firsts = Effect.fnUntraced(function* <C extends Columns>(
    row: Row<C>,
    lists: ReadonlyArray<{ readonly name: string; readonly most: number }>,
    of: (name: string | Fragment, most: number | Fragment) => Fragment
  ) {
    if (isPostgres) {
      const first = of(sql.literal("r.name"), sql.literal("r.most"))
      return yield* query(row, sql`SELECT h.* FROM ${rowsOf(sql, listRow, lists)} CROSS JOIN LATERAL (${first}) h`)
    }
    return (yield* Effect.forEach(lists, ({ most, name }) => query(row, sql`${of(name, most)}`))).flat()
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
        const released = yield* query(
          executionId,
          sql`
            UPDATE flow_run SET slots = NULL WHERE id IN (
              SELECT id FROM flow_run
              WHERE flow = ${flow} AND slots = 1 AND (ended_at IS NOT NULL OR lane IS NOT NULL)
              ORDER BY id LIMIT ${releasedAtATime} ${Dialect.skipLocked(sql, "flow_run")}
            ) RETURNING id`
        )
        if (released.length > 0) {
          const ids = released.map(({ id }) => Texts.toText(id))
          const freed = yield* query(
            bucketRow,
            sql`DELETE FROM flow_slot WHERE ${isAmong(sql, "execution", ids)} RETURNING bucket`
          )
          buckets.push(...freed.map(({ bucket }) => bucket))
        }
        if (released.length < releasedAtATime) return buckets
      }
    })
    return {
      limits: queryOne(
        limitRow,
        sql`SELECT limits, turns FROM flow_limit WHERE flow = ${flow} ${Dialect.forUpdate(sql)}`
      ),
      release,
      recovered: query(
        bucketRow,
        sql`UPDATE flow_rate SET wakes_at = NULL WHERE flow = ${flow} AND wakes_at <= ${at} RETURNING bucket`,
        ({ bucket }) => bucket
      ),
      load: (buckets) => load(flow, buckets),
      unblock: Effect.fnUntraced(function* (buckets) {
        const lanes = yield* firsts(
          laneName,
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
        query(
          laneRow,
          sql`
            SELECT ${laneRow.columns} FROM flow_lane
            WHERE flow = ${flow} AND version = ${version} AND blocked IS NULL ORDER BY turn, lane LIMIT ${most}`
        ),
      heads: (lanes) =>
        firsts(
          headRow,
          lanes.map(({ lane, most }) => ({ name: lane, most })),
          (lane, most) => sql`
            SELECT lane, id FROM flow_run WHERE lane = ${lane} ORDER BY ${inLane} LIMIT ${most}`
        ),
      begin: (ids, holds) =>
        Effect.map(
          query(
            executionRow,
            sql`
              UPDATE flow_run SET ${claimed(process, at, mine, holds)}
              WHERE ${isAmong(sql, "id", ids.map(Texts.toText))} AND lane IS NOT NULL RETURNING ${columns}`,
            toExecution
          ),
          (found) => {
            const begun = new Map(found.map((execution) => [execution.id, execution]))
            return ids.flatMap((id) => begun.get(id) ?? [])
          }
        ),
      save: Effect.fnUntraced(function* ({ emptied, lanes, ...saved }, turns) {
        yield* each(put(sql, slots, { flow }, saved.slots))
        if (lanes.length > 0) {
          const turned = rowsOf(sql, turnRow, lanes)
          yield* sql`
            UPDATE flow_lane SET turn = r.turn, blocked = r.blocked FROM ${turned}
            WHERE flow_lane.flow = ${flow} AND flow_lane.lane = r.lane`
        }
        if (emptied.length > 0) {
          const empties = emptied.map(({ lane, stamp }) => ({ lane, stamp }))
          yield* sql`
            DELETE FROM flow_lane WHERE flow = ${flow} AND (lane, stamp) IN (
              SELECT r.lane, r.stamp FROM ${rowsOf(sql, stampRow, empties)})`
        }
        if (saved.rates.length > 0) {
          yield* sql`
            DELETE FROM flow_rate WHERE flow = ${flow} AND wakes_at IS NULL AND bucket IN (
              SELECT bucket FROM flow_rate WHERE flow = ${flow} AND recovered_at <= ${at}
              ORDER BY recovered_at LIMIT ${2 * saved.rates.length})`
          yield* each(put(sql, rates, { flow }, saved.rates))
        }
        if (lanes.length > 0 || saved.slots.length > 0)
          yield* sql`UPDATE flow_limit SET turns = ${turns} WHERE flow = ${flow}`
      }),
      next: Effect.map(
        queryOne(nextRow, sql`SELECT min(wakes_at) AS at FROM flow_rate WHERE flow = ${flow} AND wakes_at IS NOT NULL`),
        (row) => row?.at ?? null
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
          ? yield* query(
              executionRow,
              sql`SELECT ${columns} FROM flow_run WHERE owner = ${owner} AND token = ${mine}`,
              toExecution
            )
          : []
        isRepeated = true
        const again: Admitted = { executions: before, more: true, next: null }
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
    query(
      holderRow,
      sql`
        SELECT s.execution FROM flow_slot s JOIN flow_run r ON r.id = s.execution
        WHERE s.flow = ${flow} AND s.bucket = ${bucket} AND r.slots = 1 AND r.ended_at IS NULL AND r.lane IS NULL
        ORDER BY s.execution LIMIT ${mostHolders}`,
      ({ execution }) => execution
    )

  const place = Effect.fnUntraced(function* (id: string, at: number) {
    const row = yield* queryOne(
      placeRow,
      sql`SELECT ${placeRow.columns} FROM flow_run WHERE id = ${id} AND lane IS NOT NULL`
    )
    if (row === null) return null
    const { flow, limits: keys, priority, queuedAt } = toExecution(row)
    const flowText = Texts.toText(flow)
    const ahead = yield* queryOne(
      countRow,
      sql`SELECT count(*) AS count FROM flow_run WHERE lane = ${row.lane}
        AND (${inLane}) < (${0 - priority}, ${queuedAt}, ${id})`
    )
    const known = yield* queryOne(limitsRow, sql`SELECT limits FROM flow_limit WHERE flow = ${flowText}`)
    const limits = known?.limits ?? []
    const found = { limit: null, key: null, place: (ahead?.count ?? 0) + 1, holders: [], admitsAt: null }
    const named = limits.map((limit, index) => bucketOf(flow, index, limit, keys[index] ?? null))
    const buckets = yield* load(flowText, named)
    for (const [index, limit] of limits.entries()) {
      const name = named[index]
      if (name === undefined || keys[index] === undefined) continue
      const verdict = verdictOf(limit, buckets.get(name) ?? empty, at)
      if (verdict._tag === "Admitted") continue
      const holders = verdict._tag === "Full" ? yield* holdersOf(flowText, name) : []
      const key = limit.keyed ? (keys[index] ?? null) : null
      return { ...found, limit: index, key, holders, admitsAt: verdict._tag === "TooSoon" ? verdict.at : null }
    }
    return found
  })

  const queuePlace: (typeof Journal.Service)["queuePlace"] = (id) =>
    Effect.flatMap(now, (at) => persist(place(Texts.toText(id), at)))

  return { limit, admit, queuePlace }
}
