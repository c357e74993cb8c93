/**
 * What a client needs of connections to the server itself. Statements that follow each other without waiting are sent in one write, and
 * Postgres answers in their order. What was sent is not taken back: a connection that still waits for an answer when its borrower leaves
 * is closed, and the server then ends what it does for it within a second (`client_connection_check_interval`).
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as Transaction from "./Transaction.ts"

/** A connection for single statements. */
export type Session = Pick<PgConnection, "query" | "queryValues" | "stream">

export interface Sessions {
  readonly get: Effect.Effect<Session, SqlError, Scope.Scope>
  /** For a transaction. */
  readonly reserve: Effect.Effect<Transaction.Transaction, SqlError, Scope.Scope>
  readonly use: <A, E, R>(run: (session: Session) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
}

/** Requests are sent before the one before has been answered; a connection has one borrower. */
export const config = { multiplex: true, multiplexConcurrency: 1, preparedStatementCacheSize: 300 } as const

/** The connections of a pool, whose configuration includes `config`. */
export const make = (pool: PgPool): Sessions => {
  const single = (connection: PgConnection): Session => {
    const whole = <A>(request: Effect.Effect<A, SqlError>) =>
      Effect.onInterrupt(request, () => pool.invalidate(connection))
    return {
      query: (sql, params, prepare) => whole(connection.query(sql, params, prepare)),
      queryValues: (sql, params, prepare) => whole(connection.queryValues(sql, params, prepare)),
      stream: connection.stream
    }
  }
  return {
    get: Effect.map(pool.get, single),
    reserve: Transaction.make(pool, null),
    use: (run) => pool.use((connection) => run(single(connection)))
  }
}
