/**
 * Changes of executions by commands, under the lock of the execution.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { integer, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type Change, hasEnded, type Locked } from "../../model/Execution.ts"
import { type Journal } from "../Journal.ts"
import { queuedAfter } from "../Common.ts"
import type * as Commands from "./Commands.ts"
import type * as Executions from "./Executions.ts"
import { enqueued, queueOf } from "./Lanes.ts"
import { deleted } from "./Messages.ts"
import * as Said from "./Said.ts"
import { executionRow, type ExecutionRow, executionTable, executionValues, toExecution, undos } from "./Rows.ts"
import { isDue, type Store } from "./Store.ts"
import { put, rowsOf } from "./Tables.ts"
import * as Texts from "./Texts.ts"

const attemptRow = Row({ path: text, attempt: integer })
const pathRow = Row({ path: text })

interface Changed {
  readonly before: ExecutionRow
  readonly after: ExecutionRow
  readonly isChanged: boolean
}

export const make = (
  { now, publish, sql, token, transaction }: Store,
  { rest }: Pick<ReturnType<typeof Executions.make>, "rest">,
  commands: Pick<ReturnType<typeof Commands.make>, "of" | "put">
) => {
  const each = (statements: ReadonlyArray<Fragment>) =>
    Effect.forEach(statements, (statement) => sql`${statement}`, { discard: true })

  const locked = (id: string) =>
    queryOne(
      executionRow,
      sql`SELECT ${executionRow.columns} FROM flow_run WHERE id = ${id} AND expired = 0 ${Dialect.forUpdate(sql)}`
    )

  const setAside = Effect.fnUntraced(function* (id: string, aside: number, entries: Change["aside"]) {
    for (const [redo, group] of Map.groupBy(entries, (entry) => entry.redo)) {
      const rows = group.map(({ attempt, path }) => ({ path: Texts.addressOf(path), attempt }))
      yield* sql`
        UPDATE flow_entry SET aside = ${aside}, next_redo = ${redo}, awaits = NULL
        WHERE execution = ${id} AND aside = 0
          AND (path, attempt) IN (SELECT r.path, r.attempt FROM ${rowsOf(sql, attemptRow, rows)})`
    }
  })

  /** Adds an execution with limits to its queue, or removes it. */
  const queue = Effect.fnUntraced(function* (before: ExecutionRow, changed: Change["execution"], at: number) {
    const execution = toExecution(before)
    if (execution.limits.length === 0) return {}
    const { startsAt = execution.startsAt, state } = changed
    const after = { ...execution, ...changed, queuedAt: queuedAfter({ ...execution, startsAt }, state, at) }
    if (queueOf(after) !== null) yield* sql`${enqueued({ sql }, after)}`
    return { lane: queueOf(after), queued_at: after.queuedAt }
  })

  const updated = (id: string, assigned: ReadonlyArray<Fragment>) =>
    queryOne(
      executionRow,
      sql`UPDATE flow_run SET ${sql.csv(assigned)} WHERE id = ${id} RETURNING ${executionRow.columns}`
    )

  const apply = Effect.fnUntraced(function* (before: ExecutionRow, change: Change, at: number, mine: string) {
    const id = Texts.toText(before.id)
    const { aside, asideUndos, execution, taken } = change
    const asides = before.asides + (aside.length === 0 ? 0 : 1)
    if (aside.length > 0) {
      yield* setAside(id, asides, aside)
      yield* sql`${Said.unmarked(sql, id)}`
    }
    if (asideUndos.length > 0) {
      const rows = asideUndos.map((path) => ({ path: Texts.addressOf(path) }))
      yield* sql`
        DELETE FROM flow_undo WHERE execution = ${id} AND path IN (SELECT r.path FROM ${rowsOf(sql, pathRow, rows)})`
    }
    yield* each([...put(sql, undos, { execution: id }, change.undos), ...deleted(sql, id, taken)])
    const sent = yield* commands.put(before, change, at, mine)
    const news = Math.max(sent, change.keepsOwner === true ? taken.length : 0)
    if (change.keepsOwner === true && news === 0) return before
    const mail = [
      // Who runs it sees by this number that there is news, also when a suspend was withdrawn.
      sql`mail = mail + ${news}`,
      sql`commanded = (
        SELECT max(seq) FROM flow_message WHERE execution = flow_run.id AND kind IN ('cancel', 'suspend')
      )`
    ]
    if (change.keepsOwner === true) {
      // What is queued has not begun: nothing but its time or its admission starts it.
      const wake = sql`wake_at = CASE WHEN owner IS NOT NULL OR state = 'queued' OR wake_at <= ${at} THEN wake_at
        ELSE CAST(${at} AS BIGINT) END`
      return yield* updated(id, [...mail, sql`changed_at = ${at}`, wake])
    }
    const values = executionTable.update({
      owner: null,
      token: mine,
      asides,
      changed_at: at,
      ...executionValues(execution),
      ...(yield* queue(before, execution, at))
    })
    return yield* updated(id, [...mail, sql`epoch = epoch + 1`, values])
  })

  /** Runs in a transaction, and returns the exit of `decide`, because only failures of the database are retried. */
  const decided = Effect.fnUntraced(function* <E>(
    id: string,
    decide: (locked: Locked) => Effect.Effect<Change | null, E>,
    at: number,
    mine: string
  ): Effect.fn.Return<Exit.Exit<Changed | null, E>, SqlError> {
    const before = yield* locked(Texts.toText(id))
    if (before === null) return Exit.succeed(null)
    if (before.token === mine) return Exit.succeed({ before, after: before, isChanged: true })
    const decision = yield* Effect.exit(decide({ ...(yield* rest(before)), ...(yield* commands.of(before)) }))
    if (Exit.isFailure(decision)) return Exit.failCause(decision.cause)
    if (decision.value === null) return Exit.succeed({ before, after: before, isChanged: false })
    const after = (yield* apply(before, decision.value, at, mine)) ?? before
    return Exit.succeed({ before, after, isChanged: true })
  })

  const change: (typeof Journal.Service)["change"] = Effect.fnUntraced(function* (id, decide) {
    const at = yield* now
    const mine = token()
    const both = yield* yield* transaction(decided(id, decide, at, mine))
    if (both === null) return null
    const { after, before, isChanged } = both
    if (isChanged) {
      if (before.owner !== null) publish([before.owner, id, false])
      const isOver = hasEnded(after.state)
      if (isOver || after.state === "queued" || isDue(after, at)) publish([null, id, isOver])
    }
    return toExecution(after)
  })

  return change
}
