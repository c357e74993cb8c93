/**
 * Process runs.
 */
import { ProcessId, ProcessRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ProcessRun, ProcessRunState, RunSource } from "@signalbox/api/contract/ProcessRuns"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import type { Run } from "../../engine/State.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { firstIdOf } from "../database/IdsByTime.ts"
import * as ProcessSteps from "../processes/ProcessSteps.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, json, nullable, query, queryOne, Table, text, word } from "@signalbox/sql/Table"

const runTable = Table("process_run", {
  id: id(ProcessRunId),
  workspace_id: id(WorkspaceId),
  process_id: id(ProcessId),
  process_name: text,
  state: word<ProcessRunState>(),
  created_at: text,
  started_at: nullable(text),
  ended_at: nullable(text),
  started_by: json<ProcessRun["started_by"]>(),
  source_type: nullable(word<RunSource["type"]>()),
  source_id: nullable(text),
  source_name: nullable(text),
  steps: json<Run["steps"]>(),
  counts: json<Run["counts"]>(),
  failed: integer,
  stop: nullable(json<NonNullable<Run["stop"]>>()),
  priority: integer,
  trace: nullable(text),
  event_seq: integer
})

/** When a process completed a run last. */
const successTable = Table("process_success", {
  workspace_id: id(WorkspaceId),
  process_id: id(ProcessId),
  completed_at: text
})

/** What of this service starts a run. */
export type StartedFrom = RunSource & { readonly type: "schedule" | "trigger" }

/** Seconds between two stored times; 0 when the clock was set back. */
export const secondsBetween = (from: string | null, to: string | null): number | null =>
  from === null || to === null ? null : Math.max(0, Date.parse(to) - Date.parse(from)) / 1000

const runId = runTable.pick("id")

/** What a run shows: its steps may be large. */
const viewRow = runTable.pick(
  "id",
  "state",
  "created_at",
  "started_at",
  "ended_at",
  "process_id",
  "process_name",
  "started_by",
  "priority",
  "source_type",
  "source_id",
  "source_name"
)

const view = (row: typeof viewRow.Type): ProcessRun => ({
  id: row.id,
  state: row.state,
  created_at: row.created_at,
  started_at: row.started_at,
  ended_at: row.ended_at,
  process: { id: row.process_id, name: row.process_name },
  started_by: row.started_by,
  source:
    row.source_type === null || row.source_id === null
      ? null
      : { type: row.source_type, id: row.source_id, name: row.source_name ?? "" },
  duration: secondsBetween(row.started_at, row.ended_at),
  priority: row.priority
})

/** What commands need of a run. */
const runRow = runTable.pick(
  "id",
  "workspace_id",
  "process_id",
  "state",
  "steps",
  "counts",
  "failed",
  "stop",
  "started_at",
  "ended_at"
)

const toRun = (row: typeof runRow.Type): Run => ({
  id: row.id,
  workspaceId: row.workspace_id,
  processId: row.process_id,
  state: row.state,
  steps: row.steps,
  counts: row.counts,
  failed: row.failed,
  stop: row.stop,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  unmoved: true
})

const counting = ({ counts, failed }: Run) => ({ counts, failed })

const moving = (run: Run) => ({
  state: run.state,
  started_at: run.startedAt,
  ended_at: run.endedAt,
  ...counting(run),
  stop: run.stop
})

export interface RunFilter {
  readonly processId: ProcessId | null
  readonly state: ProcessRunState | null
  /** Milliseconds since 1970: not before the first of them, and before the second. */
  readonly created?: { readonly from: number | null; readonly before: number | null }
}

/** Which of the deleted runs whose rows still exist. */
export type DeletedOf = { readonly run: ProcessRunId } | { readonly process: ProcessId } | "all"

const startedBy = (source: StartedFrom | null, user: ProcessRun["started_by"]["details"]) =>
  user === null
    ? ({ type: source?.type === "schedule" ? "schedule" : "api", details: null } as const)
    : ({ type: "user", details: user } as const)

