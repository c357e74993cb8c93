import { assert, describe, it, vi } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { constants, DatabaseSync } from "node:sqlite"
import * as SqliteClient from "../src/SqliteClient.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-sqlite-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const withDatabase = <A, E>(body: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const path = yield* folder
    return yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql`CREATE TABLE item (id TEXT PRIMARY KEY, n INTEGER, code TEXT UNIQUE)`.pipe(Effect.andThen(body(sql)))
    ).pipe(Effect.provide(SqliteClient.layer({ filename: join(path, "t.db") })))
  }).pipe(Effect.scoped)

/** How many transactions the write-ahead log has: the last frame of each has the size of the database after it. */
const commitsIn = (filename: string) => {
  const log = readFileSync(`${filename}-wal`)
  const pageSize = log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + 24 + pageSize <= log.length; at += 24 + pageSize) if (log.readUInt32BE(at + 4) > 0) commits++
  return commits
}

describe("SqliteClient", () => {
  it.effect("plans a statement with a limit once, whatever the limit", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        const items = (limit: number) =>
          Effect.map(
            sql<{ n: number; text: string }>`SELECT n, 'LIMIT ?' AS text FROM item ORDER BY n LIMIT ${limit}`,
            (rows) => rows.map(({ n, text }) => [n, text])
          )
        const prepare = vi.spyOn(DatabaseSync.prototype, "prepare")
        for (const n of [1, 2, 3]) yield* sql`INSERT INTO item (id, n) VALUES (${`${n}`}, ${n})`
        assert.deepStrictEqual(yield* items(1), [[1, "LIMIT ?"]])
        let planned = 0
        for (const db of prepare.mock.contexts) {
          if (!(db instanceof DatabaseSync)) continue
          db.setAuthorizer(() => {
            planned++
            return constants.SQLITE_OK
          })
        }
        // An authorizer makes SQLite plan all statements anew.
        assert.strictEqual((yield* items(2)).length, 2)
        assert.isAbove(planned, 0)
        planned = 0
        assert.strictEqual((yield* items(3)).length, 3)
        assert.strictEqual(planned, 0)
        prepare.mockRestore()
      })
    )
  )

  it.effect("binds booleans, dates, undefined and bytes", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        const rows = yield* sql<{ a: number; b: string; c: null; d: Uint8Array }>`
          SELECT ${true} AS a, ${new Date(0)} AS b, ${undefined} AS c, ${new Uint8Array([7])} AS d`
        assert.deepStrictEqual(
          { ...rows[0] },
          {
            a: 1,
            b: "1970-01-01T00:00:00.000Z",
            c: null,
            d: new Uint8Array([7])
          }
        )
      })
    )
  )

  it.effect("reports primary key and unique conflicts as unique violations", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        yield* sql`INSERT INTO item (id, code) VALUES ('a', 'x')`
        const primary = yield* Effect.flip(sql`INSERT INTO item (id, code) VALUES ('a', 'y')`)
        const unique = yield* Effect.flip(sql`INSERT INTO item (id, code) VALUES ('b', 'x')`)
        assert.strictEqual(primary.reason._tag, "UniqueViolation")
        assert.strictEqual(unique.reason._tag, "UniqueViolation")
      })
    )
  )

  it.effect("rolls a failed transaction back and a failed savepoint alone", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        const insert = (id: string) => sql`INSERT INTO item (id) VALUES (${id})`
        yield* Effect.exit(sql.withTransaction(Effect.andThen(insert("lost"), Effect.fail("no"))))
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* insert("kept")
            yield* Effect.exit(sql.withTransaction(Effect.andThen(insert("inner"), Effect.fail("no"))))
          })
        )
        const rows = yield* sql<{ id: string }>`SELECT id FROM item`
        assert.deepStrictEqual(
          rows.map((row) => row.id),
          ["kept"]
        )
      })
    )
  )

  it.effect("rolls an interrupted transaction back", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(
          sql.withTransaction(Effect.andThen(sql`INSERT INTO item (id) VALUES ('a')`, Effect.never)),
          { startImmediately: true }
        )
        yield* Fiber.interrupt(fiber)
        assert.strictEqual((yield* sql`SELECT id FROM item`).length, 0)
      })
    )
  )

  it.effect("loses no update among 100 concurrent transactions", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        yield* sql`INSERT INTO item (id, n) VALUES ('a', 0)`
        const increment = sql.withTransaction(
          Effect.gen(function* () {
            const rows = yield* sql<{ n: number }>`SELECT n FROM item WHERE id = 'a'`
            yield* Effect.yieldNow
            yield* sql`UPDATE item SET n = ${(rows[0]?.n ?? 0) + 1} WHERE id = 'a'`
          })
        )
        yield* Effect.all(
          Array.from({ length: 100 }, () => increment),
          { concurrency: "unbounded" }
        )
        const rows = yield* sql<{ n: number }>`SELECT n FROM item`
        assert.strictEqual(rows[0]?.n, 100)
      })
    )
  )

  it.effect("commits concurrent writers together, and confirms each after the commit", () =>
    Effect.gen(function* () {
      const filename = join(yield* folder, "t.db")
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE item (id TEXT PRIMARY KEY)`
        const before = commitsIn(filename)
        const insert = (n: number) => sql`INSERT INTO item (id) VALUES (${`item-${n}`})`
        const seen = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, n) => n),
          (n) =>
            Effect.andThen(
              n % 2 === 0 ? insert(n) : sql.withTransaction(insert(n)),
              // What another process, which sees only committed data, reads.
              Effect.sync(
                () => new DatabaseSync(filename, { readOnly: true }).prepare("SELECT id FROM item").all().length
              )
            ),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(new Set(seen), new Set([100]))
        assert.isAtMost(commitsIn(filename) - before, 2)
      }).pipe(Effect.provide(SqliteClient.layer({ filename })))
    }).pipe(Effect.scoped)
  )

  it.effect("isolates the failure of one writer from those that commit with it", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        const insert = (id: string) => sql`INSERT INTO item (id) VALUES (${id})`
        const writers = [
          sql.withTransaction(insert("a")),
          sql.withTransaction(Effect.andThen(insert("b"), Effect.fail("no"))),
          sql.withTransaction(Effect.andThen(insert("c"), insert("a"))),
          insert("a"),
          insert("d")
        ]
        const exits = yield* Effect.all(writers.map(Effect.exit), { concurrency: "unbounded" })
        assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, false, false, true])
        const rows = yield* sql<{ id: string }>`SELECT id FROM item ORDER BY id`
        assert.deepStrictEqual(
          rows.map((row) => row.id),
          ["a", "d"]
        )
      })
    )
  )

  it.effect("reads while a transaction is open, and only what is committed", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        const written = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const writer = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.all([
              sql`INSERT INTO item (id) VALUES ('a')`,
              Deferred.succeed(written, undefined),
              Deferred.await(goOn)
            ])
          )
        )
        yield* Deferred.await(written)
        assert.strictEqual((yield* sql`SELECT id FROM item`).length, 0)
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.join(writer)
        assert.strictEqual((yield* sql`SELECT id FROM item`).length, 1)
      })
    )
  )

  it.effect("shows writers what they wrote, whatever others read concurrently", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        const count = Effect.map(sql`SELECT id FROM item`, (rows) => rows.length)
        const writer = yield* Effect.forkChild(Effect.andThen(sql`INSERT INTO item (id) VALUES ('a')`, count), {
          startImmediately: true
        })
        // Written, and not committed yet.
        assert.strictEqual(yield* count, 0)
        assert.strictEqual(yield* Fiber.join(writer), 1)
      })
    )
  )

  it.effect("commits what was written before it closes", () =>
    Effect.gen(function* () {
      const filename = join(yield* folder, "t.db")
      const use = <A, E>(body: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
        Effect.flatMap(SqlClient.SqlClient, body).pipe(
          Effect.provide(SqliteClient.layer({ filename }), { local: true }),
          Effect.scoped
        )
      yield* use((sql) => sql`CREATE TABLE item (id TEXT PRIMARY KEY)`)
      yield* use((sql) => Effect.forkChild(sql`INSERT INTO item (id) VALUES ('a')`, { startImmediately: true }))
      assert.strictEqual((yield* use((sql) => sql`SELECT id FROM item`)).length, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("gives each transaction in memory a separate commit", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE item (id TEXT PRIMARY KEY)`
      yield* Effect.all([
        sql`INSERT INTO item (id) VALUES ('a')`,
        sql.withTransaction(sql`INSERT INTO item VALUES ('b')`)
      ])
      yield* Effect.exit(sql.withTransaction(Effect.andThen(sql`INSERT INTO item VALUES ('c')`, Effect.fail("no"))))
      assert.strictEqual((yield* sql`SELECT id FROM item`).length, 2)
    }).pipe(Effect.provide(SqliteClient.layer({ filename: ":memory:" })))
  )

  it.effect("streams rows and returns values", () =>
    withDatabase((sql) =>
      Effect.gen(function* () {
        yield* sql`INSERT INTO item ${sql.insert([
          { id: "a", n: 1 },
          { id: "b", n: 2 }
        ])}`
        const streamed = yield* Stream.runCollect(sql<{ id: string }>`SELECT id FROM item ORDER BY id`.stream)
        assert.deepStrictEqual(
          streamed.map((row) => row.id),
          ["a", "b"]
        )
        assert.deepStrictEqual(yield* sql`SELECT id, n FROM item ORDER BY id`.values, [
          ["a", 1],
          ["b", 2]
        ])
      })
    )
  )

  it.effect("refuses a file that another process has, and takes it once that process was killed", () =>
    Effect.gen(function* () {
      const filename = join(yield* folder, "t.db")
      const holder = `
        import { constants, DatabaseSync } from "node:sqlite"
        const db = new DatabaseSync(${JSON.stringify(`${filename}.lock`)})
        db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        process.kill(process.pid, "SIGKILL")`
      const killed = spawnSync(process.execPath, ["--input-type=module", "-e", holder])
      assert.strictEqual(killed.signal, "SIGKILL")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.provide(SqlClient.SqlClient, SqliteClient.layer({ filename })).pipe(Effect.scoped)
          const holding = `
            import { constants, DatabaseSync } from "node:sqlite"
            const db = new DatabaseSync(${JSON.stringify(`${filename}.lock`)})
            try { db.exec("BEGIN EXCLUSIVE"); console.log("taken") } catch { console.log("refused") }`
          const inside = yield* Effect.gen(function* () {
            yield* SqlClient.SqlClient
            return spawnSync(process.execPath, ["--input-type=module", "-e", holding]).stdout.toString().trim()
          }).pipe(Effect.provide(SqliteClient.layer({ filename })))
          assert.strictEqual(inside, "refused")
        })
      )
    }).pipe(Effect.scoped)
  )

  it.effect("names the remedy when the file is taken in this process", () =>
    Effect.gen(function* () {
      const filename = join(yield* folder, "t.db")
      const second = yield* Effect.gen(function* () {
        yield* SqlClient.SqlClient
        return yield* Effect.result(
          Effect.provide(SqlClient.SqlClient, SqliteClient.layer({ filename }), { local: true }).pipe(Effect.scoped)
        )
      }).pipe(Effect.provide(SqliteClient.layer({ filename })))
      assert.isTrue(Result.isFailure(second))
      if (Result.isFailure(second)) assert.match(second.failure.message, /another process uses .*stop it first/)
    }).pipe(Effect.scoped)
  )

  it.effect("says which file cannot be opened", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        Effect.provide(SqlClient.SqlClient, SqliteClient.layer({ filename: "/nowhere/at/all/t.db" }))
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.match(String(Exit.isFailure(exit) ? exit.cause : ""), /cannot open \/nowhere\/at\/all/)
    })
  )
})
