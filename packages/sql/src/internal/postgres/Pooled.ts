/**
 * Statements through a connection pooler. It gives each transaction any of its connections to the server, whose settings are
 * those of another client. So each transaction begins with its settings, and a statement outside of one gets one; what can be
 * sent together needs one round trip.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { QueryDeadline } from "../../QueryDeadline.ts"
import * as Sessions from "./Sessions.ts"
import { forTransaction } from "./Settings.ts"
import * as Transaction from "./Transaction.ts"

/** Without named statements, since each transaction has another connection. */
export const config = { ...Sessions.config, prepare: false } as const

/** The longest that Postgres takes. */
const longestMillis = 2 ** 31 - 1

/**
 * The statements are sent together with their COMMIT, and a pooler's client cannot cancel what is not alone on the wire: after the
 * deadline, the server ends it by itself.
 */
const withTimeout = (settings: Readonly<Record<string, string>>, deadline: Duration.Input) => {
  const millis = Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(deadline))) + 1_000
  return { ...settings, statement_timeout: String(Math.min(millis, longestMillis)) }
}

/** The connections of a pool, whose configuration includes `config`. */
export const make = (pool: PgPool, settings: Readonly<Record<string, string>>): Sessions.Sessions => {
  const setting = forTransaction(settings)

  /** Runs one statement in a transaction of its own. */
  const alone = <A>(connection: PgConnection, request: Effect.Effect<A, SqlError>) =>
    Effect.gen(function* () {
      const begun = yield* Transaction.send(connection.query("BEGIN"))
      const set = yield* Transaction.send(connection.query(forTransaction(withTimeout(settings, yield* QueryDeadline))))
      const answer = yield* Transaction.send(request)
      const ended = yield* Transaction.send(connection.query("COMMIT"))
      yield* Fiber.awaitAll([begun, set, answer, ended])
      yield* Fiber.join(begun)
      yield* Fiber.join(set)
      const result = yield* Fiber.join(answer)
      yield* Fiber.join(ended)
      return result
      // What was sent is still on its way.
    }).pipe(Effect.onInterrupt(() => pool.invalidate(connection)))

  const single = (connection: PgConnection): Sessions.Session => ({
    query: (sql, params) => alone(connection, connection.query(sql, params)),
    queryValues: (sql, params) => alone(connection, connection.queryValues(sql, params)),
    stream: (sql, params) =>
      Effect.gen(function* () {
        const transaction = yield* Transaction.make(pool, setting)
        yield* transaction.query("BEGIN")
        yield* Effect.addFinalizer((exit) =>
          Effect.ignore(transaction.query(Exit.isSuccess(exit) ? "COMMIT" : "ROLLBACK"))
        )
        return transaction.stream(sql, params)
      }).pipe(Stream.unwrap)
  })

  return {
    get: Effect.map(pool.get, single),
    reserve: Transaction.make(pool, setting),
    use: (run) => pool.use((connection) => run(single(connection)))
  }
}
