/**
 * Claims, leases and their release.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { integer, nullable, query, queryOne, Row } from "@signalbox/sql/Table"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import { isActive, type Place, type Process, type RegisteredVersion } from "../../model/Execution.ts"
import { type Journal } from "../Journal.ts"
import type { Share } from "../../model/Partitions.ts"
import { compareTexts, forgetAfterMillis } from "../Common.ts"
import {
  ended,
  executionId,
  executionRow,
  type ExecutionRow,
  executionTable,
  processTable,
  toExecution
} from "./Rows.ts"
import * as Stalls from "./Stalls.ts"
import type { Store } from "./Store.ts"
import * as Texts from "./Texts.ts"

/** The lease of builds that write no `lease`, in milliseconds. */
const formerLease = 6_000

type ProcessRow = typeof processTable.Type

const placeOf = ({ boot, host, pid, pid_namespace, pid_started }: ProcessRow): Place | null =>
  boot === null || pid_namespace === null || pid === null || pid_started === null
    ? null
    : { host, boot, namespace: pid_namespace, pid, startedAt: pid_started }

const toProcess = (row: ProcessRow): Process => {
  const place = placeOf(row)
  const standing = Stalls.toStanding(row)
  return {
    id: row.id,
    host: row.host,
    flows: row.flows,
    expiresAt: row.expires_at,
    ...defined({ protocol: row.protocol ?? undefined, place: place ?? undefined, standing: standing ?? undefined })
  }
}

const dueRow = Row({ due_at: nullable(integer) })
const freedRow = executionTable.pick("id", "state")

/** The longest due first; a statement returns its rows in any order. */
const byDue = (a: ExecutionRow, b: ExecutionRow) => (a.wake_at ?? 0) - (b.wake_at ?? 0) || compareTexts(a.id, b.id)

