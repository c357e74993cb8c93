/**
 * The database of simulations: SQLite in memory, which is migrated once and emptied before each. No statement waits, and those of a
 * call come one after the other, so a call is one operation, unless it is interrupted by a failure of the database.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Client from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import type { Execution } from "../../../src/internal/model/Execution.ts"
import { migrate } from "../../../src/internal/journal/Migrations.ts"

/** An execution that has begun and not ended. */
export type Begun = Pick<Execution, "id" | "limits">

/** What becomes of a statement: it fails and has had no effect, or it is carried out and its answer is lost. */
export type Fate = "carried out" | "refused" | "lost"

/** Decides the fate of the next statement of a call. */
export const Fates = Context.Reference<() => Fate>("test/simulation/Fates", { defaultValue: () => () => "carried out" })

const gone = new SqlError({
  reason: new ConnectionError({ message: "the connection was lost", operation: "execute", cause: null })
})

/** As the client of the product does: a primary key conflict is a unique violation. */
const failed = (cause: unknown): SqlError => {
  const message = cause instanceof Error ? cause.message : String(cause)
  const code = typeof cause === "object" && cause !== null && "errcode" in cause ? cause.errcode : undefined
  const known = typeof code === "number" ? { message, errno: code === 1555 ? 2067 : code, cause } : cause
  return new SqlError({ reason: classifySqliteError(known, { message, operation: "execute" }) })
}

const toInput = (value: unknown): SQLInputValue => {
  switch (typeof value) {
    case "string":
    case "number":
      return value
    default:
      if (value === null) return null
      throw new TypeError(`no column of the journal is a ${typeof value}`)
  }
}

const connectionOf = (db: DatabaseSync): Connection => {
  const prepared = new Map<string, { readonly statement: StatementSync; readonly hasRows: boolean }>()
  const prepare = (sql: string) => {
    const before = prepared.get(sql)
    if (before !== undefined) return before
    // As the client of the product does: SQLite would plan the statement anew with each value.
    const statement = db.prepare(sql.replaceAll("LIMIT ?", "LIMIT (? + 0)"))
    const made = { statement, hasRows: statement.columns().length > 0 }
    prepared.set(sql, made)
    return made
  }
  const carryOut = (sql: string, params: ReadonlyArray<unknown>): ReadonlyArray<Record<string, unknown>> => {
    const { hasRows, statement } = prepare(sql)
    if (hasRows) return statement.all(...params.map(toInput))
    statement.run(...params.map(toInput))
    return []
  }
  const execute: Connection["execute"] = (sql, params) =>
    Effect.withFiber((fiber) => {
      const fate = fiber.getRef(Fates)()
      try {
        const rows = fate === "refused" ? [] : carryOut(sql, params)
        if (fate === "carried out") return Effect.succeed(rows)
        // The connection is gone, and with it what it had not committed.
        if (db.isTransaction) carryOut("ROLLBACK", [])
        return Effect.fail(gone)
      } catch (cause) {
        return Effect.fail(failed(cause))
      }
    })
  const values: Connection["executeValues"] = (sql, params) =>
    Effect.map(execute(sql, params, undefined), (rows) => rows.map((row) => Object.values(row)))
  return {
    execute,
    executeUnprepared: execute,
    executeRaw: (sql, params) => execute(sql, params, undefined),
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: (sql, params) =>
      Stream.unwrap(Effect.map(execute(sql, params, undefined), (rows) => Stream.fromIterable(rows)))
  }
}

/** Opens a database with empty tables. */
export const open = () => {
  const db = new DatabaseSync(":memory:")
  const sql = Effect.runSync(
    Client.make({
      acquirer: Effect.succeed(connectionOf(db)),
      compiler: Statement.makeCompilerSqlite(),
      driver: "node-sqlite",
      spanAttributes: [],
      isTransaction: () => db.isTransaction
    }).pipe(Effect.provide(Reactivity.layer))
  )
  Effect.runSync(Effect.provideService(migrate, Client.SqlClient, sql))
  const tables = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'flow_migration'"
    )
    .all()
    .map(({ name }) => db.prepare(`DELETE FROM ${String(name)}`))
  const begun = db.prepare(
    "SELECT id, limits FROM flow_run WHERE queued_at IS NULL AND starts_at IS NULL AND ended_at IS NULL"
  )
  const stand = db.prepare(
    "UPDATE flow_process SET expires_at = ? + lease, stood_millis = ? WHERE id = ? AND reaped = 0 AND expires_at > ?"
  )
  return {
    sql,
    /** The executions that have begun and not ended, with their keys for the limits. */
    begun: (): ReadonlyArray<Begun> =>
      begun.all().map(({ id, limits }) => ({
        id: String(id),
        // The journal wrote it.
        limits: typeof limits === "string" ? (JSON.parse(limits) as Begun["limits"]) : []
      })),
    /** Renews a lease and says for how long its process has stood still. */
    stand: (process: string, millis: number, now: number) => void stand.run(now, millis, process, now),
    clear: () => {
      for (const table of tables) table.run()
    },
    close: () => db.close()
  }
}

export type SimulatedDatabase = ReturnType<typeof open>
