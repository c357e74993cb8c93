/**
 * Schedules, and the history of their occurrences: one row for each schedule and instant.
 */
import { ProcessId, type ProcessRunId, ScheduleId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type {
  Actor,
  ScheduleInputs,
  ScheduleListed,
  ScheduleOccurrence,
  SkipReason
} from "@signalbox/api/contract/Schedules"
import * as Dialect from "@signalbox/sql/Dialect"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import { iso, type Progress, type Skipped, waits } from "../engine/Schedules.ts"
import * as Chunks from "./Chunks.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import {
  encodeState,
  listedColumns,
  type ListedRow,
  type OccurrenceRow,
  parseListed,
  parseOccurrence,
  parseSchedule,
  type ScheduleRow,
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

type KeyRow = Pick<ScheduleRow, "workspace_id" | "id" | "process_id">

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
      const processName = "(SELECT name FROM process WHERE process.id = schedule.process_id) AS process_name"
      const selectListed = sql.literal(`SELECT ${listedColumns.join(", ")}, ${processName} FROM schedule`)
      const selectWhole = sql.literal(`SELECT ${listedColumns.join(", ")}, inputs, ${processName} FROM schedule`)
      const stored = (rows: ReadonlyArray<ScheduleRow>) => rows.map(parseSchedule)[0] ?? null
      const isoOrNull = (millis: number | null) => (millis === null ? null : iso(millis))

      const columnsOf = (progress: Progress, nextAt: number | null) => ({
        state: encodeState(progress.state),
        starting: JSON.stringify(progress.starting),
        wake_at: isoOrNull(progress.wakeAt),
        next_at: isoOrNull(nextAt),
        waits: waits(progress) ? 1 : 0
      })
      const writtenOf = ({ definition, inputs, name, nextAt, processId, progress }: NewSchedule) => ({
        process_id: processId,
        name,
        definition,
        inputs: JSON.stringify(inputs),
        ...columnsOf(progress, nextAt)
      })

      return Schedules.of({
        get: (workspace, id) =>
          Effect.orDie(
            Effect.map(sql<ScheduleRow>`${selectWhole} WHERE workspace_id = ${workspace} AND id = ${id}`, stored)
          ),
        list: (workspace, process, request) => {
          const having = (condition: Fragment) =>
            Effect.map(page<ListedRow>(selectListed, [condition], "newest first", request), ({ hasMore, rows }) => ({
              hasMore,
              rows: rows.map(parseListed)
            }))
          if (process === null) return having(sql`workspace_id = ${workspace}`)
          return belowProcess(workspace, process, having(sql`process_id = ${process}`))
        },
        lock: (workspace, id, how) =>
          Effect.orDie(
            Effect.map(
              sql<ScheduleRow>`
                ${selectWhole} WHERE workspace_id = ${workspace} AND id = ${id}
                ${how === "skip" ? skipLocked : forUpdate}`,
              stored
            )
          ),
        create: Effect.fnUntraced(function* (workspace, id, schedule) {
          const row = { workspace_id: workspace, id, created_at: yield* now, ...writtenOf(schedule) }
          yield* sql`INSERT INTO schedule ${sql.insert(row)}`
          return true as const
        }, nullWhenTaken),
        update: Effect.fnUntraced(function* (workspace, id, schedule) {
          yield* sql`
            UPDATE schedule SET ${sql.update(writtenOf(schedule))} WHERE workspace_id = ${workspace} AND id = ${id}`
          return true as const
        }, nullWhenTaken),
        save: (workspace, id, progress, { nextAt, pausedBy }) => {
          const row = {
            ...columnsOf(progress, nextAt),
            paused_by: pausedBy === null ? null : JSON.stringify(pausedBy)
          }
          return Effect.orDie(
            Effect.asVoid(sql`UPDATE schedule SET ${sql.update(row)} WHERE workspace_id = ${workspace} AND id = ${id}`)
          )
        },
        remove: (workspace, id) =>
          Effect.orDie(
            Effect.map(
              sql`DELETE FROM schedule WHERE workspace_id = ${workspace} AND id = ${id} RETURNING id`,
              (rows) => rows.length === 1
            )
          ),
        removeOf: (process) => Effect.orDie(Effect.asVoid(sql`DELETE FROM schedule WHERE process_id = ${process}`)),
        due: Effect.fnUntraced(function* (limit) {
          const at = yield* now
          const select = sql.literal("SELECT workspace_id, id, process_id FROM schedule")
          // Two queries: SQLite merges a union by walking all rows in the order of the key.
          const come = yield* sql<KeyRow>`${select} WHERE wake_at <= ${at} ORDER BY wake_at LIMIT ${limit}`
          const free = yield* sql<KeyRow>`
            ${select} WHERE waits = 1 AND NOT EXISTS (
              SELECT 1 FROM process_run AS run
              WHERE run.workspace_id = schedule.workspace_id AND run.source_id = schedule.id
                AND run.source_id IS NOT NULL AND run.state IN ('new', 'in_progress', 'stopping'))
            LIMIT ${limit}`
          const rows = new Map([...come, ...free].map((row) => [row.id, row]))
          return Array.from(rows.values(), (row): ScheduleKey => ({
            workspaceId: WorkspaceId.make(row.workspace_id),
            id: ScheduleId.make(row.id),
            processId: ProcessId.make(row.process_id)
          }))
        }, Effect.orDie),
        claim: Effect.fnUntraced(function* (workspace, id, at) {
          const row = {
            workspace_id: workspace,
            schedule_id: id,
            at: iso(at),
            id: yield* newId,
            recorded_at: yield* now,
            outcome: "started"
          }
          const rows = yield* sql`
            INSERT INTO schedule_occurrence ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING id`
          return rows.length === 1
        }, Effect.orDie),
        settle: (workspace, id, at, outcome) => {
          const row =
            "run" in outcome
              ? { process_run_id: outcome.run }
              : { outcome: "skipped", reason: outcome.reason, why: outcome.why }
          return Effect.orDie(
            Effect.asVoid(
              sql`UPDATE schedule_occurrence SET ${sql.update(row)}
                WHERE workspace_id = ${workspace} AND schedule_id = ${id} AND at = ${iso(at)}`
            )
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
        }, Effect.orDie),
        occurrences: (workspace, id, request) =>
          Effect.map(
            page<OccurrenceRow>(
              sql`SELECT id, at, recorded_at, outcome, reason, why, process_run_id FROM schedule_occurrence`,
              [sql`workspace_id = ${workspace}`, sql`schedule_id = ${id}`],
              "newest first",
              request
            ),
            ({ hasMore, rows }) => ({ hasMore, rows: rows.map(parseOccurrence) })
          ),
        sweep: (cutoff, limit) =>
          Effect.orDie(
            Effect.map(
              sql`DELETE FROM schedule_occurrence WHERE (workspace_id, schedule_id, id) IN (
                  SELECT workspace_id, schedule_id, id FROM schedule_occurrence
                  WHERE recorded_at < ${cutoff} ORDER BY recorded_at LIMIT ${limit})
                RETURNING id`,
              (rows) => rows.length
            )
          ),
        sweepMany: (limit) =>
          Effect.orDie(
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
          )
      })
    })
  )
}
