/** Specifics of Postgres: its schema, its errors, its unavailability, and what several nodes must agree on. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { startServer } from "@signalbox/testkit/Postgres"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { StorageOptions } from "../../src/Options.ts"
import * as StorageLayers from "../../src/internal/service/StorageLayers.ts"
import { Database } from "../../src/internal/store/database/Database.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { query, Row, text } from "@signalbox/sql/Table"
import { assertError } from "../support/Http.ts"
import { node } from "../support/Nodes.ts"
import { layerIn, masterKey, Service, storageIn, temporaryFolder } from "../support/Service.ts"

const storage = (options: StorageOptions) => Layer.provide(StorageLayers.layerStorage(options), NodeServices.layer)

const refused = (options: StorageOptions) =>
  Effect.map(Effect.flip(Effect.scoped(Layer.build(storage(options)))), ({ message }) => message)

it.live("nodes that start concurrently on an empty database set it up once", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const fingerprints = yield* Effect.all(
      Array.from({ length: 6 }, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ readonly fingerprint: string }>`SELECT fingerprint FROM master_key`
          const migrations = yield* sql`SELECT * FROM migration`
          assert.lengthOf(migrations, new Set(migrations.map((one) => one["migration_id"])).size)
          return row?.fingerprint
        }).pipe(Effect.provide(Layer.fresh(storage(storageIn(folder)))))
      ),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(new Set(fingerprints).size, 1)
  }).pipe(Effect.scoped)
)

it.live("the tables are in a separate schema", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const { database } = storageIn(folder)
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly schema: string }>`
        SELECT table_schema AS schema FROM information_schema.tables WHERE table_name = 'work_item'
          AND table_schema = ${database?.schema ?? ""}`
      assert.lengthOf(rows, 1)
      assert.lengthOf(
        yield* sql`SELECT 1 AS n FROM pg_tables WHERE schemaname = 'public' AND tablename = 'work_item'`,
        0
      )
    }).pipe(Effect.provide(storage(storageIn(folder))))
  }).pipe(Effect.scoped)
)

it.live("a node with another master key, with none, or with half of one refuses to start, and says what to do", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const { database } = storageIn(folder)
    if (database === undefined) return assert.fail("no Postgres")
    yield* Effect.scoped(Layer.build(storage({ data: folder, database, masterKey })))
    const with_ = (key: Buffer) => refused({ data: folder, database, masterKey: Redacted.make(key.toString("base64")) })
    assert.match(yield* with_(Buffer.alloc(32, 8)), /not the master key of this database.*backup/)
    assert.match(yield* with_(Buffer.alloc(16, 7)), /SIGNALBOX_MASTER_KEY.*base64 of 32 bytes/)
    assert.match(
      yield* refused({ data: folder, database }),
      /SIGNALBOX_MASTER_KEY.*openssl rand -base64 32.*every node/
    )
    assert.notInclude(readdirSync(folder), "master.key")
  }).pipe(Effect.scoped)
)

it.live("what is old in the shared folder and named by no row is swept; what another node may be writing is not", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const names = ["files/staging/old", "files/staging/new", "files/aa/oldaa", "files/aa/newaa"]
    for (const name of names) {
      mkdirSync(join(folder, name, ".."), { recursive: true })
      writeFileSync(join(folder, name), "bytes")
    }
    const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000)
    for (const name of names.filter((one) => one.includes("old")))
      utimesSync(join(folder, name), twoDaysAgo, twoDaysAgo)
    const options = storageIn(folder)
    yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.create("first")).pipe(Effect.provide(storage(options)))
    yield* Effect.scoped(Layer.build(storage(options)))
    assert.deepStrictEqual(readdirSync(join(folder, "files/staging")), ["new"])
    assert.deepStrictEqual(readdirSync(join(folder, "files/aa")), ["newaa"])
  }).pipe(Effect.scoped)
)

it.live("types and errors are those of SQLite", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<object>`SELECT count(*) AS n, 9007199254740991 AS large FROM workspace`
      assert.deepStrictEqual({ ...row }, { n: 0, large: 9_007_199_254_740_991 })
      const key = sql`INSERT INTO data_key ${sql.insert({ id: "twice", wrapped: "x" })}`
      yield* key
      assert.strictEqual((yield* Effect.flip(key)).reason._tag, "UniqueViolation")
      const orphan = yield* Effect.flip(
        sql`INSERT INTO process ${sql.insert({
          id: "orphan",
          workspace_id: "nowhere",
          name: "",
          created_at: "",
          steps: ""
        })}`
      )
      assert.isTrue(Dialect.isMissingReference(orphan))
      // By bytes, whatever the collation of the database.
      const [order] = yield* sql<{ readonly first: string }>`
        SELECT min(name) AS first FROM (SELECT name FROM workspace UNION SELECT 'a' UNION SELECT 'B') AS names`
      assert.strictEqual(order?.first, "B")
      assert.lengthOf(yield* sql`SELECT id FROM workspace WHERE id = ${"a\0b"}`, 0)
      const { millis } = yield* Database
      assert.closeTo(yield* millis, Date.now(), 1000)
    }).pipe(Effect.provide(storage(storageIn(folder))))
  }).pipe(Effect.scoped)
)

it.live("transactions that end in a deadlock are done again", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    yield* Effect.gen(function* () {
      const { sql, transaction } = yield* Database
      const ids = ["one", "two"] as const
      yield* sql`INSERT INTO data_key ${sql.insert([
        { id: ids[0], wrapped: "" },
        { id: ids[1], wrapped: "" }
      ])}`
      const both = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
      let attempts = 0
      const append = (id: string, text: string) =>
        sql`UPDATE data_key SET wrapped = wrapped || ${text} WHERE id = ${id}`
      const change = (mine: 0 | 1) =>
        transaction(
          Effect.gen(function* () {
            attempts++
            yield* append(ids[mine], String(mine))
            yield* Deferred.succeed(both[mine], undefined)
            yield* Deferred.await(both[mine === 0 ? 1 : 0])
            yield* append(ids[mine === 0 ? 1 : 0], String(mine))
          })
        )
      yield* Effect.all([change(0), change(1)], { concurrency: "unbounded" })
      assert.isAbove(attempts, 2)
      const rows = yield* query(Row({ wrapped: text }), sql`SELECT wrapped FROM data_key WHERE ${sql.in("id", ids)}`)
      for (const { wrapped } of rows) assert.strictEqual([...wrapped].sort().join(""), "01")
    }).pipe(Effect.provide(storage(storageIn(folder))))
  }).pipe(Effect.scoped)
)

it.live("starts with the waiting inputs take each of them once, on whatever nodes they come", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const [a, b] = [yield* node(folder), yield* node(folder)]
    yield* Effect.gen(function* () {
      const { id } = yield* Processes.create({ name: "inputs", steps: [{ name: "a", task: { name: "nobody" } }] })
      for (let round = 0; round < 5; round++) {
        const made = yield* Effect.forEach(Array.from({ length: 20 }), () => WorkItems.create({ process: id }), {
          concurrency: 5
        })
        const [removed] = made
        const answers = yield* Effect.all(
          [a, b, a, b]
            .map(({ raw }) => raw("POST", `processes/${id}/process-runs`, { json: { type: "with_inputs" } }))
            .concat(
              b.raw("POST", "work-items/batch", {
                json: { batch_operation: "delete", work_item_ids: [removed?.id] }
              })
            ),
          { concurrency: "unbounded" }
        )
        for (const { status } of answers.slice(0, 4)) assert.strictEqual(status, 200)
        assert.include([200, 409], answers[4]?.status)
        assert.strictEqual(answers.filter(({ text }) => text.includes('"started":true')).length, 1)
      }
      assert.lengthOf(yield* Stream.runCollect(WorkItems.stream({ process: id, state: "new" })), 0)
      const runs = yield* Stream.runCollect(ProcessRuns.stream({ process: id }))
      assert.lengthOf(runs, 5)
      const rows = (yield* a.rows)["process_run"] ?? []
      // The counters of the runs equal their rows.
      for (const { id: run } of runs) {
        const items = yield* Stream.runCollect(WorkItems.stream({ processRun: run }))
        const row = rows.find((one) => typeof one === "object" && one !== null && "id" in one && one.id === run)
        assert.include(JSON.stringify(row), `\\"open\\":${items.length}`)
      }
    }).pipe(Effect.provide(a.context))
  }).pipe(Effect.scoped)
)

/**
 * Captures logs while a database is unavailable on purpose: in the output of the tests they would look like a fault.
 */
