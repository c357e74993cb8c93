import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as References from "effect/References"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import * as Tracer from "effect/Tracer"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Sql from "../src/Sql.ts"
import * as SqliteClient from "../src/SqliteClient.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-sql-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A table with one row, on a file, where statements outside of transactions have another connection than those inside. */
const withItem = <A, E>(body: (sql: Sql.Sql, client: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const filename = join(yield* folder, "t.db")
    return yield* Effect.gen(function* () {
      const client = yield* SqlClient.SqlClient
      const sql = Sql.make(client)
      yield* sql`CREATE TABLE item (id TEXT PRIMARY KEY, n INTEGER)`
      yield* sql`INSERT INTO item VALUES ('a', 1)`
      return yield* body(sql, client)
    }).pipe(Effect.provide(SqliteClient.layer({ filename })))
  }).pipe(Effect.scoped)

/** The names of the spans of an effect, with or without a tracer that collects them. */
const spansOf = <A, E, R>(effect: Effect.Effect<A, E, R>, isTraced: boolean) => {
  const names: Array<string> = []
  const tracer = Tracer.make({
    span: (options) => {
      names.push(options.name)
      return new Tracer.NativeSpan(options)
    }
  })
  return effect.pipe(
    Effect.provideService(Tracer.Tracer, tracer),
    Effect.provideService(References.TracerEnabled, isTraced),
    Effect.as(names)
  )
}

describe("a statement whose text is fixed", () => {
  it.effect("binds the values of each call", () =>
    withItem((sql) =>
      Effect.gen(function* () {
        const find = sql.fixed`SELECT n FROM item WHERE id = ${null} AND n < ${null}`
        assert.deepStrictEqual(yield* find("a", 2), [{ n: 1 }])
        assert.deepStrictEqual(yield* find("a", 1), [])
        assert.deepStrictEqual(yield* find("b", 2), [])
      })
    )
  )

  it.effect("refuses more or fewer values than it has", () =>
    withItem((sql) =>
      Effect.gen(function* () {
        const find = sql.fixed`SELECT n FROM item WHERE id = ${null}`
        const exit = yield* Effect.exit(find("a", 2))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      })
    )
  )
})

describe("a statement", () => {
  it.effect("belongs to the transaction around it, with and without a tracer", () =>
    withItem((sql, client) =>
      Effect.gen(function* () {
        const count = sql.fixed`SELECT count(*) AS n FROM item`
        const undone = Sql.transaction(
          client,
          Effect.gen(function* () {
            yield* sql`INSERT INTO item VALUES ('b', 2)`
            assert.deepStrictEqual(yield* count(), [{ n: 2 }])
            assert.deepStrictEqual(yield* sql`SELECT n FROM item WHERE id = 'b'`, [{ n: 2 }])
            return yield* Effect.fail("undone")
          })
        )
        yield* spansOf(Effect.exit(undone), false)
        yield* spansOf(Effect.exit(undone), true)
        assert.deepStrictEqual(yield* count(), [{ n: 1 }])
      })
    )
  )

  it.effect("has a span where spans are collected, and else none", () =>
    withItem((sql) =>
      Effect.gen(function* () {
        const both = Effect.andThen(sql.fixed`SELECT n FROM item`(), sql`SELECT n FROM item`)
        assert.deepStrictEqual(yield* spansOf(both, true), ["sqlite", "sqlite"])
        assert.deepStrictEqual(yield* spansOf(both, false), [])
      })
    )
  )

  it.effect("is seen by a transformer of statements", () =>
    withItem((sql) =>
      Effect.gen(function* () {
        const texts: Array<string> = []
        yield* Effect.andThen(sql.fixed`SELECT n FROM item WHERE id = ${null}`("a"), sql`SELECT id FROM item`).pipe(
          Effect.provideService(Statement.CurrentTransformer, (statement) =>
            Effect.sync(() => {
              texts.push(statement.compile()[0])
              return statement
            })
          ),
          Effect.provideService(References.TracerEnabled, false)
        )
        assert.deepStrictEqual(texts, ["SELECT n FROM item WHERE id = ?", "SELECT id FROM item"])
      })
    )
  )

  it.effect("has all columns of a table that has got one more since", () =>
    withItem((sql) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sql`SELECT * FROM item`, [{ id: "a", n: 1 }])
        yield* sql`ALTER TABLE item ADD COLUMN more TEXT`
        assert.deepStrictEqual(yield* sql`SELECT * FROM item`, [{ id: "a", n: 1, more: null }])
      })
    )
  )
})
