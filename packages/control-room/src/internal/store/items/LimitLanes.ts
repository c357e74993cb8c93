/**
 * The lanes in which items under limits wait: of each run and step one for each set of values. The next item is the first of
 * the first lane that is not blocked, so that neither full keys nor their items are looked at.
 *
 * A lane has a place that is never after that of its first item. What takes items away (a stop, a deletion, another payload) need
 * not write it: the place is put right when the lane is looked at, and a lane without items is deleted then.
 *
 * All is for callers that have locked the run.
 */
import type { ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import { integer, nullable, query, Table, text } from "@signalbox/sql/Table"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import * as Limits from "../../engine/Limits.ts"
import type { Run } from "../../engine/State.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database } from "../database/Database.ts"
import { itemId, workItemTable } from "./StoredItem.ts"

const laneTable = Table("limit_lane", {
  process_run_id: workItemTable.fields.process_run_id,
  step: integer,
  lane: text,
  process_id: workItemTable.fields.process_id,
  place: integer,
  given_at: integer,
  blocked_by: nullable(text)
})
const enteredRow = workItemTable.pick("id", "payload", "sort_key").and({ step: integer })
const headRow = laneTable.pick("lane", "place", "given_at").and({
  id: nullable(workItemTable.fields.id),
  sort_key: nullable(integer),
  priority: nullable(integer)
})

/** Items whose payloads are read together: each may have a megabyte. */
const readAtOnce = 50

/** Lanes that are read together. */
const lanesAtOnce = 20

/** The first item of a lane. */
export interface Head {
  readonly id: WorkItemId
  readonly step: number
  readonly lane: string
  readonly place: number
  readonly buckets: ReadonlyArray<Limits.Bucket>
}

export const make = Effect.gen(function* () {
  const { millis, now, sql } = yield* Database
  const waiting = sql.literal("state = 'pending' AND step_run_id IS NULL")

  const enter = Effect.fnUntraced(function* (run: Run, items: ReadonlyArray<WorkItemId>) {
    for (const some of Arr.chunksOf(items, readAtOnce)) {
      const rows = yield* query(
        enteredRow,
        sql`SELECT id, payload, sort_key, step FROM work_item WHERE ${sql.in("id", some)} AND step IS NOT NULL`
      )
      const entered = rows.flatMap(({ id, payload, sort_key, step }) => {
        const definition = run.steps[step]
        if (definition === undefined || !Limits.isLimited(definition)) return []
        return { id, step, place: sort_key, lane: Limits.laneOf(run.processId, definition, ExactJson.parse(payload)) }
      })
      if (!Arr.isReadonlyArrayNonEmpty(entered)) continue
      const values = sql.join(" ", false)(entered.map(({ id, lane }) => sql`WHEN ${id} THEN ${lane}`))
      yield* sql`
        UPDATE work_item SET lane = CASE id ${values} END WHERE ${sql.in(
          "id",
          entered.map(({ id }) => id)
        )}`
      const first = new Map<string, (typeof entered)[number]>()
      for (const item of entered) {
        const known = first.get(`${item.step} ${item.lane}`)
        if (known === undefined || item.place < known.place) first.set(`${item.step} ${item.lane}`, item)
      }
      const lanes = Arr.map(Arr.fromIterable(first.values()), ({ lane, place, step }) => ({
        process_run_id: run.id,
        step,
        lane,
        process_id: run.processId,
        place
      }))
      if (!Arr.isReadonlyArrayNonEmpty(lanes)) continue
      yield* sql`
        INSERT INTO limit_lane ${laneTable.insert(lanes)}
        ON CONFLICT (process_run_id, step, lane) DO UPDATE SET place =
          CASE WHEN excluded.place < limit_lane.place THEN excluded.place ELSE limit_lane.place END`
      yield* Effect.yieldNow
    }
  })

  /** Items whose delay is over begin to wait. */
  const endDelays = Effect.fnUntraced(function* (run: Run, step: number) {
    const at = yield* now
    const ended = yield* query(
      itemId,
      sql`
        UPDATE work_item SET not_before = NULL WHERE id IN (
          SELECT id FROM work_item
          WHERE process_run_id = ${run.id} AND step = ${step} AND ${waiting} AND not_before IS NOT NULL AND not_before <= ${at}
          ORDER BY not_before, id LIMIT ${Chunks.rowsPerChunk})
        RETURNING id`
    )
    yield* enter(
      run,
      ended.map(({ id }) => id)
    )
  })

  const ofLane = (run: ProcessRunId, step: number, lane: string) =>
    sql`process_run_id = ${run} AND step = ${step} AND lane = ${lane}`

  /** The first lanes by their places, with their first items but for these; null: some places were not right, and are now. */
  const firstLanes = Effect.fnUntraced(function* (run: Run, step: number, chosen: ReadonlyArray<WorkItemId>) {
    const other = chosen.length === 0 ? sql.literal("") : sql`AND NOT ${sql.in("id", chosen)}`
    const head = (column: "id" | "sort_key" | "priority"): Fragment => sql`
      (SELECT ${sql(column)} FROM work_item
        WHERE process_run_id = ${run.id} AND step = ${step} AND lane = first_lane.lane AND lane IS NOT NULL
          AND ${waiting} AND not_before IS NULL ${other}
        ORDER BY sort_key, id LIMIT 1) AS ${sql(column)}`
    const rows = yield* query(
      headRow,
      sql`
        SELECT lane, place, given_at, ${head("id")}, ${head("sort_key")}, ${head("priority")}
        FROM (
          SELECT lane, place, given_at FROM limit_lane
          WHERE process_run_id = ${run.id} AND step = ${step} AND blocked_by IS NULL
          ORDER BY place, given_at, lane LIMIT ${lanesAtOnce}) AS first_lane
        ORDER BY place, given_at, lane`
    )
    const definition = run.steps[step]
    const heads: Array<Head> = []
    let isRight = true
    for (const { given_at, id, lane, place, priority, sort_key } of rows) {
      if (id === null || sort_key === null || definition === undefined) {
        isRight = false
        yield* sql`DELETE FROM limit_lane WHERE ${ofLane(run.id, step, lane)}`
        continue
      }
      const right = Limits.placeOf({ sortKey: sort_key, priority: priority ?? 0 }, given_at)
      if (right !== place) {
        isRight = false
        yield* sql`UPDATE limit_lane SET place = ${right} WHERE ${ofLane(run.id, step, lane)}`
      }
      heads.push({ id, step, lane, place: right, buckets: Limits.bucketsOf(run.processId, definition, lane) })
    }
    return isRight ? heads : null
  })

  const walk = Effect.fnUntraced(function* (
    run: Run,
    step: number,
    limit: number,
    admit: (head: Head) => Effect.Effect<Limits.Bucket | null>
  ) {
    const definition = run.steps[step]
    if (definition === undefined) return []
    yield* endDelays(run, step)
    // What all lanes share blocks none of them: the first that is refused by it ends the walk.
    const shared = Limits.sharedBuckets(run.processId, definition)
    if (shared.length > 0) {
      yield* sql`
        UPDATE limit_lane SET blocked_by = NULL
        WHERE process_run_id = ${run.id} AND step = ${step} AND ${sql.in("blocked_by", shared)} AND blocked_by IS NOT NULL`
    }
    const chosen: Array<WorkItemId> = []
    for (;;) {
      const heads = yield* firstLanes(run, step, chosen)
      if (heads === null) continue
      if (heads.length === 0) return chosen
      for (const head of heads) {
        if (chosen.length === limit) return chosen
        const full = yield* admit(head)
        if (full === null) {
          chosen.push(head.id)
          yield* sql`UPDATE limit_lane SET given_at = ${yield* millis} WHERE ${ofLane(run.id, step, head.lane)}`
          continue
        }
        yield* sql`UPDATE limit_lane SET blocked_by = ${full.name} WHERE ${ofLane(run.id, step, head.lane)}`
        if (full.key === null) return chosen
      }
    }
  })

  return {
    /** Puts waiting items into the lanes of their values. */
    enter,
    /**
     * Up to so many items of a step, lane after lane in turn, which `admit` has taken; it returns what has no room for an item, and its
     * lane is blocked by that.
     */
    walk,
    /** Ends the blocking of this many lanes of the run, the first ones. */
    unblock: (run: ProcessRunId, bucket: string, lanes: number) => sql`
      UPDATE limit_lane SET blocked_by = NULL
      WHERE process_run_id = ${run} AND (step, lane) IN (
        SELECT step, lane FROM limit_lane WHERE process_run_id = ${run} AND blocked_by = ${bucket}
        ORDER BY place LIMIT ${lanes})`,
    /** No item of the run waits. */
    clear: (run: ProcessRunId) => sql`DELETE FROM limit_lane WHERE process_run_id = ${run}`
  }
})
