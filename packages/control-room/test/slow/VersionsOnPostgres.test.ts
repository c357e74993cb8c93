/** Nodes of two versions on one database. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layer as layerPostgres } from "@signalbox/sql/PostgresClient"
import { Listening } from "@signalbox/sql/Listening"
import * as Deferred from "effect/Deferred"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import * as Administration from "../../src/Administration.ts"
import { latest } from "../../src/internal/store/database/Migrations.ts"
import { channelOf } from "../../src/internal/store/database/Notifier.ts"
import { send } from "../support/Http.ts"
import * as Releases from "../support/Releases.ts"
import { layerIn, Service, storageIn, temporaryFolder } from "../support/Service.ts"

const answers = (path: string) => Effect.flatMap(Service, ({ origin }) => send(origin, "GET", path))

it.live("a node stops taking work when a newer version has migrated the database, and says so", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { raw } = yield* Service
      assert.strictEqual((yield* answers("/readyz")).status, 200)
      yield* sql`INSERT INTO migration (migration_id, name) VALUES (9999, 'later')`
      const ready = yield* Effect.repeat(answers("/readyz"), {
        until: ({ status }) => status !== 200,
        schedule: Schedule.spaced("50 millis")
      })
      assert.strictEqual(ready.status, 503)
      assert.match(ready.text, /of a newer version \(its schema is at 9999_later, and version \S+ knows \d{4}_\w+\)/)
      assert.strictEqual((yield* raw("GET", "processes")).status, 503)
      assert.strictEqual((yield* raw("POST", "processes", { json: { name: "p", steps: [] } })).status, 503)
      assert.strictEqual((yield* answers("/healthz")).status, 200)
    }).pipe(Effect.provide(layerIn(folder).pipe(Layer.provide(Logger.layer([logger])))))
    assert.lengthOf(
      logged.filter((line) => line.startsWith("Error") && line.includes("9999_later")),
      1
    )
  }).pipe(Effect.scoped)
)

it.live("a database is not migrated while nodes of an older version use it, and is when they have ended", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const migrate = Effect.provide(Administration.migrate(storageIn(folder)), NodeServices.layer)
    const [id = "", ...name] = latest.split("_")
    const row = { migration_id: Number(id), name: name.join("_") }
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // What this version knows, and this database does not have yet.
      yield* sql`DELETE FROM migration WHERE migration_id = ${row.migration_id}`
      const { message } = yield* Effect.flip(migrate)
      assert.match(message, /nodes use this database \(1, of version \S+\): stop them first/)
      assert.include(message, latest)
      yield* sql`INSERT INTO migration ${sql.insert(row)}`
    }).pipe(Effect.provide(layerIn(folder)))
    assert.deepStrictEqual((yield* migrate).applied, [])
    // It has said that it ended: nobody waits for 15 seconds.
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql`SELECT id FROM node`, 1)
    }).pipe(Effect.provide(layerIn(folder)))
  }).pipe(Effect.scoped)
)

for (const version of Releases.versions) {
  it.live(`a database of ${version} is not migrated while nodes of it run, nor is its master key replaced`, () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const options = storageIn(folder)
      const database = options.database ?? assert.fail("no Postgres")
      yield* Releases.restore(folder, Releases.read(version))
      const newest = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql`SELECT max(migration_id) AS newest FROM migration`
      }).pipe(Effect.provide(Releases.layerDatabase(folder)))
      const before = yield* newest
      const next = Redacted.make(Buffer.alloc(32, 9).toString("base64"))
      const migrate = Effect.provide(Administration.migrate(options), NodeServices.layer)
      const rotate = Effect.provide(Administration.rotateMasterKey(options, next), NodeServices.layer)
      const message = "nodes of an older version use this database (1): stop them first"
      // What a node of that version does, and all that is seen of it.
      yield* Effect.gen(function* () {
        const { texts } = yield* Listening
        const listens = yield* Deferred.make<void>()
        yield* Effect.forkScoped(
          Stream.runDrain(texts(channelOf(database.schema), Deferred.succeed(listens, undefined)))
        )
        yield* Deferred.await(listens)
        assert.strictEqual(
          (yield* Effect.flip(migrate)).message,
          `the database must be migrated to ${latest}: ${message}`
        )
        const refused = yield* Effect.flip(rotate)
        assert.deepInclude(refused, { _tag: "CannotRotate", message })
        assert.deepStrictEqual(yield* newest, before)
      }).pipe(Effect.scoped, Effect.provide(layerPostgres(database)))
      // The server may see a moment later that the connection was closed.
      const rewrapped = yield* Effect.retry(rotate, Schedule.spaced("50 millis"))
      assert.isAtLeast(rewrapped, 1)
      const { applied, schema } = yield* migrate
      assert.deepStrictEqual([applied, schema], [[], latest])
    }).pipe(Effect.scoped)
  )
}
