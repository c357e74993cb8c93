/**
 * Schedules, and the history of their occurrences: one row for each schedule and instant.
 */
import type { ProcessId, ProcessRunId, ScheduleId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type {
  Actor,
  ScheduleInputs,
  ScheduleListed,
  ScheduleOccurrence,
  SkipReason
} from "@signalbox/api/contract/Schedules"
import * as Dialect from "@signalbox/sql/Dialect"
import { query, queryOne } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import { iso, type Progress, type Skipped, waits } from "../../engine/Schedules.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import {
  listedRow,
  occurrenceRow,
  parseListed,
  parseOccurrence,
  parseSchedule,
  scheduleRow,
  scheduleTable,
  selectListed,
  selectWhole,
  type StoredSchedule
} from "./StoredSchedule.ts"

/** What identifies a schedule. */
export interface ScheduleKey {
  readonly workspaceId: WorkspaceId
  readonly id: ScheduleId
  readonly processId: ProcessId
}

/** What is written of a schedule. */
export interface NewSchedule {
  readonly processId: ProcessId
  readonly name: string
  /** JSON of `StoredRules`. */
  readonly definition: string
  readonly inputs: ScheduleInputs
  readonly progress: Progress
  readonly nextAt: number | null
}

const keyRow = scheduleTable.pick("workspace_id", "id", "process_id")

/** What became of an occurrence that was to start. */
export type Outcome =
  | { readonly run: ProcessRunId }
  | { readonly reason: Extract<SkipReason, "refused" | "no_items">; readonly why: string }

/** How many occurrences of a schedule are stored at most. */
const mostOccurrences = 10_000

