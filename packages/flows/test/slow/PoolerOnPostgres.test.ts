/**
 * The client through a pooler: what a transaction finds and leaves, and addresses of poolers that are taken for the server's.
 */
import { assert, it } from "@effect/vitest"
import { type Options as PoolerOptions, startPooler } from "@signalbox/testkit/PgBouncer"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import { PostgresSettingsError } from "@signalbox/sql/PostgresOptions"
import { QueryDeadline } from "@signalbox/sql/QueryDeadline"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { postgresUrl, temporarySchema } from "../support/Engines.ts"
import { until } from "../support/Polling.ts"
import { pooledOptions, suitePooler, throughPooler } from "../support/Pooler.ts"

interface Settings {
  readonly path: string
  readonly lock: string
  readonly idle: string
}

throughPooler("a client", () => {
  // One connection to the server, so that each transaction finds what the one before has left.
  const pooler = suitePooler({ size: 1 })

  const clients = Effect.gen(function* () {
    const schema = yield* temporarySchema
    const build = (options: Parameters<typeof PostgresClient.layer>[0]) =>
      Effect.map(Layer.build(Layer.fresh(PostgresClient.layer(options))), Context.get(SqlClient.SqlClient))
    return {
      schema,
      sql: yield* build(pooledOptions(yield* pooler, schema)),
      direct: yield* build({ url: Redacted.make(postgresUrl), schema })
    }
  })

  const settingsOf = (sql: SqlClient.SqlClient) => sql<Settings>`
    SELECT current_setting('search_path') AS path, current_setting('lock_timeout') AS lock,
      current_setting('idle_in_transaction_session_timeout') AS idle`

  it.live("has its settings in each transaction, and leaves none to the next client", () =>
    Effect.gen(function* () {
      const { schema, sql } = yield* clients
      const expected = [{ path: `"${schema}"`, lock: "30s", idle: "1min" }]
      assert.deepEqual(yield* settingsOf(sql), expected)
      assert.deepEqual(yield* sql.withTransaction(settingsOf(sql)), expected)
      assert.deepEqual(yield* Stream.runCollect(settingsOf(sql).stream), expected)
      const { url } = yield* pooler
      const other = PgClient.layer({ url: Redacted.make(url), prepare: false })
      assert.deepEqual(yield* Effect.provide(Effect.flatMap(PgClient.PgClient, settingsOf), other), [
        { path: '"$user", public', lock: "0", idle: "0" }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("creates tables in its schema, in a transaction and outside of one", () =>
    Effect.gen(function* () {
      const { direct, schema, sql } = yield* clients
      yield* sql`CREATE TABLE pooled_alone (n INTEGER)`
      yield* sql.withTransaction(sql`CREATE TABLE pooled_within (n INTEGER)`)
      assert.deepEqual(
        yield* direct`SELECT tablename AS name, schemaname AS schema FROM pg_tables WHERE tablename LIKE 'pooled_%' ORDER BY 1`,
        [
          { name: "pooled_alone", schema },
          { name: "pooled_within", schema }
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("fails with the error of the statement, and is whole afterwards", () =>
    Effect.gen(function* () {
      const { sql } = yield* clients
      const divided = yield* Effect.flip(sql`SELECT 1 / 0`)
      assert.match(String(divided.reason.cause), /division by zero/)
      const within = yield* Effect.flip(sql.withTransaction(sql`SELECT 1 / 0`))
      assert.match(String(within.reason.cause), /division by zero/)
      assert.deepEqual(yield* sql`SELECT 1 AS n`, [{ n: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live("a statement that misses its deadline does not happen later", () =>
    Effect.gen(function* () {
      const { direct, sql } = yield* clients
      yield* sql`CREATE TABLE late (n INTEGER)`
      const late = yield* Effect.flip(
        sql`INSERT INTO late SELECT 1 FROM pg_sleep(3)`.pipe(Effect.provideService(QueryDeadline, "200 millis"))
      )
      assert.strictEqual(late.reason._tag, "StatementTimeoutError")
      const running = direct<{ readonly n: number }>`
        SELECT count(*) AS n FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'active' AND query LIKE 'INSERT INTO late%'`
      yield* until(Effect.map(Effect.orDie(running), ([row]) => row?.n === 0))
      assert.deepEqual(yield* direct`SELECT n FROM late`, [])
    }).pipe(Effect.scoped)
  )

  const startup = [
    "search_path",
    "lock_timeout",
    "idle_in_transaction_session_timeout",
    "client_min_messages",
    "tcp_keepalives_idle",
    "tcp_keepalives_interval",
    "tcp_keepalives_count"
  ]
  const wrong: ReadonlyArray<readonly [string, PoolerOptions]> = [
    ["that refuses settings", { mode: "transaction" }],
    ["that drops settings", { mode: "session", ignored: startup }],
    ["for transactions that drops settings", { mode: "transaction", ignored: startup }]
  ]
  for (const [name, options] of wrong) {
    it.live(`the address of a pooler ${name} is refused as that of the server, with the remedy`, () =>
      Effect.gen(function* () {
        const wrongPooler = yield* Effect.acquireRelease(
          Effect.promise(() => startPooler(postgresUrl, options)),
          ({ remove }) => Effect.promise(remove)
        )
        const schema = yield* temporarySchema
        const error = yield* Effect.flip(
          Layer.build(Layer.fresh(PostgresClient.layer({ url: Redacted.make(wrongPooler.url), schema })))
        )
        assert.instanceOf(error.reason.cause, PostgresSettingsError)
        assert.match(error.message, /connection pooler.*SIGNALBOX_DATABASE_DIRECT_URL/)
      }).pipe(Effect.scoped)
    )
  }
})
