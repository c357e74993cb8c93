/**
 * When a commit is on the disk, and when its writers are notified; and how the log is copied into the database. On real
 * files; the test controls only when the disk has stored a commit.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Checkpoints from "../src/internal/sqlite/Checkpoints.ts"
import * as Reads from "../src/internal/sqlite/Reads.ts"
import * as Turns from "../src/internal/sqlite/Turns.ts"
import * as StorageFailure from "../src/StorageFailure.ts"

const temporaryFile = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-sqlite-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "t.db")
)

const open = (filename: string, options: { readonly readOnly?: boolean } = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(filename, options)),
    (db) => Effect.sync(() => (db.isOpen ? db.close() : undefined))
  )

const diskError = new SqlError({
  reason: new ConnectionError({ message: "no disk", operation: "commit", cause: new Error("EIO") })
})

/** A database whose disk stores a commit when the test allows it. */
const stored = Effect.gen(function* () {
  const filename = yield* temporaryFile
  const db = yield* open(filename)
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE item (n INTEGER)")
  const reader = yield* open(filename, { readOnly: true })
  const reads = yield* Reads.make(reader)
  const syncs = yield* Queue.unbounded<Deferred.Deferred<void, SqlError>>()
  const run = (sql: string) => Effect.sync(() => db.exec(sql))
  const turns = yield* Turns.make({
    run,
    isTransaction: () => db.isTransaction,
    shared: true,
    beforeCommit: Effect.sync(reads.pin),
    sync: Effect.gen(function* () {
      const synced = yield* Deferred.make<void, SqlError>()
      yield* Queue.offer(syncs, synced)
      yield* Deferred.await(synced)
    }),
    synced: reads.unpin,
    whyLost: () => diskError
  })
  const write = (n: number) => turns.once(run(`INSERT INTO item VALUES (${n})`))
  const count = (of: DatabaseSync) => Number(of.prepare("SELECT count(*) AS n FROM item").get()?.["n"])
  return {
    write,
    /** The next commit that waits for the disk. */
    sync: Queue.take(syncs),
    /** What reads see. */
    read: Effect.try({
      try: () => {
        reads.begin()
        return count(reader)
      },
      // How callers see it: a failure of the disk, or a transient one.
      catch: (cause) => StorageFailure.of(new SqlError({ reason: new UnknownError({ cause }) }))?.kind
    }),
    /** The file of the write-ahead log. */
    log: `${filename}-wal`,
    /** What is written, committed or not. */
    written: Effect.sync(() => count(db))
  }
})

const until = <E>(condition: Effect.Effect<boolean, E>) =>
  Effect.repeat(Effect.andThen(Effect.yieldNow, condition), { until: (met) => met })