export class Schedules extends Context.Service<
  Schedules,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredSchedule | null>
    readonly list: (
      workspace: WorkspaceId,
      process: ProcessId | null,
      page: PageRequest
    ) => Effect.Effect<Rows<ScheduleListed>>
    /** Like `get`, locked until the transaction ends. With `skip`, null when another transaction has locked it. */
    readonly lock: (workspace: WorkspaceId, id: string, how?: "skip") => Effect.Effect<StoredSchedule | null>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, id: ScheduleId, schedule: NewSchedule) => Effect.Effect<true | null>
    /** Null when the name is in use. */
    readonly update: (workspace: WorkspaceId, id: ScheduleId, schedule: NewSchedule) => Effect.Effect<true | null>
    readonly save: (
      workspace: WorkspaceId,
      id: ScheduleId,
      progress: Progress,
      changed: { readonly nextAt: number | null; readonly pausedBy: Actor | null }
    ) => Effect.Effect<void>
    /** False when it does not exist. */
    readonly remove: (workspace: WorkspaceId, id: string) => Effect.Effect<boolean>
    /** Deletes the schedules of a process. */
    readonly removeOf: (process: ProcessId) => Effect.Effect<void>
    /** Schedules with something to do now, the longest due first. */
    readonly due: (limit: number) => Effect.Effect<ReadonlyArray<ScheduleKey>>
    /** Records an occurrence as started, before its run; false when it is recorded already. */
    readonly claim: (workspace: WorkspaceId, id: ScheduleId, at: number) => Effect.Effect<boolean>
    /** Records what became of a claimed occurrence. */
    readonly settle: (workspace: WorkspaceId, id: ScheduleId, at: number, outcome: Outcome) => Effect.Effect<void>
    readonly skip: (workspace: WorkspaceId, id: ScheduleId, skipped: ReadonlyArray<Skipped>) => Effect.Effect<void>
    readonly occurrences: (
      workspace: WorkspaceId,
      id: ScheduleId,
      page: PageRequest
    ) => Effect.Effect<Rows<ScheduleOccurrence>>
    /** Deletes occurrences recorded before `cutoff`, and returns how many. */
    readonly sweep: (cutoff: string, limit: number) => Effect.Effect<number>
    /** Deletes occurrences of schedules that have too many, and returns how many. */
    readonly sweepMany: (limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/Schedules") {
  static readonly layer = Layer.effect(
    Schedules,
    Effect.gen(function* () {
      const { belowProcess, newId, now, nullWhenTaken, page, sql } = yield* Database
      const forUpdate = Dialect.forUpdate(sql)
      const skipLocked = Dialect.skipLocked(sql, "schedule")
      const whole = selectWhole(sql)
      const isoOrNull = (millis: number | null) => (millis === null ? null : iso(millis))

      const columnsOf = (progress: Progress, nextAt: number | null) => ({
        state: progress.state,
        starting: progress.starting,
        wake_at: isoOrNull(progress.wakeAt),
        next_at: isoOrNull(nextAt),
        waits: waits(progress)
      })
      const writtenOf = ({ definition, inputs, name, nextAt, processId, progress }: NewSchedule) => ({
        process_id: processId,
        name,
        definition,
        inputs,
        ...columnsOf(progress, nextAt)
      })

      return Schedules.of({
        get: (workspace, id) =>
          queryOne(scheduleRow, sql`${whole} WHERE workspace_id = ${workspace} AND id = ${id}`, parseSchedule),
        list: (workspace, process, request) => {
          const having = (condition: Fragment) =>
            page({ rows: listedRow, select: selectListed(sql), as: parseListed }, [condition], "newest first", request)
          if (process === null) return having(sql`workspace_id = ${workspace}`)
          return belowProcess(workspace, process, having(sql`process_id = ${process}`))
        },
        lock: (workspace, id, how) =>
          queryOne(
            scheduleRow,
            sql`
              ${whole} WHERE workspace_id = ${workspace} AND id = ${id}
                ${how === "skip" ? skipLocked : forUpdate}`,
            parseSchedule
          ),
        create: Effect.fnUntraced(function* (workspace, id, schedule) {
          const row = { workspace_id: workspace, id, created_at: yield* now, ...writtenOf(schedule) }
          yield* sql`INSERT INTO schedule ${scheduleTable.insert(row)}`
          return true as const
        }, nullWhenTaken),
        update: Effect.fnUntraced(function* (workspace, id, schedule) {
          yield* sql`UPDATE schedule SET ${scheduleTable.update(writtenOf(schedule))} WHERE workspace_id = ${workspace} AND id = ${id}`
          return true as const
        }, nullWhenTaken),
        save: (workspace, id, progress, { nextAt, pausedBy }) => {
          const row = {
            ...columnsOf(progress, nextAt),
            paused_by: pausedBy
          }
          return Effect.asVoid(
            sql`UPDATE schedule SET ${scheduleTable.update(row)} WHERE workspace_id = ${workspace} AND id = ${id}`
          )
        },
        remove: (workspace, id) =>
          Effect.map(
            sql`DELETE FROM schedule WHERE workspace_id = ${workspace} AND id = ${id} RETURNING id`,
            (rows) => rows.length === 1
          ),
        removeOf: (process) => Effect.asVoid(sql`DELETE FROM schedule WHERE process_id = ${process}`),
        due: Effect.fnUntraced(function* (limit) {
          const at = yield* now
          const select = sql`SELECT ${keyRow.columns} FROM schedule`
          // Two queries: SQLite merges a union by walking all rows in the order of the key.
          const come = yield* query(keyRow, sql`${select} WHERE wake_at <= ${at} ORDER BY wake_at LIMIT ${limit}`)
          const free = yield* query(
            keyRow,
            sql`
              ${select} WHERE waits = 1 AND NOT EXISTS (
                SELECT 1 FROM process_run AS run
                WHERE run.workspace_id = schedule.workspace_id AND run.source_id = schedule.id
                  AND run.source_id IS NOT NULL AND run.state IN ('new', 'in_progress', 'stopping'))
              LIMIT ${limit}`
          )
          const rows = new Map([...come, ...free].map((row) => [row.id, row]))
          return Array.from(rows.values(), (row): ScheduleKey => ({
            workspaceId: row.workspace_id,
            id: row.id,
            processId: row.process_id
          }))
        }),
        claim: Effect.fnUntraced(function* (workspace, id, at) {
          const row = {
            workspace_id: workspace,
            schedule_id: id,
            at: iso(at),
            id: yield* newId,
            recorded_at: yield* now,
            outcome: "started"
          }
          const rows =
            yield* sql`INSERT INTO schedule_occurrence ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING id`
          return rows.length === 1
        }),
        settle: (workspace, id, at, outcome) => {
          const row =
            "run" in outcome
              ? { process_run_id: outcome.run }
              : { outcome: "skipped", reason: outcome.reason, why: outcome.why }
          return Effect.asVoid(
            sql`UPDATE schedule_occurrence SET ${sql.update(row)}
              WHERE workspace_id = ${workspace} AND schedule_id = ${id} AND at = ${iso(at)}`
          )
        },
        skip: Effect.fnUntraced(function* (workspace, id, skipped) {
          const recorded = yield* now
          const rows = yield* Effect.forEach(
            skipped,
            Effect.fnUntraced(function* ({ at, reason, why }) {
              return {
                workspace_id: workspace,
                schedule_id: id,
                at: iso(at),
                id: yield* newId,
                recorded_at: recorded,
                outcome: "skipped",
                reason,
                why
              }
            })
          )
          yield* Chunks.forEach(
            rows,
            (some) => sql`INSERT INTO schedule_occurrence ${sql.insert(some)} ON CONFLICT DO NOTHING`
          )
        }),
        occurrences: (workspace, id, request) =>
          page(
            {
              rows: occurrenceRow,
              select: sql`SELECT ${occurrenceRow.columns} FROM schedule_occurrence`,
              as: parseOccurrence
            },
            [sql`workspace_id = ${workspace}`, sql`schedule_id = ${id}`],
            "newest first",
            request
          ),
        sweep: (cutoff, limit) =>
          Effect.map(
            sql`DELETE FROM schedule_occurrence WHERE (workspace_id, schedule_id, id) IN (
                SELECT workspace_id, schedule_id, id FROM schedule_occurrence
                WHERE recorded_at < ${cutoff} ORDER BY recorded_at LIMIT ${limit})
              RETURNING id`,
            (rows) => rows.length
          ),
        sweepMany: (limit) =>
          Effect.map(
            sql`DELETE FROM schedule_occurrence WHERE (workspace_id, schedule_id, id) IN (
                SELECT old.workspace_id, old.schedule_id, old.id FROM schedule
                JOIN schedule_occurrence AS old
                  ON old.workspace_id = schedule.workspace_id AND old.schedule_id = schedule.id
                  AND old.id < (
                    SELECT id FROM schedule_occurrence AS kept
                    WHERE kept.workspace_id = schedule.workspace_id AND kept.schedule_id = schedule.id
                    ORDER BY kept.id DESC LIMIT 1 OFFSET ${mostOccurrences - 1})
                LIMIT ${limit})
              RETURNING id`,
            (rows) => rows.length
          )
      })
    })
  )
}
