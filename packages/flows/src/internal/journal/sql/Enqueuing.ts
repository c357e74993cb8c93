/**
 * Executions whose time has come enter the queue of their limits.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { queryOne } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import { type Journal } from "../Journal.ts"
import { enqueued, queueOf } from "./Lanes.ts"
import { executionRow, executionTable, toExecution } from "./Rows.ts"
import type { Store } from "./Store.ts"
import * as Texts from "./Texts.ts"

export const make = ({ now, publish, sql, transaction }: Store) => {
  const enqueue: (typeof Journal.Service)["enqueue"] = Effect.fnUntraced(function* ({ epoch, id }) {
    const at = yield* now
    const queued = yield* transaction(
      Effect.gen(function* () {
        const row = yield* queryOne(
          executionRow,
          sql`
            SELECT ${executionRow.columns} FROM flow_run WHERE id = ${Texts.toText(id)} AND epoch = ${epoch} AND owner IS NOT NULL
            ${Dialect.forUpdate(sql)}`
        )
        if (row === null) return false
        const execution = toExecution(row)
        const queued_at = execution.queuedAt ?? at
        const after = { ...execution, queuedAt: queued_at, state: "queued" as const }
        yield* sql`${enqueued({ sql }, after)}`
        yield* sql`
          UPDATE flow_run SET ${executionTable.update({
            state: "queued",
            owner: null,
            lane: queueOf(after),
            queued_at,
            starts_at: null,
            wake_at: execution.deadlineAt,
            changed_at: at
          })} WHERE id = ${Texts.toText(id)}`
        return true
      })
    )
    if (queued) publish([null, id, false])
  })

  return { enqueue }
}