export const make = ({ leaseNow, now, persist, publish, sql, token, transaction }: Store) => {
  const stalls = Stalls.make({ sql })
  const { columns } = executionRow

  /** When a lease expires for others. Builds that write no `lease` go by their own clock, which may be behind by as much. */
  const expiry = sql`expires_at + CASE WHEN lease IS NULL THEN ${formerLease} ELSE 0 END`
  const isLiving = (at: number): Fragment => sql`reaped = 0 AND (expires_at IS NULL OR ${expiry} > ${leaseNow(at)})`

  /**
   * Wraps a condition in `CASE`, which has no index and no statistics: so the planner walks `flow_run_due`, instead of the index of
   * keys, all due rows or, without statistics, the whole table.
   */
  const opaque = (condition: Fragment): Fragment => sql`CASE WHEN ${condition} THEN TRUE ELSE FALSE END`

  /** Of a version that is drained. A child belongs to what has begun; a command, or a failure, has to be carried out. */
  const hasBegun = sql`AND (
    chapter > 0 OR round > 0 OR parent IS NOT NULL OR commanded IS NOT NULL OR failure IS NOT NULL
    OR EXISTS (SELECT 1 FROM flow_entry WHERE flow_entry.execution = flow_run.id AND flow_entry.aside = 0)
  )`

  const among = (flows: ReadonlyArray<RegisteredVersion>): Fragment => {
    const each = flows.map(
      ({ drain, flow, version }) =>
        sql`(flow = ${Texts.toText(flow)} AND version = ${version} ${drain === true ? hasBegun : sql``})`
    )
    return opaque(sql.or(each))
  }

  /** The condition, in the SQL of both databases. */
  const isIn = ({ partitions }: Share): Fragment =>
    sql`substr(CAST(${partitions} AS TEXT), CAST(partition_no AS INTEGER) + 1, 1) = '1'`

  const claimable = (due: number, share: Share | undefined): Fragment =>
    share === undefined
      ? sql`due_at <= ${due}`
      : sql`due_at <= ${due} AND ${opaque(sql`due_at <= ${due - share.graceMillis} OR ${isIn(share)}`)}`

  // ---- claims

  const claimed = (at: number, process: string, mine: string): Fragment =>
    sql`
      owner = ${process}, token = ${mine}, changed_at = ${at},
      epoch = CASE WHEN token = ${mine} THEN epoch ELSE epoch + 1 END`

  const claimDue = (
    process: string,
    flows: ReadonlyArray<RegisteredVersion>,
    due: number,
    limit: number,
    at: number,
    mine: string,
    share: Share | undefined
  ) =>
    query(
      executionRow,
      sql`
    WITH due AS MATERIALIZED (
      SELECT id FROM flow_run WHERE ${claimable(due, share)} AND ${among(flows)}
      ORDER BY due_at, id LIMIT ${limit} ${Dialect.skipLocked(sql, "flow_run")}
    ) UPDATE flow_run SET ${claimed(at, process, mine)} WHERE id IN (SELECT id FROM due) RETURNING ${columns}`
    )

  const claim: (typeof Journal.Service)["claim"] = Effect.fnUntraced(function* (process, flows, due, limit, share) {
    if (flows.length === 0) return []
    const at = yield* now
    const mine = token()
    const owner = Texts.toText(process)
    let isRepeated = false
    const rows = yield* persist(
      Effect.gen(function* () {
        // Otherwise claims of a lost response would not run until the lease expires.
        const before = isRepeated
          ? yield* query(executionRow, sql`SELECT ${columns} FROM flow_run WHERE owner = ${owner} AND token = ${mine}`)
          : []
        isRepeated = true
        return before.length > 0 ? before : yield* claimDue(owner, flows, due, limit, at, mine, share)
      })
    )
    return [...rows].sort(byDue).map(toExecution)
  })

  const claimOne: (typeof Journal.Service)["claimOne"] = Effect.fnUntraced(function* (process, id) {
    const at = yield* now
    const mine = token()
    const row = yield* persist(
      queryOne(
        executionRow,
        sql`
      UPDATE flow_run SET ${claimed(at, Texts.toText(process), mine)}
      WHERE id = ${Texts.toText(id)} AND expired = 0 AND state NOT IN ${sql.literal(ended)} AND queued_at IS NULL
        AND (state <> 'queued' OR wake_at <= ${leaseNow(at)}) AND (
        owner IS NULL OR token = ${mine}
        OR NOT EXISTS (SELECT 1 FROM flow_process WHERE flow_process.id = flow_run.owner AND ${isLiving(at)})
      ) RETURNING ${columns}`
      )
    )
    return row === null ? null : toExecution(row)
  })

  const firstDue = (flows: ReadonlyArray<RegisteredVersion>, also: Fragment): Fragment => sql`
    SELECT due_at FROM flow_run WHERE due_at IS NOT NULL AND ${among(flows)} ${also} ORDER BY due_at, id LIMIT 1`

  /** Limits the search for executions of its own partitions to those that are due within the grace of the first due one. */
  const firstOf = (flows: ReadonlyArray<RegisteredVersion>, share: Share): Fragment => {
    const until = sql`(SELECT due_at + CAST(${share.graceMillis} AS BIGINT) FROM first)`
    return sql`
      WITH first AS MATERIALIZED (${firstDue(flows, sql``)})
      SELECT COALESCE((${firstDue(flows, sql`AND due_at <= ${until} AND ${opaque(isIn(share))}`)}), ${until}) AS due_at`
  }

  const nextDue: (typeof Journal.Service)["nextDue"] = Effect.fnUntraced(function* (flows, share) {
    if (flows.length === 0) return null
    const first = share === undefined ? firstDue(flows, sql``) : firstOf(flows, share)
    const row = yield* persist(queryOne(dueRow, sql`${first}`))
    return row?.due_at ?? null
  })

  const unread: (typeof Journal.Service)["unread"] = (process) =>
    persist(
      query(
        executionId,
        sql`SELECT id FROM flow_run WHERE owner = ${Texts.toText(process)} AND mail > seen ORDER BY id`,
        ({ id }) => id
      )
    )

  // ---- processes

  /** Releases the claims of executions that `rows` selects. */
  const free = (rows: Fragment, at: number) =>
    query(
      freedRow,
      sql`
        WITH lost AS MATERIALIZED (${rows}) UPDATE flow_run SET
          owner = NULL, wake_at = ${leaseNow(at)}, epoch = epoch + 1, changed_at = ${at}
        WHERE id IN (SELECT id FROM lost) RETURNING id, state`
    )

  const freeOf = (process: string, at: number) =>
    free(sql`SELECT id FROM flow_run WHERE owner = ${process} ORDER BY id ${Dialect.forUpdate(sql)}`, at)

  /** Those that were released are due. */
  const tell = (freed: ReadonlyArray<typeof freedRow.Type>) => {
    for (const { id, state } of freed) if (isActive(state)) publish([null, id, false])
  }

  const renew: (typeof Journal.Service)["renew"] = Effect.fnUntraced(function* (process) {
    const at = yield* now
    const mine = token()
    const id = Texts.toText(process.id)
    const flows = JSON.stringify(process.flows.map(({ drain, flow, version }) => ({ flow, version, drain })))
    const { protocol = null } = process
    const { boot = null, namespace = null, pid = null, startedAt = null } = process.place ?? {}
    const lease = process.leaseMillis
    const expiresAt = lease === null ? sql`NULL` : sql`${leaseNow(at)} + ${lease}`
    const columns = sql`host = ${Texts.toText(process.host)}, flows = ${flows}, expires_at = ${expiresAt}, lease = ${lease},
      protocol = ${protocol}, boot = ${boot}, pid_namespace = ${namespace}, pid = ${pid}, pid_started = ${startedAt},
      stood_millis = NULL, stood_in = NULL`
    const [renewed] = yield* persist(sql`
      UPDATE flow_process SET ${columns} WHERE id = ${id} AND ${isLiving(at)} RETURNING id`)
    if (renewed !== undefined) return true
    const again = `${mine} again`
    const lost = yield* transaction(
      Effect.gen(function* () {
        const made = yield* sql`
          INSERT INTO flow_process (id, host, flows, expires_at, lease, protocol, reaped, token, boot, pid_namespace, pid, pid_started)
          VALUES (${id}, ${Texts.toText(process.host)}, ${flows}, ${expiresAt}, ${lease}, ${protocol}, 0, ${mine},
            ${boot}, ${namespace}, ${pid}, ${startedAt})
          ON CONFLICT (id) DO NOTHING RETURNING id`
        if (made.length > 0) return null
        const living = yield* sql`
          UPDATE flow_process SET ${columns} WHERE id = ${id} AND ${isLiving(at)} AND token <> ${again} RETURNING id`
        if (living.length > 0) return null
        const lapsed = yield* queryOne(
          Stalls.lapsedRow,
          sql`
            SELECT ${Stalls.lapsedRow.columns} FROM flow_process
            WHERE id = ${id} AND reaped = 0 ${Dialect.forUpdate(sql)}`
        )
        if (lapsed !== null) yield* stalls.count(lapsed)
        yield* sql`UPDATE flow_process SET ${columns}, reaped = 0, token = ${again} WHERE id = ${id}`
        return yield* freeOf(id, at)
      })
    )
    if (lost === null) return true
    tell(lost)
    return false
  })

  const leave: (typeof Journal.Service)["leave"] = Effect.fnUntraced(function* (process) {
    const at = yield* now
    const id = Texts.toText(process)
    const freed = yield* transaction(Effect.andThen(sql`DELETE FROM flow_process WHERE id = ${id}`, freeOf(id, at)))
    tell(freed)
  })

  const orphans = sql`
    SELECT id FROM flow_run WHERE owner IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM flow_process WHERE flow_process.id = flow_run.owner AND reaped = 0
    ) ${Dialect.skipLocked(sql, "flow_run")}`

  const reap: (typeof Journal.Service)["reap"] = Effect.fnUntraced(function* (gone = []) {
    const at = yield* now
    const ids = gone.map(Texts.toText)
    const isGone = ids.length === 0 ? sql`` : sql`OR ${sql.in("id", ids)}`
    const freed = yield* transaction(
      Effect.gen(function* () {
        yield* sql`DELETE FROM flow_process WHERE reaped = 1 AND ${expiry} <= ${leaseNow(at)} - ${forgetAfterMillis}`
        const lapsed = yield* query(
          Stalls.lapsedRow,
          sql`
            UPDATE flow_process SET reaped = 1 WHERE reaped = 0 AND (${expiry} <= ${leaseNow(at)} ${isGone})
            RETURNING ${Stalls.lapsedRow.columns}`
        )
        yield* Effect.forEach(lapsed, stalls.count, { discard: true })
        return yield* free(orphans, at)
      })
    )
    tell(freed)
    return freed.length
  })

  const processes: (typeof Journal.Service)["processes"] = Effect.flatMap(now, (at) =>
    persist(
      query(
        processTable,
        sql`SELECT ${processTable.columns} FROM flow_process WHERE ${isLiving(at)} ORDER BY id`,
        toProcess
      )
    )
  )

  /** For exclusive storage: earlier processes have ended, so their claims are released. */
  const begin = Effect.gen(function* () {
    const at = yield* now
    yield* transaction(Effect.andThen(sql`DELETE FROM flow_process`, free(orphans, at)))
  })

  return { claim, claimOne, nextDue, unread, renew, leave, reap, processes, begin }
}