const keeping = (logged: Array<string>) =>
  Logger.layer([Logger.make((options) => void logged.push(Logger.formatJson.log(options)))])

it.live("a server without free connections is a 503, and everything resumes when it has one", () => {
  const logged: Array<string> = []
  return Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const storage = storageIn(folder)
    const { database } = storage
    if (database === undefined) return assert.fail("no Postgres")
    const role = database.schema ?? ""
    const url = new URL(Redacted.value(database.url))
    const admin = Context.get(
      yield* Layer.build(PgClient.layer({ url: database.url, maxConnections: 1 })),
      PgClient.PgClient
    )
    yield* Effect.acquireRelease(
      Effect.andThen(
        admin`CREATE ROLE ${admin(role)} LOGIN PASSWORD 'few'`,
        admin`GRANT CREATE ON DATABASE ${admin(url.pathname.slice(1))} TO ${admin(role)}`
      ),
      () => Effect.orDie(Effect.andThen(admin`DROP OWNED BY ${admin(role)} CASCADE`, admin`DROP ROLE ${admin(role)}`))
    )
    const limit = (connections: number) => admin.unsafe(`ALTER ROLE "${role}" CONNECTION LIMIT ${connections}`)
    url.username = role
    url.password = "few"
    yield* Effect.gen(function* () {
      const { raw } = yield* Service
      assert.strictEqual((yield* raw("GET", "work-items")).status, 200)
      yield* limit(0)
      // A connection that is being closed may still respond.
      const ended = admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${role}`
      yield* Effect.repeat(Effect.delay(ended, "10 millis"), { until: (ending) => ending.length === 0 })
      const answers = yield* Effect.all(
        [
          raw("GET", "work-items"),
          raw("POST", "assets", { json: { name: "x" } }),
          raw("POST", "work-items", { json: { process: { id: "x" } }, headers: { "idempotency-key": "x" } })
        ],
        { concurrency: "unbounded" }
      )
      for (const answer of [...answers, yield* raw("GET", "/readyz")]) {
        assertError(answer, 503, "UNAVAILABLE", /the database is unavailable/)
        assert.strictEqual(answer.headers["retry-after"], "1")
      }
      yield* limit(-1)
      yield* Effect.repeat(Effect.delay(raw("GET", "/readyz"), "50 millis"), { until: ({ status }) => status === 200 })
      assert.strictEqual((yield* raw("POST", "assets", { json: { name: "x" } })).status, 200)
      assert.isTrue(logged.some((line) => line.includes("too many connections for role")))
    }).pipe(
      Effect.provide(
        Layer.fresh(
          layerIn(folder, { rateLimit: null }, { ...storage, database: { ...database, url: Redacted.make(url.href) } })
        )
      )
    )
  }).pipe(Effect.scoped, Effect.provide(keeping(logged)))
})

it.live(
  "while the database is away requests get a 503 and /readyz says so; when it is back all goes on by itself",
  () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startServer()),
        (server) => Effect.promise(() => server.remove())
      )
      const folder = yield* temporaryFolder
      const options = { data: folder, database: { url: Redacted.make(server.url) }, masterKey }
      const other = yield* Layer.build(Layer.fresh(layerIn(folder, { rateLimit: null }, options)))
      yield* Effect.gen(function* () {
        const { makeKey, raw } = yield* Service
        const key = yield* makeKey(["Workspace.manage_api_keys"])
        assert.strictEqual((yield* raw("GET", "work-items")).status, 200)
        assert.strictEqual((yield* raw("GET", "/readyz")).status, 200)
        yield* Effect.promise(() => server.stop())
        for (const path of ["work-items", "/readyz"]) {
          const answer = yield* raw("GET", path)
          assertError(answer, 503, "UNAVAILABLE", /the database is unavailable/)
          assert.strictEqual(answer.headers["retry-after"], "1")
        }
        assert.strictEqual((yield* raw("POST", "assets", { json: { name: "x" } })).status, 503)
        assert.strictEqual((yield* raw("GET", "/healthz")).status, 200)
        yield* Effect.promise(() => server.start())
        yield* Effect.repeat(Effect.delay(raw("GET", "/readyz"), "50 millis"), {
          until: ({ status }) => status === 200,
          times: 200
        })
        assert.strictEqual((yield* raw("GET", "work-items", { key })).status, 403)
        assert.strictEqual((yield* raw("GET", "api-keys", { key })).status, 200)
        // The nodes receive notifications again.
        yield* Effect.sleep("1 second")
        const { raw: rawThere } = yield* Effect.provide(Service, other)
        assert.strictEqual((yield* rawThere("DELETE", `api-keys/${key.split("_")[1]}`)).status, 200)
        yield* Effect.repeat(raw("GET", "api-keys", { key }), {
          until: ({ status }) => status === 403,
          schedule: Schedule.spaced("20 millis")
        })
      }).pipe(Effect.provide(Layer.fresh(layerIn(folder, { rateLimit: null }, options))))
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
)
