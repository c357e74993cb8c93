/** A Postgres that goes away while statements run: behind a proxy that resets connections, or no longer responds. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError } from "effect/sql/SqlError"
import * as Layer from "effect/Layer"
import * as Context from "effect/Context"
import { startProxy, type TcpProxy } from "@signalbox/testkit/TcpProxy"
import { urlVariable } from "@signalbox/testkit/Postgres"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import { Sent } from "@signalbox/sql/Sent"

const behindProxy = <A, E>(
  body: (sql: SqlClient.SqlClient, proxy: TcpProxy, close: Effect.Effect<void>) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function* () {
    const url = new URL(process.env[urlVariable] ?? "")
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => startProxy({ host: url.hostname, port: Number(url.port) })),
      ({ close }) => Effect.promise(close)
    )
    url.port = String(proxy.port)
    const scope = yield* Scope.fork(yield* Effect.scope)
    const client = PostgresClient.layer({ url: Redacted.make(url.href), schema: "sql_away" })
    const sql = Context.get(yield* Layer.buildWithScope(client, scope), SqlClient.SqlClient)
    return yield* body(sql, proxy, Scope.close(scope, Exit.void))
  }).pipe(Effect.scoped)

/** Whether an effect ends before so much time has passed in the same event loop. */
const endsBefore = <A, E, R>(seconds: number, effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(Effect.as(Effect.exit(effect), true), Effect.as(Effect.sleep(seconds * 1_000), false))

describe("a Postgres that goes away", () => {
  it.live("fails the transaction that uses the connection with an error, not with a defect", () =>
    behindProxy((sql, proxy) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT 1`
              proxy.refuse()
              yield* sql`SELECT 2`
            })
          )
        )
        const error = Exit.isFailure(exit) ? exit.cause.reasons.map((reason) => reason._tag) : []
        assert.deepStrictEqual(error, ["Fail"])
        assert.isTrue(Exit.isFailure(exit) && isSqlError(Cause.squash(exit.cause)))
      })
    )
  )

  it.live("does not delay the interruption of a statement or a transaction", () =>
    behindProxy((sql, proxy) =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        const transaction = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT 1`
              yield* Deferred.succeed(begun, undefined)
              yield* sql`SELECT pg_sleep(60)`
            })
          )
        )
        const statement = yield* Effect.forkChild(sql`SELECT pg_sleep(60)`)
        yield* Deferred.await(begun)
        yield* Effect.sleep("100 millis")
        proxy.freeze()
        assert.isTrue(yield* endsBefore(4, Effect.all([Fiber.interrupt(statement), Fiber.interrupt(transaction)])))
      })
    )
  )

  it.live("does not delay the end of the client, although a statement runs", () =>
    behindProxy((sql, proxy, close) =>
      Effect.gen(function* () {
        yield* Effect.forkChild(Effect.exit(sql`SELECT pg_sleep(60)`))
        yield* Effect.sleep("100 millis")
        proxy.freeze()
        assert.isTrue(yield* endsBefore(4, close))
        // Their sockets would keep the process alive.
        yield* Effect.repeat(Effect.delay(Effect.sync(proxy.stale), "20 millis"), { until: (open) => open === 0 })
      })
    )
  )

  it.live("notes whether a statement that changes something may have arrived", () =>
    behindProxy((sql, proxy) =>
      Effect.gen(function* () {
        const sent = { isSent: false }
        const noted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.provideService(Effect.exit(effect), Sent, sent)
        yield* sql`CREATE TABLE IF NOT EXISTS note (n INTEGER)`
        yield* noted(sql`SELECT n FROM note`)
        yield* noted(sql.withTransaction(Effect.andThen(sql`INSERT INTO note (n) VALUES (1)`, Effect.fail("no"))))
        assert.isFalse(sent.isSent)
        yield* noted(sql.withTransaction(sql`INSERT INTO note (n) VALUES (2)`))
        assert.isTrue(sent.isSent)
        sent.isSent = false
        proxy.refuse()
        // Its connection may be known to be closed only by this.
        yield* Effect.exit(sql`SELECT 1`)
        yield* noted(sql`INSERT INTO note (n) VALUES (3)`)
        assert.isFalse(sent.isSent)
      })
    )
  )
})
