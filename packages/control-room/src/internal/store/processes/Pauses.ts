/** What is paused: processes, steps, workers and worker groups, each by its id; and failures in a row. */
import type { Paused, PausedBy } from "@signalbox/api/contract/Pauses"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import * as Dialect from "@signalbox/sql/Dialect"
import type { Sql } from "@signalbox/sql/Sql"
import { id, integer, json, nullable, query, queryOne, Row, Table, text, word } from "@signalbox/sql/Table"
import * as Chunks from "../database/Chunks.ts"
import { Database } from "../database/Database.ts"

export const pauseTable = Table("pause", { workspace_id: id(WorkspaceId), subject_id: text, detail: json<Paused>() })
const pauseRow = pauseTable.pick("subject_id", "detail")

/** What `selectPaused` selects. */
export const pausedColumn = { paused: nullable(json<Paused>()) }

/** SQL that selects the pause of each row of a table, as text. */
export const selectPaused = (table: "process" | "worker" | "worker_group") =>
  `(SELECT detail FROM pause WHERE pause.workspace_id = ${table}.workspace_id AND pause.subject_id = ${table}.id) AS paused`

/** Whether anything of a workspace is paused: mostly nothing is, and then `noneIsPaused` need not be asked of each row. */
export const somethingIsPaused = (sql: Sql, workspace: WorkspaceId) =>
  sql`EXISTS (SELECT 1 FROM pause WHERE pause.workspace_id = ${workspace})`

/** The condition that none of these is paused; with columns as ids, for each row. Unknown and null ids are not. */
export const noneIsPaused = (sql: Sql, workspace: WorkspaceId, subjects: Fragment) =>
  sql`NOT EXISTS (
    SELECT 1 FROM pause WHERE pause.workspace_id = ${workspace} AND pause.subject_id IN (${subjects}))`

/** Step runs that wait because of the same pause, and were not told so. */
export interface PausedStepRuns {
  readonly workspaceId: WorkspaceId
  readonly subject: string
  readonly kind: "process" | "step" | "worker group"
  readonly name: string
  readonly paused: Paused
}

const waitingRow = pauseTable.and({
  kind: word<PausedStepRuns["kind"]>(),
  name: nullable(text)
})

/** The value of `wait_told` of a step run whose pause was reported. */
const told = 2

