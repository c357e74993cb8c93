/**
 * The service that commits the rows of a step together with its result.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

export interface Transactions {
  /** The client of the database that has the flows; null without an engine. */
  readonly sql: SqlClient | null
  /** Runs a transaction unless one for this scope was committed; returns the committed value. */
  readonly once: <E, R>(
    sql: SqlClient,
    step: { readonly execution: string; readonly scope: string },
    run: Effect.Effect<Schema.Json, E, R>
  ) => Effect.Effect<Schema.Json, E | SqlError, R>
  /** Whether a transaction that failed so may succeed later. */
  readonly isPassing: (error: SqlError) => boolean
}

/** Without an engine nothing is recorded. */
export const Transactions = Context.Reference<Transactions>("@signalbox/flows/Transactions", {
  defaultValue: () => ({
    sql: null,
    once: (sql, _step, run) => sql.withTransaction(run),
    isPassing: () => false
  })
})
