/**
 * Groups of failures. How many items one has, and since when, comes from the items, by an index of their fingerprints; its
 * row has what they have in common, and what people say of it.
 */
import type { Failure, FailureState } from "@signalbox/api/contract/Failures"
import { FailureId, ProcessId, StepId, WorkItemId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ExceptionType } from "@signalbox/api/contract/WorkItems"
import * as Dialect from "@signalbox/sql/Dialect"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type FailureKind, failureOf } from "../engine/Failures.ts"
import type { Run } from "../engine/State.ts"
import * as Chunks from "./Chunks.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import { parseException } from "./StoredItem.ts"

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

interface Row {
  readonly id: string
  readonly process_id: string
  readonly step_id: string | null
  readonly type: Failure["type"]
  readonly code: string
  readonly message: string
  readonly created_at: string
  readonly state: FailureState
  readonly muted_until: string | null
  readonly note: string | null
  readonly assignee: string | null
}

interface Counted {
  readonly n: number
  readonly first: string | null
  readonly last: string | null
}

interface OldItem {
  readonly id: string
  readonly workspace_id: string
  readonly process_id: string
  readonly step_id: string | null
  readonly exception: string | null
}

/** Items of a group that it names. */
const samples = 5

/** The state of a group now: a resolved one with failed items is open again, and so is one whose mute is over. */
const stateAt = ({ muted_until, state }: Row, count: number, now: string): FailureState => {
  if (state === "resolved") return count > 0 ? "open" : "resolved"
  return state === "muted" && muted_until !== null && muted_until <= now ? "open" : state
}

const matches = (filter: FailureFilter, row: Row) =>
  (filter.processId ?? row.process_id) === row.process_id &&
  (filter.stepId ?? row.step_id) === row.step_id &&
  (filter.type ?? row.type) === row.type &&
  (filter.code ?? row.code) === row.code

