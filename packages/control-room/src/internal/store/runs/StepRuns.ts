/** Step runs and their events. `Leases` has which worker has leased them. */
import { StepRunId, type ProcessRunId, type WorkItemId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { StepRun as StepRunView, StepRunEvent } from "@signalbox/api/contract/StepRuns"
import * as Dialect from "@signalbox/sql/Dialect"
import { query, queryOne } from "@signalbox/sql/Table"
import { defined } from "@signalbox/transport/Defined"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isLimited } from "../../engine/Limits.ts"
import type { Change, Run } from "../../engine/State.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import * as Labels from "./Labels.ts"
import { eventRow, eventTable, parseEvent } from "./StoredEvent.ts"
import { workItemTable } from "../items/StoredItem.ts"
import {
  type Reserved,
  parseReserved,
  parseStepRun,
  reservedColumns,
  reservedRow,
  stepRunId,
  stepRunTable,
  type StoredStepRun,
  view,
  viewRow
} from "./StoredStepRun.ts"

/** The changes that concern step runs. */
export type StepRunChange = Extract<
  Change,
  { readonly _tag: "StepRunCreated" | "StepRunsQueued" | "StepRunMoved" | "StepRunLimited" | "StopRequested" }
>

/** An event to write. */
export type NewEvent = Pick<Extract<Change, { readonly _tag: "Event" }>, "stepRun" | "type" | "item"> & {
  readonly message?: string | undefined
}

