/**
 * New executions of several callers as one statement of Postgres. Those whose keys are taken, and all of them when another transaction
 * holds a key for long, are left to their callers.
 */
import { Sent } from "@signalbox/sql/Sent"
import { query } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Execution } from "../../model/Execution.ts"
import { compareTexts } from "../Common.ts"
import { hasTimes, newExecutions, toNewRow } from "./NewRows.ts"
import { executionTable } from "./Rows.ts"
import type { Store } from "./Store.ts"
import { isSmall, put } from "./Tables.ts"

export interface Request {
  readonly execution: Execution
  /** The token of the call. */
  readonly token: string
  readonly sent: Sent | null
}

/** Two calls may create one execution, so the tokens tell which has. */
const createdRow = executionTable.pick("token")

/** Whether an execution is a row of one table, without times of its own. */
export const isCommon = (execution: Execution): boolean =>
  execution.tags.length === 0 && execution.queuedAt === null && !hasTimes(execution)

/** How long a statement waits for another transaction, in milliseconds. */
const lockTimeout = "100"

/** In one order, so that two statements with the same keys never wait for each other. */
const byKey = ({ execution: one }: Request, { execution: other }: Request) =>
  compareTexts(one.key, other.key) || compareTexts(one.flow, other.flow)

/** What all callers learn when their statement is handed to a connection. */
const sentOf = (all: ReadonlyArray<Request>): Sent => ({
  get isSent() {
    return all.some(({ sent }) => sent?.isSent === true)
  },
  set isSent(isSent) {
    for (const { sent } of all) if (sent !== null) sent.isSent = isSent
  }
})

export const make = ({ sql }: Pick<Store, "sql">) => {
  const limited = sql`limited AS MATERIALIZED (SELECT set_config('lock_timeout', ${lockTimeout}, TRUE) AS lock_timeout)`

  /** Returns true for each that was created. */
  return (all: ReadonlyArray<Request>): Effect.Effect<ReadonlyArray<true | null>, SqlError> => {
    const rows = all.toSorted(byKey).map(({ execution, token }) => toNewRow(execution, token))
    const made = put(sql, newExecutions, {}, rows.filter(isSmall), "limited").map(
      (part) => sql`made AS (${part} RETURNING token)`
    )
    if (made.length === 0) return Effect.succeed([])
    return query(createdRow, sql`WITH ${sql.csv([limited, ...made])} SELECT token FROM made`).pipe(
      Effect.provideService(Sent, sentOf(all)),
      Effect.map((rows) => {
        const created = new Set(rows.map((row) => row.token))
        return all.map(({ token }) => (created.has(token) ? true : null))
      })
    )
  }
}
