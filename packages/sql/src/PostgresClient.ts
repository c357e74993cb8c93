/** The `SqlClient` of `effect/sql` on Postgres, with the same types and errors as on SQLite, and its notifications. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { makeCompiler } from "@effect/sql-pg/PgClient"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Client from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Bounded from "./internal/postgres/Bounded.ts"
import { DirectClient } from "./internal/postgres/DirectClient.ts"
import * as Later from "./internal/postgres/Later.ts"
import * as Pooled from "./internal/postgres/Pooled.ts"
import * as Sessions from "./internal/postgres/Sessions.ts"
import * as Settings from "./internal/postgres/Settings.ts"
import * as Sockets from "./internal/postgres/Sockets.ts"
import type { Transaction } from "./internal/postgres/Transaction.ts"
import { Listening } from "./Listening.ts"
import { direct, type PostgresOptions } from "./PostgresOptions.ts"
import { promptly } from "./Promptly.ts"
import { QueryDeadline, unhurried } from "./QueryDeadline.ts"
import { Sent } from "./Sent.ts"

/** Connections of one node, besides the one that listens. */
const maxConnections = 20

/** Parses `BIGINT` and `count(*)` as numbers, as on SQLite. */
const numbers = () => {
  const types = PgTypes.makeRegistry()
  types.register<number | bigint>(PgTypes.OID.int8, {
    encode: (value) => {
      const bytes = new Uint8Array(8)
      new DataView(bytes.buffer).setBigInt64(0, BigInt(value))
      return Result.succeed(bytes)
    },
    decode: (bytes) => Result.succeed(Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0)))
  })
  return types
}

/** What every connection has. */
const connectionTo = ({ applicationName = "signalbox", url }: PostgresOptions): PgConnection.Config => ({
  url,
  types: numbers(),
  applicationName,
  keepAlive: "30 seconds"
})

/** A connection to the server itself, with its settings. */
const directTo = (options: PostgresOptions): PgConnection.Config => ({
  ...connectionTo(options),
  startupParameters: {
    ...Settings.of(options),
    client_min_messages: "warning",
    tcp_keepalives_idle: "15",
    tcp_keepalives_interval: "5",
    tcp_keepalives_count: "3"
  }
})

/**
 * Postgres stores no NUL in text and refuses parameters with one. No stored text has one, so a search for it must find
 * nothing: a noncharacter replaces it.
 */
