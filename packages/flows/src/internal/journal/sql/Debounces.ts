/**
 * Bursts of calls that become one execution.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { integer, nullable, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { type Debounce, type Execution, hasEnded, type NewExecution } from "../../model/Execution.ts"
import { unbegunWake } from "../../model/When.ts"
import { type Journal } from "../Journal.ts"
import { newExecution } from "../Common.ts"
import { enqueued, queueOf } from "./Lanes.ts"
import { inserted } from "./NewRows.ts"
import { anyText, executionRow, executionTable, tags, tagsOf, toExecution } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { put } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const burstRow = Row({ execution: nullable(anyText), first_at: integer, token: text })

/** How long a key is remembered after its last call, and how many that are older a call deletes. */
const rememberedMillis = 86_400_000
const forgottenAtATime = 10

type Made = Parameters<(typeof Journal.Service)["debounce"]>[0]

/** Whether a process has claimed an execution to put it into its queue: only an admission lets it begin. */
const isQueueing = ({ limits, queuedAt, startsAt }: Execution): boolean =>
  limits.length > 0 && queuedAt === null && startsAt !== null

/** Whether nothing of an execution has begun, and no process has claimed it to run it. */
const isUnbegun = (execution: Execution): boolean => {
  const { owner, queuedAt, round, startsAt, state } = execution
  const isWaiting = (startsAt !== null || queuedAt !== null) && !hasEnded(state) && state !== "halted"
  return isWaiting && round === 0 && (owner === null || isQueueing(execution))
}

export const make = ({ now, publish, sql, token, transaction }: Store) => {
  /** Locks and returns the burst of a key. */
  const burst = (flow: string, key: string, at: number) =>
    Effect.map(
      queryOne(
        burstRow,
        sql`
          INSERT INTO flow_debounce (flow, debounce_key, first_at, last_at, token)
          VALUES (${flow}, ${key}, ${at}, ${at}, '')
          ON CONFLICT (flow, debounce_key) DO UPDATE SET last_at = excluded.last_at
          RETURNING ${burstRow.columns}`
      ),
      (row) => row ?? { execution: null, first_at: at, token: "" }
    )

  const locked = Effect.fnUntraced(function* (flow: string, id: string) {
    // An admission goes by the lanes that it has read, so none of the flow may run.
    yield* sql`SELECT turns FROM flow_limit WHERE flow = ${flow} ${Dialect.forUpdate(sql)}`
    return yield* queryOne(
      executionRow,
      sql`
        SELECT ${executionRow.columns} FROM flow_run WHERE id = ${Texts.toText(id)} AND expired = 0
        ${Dialect.forUpdate(sql)}`,
      toExecution
    )
  })

  /** Replaces what an execution is to do that has not begun. In its queue it stays, unless it is to start later. */
  const replace = Effect.fnUntraced(function* (
    before: Execution,
    { input, limits, tags: all, version }: Made,
    startsAt: number,
    at: number
  ): Effect.fn.Return<Execution, SqlError> {
    const id = Texts.toText(before.id)
    const staysQueued = before.queuedAt !== null && startsAt <= at && limits.length > 0
    const times = staysQueued
      ? { queuedAt: before.queuedAt, startsAt: null }
      : { queuedAt: null, startsAt: Math.max(startsAt, at) }
    const wakeAt = before.state === "suspended" ? null : unbegunWake({ ...times, deadlineAt: before.deadlineAt })
    // The process that was about to queue it no longer does.
    const claim = { owner: null, epoch: before.owner === null ? before.epoch : before.epoch + 1 }
    const after = { ...before, ...times, ...claim, version, input, tags: all, limits, wakeAt, changedAt: at }
    yield* sql`
      UPDATE flow_run SET ${executionTable.update({
        ...claim,
        version,
        input,
        tags: all,
        limits: limits.length === 0 ? null : limits,
        lane: queueOf(after),
        queued_at: after.queuedAt,
        starts_at: after.startsAt,
        wake_at: wakeAt,
        changed_at: at
      })} WHERE id = ${id}`
    if (queueOf(after) !== null) yield* sql`${enqueued({ sql }, after)}`
    yield* sql`DELETE FROM flow_tag WHERE execution = ${id}`
    yield* tagged(after)
    return after
  })

  const tagged = Effect.fnUntraced(function* ({ id, startedAt, tags: all }: Execution) {
    const rows = put(sql, tags, { execution: Texts.toText(id), started_at: startedAt }, tagsOf(all))
    for (const statement of rows) yield* sql`${statement}`
  })

  /** Creates the execution of a burst, whose key is that of the debounce with its time. */
  const create = Effect.fnUntraced(function* (
    made: Made,
    { key, mostMillis, quietMillis }: Debounce,
    at: number,
    mine: string
  ): Effect.fn.Return<Execution, SqlError> {
    const { deadlineAt = null } = made
    const flow = Texts.toText(made.flow)
    const startsAt = at + Math.min(quietMillis, mostMillis)
    const wakeAt = unbegunWake({ deadlineAt, startsAt })
    const row = { ...made, startsAt, wakeAt, state: "queued", owner: null } satisfies Omit<
      NewExecution,
      "key" | "messages"
    >
    // A clock that was set back may come to the time of an earlier burst.
    for (let time = at; ; time++) {
      const execution = newExecution({ ...row, key: `${key} ${new Date(time).toISOString()}` }, at, 0)
      const rows = yield* inserted(sql, [execution], mine)
      if (rows.length > 0) {
        yield* tagged(execution)
        return execution
      }
      // The response to an earlier attempt was lost, and there were calls since.
      const own = yield* locked(flow, made.id)
      if (own !== null) return own
    }
  })

  const forget = (at: number) => sql`
    DELETE FROM flow_debounce WHERE (flow, debounce_key) IN (
      SELECT d.flow, d.debounce_key FROM flow_debounce d
      WHERE d.last_at < ${at - rememberedMillis} AND NOT EXISTS (
        SELECT 1 FROM flow_run r WHERE r.id = d.execution AND r.ended_at IS NULL
          AND (r.starts_at IS NOT NULL OR r.queued_at IS NOT NULL)
      ) ORDER BY d.last_at LIMIT ${forgottenAtATime} ${Dialect.skipLocked(sql, "d")}
    )`

  const debounce: (typeof Journal.Service)["debounce"] = Effect.fnUntraced(function* (
    made,
    given,
    inputOf = () => made.input
  ) {
    const at = yield* now
    const mine = token()
    const flow = Texts.toText(made.flow)
    const key = Texts.addressOf(given.key)
    const answer = yield* transaction(
      Effect.gen(function* () {
        const { execution: id, first_at: firstAt, token: last } = yield* burst(flow, key, at)
        const before = id === null ? null : yield* locked(flow, id)
        // The response to an earlier attempt was lost.
        if (last === mine && before !== null) return { isNew: false, execution: before }
        const isOpen = before !== null && isUnbegun(before)
        const execution = isOpen
          ? yield* replace(
              before,
              { ...made, input: inputOf(before.id) },
              Math.min(firstAt + given.mostMillis, at + given.quietMillis),
              at
            )
          : yield* create(made, given, at, mine)
        const { id: current } = execution
        yield* sql`
          UPDATE flow_debounce SET execution = ${Texts.toText(current)}, token = ${mine}, first_at = ${isOpen ? firstAt : at}
          WHERE flow = ${flow} AND debounce_key = ${key}`
        if (!isOpen) yield* forget(at)
        return { isNew: !isOpen, execution }
      })
    )
    publish([null, answer.execution.id, false])
    return answer
  })

  return { debounce }
}
