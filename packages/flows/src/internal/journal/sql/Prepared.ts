/**
 * Executions that were created before their flow has read the input: what it makes of that is written by the process that claims them.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { queryOne } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import { type Execution, OwnershipLost } from "../../model/Execution.ts"
import type { Journal } from "../Journal.ts"
import { enqueued, queueOf } from "./Lanes.ts"
import { executionRow, type ExecutionRow, executionTable, tags as tagTable, tagsOf, toExecution } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { put } from "./Tables.ts"
import * as Texts from "./Texts.ts"

export const make = ({ now, publish, sql, transaction }: Store) => {
  /** Locks the row while the claim is valid; null: it is not, or the call is repeated. */
  const locked = (id: string, epoch: number) =>
    queryOne(
      executionRow,
      sql`
        SELECT ${executionRow.columns} FROM flow_run WHERE id = ${Texts.toText(id)} AND epoch = ${epoch}
        ${Dialect.forUpdate(sql)}`
    )

  const written = Effect.fnUntraced(function* (
    row: ExecutionRow,
    tags: ReadonlyArray<string>,
    limits: Execution["limits"],
    at: number
  ) {
    const id = Texts.toText(row.id)
    const isQueued = limits.length > 0
    const after: Execution = { ...toExecution(row), limits, queuedAt: isQueued ? at : null }
    yield* Effect.forEach(
      put(sql, tagTable, { execution: id, started_at: row.started_at }, tagsOf(tags)),
      (statement) => sql`${statement}`,
      { discard: true }
    )
    if (isQueued) yield* sql`${enqueued({ sql }, after)}`
    const values = isQueued
      ? { limits, lane: queueOf(after), queued_at: at, owner: null, wake_at: null }
      : { state: "running" as const }
    yield* sql`UPDATE flow_run SET ${executionTable.update({ ...values, tags, changed_at: at })} WHERE id = ${id}`
  })

  const prepare: (typeof Journal.Service)["prepare"] = Effect.fnUntraced(function* ({ epoch, id }, { limits, tags }) {
    const at = yield* now
    const found = yield* transaction(
      Effect.gen(function* () {
        const row = yield* locked(id, epoch)
        // A repeated call finds what it has written.
        if (row !== null && row.state === "queued" && row.queued_at === null) yield* written(row, tags, limits, at)
        return row
      })
    )
    if (found === null) return yield* new OwnershipLost({ id })
    if (limits.length > 0) publish([null, id, false])
  })

  return { prepare }
}