const storable = (params: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  params.some((value) => typeof value === "string" && value.includes("\0"))
    ? params.map((value) => (typeof value === "string" ? value.replaceAll("\0", "\u{10ffff}") : value))
    : params

/** Records that a statement has left, before it does, when it is one of those that change something. */
const noting =
  (changes: (sql: string) => boolean) =>
  <A, E, R>(sql: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    changes(sql)
      ? Effect.flatMap(Sent, (sent) => {
          if (sent !== null) sent.isSent = true
          return effect
        })
      : effect

/** Of the statements of a transaction, only the last one. */
const notingCommit = noting((sql) => sql === "COMMIT")
const notingWrites = noting((sql) => !/^\s*SELECT\b/i.test(sql))

/**
 * The end of a transaction whose failure `withTransaction` would turn into a defect. It fails with its connection, which ends the
 * transaction, too, and is not used again; the caller gets the error of its own statement.
 */
const rollback = "ROLLBACK"

/** How long a rollback may wait for the statement before it, before the connection is closed. */
const rollbackDeadline = "500 millis"

/** A rollback that takes long says nothing about the server: it may wait for the statement that was given up. */
const boundedRollback = Bounded.make({ last: 0 }, () => Effect.void)

const makeConnection = (
  connection: Sessions.Session,
  bounded: Bounded.Bounded,
  answers: Bounded.LastResponse,
  noted: ReturnType<typeof noting>
): Connection => {
  const answered = <A>(answer: A): A => {
    answers.last = performance.now()
    return answer
  }
  const query = (sql: string, params: ReadonlyArray<unknown>, prepare: boolean) =>
    bounded(noted(sql, Effect.map(connection.query(sql, storable(params), prepare), answered)))
  const values = (sql: string, params: ReadonlyArray<unknown>, prepare: boolean) =>
    bounded(noted(sql, Effect.map(connection.queryValues(sql, storable(params), prepare), answered)))
  const undone = () =>
    connection.query(rollback).pipe(
      boundedRollback,
      Effect.provideService(QueryDeadline, rollbackDeadline),
      Effect.catch(() => Effect.void),
      Effect.as([])
    )
  const execute =
    (prepare: boolean): Connection["execute"] =>
    (sql, params, transformRows) =>
      sql === rollback
        ? undone()
        : Effect.map(query(sql, params, prepare), ({ rows }) =>
            transformRows === undefined ? rows : transformRows(rows)
          )
  return {
    execute: execute(true),
    executeUnprepared: execute(false),
    executeRaw: (sql, params) => query(sql, params, true),
    executeValues: (sql, params) => values(sql, params, true),
    executeValuesUnprepared: (sql, params) => values(sql, params, false),
    executeStream: (sql, params) => connection.stream(sql, storable(params))
  }
}

/** The connection of a transaction, which keeps writes that return no rows until the statement that follows. */
const makeTransaction = (transaction: Transaction, bounded: Bounded.Bounded, answers: Bounded.LastResponse) => {
  const flush = bounded(transaction.flush)
  const refused = Effect.die(new Error("the rows of a statement were asked for after its transaction had failed"))
  return Later.of(makeConnection(transaction, bounded, answers, notingCommit), {
    run: (sql, params) =>
      Effect.suspend(() => {
        const kept = transaction.keep(sql, storable(params))
        const answered = Effect.suspend(() => (kept.rows === null ? refused : Effect.succeed(kept.rows)))
        const rows = Effect.suspend(() => (kept.rows === null ? Effect.andThen(flush, answered) : answered))
        return transaction.isFull() ? Effect.as(flush, rows) : Effect.succeed(rows)
      }),
    flush
  })
}

/** After a failed statement, Postgres turns COMMIT into a rollback without an error. */
const commit = (connection: Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    Predicate.hasProperty(result, "command") && result.command === "ROLLBACK"
      ? Effect.die(new Error("a transaction was committed although one of its statements had failed"))
      : Effect.void
  )

/** The connections of a client: to the server, or through a pooler. */
const makeSessions = (options: PostgresOptions, stream: Sockets.Sockets["stream"]) =>
  options.directUrl === undefined
    ? Effect.map(PgPool.make({ ...directTo(options), ...Sessions.config, stream, maxConnections }), Sessions.make)
    : Effect.map(PgPool.make({ ...connectionTo(options), ...Pooled.config, stream, maxConnections }), (pool) =>
        Pooled.make(pool, Settings.of(options))
      )

/** A connection of its own, which closing its scope ends also when the server does not respond. */
const connectIn = Effect.fnUntraced(function* (options: PostgresOptions, closeMillis: number) {
  const sockets = Sockets.make(options.url)
  const connection = yield* PgConnection.make({ ...directTo(options), stream: sockets.stream })
  const close = Effect.sync(() => sockets.close(closeMillis))
  // Runs before the connection is closed.
  yield* Effect.addFinalizer(() => close)
  return { connection, close }
})

const makeClient = Effect.fnUntraced(function* (options: PostgresOptions) {
  const scope = yield* Effect.scope
  let isClosing = false
  const openPool = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const sockets = Sockets.make(options.url)
    const pool: Sessions.Sessions = yield* Scope.provide(makeSessions(options, sockets.stream), own)
    // The pool waits for statements that run; nobody waits for their results any more.
    yield* Scope.addFinalizer(
      own,
      Effect.sync(() => {
        if (isClosing) sockets.close(Sockets.endMillis)
      })
    )
    return { pool, openedAt: performance.now(), close: Scope.close(own, Exit.void) }
  })
  let current = yield* openPool
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosing = true
    })
  )
  // Otherwise each dead connection would be discovered by another deadline.
  const replacePool = Effect.fnUntraced(function* (silentSince: number) {
    const old = current
    if (isClosing || old.openedAt > silentSince) return
    current = yield* openPool
    yield* old.close
  })
  const answers: Bounded.LastResponse = { last: 0 }
  const bounded = Bounded.make(answers, replacePool)
  const each = (connection: Sessions.Session) => makeConnection(connection, bounded, answers, notingCommit)
  // The deadline of a single statement includes the wait for a connection.
  const whole = (connection: Sessions.Session) => makeConnection(connection, Bounded.unbounded, answers, notingWrites)
  const made = yield* Client.make({
    acquirer: Effect.map(bounded(Effect.suspend(() => current.pool.get)), each),
    borrower: (use) => bounded(Effect.suspend(() => current.pool.use((connection) => use(whole(connection))))),
    transactionAcquirer: Effect.map(bounded(Effect.suspend(() => current.pool.reserve)), (transaction) =>
      makeTransaction(transaction, bounded, answers)
    ),
    compiler: makeCompiler(),
    driver: "pg",
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  const { transactionService, withTransaction } = made
  return Object.assign(made, {
    // A rollback, too, waits for a server that does not respond, up to its deadline.
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
      Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
        outer._tag === "Some"
          ? // Failures of its own writes are its own, so that it alone is undone.
            withTransaction(Effect.tap(effect, Later.flush(outer.value[0])))
          : promptly(withTransaction(effect))
      )
  })
})

