/** Rooms of released versions after an upgrade, and an older version on a newer database. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Administration from "../../src/Administration.ts"
import { Secrets } from "../../src/internal/store/vault/Secrets.ts"
import { latest } from "../../src/internal/store/database/Migrations.ts"
import { PollInterval } from "../../src/internal/background/PollInterval.ts"
import { bodyAs, send } from "../support/Http.ts"
import { endpoints, fill } from "../support/Endpoints.ts"
import * as Releases from "../support/Releases.ts"
import { seed } from "../support/Seed.ts"
import { layerIn, masterKey, Service, storageIn, temporaryFolder } from "../support/Service.ts"

/** The service of a folder, which does nothing by itself. */
const roomIn = (folder: string) =>
  Layer.provideMerge(
    layerIn(folder),
    Layer.mergeAll(Layer.succeed(References.MinimumLogLevel, "Error"), Layer.succeed(PollInterval, "1 hour"))
  )

/** What reads: every GET of a key, but for the stream of changes. */
const reading = endpoints.filter(
  ({ door, method, path }) => method === "GET" && door === "key" && !path.endsWith("/changes")
)

/** The query without which a list is refused. */
const queryOf = (path: string, ids: Releases.Release["ids"]) =>
  /\/(step-runs|outputs)$/.test(path) ? `?process_run_id=${ids["process_run_id"]}` : ""

const statusesOf = Effect.fnUntraced(function* (key: string, ids: Releases.Release["ids"]) {
  const { raw } = yield* Service
  const statuses: Record<string, number> = {}
  for (const { path } of reading) {
    const { status } = yield* raw("GET", `/api/v1${fill(path, (name) => ids[name] ?? "")}${queryOf(path, ids)}`, {
      key
    })
    statuses[path] = status
  }
  return statuses
})

/** The versions of the changelog. */
const changelog = readFileSync(join(import.meta.dirname, "../../../../CHANGELOG.md"), "utf8")
const released = [...changelog.matchAll(/^## (\S+)$/gm)].map(([, version = ""]) => version)

const Artifact = Schema.Struct({ url: Schema.String })
const StepRun = Schema.Struct({ state: Schema.String, error: Schema.NullOr(Schema.Struct({ code: Schema.String })) })

const keysOf = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ id: Schema.String, permissions: Schema.String })))

/** Opens the storage of a folder as a start does. */
const opened = (folder: string) =>
  Administration.migrate(storageIn(folder)).pipe(Effect.provide(NodeServices.layer), Effect.scoped)

describe("an upgrade", () => {
  it("is tried from every version of the changelog", () => {
    assert.sameMembers([...Releases.versions], released, "write the missing file: see test/support/Releases.ts")
  })

  for (const version of Releases.versions) {
    it.live(`from ${version} keeps all that is stored, and what was going on goes on`, () =>
      Effect.gen(function* () {
        const release = Releases.read(version)
        const { ids, key, migration, statuses } = release
        const folder = yield* temporaryFolder
        yield* Releases.restore(folder, release)
        const { applied, schema } = yield* opened(folder)
        assert.strictEqual(schema, latest)
        assert.strictEqual(applied.length === 0, migration === latest)
        yield* Effect.gen(function* () {
          const { origin, raw, rows, tickIn } = yield* Service
          const found = yield* rows
          for (const [table, before] of Object.entries(release.tables)) {
            assert.isAtLeast(found[table]?.length ?? before.length, before.length, table)
          }
          const after = yield* statusesOf(key, ids)
          for (const [path, status] of Object.entries(statuses)) assert.strictEqual(after[path], status, path)

          // Who has read work items reads all of them, whatever a schema marks by chance, and nobody else is given anything.
          const keysBefore = keysOf(release.tables["api_key"] ?? [])
          const keysNow = new Map(keysOf(found["api_key"] ?? []).map(({ id, permissions }) => [id, permissions]))
          assert.isTrue(keysBefore.some(({ permissions }) => permissions.includes("Processes.read_work_items")))
          for (const { id, permissions } of keysBefore) {
            const sees = keysNow.get(id)?.includes("Processes.read_sensitive")
            assert.strictEqual(sees, permissions.includes("Processes.read_work_items"), id)
          }

          const artifact = yield* raw("GET", `step-runs/${ids["step_run_id"]}/artifacts/${ids["artifact_id"]}`, { key })
          const url = new URL(bodyAs(Artifact, artifact).url)
          assert.strictEqual((yield* send(origin, "GET", url.pathname + url.search)).text, "seed")

          const secret = yield* (yield* Secrets).read(WorkspaceId.make(release.workspaceId), ids["secret_name"] ?? "")
          assert.strictEqual(secret === null ? null : Redacted.value(secret.items), '{"a":1}')

          yield* tickIn(60_000)
          const stepRun = bodyAs(StepRun, yield* raw("GET", `step-runs/${ids["step_run_id"]}`, { key }))
          assert.deepStrictEqual(stepRun, { state: "failed", error: { code: "WORKER_LOST" } })
        }).pipe(Effect.provide(roomIn(folder)))
      })
    )
  }

  const capturing = process.env["CAPTURE_RELEASE"]
  if (capturing !== undefined) {
    it.live("is captured", () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        // The same for all, since a Postgres has it from its nodes.
        writeFileSync(join(folder, "master.key"), Redacted.value(masterKey), { encoding: "base64", mode: 0o600 })
        yield* Effect.gen(function* () {
          const { key, workspaceId } = yield* Service
          const { ids } = yield* seed
          const statuses = yield* statusesOf(key, ids)
          yield* Releases.capture(capturing, folder, { ids, key, statuses, workspaceId })
        }).pipe(Effect.provide(roomIn(folder)))
      })
    )
  }
})

describe("a rollback", () => {
  it.live("to a version that does not know the schema is refused with the remedy, and changes nothing", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* opened(folder)
      const applied = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql`SELECT migration_id, name FROM migration ORDER BY migration_id`
      })
      const before = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO migration ${sql.insert({ migration_id: 9000, name: "of_later" })}`
        return yield* applied
      }).pipe(Effect.provide(Releases.layerDatabase(folder)), Effect.scoped)
      const error = yield* Effect.flip(opened(folder))
      assert.strictEqual(
        error.message,
        `the database is of a newer version (its schema is at 9000_of_later, and this version knows ${latest}): start that ` +
          "version again, or restore a backup from before the upgrade into an empty folder or database"
      )
      const after = yield* applied.pipe(Effect.provide(Releases.layerDatabase(folder)), Effect.scoped)
      assert.deepStrictEqual(after, before)
    })
  )
})
