/** How many step runs want a worker. */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import { integer, queryOne, Row } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../database/Database.ts"
import * as Labels from "./Labels.ts"
import { noneIsPaused } from "../processes/Pauses.ts"

/** Which step runs count: null asks for none, undefined for any. */
export interface Which {
  readonly process: string | undefined
  readonly group: string | null | undefined
  /** Empty: those that ask for none. */
  readonly labels: ReadonlyArray<string> | undefined
}

export class QueueDepth extends Context.Service<
  QueueDepth,
  {
    /** Those that no worker has and that no pause holds back, and those that a worker has. */
    readonly count: (
      workspace: WorkspaceId,
      which: Which
    ) => Effect.Effect<{ readonly waiting: number; readonly assigned: number }>
  }
>()("@signalbox/control-room/store/QueueDepth") {
  static readonly layer = Layer.effect(
    QueueDepth,
    Effect.gen(function* () {
      const { sql } = yield* Database
      const equals = (column: string, value: string | null | undefined) =>
        value === undefined ? [] : [value === null ? sql`${sql(column)} IS NULL` : sql`${sql(column)} = ${value}`]
      const subjects = sql.literal("step_run.process_id, step_run.step_id, step_run.worker_group_id")

      return QueueDepth.of({
        count: Effect.fnUntraced(function* (workspace, { group, labels, process }) {
          const which = sql.and([
            sql`workspace_id = ${workspace}`,
            ...equals("process_id", process),
            ...equals("worker_group_id", group),
            ...equals("labels", labels === undefined ? undefined : Labels.encodeWanted(labels))
          ])
          // Each condition is that of an index over live rows: those that have ended are not read.
          const counted = yield* queryOne(
            Row({ waiting: integer, assigned: integer }),
            sql`
              SELECT
                (SELECT count(*) FROM step_run
                  WHERE state = 'awaiting_worker' AND worker_id IS NULL AND blocked_by IS NULL AND ${which}
                    AND ${noneIsPaused(sql, workspace, sql`${subjects}`)}) AS waiting,
                (SELECT count(*) FROM step_run
                  WHERE state IN ('new', 'awaiting_worker', 'in_progress') AND worker_id IS NOT NULL AND ${which}) AS assigned`
          )
          return counted ?? { waiting: 0, assigned: 0 }
        })
      })
    })
  )
}