/** Nodes that start concurrently create it once. */
const createSchema = (sql: Client.SqlClient, options: PostgresOptions) =>
  sql
    .withTransaction(
      Effect.andThen(
        sql`SELECT pg_advisory_xact_lock(hashtextextended('signalbox schema', 0))`,
        sql.unsafe(`CREATE SCHEMA IF NOT EXISTS ${Settings.quoted(Settings.schemaOf(options))}`)
      )
    )
    .pipe(unhurried)

/** The interval of checking the listening connection, and the time limit of a check. */
const heartbeat = "5 seconds"

/**
 * Notifications of a channel. Fails when the server no longer responds, which TCP alone would not detect behind a
 * proxy.
 */
const listen = (options: PostgresOptions): (typeof Listening.Service)["texts"] =>
  Effect.fnUntraced(function* (channel, begun) {
    const { close, connection: whole } = yield* connectIn(options, 0)
    const connection = yield* whole.pin
    const queue = yield* promptly(connection.listen(channel))
    // Else the end would wait for a response to UNLISTEN.
    yield* Effect.addFinalizer(() => close)
    yield* begun
    // Repeats LISTEN as the check, since that statement identifies the connections of nodes in `pg_stat_activity`.
    const alive = connection.query(`LISTEN ${Settings.quoted(channel)}`).pipe(
      Bounded.make({ last: 0 }, () => Effect.void),
      Effect.provideService(QueryDeadline, heartbeat),
      Effect.delay(heartbeat),
      Effect.forever
    )
    const texts = Stream.map(Stream.fromQueue(queue), ({ payload }) => payload)
    return Stream.merge(texts, Stream.fromEffectDrain(alive), { haltStrategy: "either" })
  }, Stream.unwrap)

/** A separate connection to the server itself, outside the pool. */
export const connect = (options: PostgresOptions) =>
  Effect.map(connectIn(direct(options), Sockets.endMillis), ({ connection }) => connection)

const makeContext = Effect.fnUntraced(function* (options: PostgresOptions) {
  const server = direct(options)
  const directClient = yield* makeClient(server)
  yield* createSchema(directClient, server)
  yield* Settings.check(directClient, server)
  const client = options.directUrl === undefined ? directClient : yield* makeClient(options)
  if (client !== directClient) yield* Settings.check(client, options)
  return Context.make(Client.SqlClient, client).pipe(
    Context.add(DirectClient, directClient),
    Context.add(Listening, Listening.of({ texts: listen(server) }))
  )
}, Effect.mapError(Settings.explained))

/**
 * A `SqlClient` whose tables are in the schema, and `Listening`. Fails with a `SqlError` whose cause is a
 * `PostgresSettingsError` when connections do not have the settings that the tables need.
 */
export const layer = (options: PostgresOptions): Layer.Layer<Client.SqlClient | Listening, SqlError> =>
  Layer.effectContext(makeContext(options)).pipe(Layer.provide(Reactivity.layer))
