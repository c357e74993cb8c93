/**
 * Shared by the repositories: statements that are retried while the database is unavailable, and transactions.
 */
import { isPassing } from "@signalbox/sql/StorageFailure"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Migrator from "effect/sql/Migrator"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { FlowEngineError } from "../../FlowErrors.ts"
import * as Outage from "./Outage.ts"
import { migrate } from "./Migrations.ts"

/** Converts an error of the database at the start of an engine. */
export const startError = (error: SqlError | Migrator.MigrationError): FlowEngineError =>
  new FlowEngineError({
    message: isSqlError(error)
      ? `the database of the flows cannot be used: ${error.message}`
      : `the tables of the flows cannot be created: ${error.message}`
  })

const pauses = Schedule.min([Schedule.exponential("20 millis"), Schedule.spaced("5 seconds")])

export class Database extends Context.Service<
  Database,
  {
    readonly sql: SqlClient.SqlClient
    /** Milliseconds since 1970. */
    readonly now: Effect.Effect<number>
    /**
     * Retries until it succeeds: the result of a step must not be lost because the database is unavailable for a while. So the effect
     * must be safe to repeat. Other failures of a statement are defects.
     */
    readonly persist: <A, R>(effect: Effect.Effect<A, SqlError, R>) => Effect.Effect<A, never, R>
    /** Like `persist`, in a transaction. The effect contains only statements. */
    readonly transaction: <A, R>(effect: Effect.Effect<A, SqlError, R>) => Effect.Effect<A, never, R>
    /** Stops all retries, because the process ends. */
    readonly giveUp: Effect.Effect<void>
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
      const outage = Outage.make(clock)
      const persist = <A, R>(effect: Effect.Effect<A, SqlError, R>) =>
        outage.watched((failed) =>
          effect.pipe(
            Effect.tapError((error) => (isPassing(error) && !ending ? failed(error.message) : Effect.void)),
            Effect.retry({ schedule: pauses, while: (error) => isPassing(error) && !ending }),
            Effect.orDie
          )
        )
      return Database.of({
        sql,
        now: clock.currentTimeMillis,
        persist,
        transaction: (effect) => persist(sql.withTransaction(effect)),
        giveUp: Effect.sync(() => {
          ending = true
        })
      })
    })
  )
}
