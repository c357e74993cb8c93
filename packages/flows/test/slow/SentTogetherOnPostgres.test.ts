/** Transactions whose writes are sent with the statement that follows: what fails, what is undone, and what is given up. */
import { assert, describe, it } from "@effect/vitest"
import { startProxy } from "@signalbox/testkit/TcpProxy"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import * as Sql from "@signalbox/sql/Sql"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { postgresOptions, temporarySchema } from "../support/Engines.ts"
import { until } from "../support/Polling.ts"
import { pooledOptions, suitePooler, throughPooler } from "../support/Pooler.ts"

/** A statement that is traced is sent alone, so that its span has its time. */
const untraced = Effect.withTracerEnabled(false)

type Options = Parameters<typeof PostgresClient.layer>[0]

const clientOf = Effect.fnUntraced(function* (options: Options) {
  const client = Context.get(yield* Layer.build(Layer.fresh(PostgresClient.layer(options))), SqlClient.SqlClient)
  yield* client`CREATE TABLE IF NOT EXISTS shelf (id INTEGER PRIMARY KEY)`
  return { client, sql: Sql.make(client), options }
})

const suite = (optionsFor: (schema: string) => Effect.Effect<Options>) => {
  const clients = Effect.flatMap(Effect.flatMap(temporarySchema, optionsFor), clientOf)

  it.live("a write that fails fails its transaction, with its error and not that of what was sent behind it", () =>
    Effect.gen(function* () {
      const { client, sql } = yield* clients
      const put = (id: number) => sql`INSERT INTO shelf (id) VALUES (${id})`
      const statement = Effect.asVoid(Effect.all([put(1), put(1), sql`SELECT 1 AS n`]))
      for (const effect of [statement, Effect.asVoid(Effect.all([put(1), put(1)]))]) {
        const exit = yield* Effect.exit(Sql.transaction(client, effect))
        if (!Exit.isFailure(exit)) return assert.fail("it was committed")
        assert.match(Cause.pretty(exit.cause), /UniqueViolation|duplicate key/)
      }
      assert.deepEqual(yield* sql`SELECT id FROM shelf`, [])
    }).pipe(untraced, Effect.scoped)
  )

  it.live("a write for a value that is taken is undone alone, and those before and after it are committed", () =>
    Effect.gen(function* () {
      const { client, sql } = yield* clients
      const put = (id: number) => sql`INSERT INTO shelf (id) VALUES (${id})`
      const taken = yield* Sql.transaction(
        client,
        Effect.gen(function* () {
          yield* put(1)
          const taken = yield* Sql.whenTaken(client, Effect.as(put(1), "put"), "taken")
          yield* put(2)
          return taken
        })
      )
      assert.strictEqual(taken, "taken")
      assert.deepEqual(yield* sql`SELECT id FROM shelf ORDER BY id`, [{ id: 1 }, { id: 2 }])
    }).pipe(untraced, Effect.scoped)
  )

  it.live("what was sent ahead has the rows from before the write that follows it", () =>
    Effect.gen(function* () {
      const { client, sql } = yield* clients
      yield* sql`INSERT INTO shelf (id) VALUES (1)`
      const rows = yield* Sql.transaction(
        client,
        Effect.gen(function* () {
          const before = yield* sql.ahead(sql`SELECT id FROM shelf FOR UPDATE`)
          const after = yield* sql`UPDATE shelf SET id = 2 RETURNING id`
          const asked = yield* sql.ahead(sql`SELECT id FROM shelf`)
          return [yield* before, after, yield* asked]
        })
      )
      assert.deepEqual(rows, [[{ id: 1 }], [{ id: 2 }], [{ id: 2 }]])
    }).pipe(untraced, Effect.scoped)
  )

  it.live("a transaction that is given up while it waits for a lock ends on the server, and the client goes on", () =>
    Effect.gen(function* () {
      const { client, options, sql } = yield* clients
      const other = yield* clientOf(options)
      yield* sql`INSERT INTO shelf (id) VALUES (1), (2)`
      const waiting = other.sql`
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT id FROM shelf WHERE%'`
      const lock = ({ sql }: { readonly sql: Sql.Sql }, id: number) =>
        sql`SELECT id FROM shelf WHERE id = ${id} FOR UPDATE`
      yield* Sql.transaction(
        client,
        Effect.gen(function* () {
          yield* lock({ sql }, 1)
          const given = yield* Effect.forkChild(
            Sql.transaction(other.client, Effect.andThen(lock(other, 2), lock(other, 1)))
          )
          yield* until(Effect.map(waiting, (rows) => rows.length === 1))
          yield* Fiber.interrupt(given)
          yield* until(Effect.map(waiting, (rows) => rows.length === 0))
          // Its other lock is free.
          yield* lock({ sql }, 2)
        })
      )
      assert.deepEqual(yield* sql`SELECT id FROM shelf ORDER BY id`, [{ id: 1 }, { id: 2 }])
    }).pipe(untraced, Effect.scoped)
  )
}

describe("a transaction", () => suite((schema) => Effect.succeed(postgresOptions(schema))))

throughPooler("a transaction", () => {
  const pooler = suitePooler()
  suite((schema) => Effect.map(pooler, (one) => pooledOptions(one, schema)))
})

it.live("BEGIN, a lock, writes and COMMIT need two round trips", () =>
  Effect.gen(function* () {
    const schema = yield* temporarySchema
    const options = postgresOptions(schema)
    const url = new URL(Redacted.value(options.directUrl ?? options.url))
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => startProxy({ host: url.hostname, port: Number(url.port || 5432) })),
      ({ close }) => Effect.promise(close)
    )
    url.hostname = "127.0.0.1"
    url.port = String(proxy.port)
    const { client, sql } = yield* clientOf({ url: Redacted.make(url.href), schema })
    const work = Sql.transaction(
      client,
      Effect.gen(function* () {
        const locking = yield* sql.ahead(sql`SELECT id FROM shelf FOR UPDATE`)
        yield* sql`SELECT id FROM shelf`
        yield* locking
        yield* sql`INSERT INTO shelf (id) VALUES (1)`
        yield* sql`UPDATE shelf SET id = 2`
        yield* sql`DELETE FROM shelf`
      })
    )
    // The connection is there.
    yield* work
    const before = proxy.sent()
    yield* work
    assert.strictEqual(proxy.sent() - before, 2)
  }).pipe(untraced, Effect.scoped)
)
