/** What a bulk operation is carried out on: walked by id in an index, a window at a time, however few of it match. */
import type { BulkFilter, BulkOperationName } from "@signalbox/api/contract/BulkOperations"
import type { BulkOperationId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { flag, query, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import type { Exception } from "../../engine/State.ts"
import { Database } from "../database/Database.ts"
import { workItemTable } from "../items/StoredItem.ts"

export interface Target {
  readonly id: BulkOperationId
  readonly workspaceId: WorkspaceId
  readonly operation: BulkOperationName
  readonly filter: BulkFilter
  /** What changed later does not belong to it. */
  readonly createdAt: string
}

export interface Window {
  /** What matches, in the order of the ids. */
  readonly ids: ReadonlyArray<string>
  /** Where the next window begins; null at the end. */
  readonly next: string | null
}

/** The states on which each operation is possible. Of items that are processed none is taken. */
export const statesOf = {
  retry: ["failed"],
  mark_as_done: ["failed"],
  delete: ["new", "failed", "done"],
  start_again: ["completed", "unresolved"]
} as const satisfies Record<BulkOperationName, ReadonlyArray<string>>

const targetRow = workItemTable.pick("exception").and({ id: text, matches: flag })

const stored = (time: string) => new Date(time).toISOString()

export class BulkTargets extends Context.Service<
  BulkTargets,
  {
    /** What matches after this id, among at most so many rows. */
    readonly window: (target: Target, after: string, limit: number) => Effect.Effect<Window>
  }
>()("@signalbox/control-room/store/BulkTargets") {
  static readonly layer = Layer.effect(
    BulkTargets,
    Effect.gen(function* () {
      const { sql } = yield* Database

      const between = (column: Fragment, after: string | undefined, before: string | undefined) => [
        ...(after === undefined ? [] : [sql`${column} > ${stored(after)}`]),
        ...(before === undefined ? [] : [sql`${column} < ${stored(before)}`])
      ]

      /** The index that is walked, and what has to hold besides. */
      const conditionsOf = ({ createdAt, filter, id, operation, workspaceId }: Target) => {
        const states: ReadonlyArray<string> = filter.state === undefined ? statesOf[operation] : [filter.state]
        const ofException = filter.failure_id ?? filter.type ?? filter.code
        const [state, ...others] = ofException === undefined ? states : ["failed"]
        const single = others.length === 0 ? [sql`state = ${state}`] : []
        const besides = [
          sql`workspace_id = ${workspaceId}`,
          sql.in("state", states),
          ...(filter.process_id === undefined ? [] : [sql`process_id = ${filter.process_id}`]),
          ...between(sql`created_at`, filter.created_after, filter.created_before)
        ]
        if (operation === "start_again") {
          const walked = filter.process_id === undefined ? [] : [sql`process_id = ${filter.process_id}`]
          return {
            table: sql.literal("process_run"),
            walked: [...(walked.length === 0 ? [sql`workspace_id = ${workspaceId}`] : walked), ...single],
            // What it starts has a later id, also where time stands still.
            besides: [...besides, sql`deleted_at IS NULL`, sql`created_at <= ${createdAt}`, sql`id < ${id}`]
          }
        }
        const walked =
          filter.failure_id !== undefined
            ? [sql`workspace_id = ${workspaceId}`, sql`state = 'failed'`, sql`failure = ${filter.failure_id}`]
            : filter.reference !== undefined
              ? [sql`workspace_id = ${workspaceId}`, sql`reference = ${filter.reference}`]
              : filter.process_run_id !== undefined
                ? [sql`process_run_id = ${filter.process_run_id}`, ...single]
                : filter.process_id !== undefined
                  ? [sql`process_id = ${filter.process_id}`, ...single]
                  : [sql`workspace_id = ${workspaceId}`, ...single]
        return {
          table: sql.literal("work_item"),
          walked,
          besides: [
            ...besides,
            ...(filter.failure_id === undefined ? [] : [sql`failure = ${filter.failure_id}`]),
            ...(filter.process_run_id === undefined ? [] : [sql`process_run_id = ${filter.process_run_id}`]),
            ...(filter.reference === undefined ? [] : [sql`reference = ${filter.reference}`]),
            ...(filter.tag === undefined
              ? []
              : [
                  sql`EXISTS (SELECT 1 FROM work_item_tag WHERE work_item_tag.workspace_id = ${workspaceId}
                    AND work_item_tag.tag = ${filter.tag} AND work_item_tag.id = work_item.id)`
                ]),
            ...(filter.step_id === undefined ? [] : [sql`step_id = ${filter.step_id}`]),
            ...between(sql`state_updated_at`, filter.state_updated_after, filter.state_updated_before),
            sql`coalesce(state_updated_at, created_at) <= ${createdAt}`
          ]
        }
      }

      const isOf = ({ code, type }: BulkFilter, exception: Exception | null) => {
        if (code === undefined && type === undefined) return true
        return (
          exception !== null &&
          (code ?? exception.code) === exception.code &&
          (type ?? exception.type) === exception.type
        )
      }

      return BulkTargets.of({
        window: Effect.fnUntraced(function* (target, after, limit) {
          const { besides, table, walked } = conditionsOf(target)
          const { code, ids, type } = target.filter
          const given = ids === undefined ? null : [...new Set(ids)].toSorted().filter((id) => id > after)
          const some = given?.slice(0, limit) ?? null
          if (some !== null && some.length === 0) return { ids: [], next: null }
          const matching = sql.and(besides)
          const exception =
            code === undefined && type === undefined
              ? sql.literal("NULL")
              : sql`CASE WHEN ${matching} THEN exception END`
          const rows = yield* query(
            targetRow,
            sql`
              SELECT id, CASE WHEN ${matching} THEN 1 ELSE 0 END AS matches, ${exception} AS exception FROM ${table}
              WHERE ${some === null ? sql.and([...walked, sql`id > ${after}`]) : sql.in("id", some)}
              ORDER BY id LIMIT ${limit}`
          )
          const more = some === null ? rows.length === limit : (given ?? []).length > some.length
          const last = some === null ? rows.at(-1)?.id : some.at(-1)
          return {
            ids: rows.flatMap((row) => (row.matches && isOf(target.filter, row.exception) ? [row.id] : [])),
            next: more ? (last ?? null) : null
          }
        })
      })
    })
  )
}
