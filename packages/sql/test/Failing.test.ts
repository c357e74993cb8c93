/** A full disk, a failed commit, a damaged file: every writer gets a result, and the next one is served. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as SqlClient from "effect/sql/SqlClient"
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as SqliteClient from "../src/SqliteClient.ts"

const file = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-sqlite-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "t.db")
)

const using = <A, E>(filename: string, body: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(SqlClient.SqlClient, body).pipe(
    Effect.provide(SqliteClient.layer({ filename }), { local: true }),
    Effect.scoped
  )

const withDatabase = <A, E>(body: (sql: SqlClient.SqlClient, filename: string) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const filename = yield* file
    return yield* using(filename, (sql) =>
      Effect.andThen(
        sql`CREATE TABLE item (id TEXT PRIMARY KEY, parent TEXT REFERENCES item (id) DEFERRABLE INITIALLY DEFERRED, bytes TEXT)`,
        body(sql, filename)
      )
    )
  }).pipe(Effect.scoped)

const idsOf = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ readonly id: string }>`SELECT id FROM item ORDER BY id`, (rows) => rows.map(({ id }) => id))

describe("SqliteClient when its storage fails", () => {
  it.effect("responds to everyone who writes to a full database, keeps confirmed writes, and resumes", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        yield* sql.unsafe("PRAGMA max_page_count = 40")
        const insert = (n: number) =>
          sql`INSERT INTO item (id, bytes) VALUES (${`item-${String(n).padStart(2, "0")}`}, ${"x".repeat(8000)})`
        const write = (n: number) =>
          n % 2 === 0 ? insert(n) : sql.withTransaction(Effect.andThen(insert(n), sql`UPDATE item SET parent = NULL`))
        const exits: Array<Exit.Exit<unknown, unknown>> = []
        for (let round = 0; round < 4; round++) {
          const numbers = Array.from({ length: 10 }, (_, n) => round * 10 + n)
          exits.push(...(yield* Effect.forEach(numbers, (n) => Effect.exit(write(n)), { concurrency: "unbounded" })))
        }
        const failed = exits.filter(Exit.isFailure)
        assert.isAbove(failed.length, 0)
        for (const { cause } of failed) assert.match(String(cause), /database or disk is full/)
        assert.deepStrictEqual(
          yield* idsOf(sql),
          exits.flatMap((exit, n) => (Exit.isSuccess(exit) ? [`item-${String(n).padStart(2, "0")}`] : []))
        )
        yield* sql.unsafe("PRAGMA max_page_count = 4000")
        yield* Effect.forEach([90, 91, 92], write, { concurrency: "unbounded" })
        assert.include(yield* idsOf(sql), "item-92")
      })
    )
  )

  it.effect("runs no statement of a transaction that SQLite has rolled back", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        yield* sql.unsafe("PRAGMA max_page_count = 10")
        const stubborn = sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO item (id) VALUES ('first')`
            yield* Effect.exit(sql`INSERT INTO item (id, bytes) VALUES ('large', ${"x".repeat(100_000)})`)
            yield* sql`INSERT INTO item (id) VALUES ('last')`
          })
        )
        assert.match(String(yield* Effect.flip(stubborn)), /full/)
        assert.deepStrictEqual(yield* idsOf(sql), [])
      })
    )
  )

  it.effect("fails everyone who shares a failed commit", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        const writers = [
          sql`INSERT INTO item (id) VALUES ('a')`,
          sql`INSERT INTO item (id, parent) VALUES ('b', 'nobody')`,
          sql.withTransaction(sql`INSERT INTO item (id) VALUES ('c')`)
        ]
        const exits = yield* Effect.all(writers.map(Effect.exit), { concurrency: "unbounded" })
        assert.deepStrictEqual(exits.map(Exit.isFailure), [true, true, true])
        assert.deepStrictEqual(yield* idsOf(sql), [])
        yield* sql`INSERT INTO item (id) VALUES ('d')`
        assert.deepStrictEqual(yield* idsOf(sql), ["d"])
      })
    )
  )

  it.effect("fails everyone while it cannot begin a transaction, and writes once it can", () =>
    withDatabase((sql, filename) =>
      Effect.gen(function* () {
        const other = new DatabaseSync(filename)
        other.exec("BEGIN IMMEDIATE")
        const insert = (id: string) => sql`INSERT INTO item (id) VALUES (${id})`
        const exits = yield* Effect.all([Effect.exit(insert("a")), Effect.exit(sql.withTransaction(insert("b")))], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(exits.map(Exit.isFailure), [true, true])
        other.close()
        yield* insert("c")
        assert.deepStrictEqual(yield* idsOf(sql), ["c"])
      })
    )
  )

  it.effect("fails the reads that need a damaged page, and serves the others", () =>
    Effect.gen(function* () {
      const filename = yield* file
      yield* using(filename, (sql) =>
        Effect.gen(function* () {
          yield* sql`CREATE TABLE sound (id TEXT)`
          yield* sql`CREATE TABLE damaged (id TEXT)`
          for (const table of ["sound", "damaged"]) yield* sql`INSERT INTO ${sql(table)} (id) VALUES ('a')`
        })
      )
      // The last page is the one of the second table.
      const descriptor = openSync(filename, "r+")
      writeSync(descriptor, Buffer.alloc(4096, 0xff), 0, 4096, statSync(filename).size - 4096)
      closeSync(descriptor)
      yield* using(filename, (sql) =>
        Effect.gen(function* () {
          for (let round = 0; round < 3; round++) {
            assert.match(String(yield* Effect.flip(sql`SELECT id FROM damaged`)), /malformed/)
            assert.lengthOf(yield* sql`SELECT id FROM sound`, 1 + round)
            yield* sql`INSERT INTO sound (id) VALUES ('b')`
          }
        })
      )
    }).pipe(Effect.scoped)
  )

  it.effect("lets only its owner read the files, also those that are there already", () =>
    Effect.gen(function* () {
      const filename = yield* file
      const modes = () =>
        ["", "-wal", "-shm", ".lock"].map((suffix) => (statSync(filename + suffix).mode & 0o777).toString(8))
      const check = using(filename, (sql) =>
        Effect.gen(function* () {
          yield* sql`CREATE TABLE IF NOT EXISTS item (id TEXT)`
          assert.deepStrictEqual(modes(), ["600", "600", "600", "600"])
        })
      )
      yield* check
      for (const suffix of ["", ".lock"]) chmodSync(filename + suffix, 0o644)
      yield* check
    }).pipe(Effect.scoped)
  )
})
