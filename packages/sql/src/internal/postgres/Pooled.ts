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
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { QueryDeadline } from "../../QueryDeadline.ts"
import { forTransaction } from "./Settings.ts"

/** What a client needs of a connection. */
export type Session = Pick<PgConnection, "query" | "queryValues" | "stream">

/** What a client needs of a pool. */
export interface Sessions {
  readonly get: Effect.Effect<Session, SqlError, Scope.Scope>
  /** For a transaction. */
  readonly reserve: Effect.Effect<Session, SqlError, Scope.Scope>
  readonly use: <A, E, R>(run: (session: Session) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
}

/** Without named statements, since each transaction has another connection; with requests that are sent before the one before has been answered. */
export const config = { prepare: false, multiplex: true, multiplexConcurrency: 1 } as const

/** Sends a request at once, behind those that were sent before. */
const send = <A>(request: Effect.Effect<A, SqlError>) => Effect.forkChild(request, { startImmediately: true })

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
export const make = (pool: PgPool, settings: Readonly<Record<string, string>>): Sessions => {
  const setting = forTransaction(settings)

  /** Runs one statement in a transaction of its own. */
  const alone = <A>(connection: PgConnection, request: Effect.Effect<A, SqlError>) =>
    Effect.gen(function* () {
      const begun = yield* send(connection.query("BEGIN"))
      const set = yield* send(connection.query(forTransaction(withTimeout(settings, yield* QueryDeadline))))
      const answer = yield* send(request)
      const ended = yield* send(connection.query("COMMIT"))
      yield* Fiber.awaitAll([begun, set, answer, ended])
      yield* Fiber.join(begun)
      yield* Fiber.join(set)
      const result = yield* Fiber.join(answer)
      yield* Fiber.join(ended)
      return result
      // What was sent is still on its way.
    }).pipe(Effect.onInterrupt(() => pool.invalidate(connection)))

  /** A connection whose first statement begins a transaction. */
  const transaction = Effect.fnUntraced(function* (connection: PgConnection) {
    const scope = yield* Effect.scope
    let pinned: PgConnection | null = null
    const begin = <A>(request: Effect.Effect<A, SqlError>) =>
      Effect.gen(function* () {
        const begun = yield* send(request)
        const set = yield* send(connection.query(setting))
        yield* Fiber.awaitAll([begun, set])
        const result = yield* Fiber.join(begun)
        yield* Fiber.join(set)
        // From now on requests are alone on the wire, and can be cancelled.
        pinned = yield* Scope.provide(connection.pin, scope)
        return result
        // Another transaction must not find this one open.
      }).pipe(Effect.onError(() => pool.invalidate(connection)))
    const run = <A>(request: (connection: PgConnection) => Effect.Effect<A, SqlError>) =>
      Effect.suspend(() => (pinned === null ? begin(request(connection)) : request(pinned)))
    const session: Session = {
      query: (sql, params) => run((connection) => connection.query(sql, params)),
      queryValues: (sql, params) => run((connection) => connection.queryValues(sql, params)),
      stream: (sql, params) => Stream.suspend(() => (pinned ?? connection).stream(sql, params))
    }
    return session
  })

  const single = (connection: PgConnection): Session => ({
    query: (sql, params) => alone(connection, connection.query(sql, params)),
    queryValues: (sql, params) => alone(connection, connection.queryValues(sql, params)),
    stream: (sql, params) =>
      Effect.gen(function* () {
        const session = yield* transaction(connection)
        yield* session.query("BEGIN")
        yield* Effect.addFinalizer((exit) => Effect.ignore(session.query(Exit.isSuccess(exit) ? "COMMIT" : "ROLLBACK")))
        return session.stream(sql, params)
      }).pipe(Stream.unwrap)
  })

  return {
    get: Effect.map(pool.get, single),
    reserve: Effect.flatMap(pool.get, transaction),
    use: (run) => pool.use((connection) => run(single(connection)))
  }
}
