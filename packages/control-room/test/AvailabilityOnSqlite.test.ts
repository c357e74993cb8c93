/** While the database is unavailable: a 503 with the time of a retry, and no partial change. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { assertError } from "./support/Http.ts"
import { quiet } from "./support/Seed.ts"
import { Service } from "./support/Service.ts"

/** Another connection has locked the file of the database. */
const locked = Effect.acquireRelease(
  Effect.map(Service, ({ folder }) => new DatabaseSync(join(folder, "control-room.db"))),
  (db) => Effect.sync(() => db.close())
).pipe(
  Effect.tap((db) =>
    // Writes of the service's start may not be on the disk yet.
    Effect.retry(
      Effect.try(() => db.exec("BEGIN IMMEDIATE")),
      { schedule: Schedule.spaced("1 millis"), times: 10_000 }
    )
  )
)

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("while the database has no room", (it) => {
  it.effect("what writes is a 507, what reads is served, and /readyz says so until there is room", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const ready = raw("GET", "/readyz")
      const [{ page_count: pages } = { page_count: 0 }] = yield* sql.unsafe<{ readonly page_count: number }>(
        "PRAGMA page_count"
      )
      yield* sql.unsafe(`PRAGMA max_page_count = ${pages + 2}`)
      const write = (n: number) => raw("POST", "secrets", { json: { name: `s${n}`, items: { a: "x".repeat(8000) } } })
      const answers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], write, { concurrency: "unbounded" })
      const refused = answers.filter(({ status }) => status !== 200)
      assert.isAbove(refused.length, 0)
      for (const answer of [...refused, yield* write(7)]) {
        assertError(answer, 507, "UNAVAILABLE", /the disk is full: free space/)
        assert.strictEqual(answer.headers["retry-after"], "10")
      }
      assertError(yield* ready, 503, "UNAVAILABLE", /the disk is full/)
      assert.strictEqual((yield* raw("GET", "secrets")).status, 200)
      yield* sql.unsafe(`PRAGMA max_page_count = ${pages + 4000}`)
      assert.strictEqual((yield* ready).status, 200)
      assert.strictEqual((yield* write(8)).status, 200)
    })
  )
})

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("while the database is unavailable", (it) => {
  it.effect("a request is a 503 with Retry-After, and does what it should when it comes again", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const before = yield* rows
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* locked
          const requests = [
            { json: { name: "away" } },
            { json: { name: "away" }, headers: { "idempotency-key": "away" } }
          ]
          for (const request of requests) {
            const answer = yield* raw("POST", "assets", request)
            assertError(answer, 503, "UNAVAILABLE", /try again/)
            assert.strictEqual(answer.headers["retry-after"], "1")
            assert.isDefined(answer.headers["x-request-id"])
            assert.notMatch(answer.text, /SQLITE|database is locked/i)
          }
        })
      )
      assert.deepStrictEqual(yield* rows, before)
      const again = yield* raw("POST", "assets", { json: { name: "away" }, headers: { "idempotency-key": "away" } })
      assert.strictEqual(again.status, 200, again.text)
      assert.isUndefined(again.headers["idempotent-replayed"])
    })
  )
})
