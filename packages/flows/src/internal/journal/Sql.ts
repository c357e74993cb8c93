/**
 * The journal in a database: SQLite, which one process has to itself, or Postgres, for any number of them. No statement
 * depends on the state of a connection.
 *
 * Every function waits until the database is back when it is away or full, and does nothing twice then. On Postgres, a
 * process without an end of its lease is never reaped.
 */
import * as DatabaseClock from "@signalbox/sql/DatabaseClock"
import * as Dialect from "@signalbox/sql/Dialect"
import { Listening } from "@signalbox/sql/Listening"
import { nullable, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import { Journal } from "./Journal.ts"
import { Database } from "./Database.ts"
import * as Changing from "./sql/Changing.ts"
import * as Commands from "./sql/Commands.ts"
import * as Debounces from "./sql/Debounces.ts"
import * as Enqueuing from "./sql/Enqueuing.ts"
import * as Executions from "./sql/Executions.ts"
import * as Limits from "./sql/Limits.ts"
import * as Messages from "./sql/Messages.ts"
import * as Notifier from "./sql/Notifier.ts"
import * as Ownership from "./sql/Ownership.ts"
import * as Prepared from "./sql/Prepared.ts"
import * as Retention from "./sql/Retention.ts"
import * as Said from "./sql/Said.ts"
import * as Submissions from "./sql/Submissions.ts"
import { LeaseClock, type Store } from "./sql/Store.ts"
import * as Within from "./sql/Within.ts"
import * as Versions from "./sql/Versions.ts"
import * as Writes from "./sql/Writes.ts"

const schemaRow = Row({ schema: nullable(text) })

const make = Effect.gen(function* () {
  const { persist, sql, transaction } = yield* Database
  const isPostgres = Dialect.isPostgres(sql)

  const now = persist(yield* persist(DatabaseClock.make(sql)))

  const listening = yield* Effect.serviceOption(Listening)
  const notifier = Option.isNone(listening)
    ? Notifier.makeLocal()
    : yield* Effect.flatMap(persist(queryOne(schemaRow, sql`SELECT current_schema() AS schema`)), (row) =>
        Notifier.makePostgres(sql, listening.value, row?.schema ?? "")
      )

  const isByServer = isPostgres && (yield* LeaseClock) === "server"
  const caller = randomUUID()
  let calls = 0
  const store: Store = {
    sql,
    context: yield* Effect.context<never>(),
    isPostgres,
    persist,
    transaction,
    now,
    leaseNow: (at) =>
      isByServer ? sql`CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)` : sql`CAST(${at} AS BIGINT)`,
    token: () => `${caller} ${calls++}`,
    publish: notifier.publish
  }

  const { rest, ...executions } = Executions.make(store)
  const commands = Commands.make(store)
  const { begin, renew, ...ownership } = Ownership.make(store)
  if (!isPostgres) yield* begin
  return Journal.of({
    now: store.now,
    ...executions,
    ...Submissions.make(store),
    ...Debounces.make(store),
    write: Writes.make(store, commands),
    change: Changing.make(store, { rest }, commands),
    ...commands.journal,
    ...Messages.make(store),
    ...Said.make(store),
    ...ownership,
    ...Limits.make(store),
    ...Enqueuing.make(store),
    ...Prepared.make(store),
    ...Retention.make(store),
    ...Within.make(store),
    ...Versions.make(store),
    renew: (process) =>
      Effect.suspend(() => {
        notifier.owns(process.id)
        return renew(process)
      }),
    changes: notifier.changes
  })
})

/** A journal on the tables of `Database`. */
export const layer: Layer.Layer<Journal, never, Database> = Layer.effect(Journal, make)
