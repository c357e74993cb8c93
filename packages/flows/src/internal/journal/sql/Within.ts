/**
 * Writes in a transaction of the caller: of its own client on Postgres, of the client of the journal on SQLite, whose file has one writer.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import { isPassing } from "@signalbox/sql/StorageFailure"
import { queryOne, Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { FlowDefect } from "../../../FlowDefect.ts"
import type { Change } from "../Changes.ts"
import type { Journal, Within } from "../Journal.ts"
import * as Executions from "./Executions.ts"
import * as Messages from "./Messages.ts"
import { value as anyValue } from "./Rows.ts"
import type { Store } from "./Store.ts"
import * as Texts from "./Texts.ts"

const placeRow = Row({ place: text, schema: text })
const pathRow = Row({ path: text })
const valueRow = Row({ value: anyValue })

const toNumber = (value: unknown) => (typeof value === "bigint" ? Number(value) : value)

/** The connection of another client, with integers as the client of the journal reads them. */
const numbered = (connection: Connection): Connection => ({
  ...connection,
  execute: (sql, params) =>
    Effect.map(connection.execute(sql, params, undefined), (rows) =>
      rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toNumber(value)])))
    )
})

/** In the transaction a failed statement fails the transaction: it is not repeated. */
const failing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchDefect(effect, (defect) => (isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)))

const otherDatabase = () =>
  new FlowDefect({
    message: "the SqlClient is of another database than the flows: what is to be one commit needs one database"
  })

export const make = (store: Store) => {
  const { isPostgres, now, persist, publish, sql } = store
  /** The schema of the journal, by the clients that were found to have its database. */
  const known = new WeakMap<SqlClient, string>()
  const isOwn = (client: SqlClient) => client.transactionService === sql.transactionService

  /** The server and its database; a server that was started again is another one. */
  const place = Effect.map(
    queryOne(
      placeRow,
      sql`
        SELECT concat_ws(' ', pg_postmaster_start_time(), current_database()) AS place,
          COALESCE(current_schema(), '') AS schema`
    ),
    (row) => row ?? { place: "", schema: "" }
  )

  /** Runs statements of the journal on the connection of the caller's transaction. */
  const joined = <A, E, R>(client: SqlClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    isOwn(client)
      ? effect
      : Effect.flatMap(Effect.serviceOption(client.transactionService), (open) => {
          // `transact` has opened it.
          const [connection, depth] = Option.getOrThrow(open)
          return Effect.provideService(effect, sql.transactionService, [numbered(connection), depth])
        })

  /** Returns the schema of the journal, for a client that has its database. */
  const schemaFor = Effect.fnUntraced(function* (client: SqlClient) {
    const before = known.get(client)
    if (before !== undefined) return before
    const [own, theirs] = [yield* persist(place), yield* joined(client, place)]
    if (own.place !== theirs.place) return yield* Effect.die(otherDatabase())
    known.set(client, own.schema)
    return own.schema
  })

  /** Like `joined`, with the tables of the journal. Names of the caller mean after it what they meant before. */
  const inside = <A, E, R>(client: SqlClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    isOwn(client)
      ? effect
      : Effect.gen(function* () {
          const schema = yield* schemaFor(client)
          return yield* joined(
            client,
            Effect.gen(function* () {
              const before = yield* queryOne(
                pathRow,
                sql`
                  WITH before AS MATERIALIZED (SELECT current_setting('search_path') AS path)
                  SELECT path, set_config('search_path', quote_ident(${schema}), TRUE) FROM before`
              )
              const result = yield* effect
              yield* sql`SELECT set_config('search_path', ${before?.path ?? ""}, TRUE)`
              return result
            })
          )
        })

  /** Runs an effect in a transaction of the client, which may be part of another one. */
  const transact = <A, E, R>(client: SqlClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> => {
    if (isOwn(client) || (isPostgres && Dialect.isPostgres(client))) return client.withTransaction(effect)
    return Effect.die(
      isPostgres
        ? otherDatabase()
        : new FlowDefect({
            message: "on SQLite, what is to be one commit with a flow uses FlowEngine.sqlClient, the client of its file"
          })
    )
  }

  const within: (typeof Journal.Service)["within"] = (client, use) =>
    transact(
      client,
      Effect.gen(function* () {
        const changes: Array<Change> = []
        const bound: Store = {
          ...store,
          persist: Effect.orDie,
          transaction: (effect) => Effect.orDie(sql.withTransaction(effect)),
          publish: (change) => void changes.push(change)
        }
        const { create, findKey } = Executions.make(bound)
        const journal: Within = { create, findKey, send: Messages.make(bound).send }
        const result = yield* failing(inside(client, use(journal)))
        yield* client.afterCommit(
          Effect.sync(() => {
            for (const change of changes) publish(change)
          })
        )
        return result
      })
    )

  const once: (typeof Journal.Service)["once"] = (client, { execution, scope }, run) =>
    transact(
      client,
      Effect.gen(function* () {
        const at = yield* now
        const [id, named] = [Texts.toText(execution), Texts.toText(scope)]
        // Waits for a transaction of another attempt.
        const added = yield* inside(
          client,
          sql`
            INSERT INTO flow_transaction (execution, scope, at) VALUES (${id}, ${named}, ${at})
            ON CONFLICT (execution, scope) DO NOTHING RETURNING scope`
        )
        const here = sql`execution = ${id} AND scope = ${named}`
        if (added.length === 0) {
          const row = yield* inside(client, queryOne(valueRow, sql`SELECT value FROM flow_transaction WHERE ${here}`))
          return row?.value ?? null
        }
        const value: Schema.Json = yield* run
        const stored = value === null ? null : Texts.toText(JSON.stringify(value))
        yield* inside(client, sql`UPDATE flow_transaction SET value = ${stored} WHERE ${here}`)
        return value
      })
    )

  return { sql, within, once, isPassing }
}
