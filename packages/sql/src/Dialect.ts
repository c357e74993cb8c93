/** Where the SQL of SQLite and Postgres differ. SQLite has one writer at a time, so it needs no row locks. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** A client whose statements can fail, or `Sql`, whose cannot. */
type Sql = Pick<SqlClient, "literal" | "onDialectOrElse">

const onPostgres = (sql: Sql, text: string) =>
  sql.onDialectOrElse({ pg: () => sql.literal(text), orElse: () => sql.literal("") })

export const isPostgres = (sql: Sql): boolean => sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/**
 * Locks the rows until the transaction ends: no other transaction changes, deletes or locks them; others may refer to
 * them. (`FOR UPDATE` would block the foreign key checks of Postgres, in the wrong order of locks.)
 */
export const forUpdate = (sql: Sql) => onPostgres(sql, "FOR NO KEY UPDATE")

/** Like `forUpdate`, and no other transaction refers to the rows: before deleting them. */
export const forDelete = (sql: Sql) => onPostgres(sql, "FOR UPDATE")

/**
 * Locks the rows until the transaction ends: no other transaction changes or deletes them; others may share the lock.
 */
export const forShare = (sql: Sql) => onPostgres(sql, "FOR SHARE")

/** Locks the rows until the transaction ends: no other transaction deletes them. */
export const forKey = (sql: Sql) => onPostgres(sql, "FOR KEY SHARE")

/** Like `forUpdate`, for the rows of one table of a join. */
export const forUpdateOf = (sql: Sql, table: string) => onPostgres(sql, `FOR NO KEY UPDATE OF ${table}`)

/** Like `forUpdate`, without the rows of `table` that another transaction has locked. */
export const skipLocked = (sql: Sql, table: string) => onPostgres(sql, `FOR NO KEY UPDATE OF ${table} SKIP LOCKED`)

/** Waits until no other transaction has locked this name, and locks it until the current transaction ends. */
export const lockName = <E>(
  sql: Sql & { readonly unsafe: (text: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, E> },
  name: string
): Effect.Effect<void, E> =>
  sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql.unsafe("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [name])),
    orElse: () => Effect.void
  })

/** Like `lockName`, without waiting: false when another transaction has locked it. SQLite has one writer, which has all. */
export const tryLockName = <E>(
  sql: Sql & {
    readonly unsafe: (text: string, params: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<object>, E>
  },
  name: string
): Effect.Effect<boolean, E> =>
  sql.onDialectOrElse({
    pg: () =>
      Effect.map(
        sql.unsafe("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked", [name]),
        ([row]) => row !== undefined && "locked" in row && row.locked === true
      ),
    orElse: () => Effect.succeed(true)
  })

/**
 * Translates types: text compares by bytes and integers have 64 bits, as on SQLite; `SEQUENCE` is a key that numbers
 * the rows.
 */
export const definition = (sql: Sql, statement: string): string =>
  isPostgres(sql)
    ? statement
        .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
        .replaceAll(/\bINTEGER\b/g, "BIGINT")
        .replaceAll(/\bREAL\b/g, "DOUBLE PRECISION")
        .replaceAll(/\bSEQUENCE\b/g, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
    : statement.replaceAll(/\bSEQUENCE\b/g, "INTEGER PRIMARY KEY")

/**
 * Runs a statement that may fail inside a transaction that continues: on Postgres a failed statement aborts it
 * otherwise.
 */
export const guarded = (sql: SqlClient) =>
  sql.onDialectOrElse({
    pg:
      () =>
      <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.flatMap(Effect.serviceOption(sql.transactionService), ({ _tag }) =>
          _tag === "Some" ? sql.withTransaction(effect) : effect
        ),
    orElse:
      () =>
      <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        effect
  })

/** Whether two transactions conflicted and one was aborted: a retry succeeds. */
const isClash = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => {
    const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    return isSqlError(error) && (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")
  })

/** Retries a transaction a few times after conflicts with others; a nested one is left to the outer. */
export const retryConflicts = <A, E, R>(sql: SqlClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  sql.onDialectOrElse({
    pg: () =>
      Effect.flatMap(Effect.serviceOption(sql.transactionService), ({ _tag }) =>
        _tag === "Some"
          ? effect
          : Effect.sandbox(effect).pipe(
              Effect.retry({
                while: isClash,
                times: 5,
                schedule: Schedule.jittered(Schedule.exponential("20 millis"))
              }),
              Effect.catch(Effect.failCause)
            )
      ),
    orElse: () => effect
  })

/** Whether a row that the statement refers to was deleted between the read and the write. */
export const isMissingReference = ({ reason: { cause } }: SqlError): boolean => {
  if (!Predicate.isObjectOrArray(cause)) return false
  return ("code" in cause && cause.code === "23503") || ("errno" in cause && cause.errno === 787)
}
