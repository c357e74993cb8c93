/**
 * Groups of failures. How many items one has, and since when, comes from the items, by an index of their fingerprints; its
 * row has what they have in common, and what people say of it.
 */
import type { Failure, FailureState } from "@signalbox/api/contract/Failures"
import { FailureId, ProcessId, ProcessRunId, StepId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ExceptionType } from "@signalbox/api/contract/WorkItems"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, json, nullable, query, Row, Table, text, word } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FailureKind, Run } from "../../engine/State.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"

export interface FailureFilter {
  readonly processId: ProcessId | null
  readonly stepId: StepId | null
  readonly type: ExceptionType | null
  readonly code: string | null
  readonly state: FailureState | null
}

/** A group as its workspace sees it. */
export interface StoredFailure extends Failure {
  readonly state: FailureState
}

/** A group in a list. */
export interface ListedFailure {
  /** Its position in the list, for cursors. */
  readonly id: string
  readonly failure: StoredFailure
}

const failureTable = Table("failure_group", {
  workspace_id: id(WorkspaceId),
  id: id(FailureId),
  process_id: id(ProcessId),
  step_id: nullable(id(StepId)),
  type: word<Failure["type"]>(),
  code: text,
  message: text,
  created_at: text,
  updated_at: text,
  state: word<FailureState>(),
  muted_until: nullable(text),
  note: nullable(text),
  assignee: nullable(text),
  last_seen_at: text
})

const failureRow = failureTable.and({
  process_name: nullable(text),
  /** How many failed items it has, when the first and when the last failed; null when it has none. */
  counted: nullable(text),
  /** Some of these: when each failed, its id, and its run. */
  newest: nullable(text)
})
type FailureRow = typeof failureRow.Type

/** Items of a group that it names. */
const samples = 5

/** How often the time of its last failure is written to a group at most: it orders the groups. */
const seenEvery = Duration.toMillis("10 seconds")

/** The state of a group now: a resolved one with failed items is open again, and so is one whose mute is over. */
const stateAt = ({ muted_until, state }: FailureRow, count: number, now: string): FailureState => {
  if (state === "resolved") return count > 0 ? "open" : "resolved"
  return state === "muted" && muted_until !== null && muted_until <= now ? "open" : state
}