export class ProcessRuns extends Context.Service<
  ProcessRuns,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<ProcessRun | null>
    readonly list: (workspace: WorkspaceId, filter: RunFilter, page: PageRequest) => Effect.Effect<Rows<ProcessRun>>
    readonly insert: (
      run: Run,
      processName: string,
      how: {
        readonly priority: number
        readonly source: StartedFrom | null
        /** A `traceparent`; null: no trace. */
        readonly trace: string | null
        /** Who started it, where that was a person. */
        readonly user?: ProcessRun["started_by"]["details"] | undefined
      }
    ) => Effect.Effect<void>
    /** The runs of a schedule or trigger that have not ended. */
    readonly liveOf: (workspace: WorkspaceId, source: string) => Effect.Effect<ReadonlyArray<ProcessRunId>>
    /** Loads a run for a change, and locks the row until the transaction ends. */
    readonly lock: (id: ProcessRunId) => Effect.Effect<Run | null>
    /** Like `lock`, sent with the statement that follows. */
    readonly lockAhead: (id: ProcessRunId) => Effect.Effect<Effect.Effect<Run | null>>
    readonly save: (run: Run) => Effect.Effect<void>
    /** Increments the event counter of a run; returns it, and the names of the process and its workspace. */
    readonly nextEvent: (
      id: ProcessRunId
    ) => Effect.Effect<{ readonly seq: number; readonly processName: string; readonly workspaceName: string }>
    /** Marks it as deleted: for readers it no longer exists. */
    readonly markDeleted: (id: ProcessRunId) => Effect.Effect<void>
    /** Marks runs that ended before `cutoff`, the oldest first, and returns how many. */
    readonly markEndedBefore: (cutoff: string, limit: number) => Effect.Effect<number>
    /** Marks runs of a process, and returns how many. */
    readonly markOf: (process: ProcessId, limit: number) => Effect.Effect<number>
    /**
     * Runs marked as deleted that still have rows; each is locked by one transaction. A query for all skips those that
     * others have locked.
     */
    readonly deleted: (only: DeletedOf, limit: number) => Effect.Effect<ReadonlyArray<ProcessRunId>>
    /** Deletes runs without step runs, items and outputs. */
    readonly remove: (ids: ReadonlyArray<ProcessRunId>) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/ProcessRuns") {
  static readonly layer = Layer.effect(
    ProcessRuns,
    Effect.gen(function* () {
      const { belowProcess, now, page, sql } = yield* Database
      const forUpdate = Dialect.forUpdate(sql)
      const skipLocked = Dialect.skipLocked(sql, "process_run")
      const selectView = sql`SELECT ${viewRow.columns} FROM process_run`
      const ended = sql`state IN ('completed', 'unresolved')`
      const mark = Effect.fnUntraced(function* (
        which: ReadonlyArray<Fragment>,
        order: Fragment,
        limit: number,
        lock: Fragment
      ) {
        const rows = yield* sql`
          UPDATE process_run SET deleted_at = ${yield* now} WHERE id IN (
            SELECT id FROM process_run WHERE ${sql.and([sql`deleted_at IS NULL`, ...which])}
            ORDER BY ${order} LIMIT ${limit} ${lock})
          RETURNING id`
        return rows.length
      })
      const locking = (id: ProcessRunId) =>
        sql`SELECT ${runRow.columns} FROM process_run WHERE id = ${id} AND deleted_at IS NULL ${forUpdate}`
      return ProcessRuns.of({
        get: (workspace, id) =>
          queryOne(
            viewRow,
            sql`${selectView} WHERE workspace_id = ${workspace} AND id = ${id} AND deleted_at IS NULL`,
            view
          ),
        list: (workspace, { created, processId, state }, request) => {
          const { before = null, from = null } = created ?? {}
          const filters = [
            ...(state === null ? [] : [sql`state = ${state}`]),
            ...(from === null ? [] : [sql`id >= ${firstIdOf(from)}`]),
            ...(before === null ? [] : [sql`id < ${firstIdOf(before)}`])
          ]
          const runs = (condition: Fragment) =>
            page(
              { rows: viewRow, select: selectView, as: view },
              [condition, ...filters, sql`deleted_at IS NULL`],
              "newest first",
              request
            )
          if (processId === null) return runs(sql`workspace_id = ${workspace}`)
          return belowProcess(workspace, processId, runs(sql`process_id = ${processId}`))
        },
        liveOf: (workspace, source) =>
          query(
            runId,
            sql`
              SELECT id FROM process_run
              WHERE workspace_id = ${workspace} AND source_id = ${source} AND source_id IS NOT NULL
                AND state IN ('new', 'in_progress', 'stopping')
              ORDER BY id`,
            (row) => row.id
          ),
        insert: Effect.fnUntraced(function* (run, processName, { priority, source, trace, user }) {
          const row = {
            id: run.id,
            workspace_id: run.workspaceId,
            process_id: run.processId,
            process_name: processName,
            created_at: yield* now,
            started_by: startedBy(source, user ?? null),
            source_type: source?.type ?? null,
            source_id: source?.id ?? null,
            source_name: source?.name ?? null,
            steps: run.steps,
            priority,
            trace,
            ...moving(run)
          }
          yield* sql`INSERT INTO process_run ${runTable.insert(row)}`
          yield* ProcessSteps.insert(sql, run.processId, run.id, run.steps)
        }),
        lock: (id) => queryOne(runRow, locking(id), toRun),
        lockAhead: (id) => Effect.map(sql.ahead(locking(id)), (rows) => queryOne(runRow, rows, toRun)),
        save: Effect.fnUntraced(function* (run) {
          // Most transactions only count, and SQLite writes all indexes that have a column of the statement.
          const changed = runTable.update(run.unmoved === true ? counting(run) : moving(run))
          yield* sql`UPDATE process_run SET ${changed} WHERE id = ${run.id}`
          if (run.unmoved === true) return
          // A completed run is final, so what its steps name may be deleted.
          if (run.state === "completed") yield* ProcessSteps.removeOfRun(sql, run.id, run.steps)
        }),
        nextEvent: Effect.fnUntraced(function* (id) {
          const row = yield* queryOne(
            runTable.pick("event_seq", "process_name").and({ workspace_name: text }),
            sql`
              UPDATE process_run SET event_seq = event_seq + 1 WHERE id = ${id}
              RETURNING event_seq, process_name,
                (SELECT name FROM workspace WHERE workspace.id = process_run.workspace_id) AS workspace_name`
          )
          return {
            seq: row?.event_seq ?? 1,
            processName: row?.process_name ?? "",
            workspaceName: row?.workspace_name ?? ""
          }
        }),
        markDeleted: Effect.fnUntraced(function* (id) {
          yield* sql`UPDATE process_run SET deleted_at = ${yield* now} WHERE id = ${id}`
        }),
        markEndedBefore: (cutoff, limit) => mark([sql`ended_at < ${cutoff}`, ended], sql`ended_at`, limit, skipLocked),
        markOf: (process, limit) => mark([sql`process_id = ${process}`], sql`id`, limit, forUpdate),
        deleted: Effect.fnUntraced(function* (only, limit) {
          const which =
            only === "all" ? [] : ["run" in only ? sql`id = ${only.run}` : sql`process_id = ${only.process}`]
          return yield* query(
            runId,
            sql`SELECT id FROM process_run WHERE ${sql.and([sql`deleted_at IS NOT NULL`, ...which])}
              ORDER BY deleted_at LIMIT ${limit} ${only === "all" ? skipLocked : forUpdate}`,
            (row) => row.id
          )
        }),
        remove: Effect.fnUntraced(function* (ids) {
          if (ids.length === 0) return
          // Alerts count from the last success, however long ago its run was deleted.
          const completed = yield* query(
            successTable,
            sql`
              SELECT workspace_id, process_id, ended_at AS completed_at FROM process_run
              WHERE ${sql.in("id", ids)} AND state = 'completed' AND ended_at IS NOT NULL`
          )
          const last = new Map<string, typeof successTable.Type>()
          for (const one of completed) {
            const known = last.get(one.process_id)
            if (known === undefined || known.completed_at < one.completed_at) last.set(one.process_id, one)
          }
          // Sorted, because all transactions lock rows in this order.
          const rows = [...last.values()].toSorted((a, b) => (a.process_id < b.process_id ? -1 : 1))
          if (Arr.isReadonlyArrayNonEmpty(rows)) {
            yield* sql`
              INSERT INTO process_success ${successTable.insert(rows)}
              ON CONFLICT (workspace_id, process_id) DO UPDATE SET completed_at =
                CASE WHEN excluded.completed_at > process_success.completed_at
                  THEN excluded.completed_at ELSE process_success.completed_at END`
          }
          yield* sql`DELETE FROM process_run WHERE ${sql.in("id", ids)}`
        })
      })
    })
  )
}
