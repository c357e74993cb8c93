/**
 * Work items as runs process them: how they are added to a run, wait, are reserved, and move. `WorkItems` has the items
 * themselves.
 */
import { type ProcessId, ProcessRunId, type StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { type Columns, id, query, queryOne, Row } from "@signalbox/sql/Table"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"
import { millisPerPoint } from "../../engine/Order.ts"
import * as Engine from "../../engine/Engine.ts"
import type { Change, Exception, Hand, Run, StepRun } from "../../engine/State.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database } from "../database/Database.ts"
import { noneIsPaused } from "../processes/Pauses.ts"
import {
  type GivenItem,
  givenRow,
  hasFiles,
  itemId,
  newRow,
  noOrder,
  parseGiven,
  parseState,
  stateRow,
  withFiles,
  workItemTable
} from "./StoredItem.ts"

const wholeRow = givenRow.and(withFiles)
const heldRow = stateRow.and(workItemTable.pick("sort_key").fields)
const dueRow = workItemTable.pick("id", "not_before")

export type ItemMove = Extract<Change, { readonly _tag: "ItemMoved" }>
export type ItemAhead = Extract<Change, { readonly _tag: "ItemAhead" }>
export type WaitingSettled = Extract<Change, { readonly _tag: "WaitingSettled" }>

/** How large the payloads of items given ahead are together. */
const bytesAhead = 64 * 1024

/** Items moved by hand in one statement: each changes most indexes of the table, and readers run in between. */
const movedAtOnce = 20

/** Nearly all moves are of four kinds, each written for many items in one statement. */
const kindOf = ({ attempts, exception, notBefore, releasedBy, stepRun, to }: ItemMove) => {
  // Only moves by hand leave the exception of an item that they settle or queue as it is.
  if (exception === undefined && to === "done") return "settled"
  if (exception === undefined && to === "pending" && stepRun === null && releasedBy === null && attempts === 0)
    return notBefore === null ? "retried" : "other"
  return stepRun === null || notBefore !== null
    ? "other"
    : to === "done" && exception === null && releasedBy === stepRun
      ? "completed"
      : to === "in_progress" && exception === undefined
        ? "taken"
        : "other"
}

/** A retry by hand begins to wait anew; one by the step keeps its place. */
const waitsAnew = ({ notBefore, stepRun, to }: ItemMove) => to === "pending" && stepRun === null && notBefore === null

/** The text of a payload; the event loop gets its turn after a large one, of which a run may start with very many. */
const textOf = (payload: Schema.Json): Effect.Effect<string> => {
  const text = JSON.stringify(payload)
  return text.length < 20_000 ? Effect.succeed(text) : Effect.as(Effect.yieldNow, text)
}

export class RunItems extends Context.Service<
  RunItems,
  {
    /** Creates pending items of this priority in the first step of a run. */
    readonly create: (run: Run, payloads: ReadonlyArray<Schema.Json>, priority: number) => Effect.Effect<void>
    /**
     * Moves these `new` items of the process into the first step of a run; returns how many it moved. Those without a
     * priority get this one.
     */
    readonly take: (run: Run, items: ReadonlyArray<WorkItemId>, priority: number) => Effect.Effect<number>
    /** The inputs of a run that still exist: the items of its first step. */
    readonly inputsOf: (run: ProcessRunId) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /**
     * Creates pending items in the first step of a run with the payloads, priorities and tags of these; returns those that
     * have files.
     */
    readonly copy: (
      run: Run,
      items: ReadonlyArray<WorkItemId>
    ) => Effect.Effect<ReadonlyArray<{ readonly from: WorkItemId; readonly to: WorkItemId }>>
    /** Ids of the `new` items of a process, the oldest first, locked until the transaction ends. */
    readonly queued: (process: ProcessId) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /**
     * Items of a step that are pending and due, locked until the transaction ends, by their sort key. An item that the
     * step retries has kept its own. None when its process or step, or the group or worker that they are for, is paused.
     * For callers that have locked the run.
     */
    readonly due: (
      run: Run,
      step: number,
      worker: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<GivenItem>>
    /** Whether items of a step may be given to a worker: neither it nor its process, or the group or worker, is paused. */
    readonly mayBeGiven: (run: Run, step: number, worker: string | null) => Effect.Effect<boolean>
    /** Those of these ids that exist. */
    readonly given: (ids: ReadonlyArray<WorkItemId>) => Effect.Effect<ReadonlyArray<GivenItem>>
    /** The ids of items in the same order, also of what is paused: payloads may be large. */
    readonly dueIds: (run: ProcessRunId, step: number, limit: number) => Effect.Effect<ReadonlyArray<WorkItemId>>
    /** Like `due`, and only the first of them if their payloads are large: as many as have 64 KB together. */
    readonly dueAhead: (
      run: Run,
      step: number,
      worker: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<GivenItem>>
    /** The open items of a step run. */
    readonly held: (stepRun: Pick<StepRun, "id" | "state">) => Effect.Effect<Hand>
    /** The exception of the item of a run that failed last; null when no item has one. */
    readonly lastException: (run: ProcessRunId) => Effect.Effect<Exception | null>
    /** Runs with items whose delay is over. */
    readonly runsWithDelayOver: Effect.Effect<ReadonlyArray<ProcessRunId>>
    /** Settles all waiting items of a run, in any step. */
    readonly settleWaiting: (run: Run, change: WaitingSettled) => Effect.Effect<void>
    /** Assigns pending items to step runs, or to none. */
    readonly assign: (items: ReadonlyArray<ItemAhead>) => Effect.Effect<void>
    /** Writes moves; of several of one item, where they end. */
    readonly move: (moves: ReadonlyArray<ItemMove>) => Effect.Effect<void>
    /** The payload of an item; null: it does not exist. */
    readonly payloadOf: (id: WorkItemId) => Effect.Effect<Schema.Json>
    /** Replaces the payload (JSON text) of the reserved item of a step run; false when it is another item. */
    readonly setPayload: (stepRun: StepRunId, id: string, payload: string) => Effect.Effect<boolean>
  }
>()("@signalbox/control-room/store/RunItems") {
  static readonly layer = Layer.effect(
    RunItems,
    Effect.gen(function* () {
      const { newId, now, sql } = yield* Database
      const whole = sql`SELECT ${givenRow.columns}, ${sql.literal(hasFiles)} FROM work_item`
      const forUpdate = Dialect.forUpdate(sql)
      // Concurrent writers lock items in the same order.
      const lockNew = (process: ProcessId, items: ReadonlyArray<WorkItemId>) =>
        sql`SELECT id FROM work_item WHERE ${sql.in("id", items)} AND process_id = ${process} ORDER BY id ${forUpdate}`

      /** From now on the items whose delay is over wait like all others, so that the first of all is found in one index. */
      const endDelays = (waiting: Fragment, at: string) =>
        sql`
          UPDATE work_item SET not_before = NULL WHERE id IN (
            SELECT id FROM work_item WHERE ${waiting} AND not_before IS NOT NULL AND not_before <= ${at}
            ORDER BY not_before, id LIMIT ${Chunks.rowsPerChunk})`

      const due = Effect.fnUntraced(function* <C extends Columns>(
        row: Row<C & typeof dueRow.fields>,
        columns: Fragment,
        run: ProcessRunId,
        step: number,
        limit: number,
        given: Fragment = sql`1 = 1`,
        few: (ready: Fragment) => Fragment = (ready) => sql`SELECT id FROM (${ready}) AS ready`
      ) {
        const at = yield* now
        const waiting = sql`process_run_id = ${run} AND step = ${step} AND state = 'pending' AND step_run_id IS NULL`
        const ready = few(sql`
          SELECT id, sort_key, octet_length(payload) AS bytes FROM work_item
          WHERE ${waiting} AND not_before IS NULL ORDER BY sort_key, id LIMIT ${limit}`)
        const rows = yield* query(
          row,
          sql`
            ${columns}
            WHERE id IN (
              SELECT id FROM (
                SELECT id FROM work_item WHERE ${waiting} AND not_before IS NOT NULL AND not_before <= ${at}
                ORDER BY not_before, id LIMIT 1) AS delayed
              UNION ALL ${ready}) AND ${given}
            ORDER BY not_before IS NULL, sort_key, id LIMIT ${limit} ${forUpdate}`
        )
        if ((rows[0]?.not_before ?? null) === null) return rows
        yield* endDelays(waiting, at)
        return yield* query(
          row,
          sql`${columns} WHERE id IN (${ready}) AND ${given} ORDER BY sort_key, id LIMIT ${limit} ${forUpdate}`
        )
      })

      /** The first ones, up to the one with which they have so many bytes. */
      const fewBytes = (ready: Fragment) => sql`
        SELECT id FROM (
          SELECT id, bytes, sum(bytes) OVER (ORDER BY sort_key, id) AS total FROM (${ready}) AS ready) AS sized
        WHERE total - bytes < ${bytesAhead}`

      const notPaused = (run: Run, step: number, worker: string | null) => {
        const { id, worker_group } = run.steps[step] ?? {}
        const subjects = [run.processId, id, worker_group?.id, worker].flatMap((subject) => subject ?? [])
        return noneIsPaused(sql, run.workspaceId, sql.csv(subjects.map((subject) => sql`${subject}`)))
      }

      const dueWhole = (run: Run, step: number, worker: string | null, limit: number, few?: typeof fewBytes) =>
        Effect.map(due(wholeRow, whole, run.id, step, limit, notPaused(run, step, worker), few), (rows) =>
          rows.map(parseGiven)
        )

      // One that was ahead has begun and ended in the same transaction.
      const complete = (moves: ReadonlyArray<ItemMove>, at: string) =>
        Chunks.forEach(
          moves,
          (some) => sql`
            UPDATE work_item
            SET state = 'done', state_updated_at = ${at}, released_by = step_run_id, not_before = NULL, exception = NULL,
              attempts = attempts + CASE state WHEN 'pending' THEN 1 ELSE 0 END
            WHERE ${sql.in(
              "id",
              some.map(({ id }) => id)
            )}`
        )

      const reserve = (moves: ReadonlyArray<ItemMove>, at: string) =>
        Chunks.forEach(moves, (some) => {
          const ids = some.map(({ id }) => id)
          const owners = sql.join(" ", false)(some.map(({ id, stepRun }) => sql`WHEN ${id} THEN ${stepRun}`))
          // Reserving an item begins an attempt.
          return sql`
            UPDATE work_item
            SET state = 'in_progress', state_updated_at = ${at}, attempts = attempts + 1, not_before = NULL,
              step_run_id = CASE id ${owners} END
            WHERE ${sql.in("id", ids)}`
        })

      const millisOfPriority = sql.literal(`priority * ${millisPerPoint}`)
      /** The item begins to wait now. */
      const keyed = (at: string) => sql`, sort_key = ${Date.parse(at)} - ${millisOfPriority}`
      const nothing = sql.literal("")

      const byHand = (moves: ReadonlyArray<ItemMove>, changed: Fragment, at: string) =>
        Effect.forEach(Arr.chunksOf(moves, movedAtOnce), (some) =>
          Effect.andThen(
            Effect.yieldNow,
            sql`
              UPDATE work_item SET ${changed}, state_updated_at = ${at}, not_before = NULL, failure = NULL
              WHERE ${sql.in(
                "id",
                some.map(({ id }) => id)
              )}`
          )
        )

      const moveOne = (change: ItemMove, at: string) =>
        sql`UPDATE work_item SET ${workItemTable.update({
          state: change.to,
          state_updated_at: at,
          step_run_id: change.stepRun,
          attempts: change.attempts,
          released_by: change.releasedBy,
          not_before: change.notBefore,
          failure: change.failure?.fingerprint ?? null,
          exception: change.exception
        })}${waitsAnew(change) ? keyed(at) : nothing} WHERE id = ${change.id}`

      return RunItems.of({
        create: Effect.fnUntraced(function* (run, payloads, priority) {
          const [step] = run.steps
          if (step === undefined) return
          const { id, processId: process, workspaceId: workspace } = run
          // One time for all: by the clock of a database, which may be set back by a millisecond, a later one could come first.
          const at = yield* now
          const rowOf = Effect.fnUntraced(function* (payload: Schema.Json) {
            return newRow({
              at,
              id: yield* newId,
              workspace,
              process,
              payload: yield* textOf(payload),
              order: { ...noOrder, priority },
              reference: null,
              run: { id, step }
            })
          })
          yield* Chunks.forEach(payloads, (some) =>
            Effect.flatMap(
              Effect.forEach(some, rowOf),
              (rows) => sql`INSERT INTO work_item ${workItemTable.insert(rows)}`
            )
          )
        }),
        take: Effect.fnUntraced(function* (run, items, priority) {
          const at = yield* now
          const taken = {
            process_run_id: run.id,
            step: 0,
            step_id: run.steps[0]?.id ?? null,
            state: "pending",
            state_updated_at: at
          }
          const own = sql`CASE priority WHEN 0 THEN ${sql.literal(String(priority))} ELSE priority END`
          const key = sql`${Date.parse(at)} - ${own} * ${sql.literal(String(millisPerPoint))}`
          const rows = yield* Chunks.flatMap(
            // Sorted, because all transactions lock items in this order.
            items.toSorted(),
            Effect.fnUntraced(function* (some) {
              if (Dialect.isPostgres(sql)) yield* lockNew(run.processId, some)
              return yield* sql`
                UPDATE work_item SET ${sql.update(taken)}, sort_key = ${key}, priority = ${own}
                WHERE ${sql.in("id", some)} AND process_id = ${run.processId} AND state = 'new' RETURNING id`
            })
          )
          return rows.length
        }),
        inputsOf: (run) =>
          Chunks.walk((after) =>
            query(
              itemId,
              sql`
                SELECT id FROM work_item WHERE process_run_id = ${run} AND step = 0 AND id > ${after}
                ORDER BY id LIMIT ${Chunks.rowsPerChunk}`,
              (row) => row.id
            )
          ),
        copy: Effect.fnUntraced(function* (run, items) {
          const [step] = run.steps
          const at = yield* now
          return yield* Chunks.flatMap(
            items,
            Effect.fnUntraced(function* (some) {
              const copies = new Map<string, string>()
              for (const id of some) copies.set(id, yield* newId)
              const pairs = sql.csv([...copies].map(([from, to]) => sql`(${from}, ${to})`))
              // Payloads may be large, so they stay in the database.
              yield* sql`
                INSERT INTO work_item (id, workspace_id, process_id, process_run_id, step, step_id, state,
                  state_updated_at, created_at, payload, attempts, priority, sort_key, tags)
                SELECT pair.column2, work_item.workspace_id, work_item.process_id, ${run.id}, 0, ${step?.id ?? null},
                  'pending', ${at}, ${at}, work_item.payload, 0, priority, ${Date.parse(at)} - ${millisOfPriority}, tags
                FROM (VALUES ${pairs}) AS pair JOIN work_item ON work_item.id = pair.column1`
              yield* sql`
                INSERT INTO work_item_tag (workspace_id, tag, id)
                SELECT work_item_tag.workspace_id, work_item_tag.tag, pair.column2
                FROM (VALUES ${pairs}) AS pair JOIN work_item_tag ON work_item_tag.id = pair.column1`
              const withFiles = yield* query(
                itemId,
                sql`
                  SELECT id FROM work_item
                  WHERE ${sql.in("id", some)} AND EXISTS (SELECT 1 FROM file WHERE file.owner_id = work_item.id)`
              )
              return withFiles.flatMap(({ id: from }) => {
                const to = copies.get(from)
                return to === undefined ? [] : [{ from, to: WorkItemId.make(to) }]
              })
            })
          )
        }),
        queued: (process) =>
          Chunks.walk((after) =>
            query(
              itemId,
              sql`
                SELECT id FROM work_item WHERE process_id = ${process} AND state = 'new' AND id > ${after}
                ORDER BY id LIMIT ${Chunks.rowsPerChunk} ${forUpdate}`,
              (row) => row.id
            )
          ),
        due: (run, step, worker, limit) => dueWhole(run, step, worker, limit),
        dueAhead: (run, step, worker, limit) => dueWhole(run, step, worker, limit, fewBytes),
        mayBeGiven: (run, step, worker) =>
          Effect.map(sql`SELECT 1 AS given WHERE ${notPaused(run, step, worker)}`, (rows) => rows.length > 0),
        given: (ids) => query(wholeRow, sql`${whole} WHERE ${sql.in("id", ids)}`, parseGiven),
        dueIds: (run, step, limit) =>
          Effect.map(due(dueRow, sql`SELECT ${dueRow.columns} FROM work_item`, run, step, limit), (rows) =>
            rows.map((row) => row.id)
          ),
        held: (stepRun) =>
          Effect.map(
            query(
              heldRow,
              sql`
                SELECT ${heldRow.columns} FROM work_item
                WHERE step_run_id = ${stepRun.id} AND state IN ('pending', 'in_progress')`
            ),
            (rows) => {
              const inOrder = rows.toSorted((a, b) => a.sort_key - b.sort_key || (a.id < b.id ? -1 : 1))
              return Engine.handOf(stepRun, inOrder.map(parseState))
            }
          ),
        lastException: (run) =>
          queryOne(
            workItemTable.pick("exception"),
            sql`
              SELECT exception FROM work_item WHERE process_run_id = ${run} AND state = 'failed'
              ORDER BY state_updated_at DESC, id DESC LIMIT 1`,
            (row) => row.exception
          ),
        runsWithDelayOver: Effect.gen(function* () {
          const delayed = sql.literal("state = 'pending' AND step_run_id IS NULL AND not_before IS NOT NULL")
          // One step in the index for each run that has delayed items, however many.
          const rows = yield* query(
            Row({ run: id(ProcessRunId) }),
            sql`
              WITH RECURSIVE delayed (run) AS (
                SELECT min(process_run_id) FROM work_item WHERE ${delayed}
                UNION ALL
                SELECT (SELECT min(process_run_id) FROM work_item WHERE ${delayed} AND process_run_id > delayed.run)
                FROM delayed WHERE delayed.run IS NOT NULL
              )
              SELECT run FROM delayed
              WHERE EXISTS (
                SELECT 1 FROM work_item WHERE process_run_id = delayed.run AND ${delayed} AND not_before <= ${yield* now})`
          )
          return rows.map((row) => row.run)
        }),
        settleWaiting: Effect.fnUntraced(function* (run, { exception, failures, to }) {
          const settled = workItemTable.update({
            state: to,
            state_updated_at: yield* now,
            not_before: null,
            exception: exception ?? undefined
          })
          const ofSteps = failures.flatMap((failure, step) =>
            failure === null ? [] : [sql`WHEN step = ${step} THEN ${failure.fingerprint}`]
          )
          const failure =
            ofSteps.length === 0 ? sql.literal("") : sql`, failure = CASE ${sql.join(" ", false)(ofSteps)} END`
          yield* Chunks.walk((after) =>
            Effect.map(
              query(
                itemId,
                sql`
                  UPDATE work_item SET ${settled}${failure} WHERE id IN (
                    SELECT id FROM work_item
                    WHERE process_run_id = ${run.id} AND state = 'pending' AND step_run_id IS NULL AND id > ${after}
                    ORDER BY id LIMIT ${Chunks.rowsPerChunk})
                  RETURNING id`
              ),
              (rows) => rows.map((row) => row.id).toSorted()
            )
          )
        }),
        assign: Effect.fnUntraced(function* (items) {
          for (const [isAhead, of] of Map.groupBy(items, ({ stepRun }) => stepRun !== null)) {
            yield* Chunks.forEach(of, (some) => {
              const ids = some.map(({ id }) => id)
              const owners = some.map(({ id, stepRun }) => sql`WHEN ${id} THEN ${stepRun}`)
              const owner = isAhead ? sql`CASE id ${sql.join(" ", false)(owners)} END` : sql.literal("NULL")
              return sql`UPDATE work_item SET step_run_id = ${owner}, not_before = NULL WHERE ${sql.in("id", ids)}`
            })
          }
        }),
        move: Effect.fnUntraced(function* (moves) {
          const at = yield* now
          const last = new Map(moves.map((move) => [move.id, move]))
          const of = Map.groupBy(last.values(), kindOf)
          yield* complete(of.get("completed") ?? [], at)
          yield* reserve(of.get("taken") ?? [], at)
          yield* byHand(of.get("settled") ?? [], sql.literal("state = 'done'"), at)
          const retried = sql.literal("state = 'pending', step_run_id = NULL, attempts = 0, released_by = NULL")
          yield* byHand(of.get("retried") ?? [], sql`${retried}${keyed(at)}`, at)
          for (const change of of.get("other") ?? []) yield* moveOne(change, at)
        }),
        payloadOf: (id) =>
          Effect.map(
            queryOne(workItemTable.pick("payload"), sql`SELECT payload FROM work_item WHERE id = ${id}`),
            (row) => (row === null ? null : ExactJson.parse(row.payload))
          ),
        setPayload: Effect.fnUntraced(function* (stepRun, id, payload) {
          const rows = yield* sql`
            UPDATE work_item SET payload = ${payload}
            WHERE id = ${id} AND step_run_id = ${stepRun} AND state = 'in_progress' RETURNING id`
          return rows.length === 1
        })
      })
    })
  )
}
