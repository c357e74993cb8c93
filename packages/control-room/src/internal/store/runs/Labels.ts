/** Labels as they are stored, and the sets of them that step runs wait for. */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type { Sql } from "@signalbox/sql/Sql"
import { query, Row, text } from "@signalbox/sql/Table"

type Labels = ReadonlyArray<string>

/** Equal sets are equal text. */
export const encode = (labels: Labels): string => JSON.stringify([...new Set(labels)].toSorted())

/** The labels that a step run asks for; null: none. */
export const encodeWanted = (labels: Labels | undefined): string | null =>
  labels === undefined || labels.length === 0 ? null : encode(labels)

export const decode = (stored: string | null): Labels => (stored === null ? [] : JSON.parse(stored))

/** Whether a worker with these labels has all that are wanted. */
export const has = (labels: Labels, wanted: Labels): boolean => wanted.every((label) => labels.includes(label))

/**
 * The sets that step runs of a workspace wait for and that a worker with these labels has, as stored. Steps through the
 * index from one set to the next, so that the number of step runs makes no difference.
 */
export const wantedAndHad = Effect.fnUntraced(function* (sql: Sql, workspace: WorkspaceId, labels: Labels) {
  if (labels.length === 0) return []
  const waiting = sql`workspace_id = ${workspace} AND state = 'awaiting_worker' AND labels IS NOT NULL`
  const rows = yield* query(
    Row({ labels: text }),
    sql`
      WITH RECURSIVE wanted (labels) AS (
        SELECT (SELECT min(labels) FROM step_run WHERE ${waiting})
        UNION ALL
        SELECT (SELECT min(step_run.labels) FROM step_run WHERE ${waiting} AND step_run.labels > wanted.labels)
        FROM wanted WHERE wanted.labels IS NOT NULL
      )
      SELECT labels FROM wanted WHERE labels IS NOT NULL`
  )
  return rows.map((row) => row.labels).filter((stored) => has(labels, decode(stored)))
})
