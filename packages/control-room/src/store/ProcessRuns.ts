/**
 * Process runs.
 */
import { ProcessId, ProcessRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ProcessRun, ProcessRunState } from "@signalbox/api/contract/ProcessRuns"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import type { Run } from "../engine/Engine.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import * as Dialect from "./Dialect.ts"

interface Row {
  readonly id: string
  readonly workspace_id: string
  readonly process_id: string
  readonly process_name: string
  readonly state: ProcessRunState
  readonly created_at: string
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly started_by: string
  readonly steps: string
  readonly counts: string
  readonly failed: number
  readonly stop: string | null
}

/** Seconds between two stored times. */
export const secondsBetween = (from: string | null, to: string | null): number | null =>
  from === null || to === null ? null : (Date.parse(to) - Date.parse(from)) / 1000

const view = (row: Row): ProcessRun => ({
  id: ProcessRunId.make(row.id),
  state: row.state,
  created_at: row.created_at,
  started_at: row.started_at,
  ended_at: row.ended_at,
  process: { id: ProcessId.make(row.process_id), name: row.process_name },
  started_by: JSON.parse(row.started_by),
  duration: secondsBetween(row.started_at, row.ended_at)
})

const toRun = (row: Row): Run => ({
  id: ProcessRunId.make(row.id),
  workspaceId: WorkspaceId.make(row.workspace_id),
  processId: ProcessId.make(row.process_id),
  state: row.state,
  steps: JSON.parse(row.steps),
  counts: JSON.parse(row.counts),
  failed: row.failed,
  stop: row.stop === null ? null : JSON.parse(row.stop),
  startedAt: row.started_at,
  endedAt: row.ended_at
})

const moving = (run: Run) => ({
  state: run.state,
  started_at: run.startedAt,
  ended_at: run.endedAt,
  counts: JSON.stringify(run.counts),
  failed: run.failed,
  stop: run.stop === null ? null : JSON.stringify(run.stop)
})

export class ProcessRuns extends Context.Service<
  ProcessRuns,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<ProcessRun | null>
    readonly list: (
      workspace: WorkspaceId,
      filter: { readonly processId: ProcessId | null; readonly state: ProcessRunState | null },
      page: PageRequest
    ) => Effect.Effect<Rows<ProcessRun>>
    readonly insert: (run: Run, processName: string) => Effect.Effect<void>
    /** Loads a run for a change: until the transaction ends, nobody else changes it. */
    readonly lock: (id: ProcessRunId) => Effect.Effect<Run | null>
    readonly save: (run: Run) => Effect.Effect<void>
    /** Deletes a run with its step runs, events, items and outputs. */
    readonly remove: (id: ProcessRunId) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/ProcessRuns") {
  static readonly layer = Layer.effect(
    ProcessRuns,
    Effect.gen(function* () {
      const { below, now, page, sql } = yield* Database
      const forUpdate = Dialect.forUpdate(sql)
      return ProcessRuns.of({
        get: (workspace, id) =>
          Effect.orDie(
            Effect.map(sql<Row>`SELECT * FROM process_run WHERE workspace_id = ${workspace} AND id = ${id}`, ([row]) =>
              row === undefined ? null : view(row)
            )
          ),
        list: (workspace, { processId, state }, request) => {
          const ofState = state === null ? [] : [sql`state = ${state}`]
          const runs = (condition: Fragment) =>
            Effect.map(
              page<Row>(sql`SELECT * FROM process_run`, [condition, ...ofState], "newest first", request),
              ({ hasMore, rows }) => ({ hasMore, rows: rows.map(view) })
            )
          if (processId === null) return runs(sql`workspace_id = ${workspace}`)
          const process = sql`SELECT id FROM process WHERE id = ${processId} AND workspace_id = ${workspace}`
          return below(process, runs(sql`process_id = ${processId}`))
        },
        insert: Effect.fnUntraced(function* (run, processName) {
          const row = {
            id: run.id,
            workspace_id: run.workspaceId,
            process_id: run.processId,
            process_name: processName,
            created_at: yield* now,
            started_by: JSON.stringify({ type: "api", details: null }),
            steps: JSON.stringify(run.steps),
            ...moving(run)
          }
          yield* sql`INSERT INTO process_run ${sql.insert(row)}`
        }, Effect.orDie),
        lock: (id) =>
          Effect.orDie(
            Effect.map(sql<Row>`SELECT * FROM process_run WHERE id = ${id} ${forUpdate}`, ([row]) =>
              row === undefined ? null : toRun(row)
            )
          ),
        save: (run) => Effect.orDie(sql`UPDATE process_run SET ${sql.update(moving(run))} WHERE id = ${run.id}`),
        remove: (id) => Effect.orDie(sql`DELETE FROM process_run WHERE id = ${id}`)
      })
    })
  )
}