describe("a commit", () => {
  it.live("is confirmed, and seen by reads, when it is on the disk; until then others write, and do not commit", () =>
    Effect.gen(function* () {
      const { read, sync, write, written } = yield* stored
      const first = yield* Effect.forkChild(write(1))
      const ofFirst = yield* sync
      const second = yield* Effect.forkChild(write(2))
      yield* until(Effect.map(written, (n) => n === 2))
      // Turns of the loop in which a reader that is not pinned would take a new snapshot.
      for (let turn = 0; turn < 3; turn++) {
        yield* Effect.yieldNow
        assert.strictEqual(yield* read, 0)
      }
      assert.isUndefined(first.pollUnsafe())
      assert.isUndefined(second.pollUnsafe())
      yield* Deferred.succeed(ofFirst, undefined)
      yield* Fiber.join(first)
      assert.strictEqual(yield* read, 1)
      assert.isUndefined(second.pollUnsafe())
      yield* Deferred.succeed(yield* sync, undefined)
      yield* Fiber.join(second)
      assert.strictEqual(yield* read, 2)
    }).pipe(Effect.scoped)
  )

  it.live("is not seen by reads before the disk has it, although a failed read has ended their transaction", () =>
    Effect.gen(function* () {
      const { log, read, sync, write } = yield* stored
      const first = yield* Effect.forkChild(write(1))
      const ofFirst = yield* sync
      // A log that cannot be read is a disk error, after which SQLite rolls a transaction back.
      const bytes = readFileSync(log)
      truncateSync(log)
      const failed = yield* Effect.result(read)
      writeFileSync(log, bytes)
      const before = yield* Effect.replicateEffect(Effect.result(Effect.andThen(Effect.yieldNow, read)), 3)
      yield* Deferred.succeed(ofFirst, undefined)
      yield* Fiber.join(first)
      assert.deepStrictEqual(failed, Result.fail("disk"))
      assert.deepStrictEqual(before, Array<typeof failed>(3).fill(Result.fail("unavailable")))
      assert.strictEqual(yield* read, 1)
    }).pipe(Effect.scoped)
  )

  it.live("that the disk does not store fails, and nothing is written after it", () =>
    Effect.gen(function* () {
      const { sync, write } = yield* stored
      const first = yield* Effect.forkChild(Effect.exit(write(1)))
      yield* Deferred.fail(yield* sync, diskError)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(first)))
      const refused = yield* Effect.flip(write(2))
      assert.match(refused.message, /the disk failed to store a commit.*restarted/)
    }).pipe(Effect.scoped)
  )

  it.live("that was made is stored, although its writer is interrupted", () =>
    Effect.gen(function* () {
      const { read, sync, write } = yield* stored
      const first = yield* Effect.forkChild(write(1))
      const ofFirst = yield* sync
      const interruption = yield* Effect.forkChild(Fiber.interrupt(first), { startImmediately: true })
      yield* Deferred.succeed(ofFirst, undefined)
      yield* Fiber.join(interruption)
      assert.strictEqual(yield* read, 1)
    }).pipe(Effect.scoped)
  )
})

describe("a checkpoint", () => {
  /** Rows of the database alone, without its log. */
  const inDatabase = (filename: string) => readFileSync(filename).toString("latin1").split("needle").length - 1

  const written = Effect.gen(function* () {
    const filename = yield* temporaryFile
    const db = yield* open(filename)
    db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE item (text TEXT)")
    return { filename, db, write: () => db.exec("INSERT INTO item VALUES ('needle')") }
  })

  it.live("copies the log into the database after a commit, beside this thread", () =>
    Effect.gen(function* () {
      const { filename, write } = yield* written
      const { committed } = yield* Checkpoints.make({
        filename,
        delay: 1,
        restartAfter: 1000,
        exclusively: () => Effect.die("nobody has to wait")
      })
      write()
      assert.strictEqual(inDatabase(filename), 0)
      committed()
      yield* until(Effect.sync(() => inDatabase(filename) === 1))
      write()
      committed()
      yield* until(Effect.sync(() => inDatabase(filename) === 2))
    }).pipe(Effect.scoped)
  )

  it.live("lets a long log restart, while writers wait", () =>
    Effect.gen(function* () {
      const { filename, write } = yield* written
      let waited = 0
      const { committed } = yield* Checkpoints.make({
        filename,
        delay: 1,
        restartAfter: 10,
        exclusively: (effect) => Effect.tap(effect, () => Effect.sync(() => waited++))
      })
      for (let n = 0; n < 50; n++) write()
      const long = statSync(`${filename}-wal`).size
      committed()
      yield* until(Effect.sync(() => waited === 1))
      for (let n = 0; n < 10; n++) write()
      assert.strictEqual(statSync(`${filename}-wal`).size, long)
    }).pipe(Effect.scoped)
  )

  it.live("releases the file with its scope: whoever closes it last deletes the log", () =>
    Effect.gen(function* () {
      const { db, filename, write } = yield* written
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { committed } = yield* Checkpoints.make({
            filename,
            delay: 1,
            restartAfter: 1000,
            exclusively: () => Effect.die("nobody has to wait")
          })
          write()
          committed()
          yield* until(Effect.sync(() => inDatabase(filename) === 1))
        })
      )
      assert.isTrue(existsSync(`${filename}-wal`))
      db.close()
      assert.isFalse(existsSync(`${filename}-wal`))
    }).pipe(Effect.scoped)
  )
})
