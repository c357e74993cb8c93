/**
 * Where SQL of SQLite and of Postgres differ. On SQLite one transaction writes at a time, so nothing needs to be locked.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

type Sql = SqlClient.SqlClient

const onPostgres = (sql: Sql, text: string) =>
  sql.onDialectOrElse({ pg: () => sql.literal(text), orElse: () => sql.literal("") })

export const isPostgres = (sql: Sql): boolean => sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/**
 * Until the transaction ends, nobody else changes, deletes or locks the rows; others may refer to them. (Postgres checks a
 * reference also when a row that has one is changed twice in a transaction, which would wait here in the wrong order.)
 */
export const forUpdate = (sql: Sql) => onPostgres(sql, "FOR NO KEY UPDATE")

/** As above, and nobody refers to them: for those who will delete them. */
export const forDelete = (sql: Sql) => onPostgres(sql, "FOR UPDATE")

/** Until the transaction ends, nobody changes or deletes the rows; others may hold them so too. */
export const forShare = (sql: Sql) => onPostgres(sql, "FOR SHARE")

/** Until the transaction ends, nobody deletes the rows. */
export const forKey = (sql: Sql) => onPostgres(sql, "FOR KEY SHARE")

/** As `forUpdate`, of the rows of one table of a join. */
export const forUpdateOf = (sql: Sql, table: string) => onPostgres(sql, `FOR NO KEY UPDATE OF ${table}`)

/** As `forUpdate`, without the rows of `table` that somebody else has locked. */
export const skipLocked = (sql: Sql, table: string) => onPostgres(sql, `FOR NO KEY UPDATE OF ${table} SKIP LOCKED`)

/** Waits until no other transaction holds this name, and holds it until the end of the one at hand. */
export const holdName = (sql: Sql, name: string) =>
  sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`),
    orElse: () => Effect.void
  })

/** Texts compare by their bytes and integers have 64 bits, as on SQLite; `SEQUENCE` is a key that counts the rows. */
export const definition = (sql: Sql, statement: string): string =>
  isPostgres(sql)
    ? statement
        .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
        .replaceAll(/\bINTEGER\b/g, "BIGINT")
        .replaceAll(/\bREAL\b/g, "DOUBLE PRECISION")
        .replaceAll(/\bSEQUENCE\b/g, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
    : statement.replaceAll(/\bSEQUENCE\b/g, "INTEGER PRIMARY KEY")

/** Runs what may fail inside of a transaction that goes on: on Postgres a failed statement ends it otherwise. */
export const guarded = (sql: Sql) =>
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

/** Two transactions stood in each other's way, and one of them was ended: done again it succeeds. */
const isClash = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => {
    const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    return isSqlError(error) && (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")
  })

/** Does a transaction a few times more when others stood in its way; one inside of another is up to that one. */
export const persistent = <A, E, R>(sql: Sql, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
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

/**
 * How many milliseconds the clock of the database is ahead of this machine's; none when it is less than what the question
 * took, and none on SQLite, which has no clock of its own.
 */
export const clockOffset = (sql: Sql): Effect.Effect<number, SqlError> =>
  sql.onDialectOrElse({
    pg: () =>
      Effect.gen(function* () {
        // The machine's own clock: tests may run on a virtual one.
        const machine = Effect.sync(() => performance.timeOrigin + performance.now())
        const asked = yield* machine
        const [row] = yield* sql<{ readonly millis: number }>`
          SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS millis`
        const answered = yield* machine
        const offset = (row?.millis ?? answered) - (asked + answered) / 2
        return Math.abs(offset) <= answered - asked + 1 ? 0 : Math.round(offset)
      }),
    orElse: () => Effect.succeed(0)
  })

/** What a row refers to was deleted between the look for it and the write. */
export const isGone = ({ reason: { cause } }: SqlError): boolean => {
  if (typeof cause !== "object" || cause === null) return false
  return ("code" in cause && cause.code === "23503") || ("errno" in cause && cause.errno === 787)
}