export class StepRuns extends Context.Service<
  StepRuns,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StepRunView | null>
    readonly find: (id: string) => Effect.Effect<StoredStepRun | null>
    /** Like `find`, and locks the row until the transaction ends. The caller has locked its run. */
    readonly lock: (id: StepRunId) => Effect.Effect<StoredStepRun | null>
    readonly list: (run: ProcessRunId, page: PageRequest) => Effect.Effect<Rows<StepRunView>>
    readonly listEvents: (
      stepRun: StepRunId,
      page: PageRequest
    ) => Effect.Effect<Rows<StepRunEvent & { readonly id: string }>>
    readonly lockLive: (run: ProcessRunId) => Effect.Effect<ReadonlyArray<StoredStepRun>>
    /** The step runs of these ids that exist, with their open items. The caller has locked the run. */
    readonly reserved: (
      run: ProcessRunId,
      ids: ReadonlyArray<StepRunId>
    ) => Effect.Effect<ReadonlyMap<StepRunId, Reserved>>
    /** Whether a step run has settled this item before. */
    readonly hasSettled: (stepRun: StepRunId, item: WorkItemId) => Effect.Effect<boolean>
    /** Writes a change, and returns its events. */
    readonly apply: (run: Run, change: StepRunChange) => Effect.Effect<ReadonlyArray<NewEvent>>
    /** Writes events, in this order. */
    readonly addEvents: (events: ReadonlyArray<NewEvent>) => Effect.Effect<void>
    /** Some step runs that ended before `cutoff` and still have their details; each is locked by one transaction. */
    readonly withOldDetails: (cutoff: string, limit: number) => Effect.Effect<ReadonlyArray<StepRunId>>
    /** Records that their details are deleted. */
    readonly detailsGone: (ids: ReadonlyArray<StepRunId>) => Effect.Effect<void>
    /** Deletes some events of these step runs, and returns how many. */
    readonly removeEvents: (ids: ReadonlyArray<StepRunId>, limit: number) => Effect.Effect<number>
    readonly someOf: (runs: ReadonlyArray<ProcessRunId>, limit: number) => Effect.Effect<ReadonlyArray<StepRunId>>
    /** Deletes step runs without events and console messages. */
    readonly remove: (ids: ReadonlyArray<StepRunId>) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/StepRuns") {
  static readonly layer = Layer.effect(
    StepRuns,
    Effect.gen(function* () {
      const { newId, now, page, sql } = yield* Database
      const selectWhole = sql`SELECT ${stepRunTable.columns} FROM step_run`
      const forUpdate = Dialect.forUpdate(sql)
      const skipLocked = Dialect.skipLocked(sql, "step_run")

      const addEvents = Effect.fnUntraced(function* (events: ReadonlyArray<NewEvent>) {
        const at = yield* now
        yield* Chunks.forEach(
          events,
          Effect.fnUntraced(function* (some) {
            const withMessages = some.some(({ message }) => message !== undefined)
            const rows = yield* Effect.forEach(some, (event) =>
              Effect.map(newId, (id) => ({
                id,
                step_run_id: event.stepRun,
                event_type: event.type,
                work_item_id: event.item,
                created_at: at,
                ...defined({ message: withMessages ? (event.message ?? null) : undefined })
              }))
            )
            yield* sql`INSERT INTO step_run_event ${eventTable.insert(rows)}`
          })
        )
      })

      const apply = Effect.fnUntraced(function* (
        run: Run,
        change: StepRunChange
      ): Effect.fn.Return<ReadonlyArray<NewEvent>> {
        const at = yield* now
        switch (change._tag) {
          case "StepRunCreated": {
            const step = run.steps[change.step]
            if (step === undefined) return []
            const id = StepRunId.make(yield* newId)
            const item = yield* queryOne(
              workItemTable.pick("sort_key", "priority"),
              sql`UPDATE work_item SET step_run_id = ${id}, not_before = NULL WHERE id = ${change.item} RETURNING sort_key, priority`
            )
            yield* sql`INSERT INTO step_run ${stepRunTable.insert({
              id,
              workspace_id: run.workspaceId,
              process_id: run.processId,
              process_run_id: run.id,
              step: change.step,
              step_id: step.id,
              step_name: step.name,
              task_name: step.task.name,
              worker_group_id: step.worker_group?.id ?? null,
              labels: Labels.encodeWanted(step.worker?.labels),
              package_id: step.task.package_id ?? null,
              timeout_seconds: step.timeout_seconds ?? null,
              env: step.env ?? {},
              state: change.state,
              state_updated_at: at,
              first_item_id: change.item,
              // Since when it waits and how urgent it is are those of its item.
              sort_key: item?.sort_key ?? 0,
              priority: item?.priority ?? 0,
              ...defined({ limited: isLimited(step) || undefined })
            })}`
            const created: NewEvent = { stepRun: id, type: "CREATED", item: change.item }
            return change.state === "awaiting_worker"
              ? [created, { stepRun: id, type: "QUEUED", item: null }]
              : [created]
          }
          case "StepRunsQueued": {
            return yield* query(
              stepRunId,
              sql`
                UPDATE step_run SET state = 'awaiting_worker', state_updated_at = ${at}
                WHERE process_run_id = ${run.id} AND step = ${change.step} AND state = 'new'
                  AND state IN ('new', 'awaiting_worker', 'in_progress') RETURNING id`,
              ({ id }): NewEvent => ({ stepRun: id, type: "QUEUED", item: null })
            )
          }
          case "StepRunMoved": {
            yield* sql`UPDATE step_run SET ${stepRunTable.update({
              state: change.to,
              state_updated_at: at,
              error_code: change.error,
              ...(change.to === "in_progress" ? { started_at: at, timeout_at: change.timeoutAt } : { ended_at: at })
            })} WHERE id = ${change.id}`
            return []
          }
          case "StepRunLimited":
            yield* sql`UPDATE step_run SET timeout_at = ${change.timeoutAt} WHERE id = ${change.id}`
            return []
          case "StopRequested":
            yield* sql`UPDATE step_run SET stop_requested = 1 WHERE id = ${change.stepRun}`
            return []
        }
      })

      return StepRuns.of({
        get: (workspace, id) =>
          queryOne(
            viewRow,
            sql`SELECT ${viewRow.columns} FROM step_run WHERE workspace_id = ${workspace} AND id = ${id}`,
            view
          ),
        find: (id) => queryOne(stepRunTable, sql`${selectWhole} WHERE id = ${id}`, parseStepRun),
        lock: (id) => queryOne(stepRunTable, sql`${selectWhole} WHERE id = ${id} ${forUpdate}`, parseStepRun),
        list: (run, request) =>
          page(
            { rows: viewRow, select: sql`SELECT ${viewRow.columns} FROM step_run`, as: view },
            [sql`process_run_id = ${run}`],
            "newest first",
            request
          ),
        listEvents: (stepRun, request) =>
          page(
            { rows: eventRow, table: eventTable.name, long: ["message"], plain: true, as: parseEvent },
            [sql`step_run_id = ${stepRun}`],
            "oldest first",
            request
          ),
        lockLive: (run) =>
          query(
            stepRunTable,
            sql`
              ${selectWhole}
                WHERE process_run_id = ${run} AND state IN ('new', 'awaiting_worker', 'in_progress')
                ORDER BY id ${forUpdate}`,
            parseStepRun
          ),
        reserved: Effect.fnUntraced(function* (run, ids) {
          const found = yield* query(
            reservedRow,
            sql`
              SELECT ${reservedColumns(sql)}
              FROM step_run LEFT JOIN work_item
                ON work_item.step_run_id = step_run.id AND work_item.state IN ('pending', 'in_progress')
              WHERE step_run.process_run_id = ${run} AND ${sql.in("step_run.id", ids)}
              ORDER BY work_item.sort_key, work_item.id`
          )
          return new Map(
            Object.values(Arr.groupBy(found, ({ id }) => id)).map((rows) => [rows[0].id, parseReserved(rows)])
          )
        }),
        hasSettled: Effect.fnUntraced(function* (stepRun, item) {
          const rows = yield* sql`
            SELECT id FROM step_run_event
            WHERE step_run_id = ${stepRun} AND work_item_id = ${item}
              AND event_type IN ('ITEM_RELEASED', 'ITEM_FAILED') LIMIT 1`
          return rows.length === 1
        }),
        apply,
        addEvents,
        withOldDetails: (cutoff, limit) =>
          query(
            stepRunId,
            sql`
              SELECT id FROM step_run WHERE ended_at < ${cutoff} AND details_gone = 0
              ORDER BY ended_at LIMIT ${limit} ${skipLocked}`,
            (row) => row.id
          ),
        detailsGone: (ids) => sql`UPDATE step_run SET details_gone = 1 WHERE ${sql.in("id", ids)}`,
        removeEvents: (ids, limit) =>
          Effect.map(
            sql`
              DELETE FROM step_run_event WHERE id IN (
                SELECT id FROM step_run_event WHERE ${sql.in("step_run_id", ids)} LIMIT ${limit})
              RETURNING id`,
            (rows) => rows.length
          ),
        someOf: (runs, limit) =>
          query(
            stepRunId,
            sql`SELECT id FROM step_run WHERE ${sql.in("process_run_id", runs)} LIMIT ${limit}`,
            (row) => row.id
          ),
        remove: (ids) => sql`DELETE FROM step_run WHERE ${sql.in("id", ids)}`
      })
    })
  )
}
