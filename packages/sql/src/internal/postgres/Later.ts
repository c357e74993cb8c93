/**
 * Connections of transactions that keep a write until the statement that follows, as those of Postgres: see `Transaction`.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"

const TypeId = "~signalbox/sql/Later"

/** The rows of a statement that was sent with another one, or is sent when they are asked for. */
export type Rows = Effect.Effect<ReadonlyArray<object>, SqlError>

export interface Later {
  /** Runs a statement before the next one, and returns its rows to who asks for them; a failure is that of the next one. */
  readonly run: (sql: string, params: ReadonlyArray<unknown>) => Effect.Effect<Rows, SqlError>
  /** Waits for all that was kept. */
  readonly flush: Effect.Effect<void, SqlError>
}

interface LaterConnection extends Connection {
  readonly [TypeId]: Later
}

const isLater = (connection: Connection): connection is LaterConnection => Predicate.hasProperty(connection, TypeId)

export const of = (connection: Connection, later: Later): Connection => Object.assign(connection, { [TypeId]: later })

/** Waits for the writes that the connection has kept. */
export const flush = (connection: Connection): Effect.Effect<void, SqlError> =>
  isLater(connection) ? connection[TypeId].flush : Effect.void

const noRows: ReadonlyArray<object> = []

/** Whether a statement certainly returns no rows. */
const isSilent = (sql: string) => /^\s*(INSERT|UPDATE|DELETE)\b/i.test(sql) && !/\bRETURNING\b/i.test(sql)

/** Runs a statement; a write that returns no rows is sent with the statement that follows it. */
export const execute = (
  connection: Connection,
  sql: string,
  params: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<object>, SqlError> =>
  isLater(connection) && isSilent(sql)
    ? Effect.as(connection[TypeId].run(sql, params), noRows)
    : connection.execute(sql, params, undefined)

/** Runs a statement before the next one, or at once where nothing is kept; returns its rows to who asks for them. */
export const ahead = (
  connection: Connection,
  sql: string,
  params: ReadonlyArray<unknown>
): Effect.Effect<Rows, SqlError> =>
  isLater(connection)
    ? connection[TypeId].run(sql, params)
    : Effect.map(connection.execute(sql, params, undefined), Effect.succeed)