export class Failures extends Context.Service<
  Failures,
  {
    /** Groups with failed items; with the state `resolved`, those that were resolved. In the order of their ids. */
    readonly list: (
      workspace: WorkspaceId,
      filter: FailureFilter,
      page: PageRequest
    ) => Effect.Effect<Rows<StoredFailure>>
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredFailure | null>
    /** Like `get`, and locks the row until the transaction ends. */
    readonly lock: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredFailure | null>
    readonly save: (
      workspace: WorkspaceId,
      failure: Pick<StoredFailure, "id" | "state" | "muted_until" | "note" | "assignee">
    ) => Effect.Effect<void>
    /** Items of a run have failed like this: creates the groups that are new, and opens those that were resolved. */
    readonly occurred: (
      run: Pick<Run, "workspaceId" | "processId">,
      failures: ReadonlyArray<FailureKind>
    ) => Effect.Effect<void>
    /** Groups some items that failed before there were groups; returns how many it found. */
    readonly fill: (limit: number) => Effect.Effect<number>
    /** Deletes groups without failed items that have not changed since `cutoff`, and are not muted; returns how many. */
    readonly sweep: (cutoff: string, limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/Failures") {
  static readonly layer = Layer.effect(
    Failures,
    Effect.gen(function* () {
      const { now, sql, transaction } = yield* Database
      const forUpdate = Dialect.forUpdate(sql)
      const failedIn = (workspace: WorkspaceId) => sql`workspace_id = ${workspace} AND state = 'failed'`

      const rowOf = (workspace: WorkspaceId, id: string, lock = sql.literal("")) =>
        Effect.map(
          sql<Row>`SELECT * FROM failure_group WHERE workspace_id = ${workspace} AND id = ${id} ${lock}`,
          ([row]) => row ?? null
        )

      /** The next group with failed items: one step in the index. */
      const nextFailed = Effect.fnUntraced(function* (workspace: WorkspaceId, after: string) {
        const [item] = yield* sql<{ readonly failure: string }>`
          SELECT failure FROM work_item WHERE ${failedIn(workspace)} AND failure > ${after}
          ORDER BY failure, id LIMIT 1`
        return item?.failure ?? null
      })

      /** The next group that was resolved. */
      const nextResolved = Effect.fnUntraced(function* (workspace: WorkspaceId, after: string) {
        const [row] = yield* sql<{ readonly id: string }>`
          SELECT id FROM failure_group WHERE workspace_id = ${workspace} AND state = 'resolved' AND id > ${after}
          ORDER BY id LIMIT 1`
        return row?.id ?? null
      })

      /** The names of the process and of its step. */
      const namesOf = Effect.fnUntraced(function* ({ process_id, step_id }: Row) {
        const [row] = yield* sql<{ readonly name: string; readonly steps: string }>`
          SELECT name, steps FROM process WHERE id = ${process_id}`
        const steps: ReadonlyArray<{ readonly id: string; readonly name: string }> = JSON.parse(row?.steps ?? "[]")
        return { process: row?.name ?? "", step: steps.find(({ id }) => id === step_id)?.name ?? null }
      })

      const viewOf = Effect.fnUntraced(function* (workspace: WorkspaceId, row: Row) {
        const ofGroup = sql`${failedIn(workspace)} AND failure = ${row.id}`
        const [counted] = yield* sql<Counted>`
          SELECT count(*) AS n, min(state_updated_at) AS first, max(state_updated_at) AS last
          FROM work_item WHERE ${ofGroup}`
        const items = yield* sql<{ readonly id: string }>`
          SELECT id FROM work_item WHERE ${ofGroup} ORDER BY id DESC LIMIT ${samples}`
        const names = yield* namesOf(row)
        const count = counted?.n ?? 0
        const state = stateAt(row, count, yield* now)
        const view: StoredFailure = {
          id: FailureId.make(row.id),
          process: { id: ProcessId.make(row.process_id), name: names.process },
          step: row.step_id === null ? null : { id: StepId.make(row.step_id), name: names.step },
          type: row.type,
          code: row.code,
          message: row.message,
          created_at: row.created_at,
          state,
          muted_until: state === "muted" ? row.muted_until : null,
          note: row.note,
          assignee: row.assignee,
          count,
          first_failed_at: counted?.first ?? null,
          last_failed_at: counted?.last ?? null,
          work_items: items.map(({ id }) => ({ id: WorkItemId.make(id) }))
        }
        return view
      })

      const insert = Effect.fnUntraced(function* (
        workspace: string,
        process: string,
        failures: ReadonlyArray<FailureKind>
      ) {
        const kinds = [...new Map(failures.map((failure) => [failure.fingerprint, failure])).values()]
        const at = yield* now
        // Sorted, because all transactions create groups in this order.
        const rows = kinds
          .toSorted((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))
          .map(({ code, fingerprint, message, step, type }) => ({
            workspace_id: workspace,
            id: fingerprint,
            process_id: process,
            step_id: step,
            type,
            code: code.toWellFormed().replaceAll("\0", ""),
            message,
            created_at: at,
            state: "open",
            updated_at: at
          }))
        yield* Chunks.forEach(
          rows,
          (some) => sql`INSERT INTO failure_group ${sql.insert(some)} ON CONFLICT (workspace_id, id) DO NOTHING`
        )
        return rows.map(({ id }) => id)
      })

      return Failures.of({
        list: Effect.fnUntraced(function* (workspace, filter, { after, limit }) {
          const next = filter.state === "resolved" ? nextResolved : nextFailed
          const rows: Array<StoredFailure> = []
          for (let last = after ?? ""; ;) {
            const id: string | null = yield* next(workspace, last)
            if (id === null) return { rows, hasMore: false }
            last = id
            // However many groups there are, other fibers run in between.
            yield* Effect.yieldNow
            const row = yield* rowOf(workspace, id)
            if (row === null || !matches(filter, row)) continue
            const view = yield* viewOf(workspace, row)
            if (filter.state !== null && view.state !== filter.state) continue
            if (rows.length === limit) return { rows, hasMore: true }
            rows.push(view)
          }
        }, Effect.orDie),
        get: Effect.fnUntraced(function* (workspace, id) {
          const row = yield* rowOf(workspace, id)
          return row === null ? null : yield* viewOf(workspace, row)
        }, Effect.orDie),
        lock: Effect.fnUntraced(function* (workspace, id) {
          const row = yield* rowOf(workspace, id, forUpdate)
          return row === null ? null : yield* viewOf(workspace, row)
        }, Effect.orDie),
        save: Effect.fnUntraced(function* (workspace, { assignee, id, muted_until, note, state }) {
          const changed = { state, muted_until, note, assignee, updated_at: yield* now }
          yield* sql`UPDATE failure_group SET ${sql.update(changed)} WHERE workspace_id = ${workspace} AND id = ${id}`
        }, Effect.orDie),
        occurred: Effect.fnUntraced(function* ({ processId, workspaceId }, failures) {
          if (failures.length === 0) return
          const ids = yield* insert(workspaceId, processId, failures)
          const at = yield* now
          yield* Chunks.forEach(
            ids,
            (some) => sql`
              UPDATE failure_group SET state = 'open', updated_at = ${at}
              WHERE workspace_id = ${workspaceId} AND ${sql.in("id", some)} AND state = 'resolved'`
          )
        }, Effect.orDie),
        fill: (limit) =>
          transaction(
            Effect.gen(function* () {
              const items = yield* sql<OldItem>`
                SELECT id, workspace_id, process_id, step_id, exception FROM work_item
                WHERE state = 'failed' AND failure IS NULL
                ORDER BY id LIMIT ${limit} ${Dialect.skipLocked(sql, "work_item")}`
              const found = items.map((item) => {
                const step = item.step_id === null ? null : StepId.make(item.step_id)
                return { item, failure: failureOf(item.process_id, step, parseException(item.exception)) }
              })
              const byProcess = Map.groupBy(found, ({ item }) => `${item.workspace_id} ${item.process_id}`)
              for (const [ids, some] of [...byProcess].toSorted()) {
                const [workspace = "", process = ""] = ids.split(" ")
                yield* insert(
                  workspace,
                  process,
                  some.map(({ failure }) => failure)
                )
              }
              yield* Chunks.forEach(found, (some) => {
                const pairs = sql.csv(some.map(({ failure, item }) => sql`(${item.id}, ${failure.fingerprint})`))
                return sql`
                  UPDATE work_item SET failure = found.column2 FROM (VALUES ${pairs}) AS found
                  WHERE work_item.id = found.column1`
              })
              return found.length
            }).pipe(Effect.orDie)
          ),
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
        }, Effect.orDie)
      })
    })
  )
}
