/** The response for each failure of a database or a disk, and how background tasks log it. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { systemError } from "effect/PlatformError"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { steady } from "../src/internal/background/BackgroundTask.ts"
import * as StorageFailure from "@signalbox/sql/StorageFailure"

/** In the form of the SQLite driver. */
const sqlite = (errcode: number) => {
  const cause = { message: "", errno: errcode, cause: { code: "ERR_SQLITE_ERROR", errcode } }
  return new SqlError({ reason: new UnknownError({ cause, message: "", operation: "execute" }) })
}

/** In the form of the Postgres driver for failures that it does not classify. */
const postgres = (code: string) =>
  new SqlError({ reason: new UnknownError({ cause: { code }, message: "", operation: "query" }) })

const connecting = (code: string) =>
  new SqlError({
    reason: new ConnectionError({ cause: Object.assign(new Error(code), { code }), message: "", operation: "connect" })
  })

const disk = (code: string) =>
  systemError({
    _tag: "Unknown",
    module: "FileSystem",
    method: "open",
    cause: Object.assign(new Error(code), { code, errno: -1 })
  })

const cases: ReadonlyArray<readonly [string, unknown, number, RegExp]> = [
  ["SQLITE_BUSY", sqlite(5), 503, /unavailable; try again/],
  ["SQLITE_FULL", sqlite(13), 507, /disk is full: free space/],
  ["SQLITE_IOERR_WRITE", sqlite(778), 503, /disk cannot be read or written: check/],
  ["SQLITE_CANTOPEN", sqlite(14), 503, /disk cannot be read or written/],
  ["SQLITE_READONLY", sqlite(8), 503, /read-only: give the service write access/],
  ["SQLITE_CORRUPT", sqlite(11), 500, /damaged.*signalbox check.*restore a backup/],
  ["SQLITE_NOTADB", sqlite(26), 500, /damaged/],
  ["too_many_connections", postgres("53300"), 503, /unavailable/],
  ["cannot_connect_now", postgres("57P03"), 503, /unavailable/],
  ["query_canceled", postgres("57014"), 503, /unavailable/],
  ["invalid_password", postgres("28P01"), 503, /unavailable/],
  ["disk_full", postgres("53100"), 507, /disk is full/],
  ["read_only_sql_transaction", postgres("25006"), 503, /primary database/],
  ["data_corrupted", postgres("XX001"), 500, /damaged/],
  ["ECONNREFUSED", connecting("ECONNREFUSED"), 503, /unavailable/],
  ["EMFILE while connecting", connecting("EMFILE"), 503, /too many files are open: raise the limit/],
  ["ENOSPC", disk("ENOSPC"), 507, /disk is full/],
  ["EMFILE", disk("EMFILE"), 503, /too many files are open/],
  ["EIO", disk("EIO"), 503, /disk cannot be read or written/],
  ["EROFS", disk("EROFS"), 503, /read-only/]
]

describe("a failure of the storage", () => {
  for (const [name, error, status, says] of cases) {
    it(`${name} is a ${status} that says what to do`, () => {
      for (const cause of [Cause.die(error), Cause.fail(error)]) {
        const failure = StorageFailure.ofCause(cause)
        assert.strictEqual(failure?.status, status)
        assert.match(failure?.message ?? "", says)
        assert.strictEqual(failure?.retryAfter === null, status === 500)
      }
    })
  }

  it("is no bug of the service, and the other way around", () => {
    for (const error of [
      sqlite(1),
      sqlite(787),
      postgres("42P01"),
      disk("ENOENT"),
      new Error("x"),
      undefined,
      "ENOSPC"
    ]) {
      assert.isNull(StorageFailure.ofCause(Cause.die(error)))
    }
    assert.isNull(StorageFailure.ofCause(Cause.interrupt()))
  })
})

describe("a background task", () => {
  it.effect("logs a failure once, another one, and the recovery", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${[message].flat()[0]}`))
    return Effect.gen(function* () {
      const run = steady("counting")
      const failures = [sqlite(5), sqlite(5), sqlite(13), new Error("bug"), new Error("bug")]
      for (const error of failures) yield* run(Effect.die(error))
      yield* run(Effect.void)
      yield* run(Effect.void)
      assert.deepStrictEqual(
        logged.map((line) => line.replace(/(failed): .*/, "$1")),
        ["Warn counting failed", "Warn counting failed", "Error counting failed", "Info counting works again"]
      )
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
