/**
 * While the database is away: a 503 that says when to come again, and nothing half done.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { assertError } from "./support/Http.ts"
import { quiet } from "./support/Seed.ts"
import { Service } from "./support/Service.ts"

/** Somebody else has the file of the database to himself. */
const locked = Effect.acquireRelease(
  Effect.map(Service, ({ folder }) => {
    const db = new DatabaseSync(join(folder, "control-room.db"))
    db.exec("BEGIN IMMEDIATE")
    return db
  }),
  (db) => Effect.sync(() => db.close())
)

withLayer(quiet, { excludeTestServices: true, timeout: "60 seconds" })("while the database is away", (it) => {
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
