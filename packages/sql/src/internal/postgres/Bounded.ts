/**
 * Deadlines of statements. Timers use real time, since a virtual clock of tests does not wait for a server.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { SqlError, StatementTimeoutError } from "effect/sql/SqlError"
import { abandon } from "../../Promptly.ts"
import { QueryDeadline } from "../../QueryDeadline.ts"

export type Bounded = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>

/** The time of the last response of any connection, by `performance.now()`. */
export interface LastResponse {
  last: number
}

const overdue = new SqlError({
  reason: new StatementTimeoutError({
    message: "the database did not respond in time",
    operation: "query",
    cause: new Error("no response within the deadline of the statement")
  })
})

/**
 * Fails a statement immediately when its deadline has passed; its connection, which still waits for the response, is not used again.
 * `onSilence` runs when no connection has responded since the statement began.
 */
export const make =
  (answers: LastResponse, onSilence: (since: number) => Effect.Effect<void, SqlError>): Bounded =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.contextWith((context: Context.Context<R>) =>
      Effect.callback<A, E | SqlError>((resume) => {
        const limit = Duration.toMillis(Duration.fromInputUnsafe(Context.get(context, QueryDeadline)))
        const begun = performance.now()
        const fiber = Effect.runForkWith(context)(effect)
        const timer = setTimeout(() => {
          resume(Effect.fail(overdue))
          fiber.interruptUnsafe()
          if (answers.last < begun) Effect.runFork(onSilence(begun))
        }, limit)
        fiber.addObserver((exit) => {
          clearTimeout(timer)
          // Interrupted when the pool is closed while the statement waits for a connection.
          resume(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? Effect.fail(overdue) : exit)
        })
        return Effect.suspend(() => {
          clearTimeout(timer)
          return abandon(fiber)
        })
      })
    )

export const unbounded: Bounded = (effect) => effect