export class Failures extends Context.Service<
  Failures,
  {
    /** Groups with failed items; with the state `resolved`, those that were resolved. The last failure comes first. */
    readonly list: (
      workspace: WorkspaceId,
      filter: FailureFilter,
      page: PageRequest
    ) => Effect.Effect<Rows<ListedFailure>>
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredFailure | null>
    /** Like `get`, and locks the row until the transaction ends. */
    readonly lock: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredFailure | null>
    readonly save: (
      workspace: WorkspaceId,
      failure: Pick<StoredFailure, "id" | "state" | "muted_until" | "note" | "assignee">
    ) => Effect.Effect<void>
    /**
     * Items of a run have failed like this: creates the groups that are new, opens those that were resolved, and writes
     * the time of the last failure to those that have not had one for some seconds.
     */
    readonly occurred: (
      run: Pick<Run, "workspaceId" | "processId">,
      failures: ReadonlyArray<FailureKind>
    ) => Effect.Effect<void>
    /** Deletes groups without failed items that have not changed since `cutoff`, and are not muted; returns how many. */
    readonly sweep: (cutoff: string, limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/Failures") {
  static readonly layer = Layer.effect(
    Failures,
    Effect.gen(function* () {
      const { millis, now, sql } = yield* Database
      const forUpdate = Dialect.forUpdate(sql)
      const ofGroup = sql.literal(
        "work_item.workspace_id = failure_group.workspace_id AND work_item.state = 'failed' AND work_item.failure = failure_group.id"
      )
      // Not EXISTS, of which Postgres makes a join with all failed items.
      const hasItems = sql`(SELECT 1 FROM work_item WHERE ${ofGroup} LIMIT 1) IS NOT NULL`

      /** Everything of a group. The counts are one text, so that its items are read once. */
      const select = sql`
        SELECT ${failureTable.of("failure_group")},
          (SELECT name FROM process WHERE process.id = failure_group.process_id) AS process_name,
          (SELECT count(*) || ' ' || min(state_updated_at) || ' ' || max(state_updated_at)
            FROM work_item WHERE ${ofGroup}) AS counted,
          (SELECT string_agg(at || ' ' || newest.id || ' ' || coalesce(process_run_id, ''), ',') FROM (
            SELECT state_updated_at AS at, id, process_run_id FROM work_item WHERE ${ofGroup}
            ORDER BY state_updated_at DESC LIMIT ${samples}) AS newest) AS newest
        FROM failure_group`

      /** Which groups have this state now; like `stateAt`. */
      const inState = (state: FailureState | null, time: string) => {
        if (state === null) return hasItems
        if (state === "resolved") return sql`state = 'resolved' AND NOT (${hasItems})`
        const isMuted = sql`(state = 'muted' AND (muted_until IS NULL OR muted_until > ${time}))`
        return state === "muted" ? sql`${isMuted} AND ${hasItems}` : sql`NOT ${isMuted} AND ${hasItems}`
      }

      interface Step {
        readonly id: string
        readonly name: string
      }

      /** The steps of these processes, by id. */
      const stepsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<FailureRow>) {
        const ids = [...new Set(rows.map((row) => row.process_id))]
        const processes =
          ids.length === 0
            ? []
            : yield* query(
                Row({ steps: json<ReadonlyArray<Step>>() }),
                sql`SELECT steps FROM process WHERE ${sql.in("id", ids)}`
              )
        return new Map(processes.flatMap(({ steps }) => steps).map(({ id, name }) => [id, name]))
      })

      const viewsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<FailureRow>) {
        const steps = yield* stepsOf(rows)
        const time = yield* now
        return rows.map((row): StoredFailure => {
          const [count, first, last] = row.counted?.split(" ") ?? []
          const state = stateAt(row, Number(count ?? 0), time)
          const newest = (row.newest ?? "").split(",").filter((one) => one !== "")
          return {
            id: row.id,
            process: { id: row.process_id, name: row.process_name ?? "" },
            step: row.step_id === null ? null : { id: row.step_id, name: steps.get(row.step_id) ?? null },
            type: row.type,
            code: row.code,
            message: row.message,
            created_at: row.created_at,
            state,
            muted_until: state === "muted" ? row.muted_until : null,
            note: row.note,
            assignee: row.assignee,
            count: Number(count ?? 0),
            first_failed_at: first ?? null,
            last_failed_at: last ?? null,
            work_items: newest
              .toSorted((a, b) => (a < b ? 1 : -1))
              .map((one) => {
                const [_at, id = "", run = ""] = one.split(" ")
                return { id: WorkItemId.make(id), process_run: run === "" ? null : { id: ProcessRunId.make(run) } }
              })
          }
        })
      })

      const find = Effect.fnUntraced(function* (workspace: WorkspaceId, id: string, lock = sql.literal("")) {
        const rows = yield* query(failureRow, sql`${select} WHERE workspace_id = ${workspace} AND id = ${id} ${lock}`)
        const [view] = yield* viewsOf(rows)
        return view ?? null
      })

      const insert = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        process: ProcessId,
        failures: ReadonlyArray<FailureKind>,
        at: string
      ) {
        const kinds = [...new Map(failures.map((failure) => [failure.fingerprint, failure])).values()]
        const time = yield* now
        // Sorted, because all transactions create groups in this order.
        const rows = kinds
          .toSorted((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))
          .map(({ code, fingerprint, message, step, type }) => ({
            workspace_id: workspace,
            id: FailureId.make(fingerprint),
            process_id: process,
            step_id: step,
            type,
            code: code.toWellFormed().replaceAll("\0", ""),
            message,
            created_at: time,
            state: "open" as const,
            updated_at: time,
            last_seen_at: at
          }))
        yield* Chunks.forEach(
          rows,
          (some) =>
            sql`INSERT INTO failure_group ${failureTable.insert(some)} ON CONFLICT (workspace_id, id) DO NOTHING`
        )
        return rows.map(({ id }) => id)
      })

      return Failures.of({
        list: Effect.fnUntraced(function* (workspace, filter, { after, limit }) {
          const { code, processId, state, stepId, type } = filter
          const [seen = "", id = ""] = after?.split(" ") ?? []
          const where = sql.and([
            sql`workspace_id = ${workspace}`,
            ...(processId === null ? [] : [sql`process_id = ${processId}`]),
            ...(stepId === null ? [] : [sql`step_id = ${stepId}`]),
            ...(type === null ? [] : [sql`type = ${type}`]),
            ...(code === null ? [] : [sql`code = ${code}`]),
            ...(after === null ? [] : [sql`(last_seen_at, id) < (${seen}, ${id})`]),
            inState(state, yield* now)
          ])
          const rows = yield* query(
            failureRow,
            sql`${select} WHERE ${where} ORDER BY last_seen_at DESC, id DESC LIMIT ${limit + 1}`
          )
          const some = rows.slice(0, limit)
          const views = yield* viewsOf(some)
          return {
            rows: views.map((failure, index) => ({ id: `${some[index]?.last_seen_at} ${failure.id}`, failure })),
            hasMore: rows.length > limit
          }
        }),
        get: (workspace, id) => find(workspace, id),
        lock: (workspace, id) => find(workspace, id, forUpdate),
        save: Effect.fnUntraced(function* (workspace, { assignee, id, muted_until, note, state }) {
          const changed = { state, muted_until, note, assignee, updated_at: yield* now }
          yield* sql`UPDATE failure_group SET ${failureTable.update(changed)} WHERE workspace_id = ${workspace} AND id = ${id}`
        }),
        occurred: Effect.fnUntraced(function* ({ processId, workspaceId }, failures) {
          if (failures.length === 0) return
          const time = yield* millis
          const at = new Date(time).toISOString()
          const ids = yield* insert(workspaceId, processId, failures, at)
          yield* Chunks.forEach(
            ids,
            (some) => sql`
              UPDATE failure_group SET state = 'open', updated_at = ${at}
              WHERE workspace_id = ${workspaceId} AND ${sql.in("id", some)} AND state = 'resolved'`
          )
          const cutoff = new Date(time - seenEvery).toISOString()
          // No transaction waits for another one that fails alike: that one writes the time.
          yield* Chunks.forEach(
            ids,
            (some) => sql`
              UPDATE failure_group SET last_seen_at = ${at}, updated_at = ${at}
              WHERE workspace_id = ${workspaceId} AND id IN (
                SELECT id FROM failure_group
                WHERE workspace_id = ${workspaceId} AND ${sql.in("id", some)} AND last_seen_at < ${cutoff}
                ${Dialect.skipLocked(sql, "failure_group")})`
          )
        }),
        sweep: Effect.fnUntraced(function* (cutoff, limit) {
          const rows = yield* sql`
            DELETE FROM failure_group WHERE (workspace_id, id) IN (
              SELECT workspace_id, id FROM failure_group AS old
              WHERE updated_at < ${cutoff} AND state <> 'muted' AND NOT EXISTS (
                SELECT 1 FROM work_item
                WHERE work_item.workspace_id = old.workspace_id AND work_item.state = 'failed'
                  AND work_item.failure = old.id)
              ORDER BY updated_at LIMIT ${limit} ${Dialect.skipLocked(sql, "old")})
            RETURNING id`
          return rows.length
        })
      })
    })
  )
}
