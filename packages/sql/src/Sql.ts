/**
 * SQL without an error channel. A caller can do nothing about most failures of a statement, so they are defects, which the edge
 * of the program turns into a response (`StorageFailure`). The few that a caller acts on are asked for by name: `whenTaken`,
 * `isGone`, and `StorageFailure.ofCause` for a storage that is unavailable or full.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Fragments from "effect/sql/Statement"
import * as Dialect from "./Dialect.ts"

/** A statement, or a part of one. Its rows have no type: `Table.query` parses them by their declaration. */
export interface Statement extends Fragments.Fragment, Effect.Effect<ReadonlyArray<object>> {}

/** The `SqlClient` whose statements have no error channel. */
export interface Sql extends Pick<
  SqlClient,
  "afterCommit" | "and" | "csv" | "in" | "insert" | "join" | "literal" | "onDialectOrElse" | "or" | "update"
> {
  /** The name of a table or a column, quoted. */
  (name: string): Fragments.Identifier
  (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Statement
  readonly unsafe: (text: string, params?: ReadonlyArray<unknown>) => Statement
}

class Quiet extends Effectable.Class<ReadonlyArray<object>> {
  readonly statement: Fragments.Statement<object>
  constructor(statement: Fragments.Statement<object>) {
    super()
    this.statement = statement
  }
  asEffect() {
    return Effect.orDie(this.statement)
  }
}

const quiet = (statement: Fragments.Statement<object>): Statement =>
  Object.assign(new Quiet(statement), Fragments.fragment(statement.segments))

/**
 * Makes the failures of statements defects.
 *
 * ```ts
 * import * as Sql from "@signalbox/sql/Sql"
 * import { integer, queryOne, Row } from "@signalbox/sql/Table"
 * import * as Effect from "effect/Effect"
 * import * as SqlClient from "effect/sql/SqlClient"
 *
 * export const count = Effect.gen(function* () {
 *   const sql = Sql.make(yield* SqlClient.SqlClient)
 *   const counted = Row({ n: integer })
 *   return yield* queryOne(counted, sql`SELECT count(*) AS n FROM item`)
 * })
 * ```
 */
export const make = (client: SqlClient): Sql => {
  function sql(strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Statement
  function sql(name: string): Fragments.Identifier
  function sql(first: TemplateStringsArray | string, ...values: ReadonlyArray<unknown>) {
    return typeof first === "string" ? client(first) : quiet(client<object>(first, ...values))
  }
  const { afterCommit, and, csv, in: isIn, insert, join, literal, onDialectOrElse, or, update } = client
  const rest = { afterCommit, and, csv, in: isIn, insert, join, literal, onDialectOrElse, or, update }
  return Object.assign(sql, rest, {
    unsafe: (text: string, params?: ReadonlyArray<unknown>) => quiet(client.unsafe(text, params))
  })
}

/** Runs an effect atomically; a failure of the storage is a defect. */
export const transaction = <A, E, R>(client: SqlClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchIf(client.withTransaction(effect), isSqlError, Effect.die)

const sqlErrorOf = (cause: Cause.Cause<unknown>): SqlError | undefined =>
  cause.reasons.flatMap((reason) => (Cause.isDieReason(reason) && isSqlError(reason.defect) ? [reason.defect] : []))[0]

const isTaken = (cause: Cause.Cause<unknown>): boolean => sqlErrorOf(cause)?.reason._tag === "UniqueViolation"

/** Runs an effect of statements; when a value that must be unique is in use, undoes it and returns `otherwise`. */
export const whenTaken = <A, E, R, B>(
  client: SqlClient,
  effect: Effect.Effect<A, E, R>,
  otherwise: B
): Effect.Effect<A | B, E, R> =>
  Effect.catchCauseIf(Dialect.guarded(client)(effect), isTaken, () => Effect.succeed(otherwise)).pipe(
    Effect.catchIf(isSqlError, Effect.die)
  )

/** Whether a row that a statement refers to does not exist: it was deleted between the read and the write. */
export const isGone = (cause: Cause.Cause<unknown>): boolean => {
  const error = sqlErrorOf(cause)
  return error !== undefined && Dialect.isMissingReference(error)
}