export class Pauses extends Context.Service<
  Pauses,
  {
    /** Those of these ids that are paused. */
    readonly of: (workspace: WorkspaceId, subjects: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Paused>>
    /** How much is paused, in all workspaces. */
    readonly count: Effect.Effect<number>
    /** Pauses it; with `again`, what is paused already gets the note and the author, but stays paused since it was. */
    readonly pause: (
      workspace: WorkspaceId,
      subject: string,
      how: { readonly by: PausedBy; readonly note: string | null; readonly again: boolean }
    ) => Effect.Effect<{ readonly paused: Paused; readonly isNew: boolean }>
    /** Ends the pause, and counts failures from zero again. False when it was not paused. */
    readonly resume: (workspace: WorkspaceId, subject: string) => Effect.Effect<boolean>
    /** Counts a failure of each; returns how many they have had in a row. */
    readonly failed: (
      workspace: WorkspaceId,
      subjects: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, number>>
    /** A success ends what has failed in a row; nothing is written when nothing has. */
    readonly succeeded: (workspace: WorkspaceId, subjects: ReadonlyArray<string>) => Effect.Effect<void>
    /** Pauses for which step runs have been waiting since `cutoff` without being told. */
    readonly untold: (cutoff: string) => Effect.Effect<ReadonlyArray<PausedStepRuns>>
    /** Records once why these step runs wait. */
    readonly tell: (waiting: PausedStepRuns, cutoff: string, message: string) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Pauses") {
  static readonly layer = Layer.effect(
    Pauses,
    Effect.gen(function* () {
      const { newId, now, sql, transaction } = yield* Database
      const unassigned = sql.literal("step_run.state = 'awaiting_worker' AND step_run.worker_id IS NULL")
      const subjectsOf = sql.literal("step_run.process_id, step_run.step_id, step_run.worker_group_id")

      return Pauses.of({
        of: Effect.fnUntraced(function* (workspace, subjects) {
          if (subjects.length === 0) return new Map()
          const rows = yield* query(
            pauseRow,
            sql`SELECT ${pauseRow.columns} FROM pause WHERE workspace_id = ${workspace} AND ${sql.in("subject_id", subjects)}`
          )
          return new Map(rows.map((row) => [row.subject_id, row.detail]))
        }),
        count: Effect.map(queryOne(Row({ n: integer }), sql`SELECT count(*) AS n FROM pause`), (row) => row?.n ?? 0),
        pause: Effect.fnUntraced(function* (workspace, subject, { again, by, note }) {
          const paused: Paused = { by, note, since: yield* now }
          const row = { workspace_id: workspace, subject_id: subject, detail: paused }
          const made = yield* sql`
            INSERT INTO pause ${pauseTable.insert(row)}
            ON CONFLICT (workspace_id, subject_id) DO NOTHING RETURNING subject_id`
          if (made.length === 1) return { paused, isNew: true }
          const where = sql`workspace_id = ${workspace} AND subject_id = ${subject}`
          const known = yield* queryOne(
            pauseRow,
            sql`SELECT ${pauseRow.columns} FROM pause WHERE ${where} ${Dialect.forUpdate(sql)}`,
            (found) => found.detail
          )
          const changed: Paused = again ? { by, note, since: (known ?? paused).since } : (known ?? paused)
          if (again) yield* sql`UPDATE pause SET ${pauseTable.update({ detail: changed })} WHERE ${where}`
          return { paused: changed, isNew: false }
        }),
        resume: Effect.fnUntraced(function* (workspace, subject) {
          const where = sql`workspace_id = ${workspace} AND subject_id = ${subject}`
          yield* sql`DELETE FROM failure_streak WHERE ${where}`
          const rows = yield* sql`DELETE FROM pause WHERE ${where} RETURNING subject_id`
          if (rows.length === 0) return false
          yield* sql`
            UPDATE step_run SET wait_told = 0
            WHERE workspace_id = ${workspace} AND ${unassigned} AND wait_told = ${told}
              AND ${subject} IN (${subjectsOf})`
          return true
        }),
        failed: Effect.fnUntraced(function* (workspace, subjects) {
          const counts = new Map<string, number>()
          // Sorted, because all transactions lock rows in this order.
          for (const subject of subjects.toSorted()) {
            const row = { workspace_id: workspace, subject_id: subject, failures: 1 }
            const counted = yield* queryOne(
              Row({ failures: integer }),
              sql`
                INSERT INTO failure_streak ${sql.insert(row)}
                ON CONFLICT (workspace_id, subject_id) DO UPDATE SET failures = failure_streak.failures + 1
                RETURNING failures`
            )
            counts.set(subject, counted?.failures ?? 1)
          }
          return counts
        }),
        succeeded: (workspace, subjects) =>
          Effect.asVoid(
            sql`DELETE FROM failure_streak WHERE workspace_id = ${workspace} AND ${sql.in("subject_id", subjects)}`
          ),
        untold: Effect.fnUntraced(function* (cutoff) {
          const rows = yield* query(
            waitingRow,
            sql`
              SELECT DISTINCT ${pauseTable.of("pause")},
                CASE pause.subject_id WHEN step_run.process_id THEN 'process' WHEN step_run.step_id THEN 'step'
                  ELSE 'worker group' END AS kind,
                CASE pause.subject_id WHEN step_run.process_id THEN process.name WHEN step_run.step_id THEN step_run.step_name
                  ELSE worker_group.name END AS name
              FROM step_run
              JOIN pause ON pause.workspace_id = step_run.workspace_id AND pause.subject_id IN (${subjectsOf})
              JOIN process ON process.id = step_run.process_id
              LEFT JOIN worker_group ON worker_group.id = step_run.worker_group_id
              WHERE ${unassigned} AND step_run.wait_told = 0 AND step_run.state_updated_at <= ${cutoff}`
          )
          return rows.map((row) => ({
            workspaceId: row.workspace_id,
            subject: row.subject_id,
            kind: row.kind,
            name: row.name ?? row.subject_id,
            paused: row.detail
          }))
        }),
        // The others are told the next time.
        tell: Effect.fnUntraced(function* ({ subject, workspaceId }, cutoff, message) {
          const rows = yield* query(
            Row({ id: text }),
            sql`
              UPDATE step_run SET wait_told = ${told} WHERE id IN (
                SELECT id FROM step_run
                WHERE workspace_id = ${workspaceId} AND ${unassigned} AND wait_told = 0
                  AND state_updated_at <= ${cutoff} AND ${subject} IN (${subjectsOf})
                LIMIT ${Chunks.rowsPerChunk})
              RETURNING id`
          )
          const at = yield* now
          yield* Chunks.forEach(
            rows,
            Effect.fnUntraced(function* (some) {
              const events = yield* Effect.forEach(some, (row) =>
                Effect.map(newId, (id) => ({
                  id,
                  step_run_id: row.id,
                  event_type: "PAUSED",
                  created_at: at,
                  message
                }))
              )
              yield* sql`INSERT INTO step_run_event ${sql.insert(events)}`
            })
          )
        }, transaction)
      })
    })
  )
}
