/** The lifetime of idempotency records, in virtual time. */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { IdempotencyRecords } from "../src/internal/store/IdempotencyRecords.ts"
import { migrate } from "../src/internal/store/Migrations.ts"
import { beforeHeldOutputs } from "./support/Migrations.ts"
import { movedBy, onPostgres } from "./support/Service.ts"
import { database } from "./support/Storage.ts"

const workspace = WorkspaceId.make("01900000-0000-7000-8000-000000000000")
const record = (lifetime: number) => ({
  fingerprint: "f",
  status: 200,
  body: "b",
  lifetime,
  maker: null,
  permissions: []
})
const start = Date.parse("2026-02-28T23:59:59.123Z")

/** A clock that the test advances. */
const inVirtualTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(start), effect).pipe(Effect.provide(TestClock.layer()))

const lifetimes = (keys: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const records = yield* IdempotencyRecords
    return yield* Effect.forEach(keys, (key) =>
      Effect.map(records.find(workspace, key), (found) => found?.lifetime ?? null)
    )
  })

// In this order: each test moves the clock of one database on, and the last ones change its tables.
describe("records", { shuffle: false }, () => {
  withLayer(database, { excludeTestServices: true, timeout: "4 minutes" })("an idempotency record", (it) => {
    it.effect("is found until it expires, whether it is swept by then or not", () =>
      Effect.gen(function* () {
        const records = yield* IdempotencyRecords
        for (const lifetime of [60, 86_400, 604_800]) yield* records.store(workspace, `${lifetime}`, record(lifetime))
        const left = lifetimes(["60", "86400", "604800"])
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(yield* left, [60, 86_400, 604_800])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* left, [null, 86_400, 604_800])
        assert.strictEqual(yield* records.sweep(10), 1)
        yield* TestClock.adjust("1 day")
        assert.deepStrictEqual(yield* left, [null, null, 604_800])
        yield* TestClock.adjust("6 days")
        assert.deepStrictEqual(yield* left, [null, null, null])
        assert.strictEqual(yield* records.sweep(10), 2)
      }).pipe(inVirtualTime)
    )

    it.effect("that has expired is replaced by a new one with the lifetime of that", () =>
      Effect.gen(function* () {
        const records = yield* IdempotencyRecords
        yield* records.store(workspace, "again", record(60))
        yield* TestClock.adjust("2 minutes")
        yield* records.store(workspace, "again", record(120))
        assert.deepStrictEqual(yield* lifetimes(["again"]), [120])
        assert.strictEqual(yield* records.sweep(10), 0)
      }).pipe(inVirtualTime)
    )
  })

  /** The table as it was when all keys expired after 24 hours. */
  const before = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`DROP INDEX idempotency_key_by_expiry`
    yield* sql`ALTER TABLE idempotency_key DROP COLUMN expires_at`
    yield* sql`CREATE INDEX idempotency_key_by_age ON idempotency_key (created_at)`
    yield* sql`ALTER TABLE process DROP COLUMN input_schema`
    yield* sql`ALTER TABLE process DROP COLUMN check_payloads`
    yield* beforeHeldOutputs
    yield* sql`DROP TABLE process_step`
    yield* sql`DELETE FROM migration WHERE migration_id >= 13`
  })

  /** As an older node writes it, without an expiry. */
  const insertOld = Effect.fnUntraced(function* (key: string, created: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO idempotency_key ${sql.insert({
      workspace_id: workspace,
      key,
      fingerprint: "f",
      status: 200,
      body: "b",
      created_at: created
    })}`
  })

  withLayer(database, { excludeTestServices: true, timeout: "4 minutes" })("a record of before", (it) => {
    it.effect("keeps its 24 hours", () =>
      Effect.gen(function* () {
        yield* before
        yield* insertOld("old", new Date(start).toISOString())
        yield* migrate
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT expires_at FROM idempotency_key`, [
          { expires_at: "2026-03-01T23:59:59.123Z" }
        ])
        const then = movedBy(yield* Clock.Clock, start - Date.now())
        assert.deepStrictEqual(yield* Effect.provideService(lifetimes(["old"]), Clock.Clock, then), [86_400])
      })
    )

    // On SQLite one process migrates before it serves.
    it.effect.skipIf(!onPostgres)("that a node writes which is still to be updated has 24 hours too", () =>
      Effect.gen(function* () {
        yield* insertOld("late", new Date().toISOString())
        assert.deepStrictEqual(yield* lifetimes(["late"]), [86_400])
      })
    )
  })
})
