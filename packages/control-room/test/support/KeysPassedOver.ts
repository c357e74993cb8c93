/** Watches whether keys that have room are passed over while others of their step are given items. */
import { assert } from "@effect/vitest"
import { integer, query, Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

const laneRow = Row({ run: text, step: integer, lane: text, given_at: integer, given: integer })

/**
 * Fails when the step of a lane that waits with room is given more than `most` items meanwhile. Each other key is given one item at
 * most, and some step runs have theirs already.
 */
export const keysPassedOver = Effect.fnUntraced(function* (most: number) {
  const sql = yield* SqlClient.SqlClient
  /** Lanes that wait with room, and how much their step had given when they began to. */
  const passed = new Map<string, number>()
  while (true) {
    yield* Effect.sleep("50 millis")
    const rows = yield* query(
      laneRow,
      sql`
        SELECT process_run_id AS run, step, lane, given_at,
          (SELECT count(*) FROM step_run_event JOIN step_run ON step_run.id = step_run_event.step_run_id
            WHERE step_run.process_run_id = limit_lane.process_run_id AND step_run.step = limit_lane.step
              AND event_type = 'ITEM_RESERVED') AS given
        FROM limit_lane
        WHERE blocked_by IS NULL AND EXISTS (
          SELECT 1 FROM work_item WHERE work_item.process_run_id = limit_lane.process_run_id
            AND work_item.step = limit_lane.step AND work_item.lane = limit_lane.lane
            AND state = 'pending' AND step_run_id IS NULL AND not_before IS NULL)`
    )
    const nameOf = ({ given_at, lane, run, step }: (typeof rows)[number]) => `${run} ${step} ${lane} ${given_at}`
    const now = new Set(rows.map(nameOf))
    for (const name of passed.keys()) if (!now.has(name)) passed.delete(name)
    for (const row of rows) {
      const name = nameOf(row)
      const since = passed.get(name) ?? row.given
      passed.set(name, since)
      assert.isAtMost(row.given - since, most, name)
    }
  }
})
