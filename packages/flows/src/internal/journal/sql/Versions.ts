/**
 * What is known of the versions of flows.
 */
import { integer, query } from "@signalbox/sql/Table"
import type { Journal } from "../Journal.ts"
import { executionTable } from "./Rows.ts"
import type { Store } from "./Store.ts"
import * as Texts from "./Texts.ts"

const countRow = executionTable.pick("flow", "version", "state").and({ count: integer, oldest: integer })

export const make = ({ persist, sql }: Store) => {
  // `ended_at IS NULL` has an index, so executions that have ended are not read.
  const unendedCounts: (typeof Journal.Service)["unendedCounts"] = (flow) =>
    persist(
      query(
        countRow,
        sql`
          SELECT flow, version, state, count(*) AS count, min(started_at) AS oldest FROM flow_run
          WHERE ended_at IS NULL AND expired = 0 ${flow === undefined ? sql`` : sql`AND flow = ${Texts.toText(flow)}`}
          GROUP BY flow, version, state ORDER BY flow, version, state`
      )
    )

  return { unendedCounts }
}
