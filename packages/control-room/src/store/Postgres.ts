/**
 * effect/sql's `SqlClient` on Postgres, with the types and errors that SQLite gives too, and its notifications.
 */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { makeCompiler } from "@effect/sql-pg/PgClient"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Client from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { Listening } from "./Notices.ts"

export interface Options {
  /** `postgres://user:password@host:port/database`. */
  readonly url: Redacted.Redacted
  /** Where the tables are; made when it is missing. Default: `signalbox`. */
  readonly schema?: string
}

/** Connections of one node, besides the one that listens. */
const maxConnections = 20

/** What `BIGINT` and `count(*)` give: numbers, as on SQLite. */
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

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Of every connection. */
const settings = ({ schema = "signalbox", url }: Options): PgConnection.Config => ({
  url,
  types: numbers(),
  applicationName: "signalbox",
  keepAlive: "30 seconds",
  startupParameters: {
    search_path: quoted(schema),
    client_min_messages: "warning",
    // Whoever waits longer than this for a lock is told to come back.
    lock_timeout: "30s",
    // A node that is gone without a word holds its locks no longer than this.
    idle_in_transaction_session_timeout: "60s",
    tcp_keepalives_idle: "15",
    tcp_keepalives_interval: "5",
    tcp_keepalives_count: "3"
  }
})

/**
 * States in which the server can not serve now, beside those that are known as errors of the connection: it shuts down or
 * starts, was failed over, or has no connection, memory or disk left.
 */
const away = /^(?:57P0[1-5]|53...|25006|25P03|58...)$/

const stateOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : ""

const withAway = (error: SqlError): SqlError =>
  away.test(stateOf(error.reason.cause))
    ? new SqlError({
        reason: new ConnectionError({ message: error.reason.message, operation: "query", cause: error.reason.cause })
      })
    : error

/**
 * Postgres keeps no NUL in texts and refuses statements that name one. No stored text has one, so what is looked for is not
 * found; a character that is none stands in for it.
 */
const storable = (params: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  params.some((value) => typeof value === "string" && value.includes("\0"))
    ? params.map((value) => (typeof value === "string" ? value.replaceAll("\0", "\u{10ffff}") : value))
    : params

const makeConnection = (connection: PgConnection.PgConnection): Connection => {
  const query = (sql: string, params: ReadonlyArray<unknown>, prepare: boolean) =>
    Effect.mapError(connection.query(sql, storable(params), prepare), withAway)
  const values = (sql: string, params: ReadonlyArray<unknown>, prepare: boolean) =>
    Effect.mapError(connection.queryValues(sql, storable(params), prepare), withAway)
  const execute =
    (prepare: boolean): Connection["execute"] =>
    (sql, params, transformRows) =>
      Effect.map(query(sql, params, prepare), ({ rows }) => (transformRows === undefined ? rows : transformRows(rows)))
  return {
    execute: execute(true),
    executeUnprepared: execute(false),
    executeRaw: (sql, params) => query(sql, params, true),
    executeValues: (sql, params) => values(sql, params, true),
    executeValuesUnprepared: (sql, params) => values(sql, params, false),
    executeStream: (sql, params) => Stream.mapError(connection.stream(sql, storable(params)), withAway)
  }
}

/** A transaction that failed before ends with a rollback, whatever it is asked for. */
const commit = (connection: Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    typeof result === "object" && result !== null && "command" in result && result.command === "ROLLBACK"
      ? Effect.die(new Error("a transaction was committed although one of its statements had failed"))
      : Effect.void
  )

const makeClient = Effect.fnUntraced(function* (options: Options) {
  const pool = yield* PgPool.make({ ...settings(options), maxConnections })
  const client = yield* Client.make({
    acquirer: Effect.map(pool.get, makeConnection),
    borrower: (use) => pool.use((connection) => use(makeConnection(connection))),
    transactionAcquirer: Effect.map(pool.reserve, makeConnection),
    compiler: makeCompiler(),
    driver: "pg",
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  // Nodes that start together make it once.
  yield* client.withTransaction(
    Effect.andThen(
      client`SELECT pg_advisory_xact_lock(hashtextextended('signalbox schema', 0))`,
      client.unsafe(`CREATE SCHEMA IF NOT EXISTS ${quoted(options.schema ?? "signalbox")}`)
    )
  )
  return client
})

/** A `SqlClient` whose tables are in the schema, and what listens beside it. */
export const layer = (options: Options) =>
  Layer.mergeAll(
    Layer.effectContext(Effect.map(makeClient(options), (client) => Context.make(Client.SqlClient, client))).pipe(
      Layer.provide(Reactivity.layer)
    ),
    Layer.succeed(
      Listening,
      Listening.of({
        texts: (channel, begun) =>
          Effect.flatMap(PgConnection.make(settings(options)), (connection) => connection.listen(channel)).pipe(
            Effect.tap(begun),
            Effect.map((queue) => Stream.map(Stream.fromQueue(queue), ({ payload }) => payload)),
            Stream.unwrap
          )
      })
    )
  )
