/** Nodes of two versions on one database. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import * as Administration from "../../src/Administration.ts"
import { latest } from "../../src/internal/store/Migrations.ts"
import { send } from "../support/Http.ts"
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
