/**
 * Shared by the repositories: statements that are retried while the database is unavailable, and transactions.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { QueryDeadline } from "@signalbox/sql/QueryDeadline"
import { Sent } from "@signalbox/sql/Sent"
import { isPassing } from "@signalbox/sql/StorageFailure"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Migrator from "effect/sql/Migrator"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { CallUnanswered, FlowEngineError } from "../../FlowErrors.ts"
import { Patience } from "./Calling.ts"
import * as Outage from "./Outage.ts"
import { migrate } from "./Migrations.ts"

/** Converts an error of the database at the start of an engine. */
export const startError = (error: SqlError | Migrator.MigrationError): FlowEngineError =>
  new FlowEngineError({
    message: isSqlError(error)
      ? `the database of the flows cannot be used: ${error.message}`
      : `the tables of the flows cannot be created: ${error.message}`
  })

const firstPause = "20 millis"
const pausesUpTo = (longest: Duration.Input) =>
  Schedule.min([Schedule.exponential(firstPause), Schedule.spaced(longest)])
const pauses = pausesUpTo("5 seconds")
/** Those of a call, whose caller waits. */
const shortPauses = pausesUpTo("1 second")
const shortestDeadlineMillis = 100

export class Database extends Context.Service<
  Database,
  {
    readonly sql: SqlClient.SqlClient
    /** Milliseconds since 1970. */
    readonly now: Effect.Effect<number>
    /**
     * Retries until it succeeds: the result of a step must not be lost because the database is unavailable for a while. So the effect
     * must be safe to repeat. Other failures of a statement are defects. A call of the program (`Patience`) is given up after its time,
     * which is a defect, too.
     */
    readonly persist: <A, R>(effect: Effect.Effect<A, SqlError, R>) => Effect.Effect<A, never, R>
    /** Like `persist`, in a transaction. The effect contains only statements. */
    readonly transaction: <A, R>(effect: Effect.Effect<A, SqlError, R>) => Effect.Effect<A, never, R>
  }
>()("@signalbox/flows/Database") {
  /** Runs the migrations first. */
  static readonly layer = Layer.effect(
    Database,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock
      yield* Effect.mapError(migrate, startError)
      let ending = false
      // Calls that still wait when the process ends.
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          ending = true
        })
      )
      const outage = Outage.make(clock)
      const isPostgres = Dialect.isPostgres(sql)
      const mayRepeat = (error: SqlError) => isPassing(error) && !ending
      /** Notes that a statement has had its effect. On Postgres the client notes those that it sends, also when they fail. */
      const noteSent = (sent: Sent | null) => {
        if (sent !== null && !isPostgres) sent.isSent = true
      }

      /** What follows the first failure. Statements seldom fail, so only then is there a schedule, and an outage. */
      const repeated = <A, R>(
        effect: Effect.Effect<A, SqlError, R>,
        first: SqlError,
        schedule: Schedule.Schedule<unknown, unknown>,
        mayRetry: (error: SqlError) => boolean
      ) => {
        const said = (error: SqlError) => (mayRetry(error) ? outage.failed(error.message) : Effect.void)
        const retries = effect.pipe(Effect.tapError(said), Effect.retry({ schedule, while: mayRetry }))
        return outage.retrying(said(first).pipe(Effect.andThen(Effect.sleep(firstPause)), Effect.andThen(retries)))
      }

      const persistFor = Effect.fnUntraced(function* <A, R>(effect: Effect.Effect<A, SqlError, R>, patience: number) {
        const sent = yield* Sent
        const deadline = Duration.toMillis(Duration.fromInputUnsafe(yield* QueryDeadline))
        // In real time, as the deadlines of statements.
        const begun = performance.now()
        const left = () => begun + patience - performance.now()
        const limited = Effect.suspend(() =>
          Effect.provideService(
            effect,
            QueryDeadline,
            Duration.millis(Math.max(Math.min(deadline, left()), shortestDeadlineMillis))
          )
        )
        const mayRetry = (error: SqlError) => mayRepeat(error) && left() > 0
        const value = yield* limited.pipe(
          Effect.catch((error) =>
            mayRetry(error) ? repeated(limited, error, shortPauses, mayRetry) : Effect.fail(error)
          ),
          Effect.catch((error) =>
            Effect.die(
              mayRepeat(error)
                ? new CallUnanswered({
                    why: "database",
                    sent: sent?.isSent === false ? "no" : "maybe",
                    execution: null,
                    afterMillis: patience
                  })
                : error
            )
          )
        )
        noteSent(sent)
        return value
      })

      const persist = <A, R>(effect: Effect.Effect<A, SqlError, R>) =>
        Effect.flatMap(Patience, (patience) =>
          Effect.flatMap(
            patience !== null
              ? persistFor(effect, patience)
              : Effect.catch(effect, (error) =>
                  mayRepeat(error) ? Effect.orDie(repeated(effect, error, pauses, mayRepeat)) : Effect.die(error)
                ),
            (value) => (outage.isOngoing() ? Effect.as(outage.over, value) : Effect.succeed(value))
          )
        )
      return Database.of({
        sql,
        now: clock.currentTimeMillis,
        persist,
        transaction: (effect) => persist(sql.withTransaction(effect))
      })
    })
  )
}
