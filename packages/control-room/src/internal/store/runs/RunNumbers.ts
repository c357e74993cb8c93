/**
 * The numbers of runs within their process, as the older interface shows them: the oldest run that exists is 1. They are
 * counted when they are asked for, so that a run gets a lower number when older ones are deleted.
 */
import { ProcessRunId } from "@signalbox/api/contract/Ids"
import { id, integer, query, Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"

const numberRow = Row({
  id: id(ProcessRunId),
  process_id: text,
  /** How many runs of the process are newer than the run before this one in the list, up to this one. */
  added: integer
})

/** Returns the numbers of a page of runs. Walks the index of a process once, however many of its runs are asked for. */
export const make = Effect.map(Database, ({ sql }) =>
  Effect.fnUntraced(function* (runs: ReadonlyArray<ProcessRunId>): Effect.fn.Return<ReadonlyMap<ProcessRunId, number>> {
    const numbers = new Map<ProcessRunId, number>()
    if (runs.length === 0) return numbers
    const rows = yield* query(
      numberRow,
      sql`
        WITH asked AS (
          SELECT id, process_id, coalesce(lag(id) OVER (PARTITION BY process_id ORDER BY id), '') AS previous
          FROM process_run WHERE ${sql.in("id", [...new Set(runs)])})
        SELECT id, process_id, (
          SELECT count(*) FROM process_run AS run
          WHERE run.process_id = asked.process_id AND run.id > asked.previous AND run.id <= asked.id) AS added
        FROM asked ORDER BY id`
    )
    const reached = new Map<string, number>()
    for (const { added, id, process_id } of rows) {
      const number = (reached.get(process_id) ?? 0) + added
      reached.set(process_id, number)
      numbers.set(id, number)
    }
    return numbers
  })
)
