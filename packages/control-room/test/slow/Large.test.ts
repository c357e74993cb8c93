/** Independence of size: the memory of client and service. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { execFile, execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Child from "../support/Child.ts"
import * as StorageLayers from "../../src/internal/service/StorageLayers.ts"
import { onPostgres, storageIn, temporaryFolder } from "../support/Service.ts"

const script = fileURLToPath(new URL("../support/largeClient.ts", import.meta.url))

/** Runs the client with a heap of 64 MB, which nothing large fits into. */
const client = Effect.fnUntraced(function* <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  connection: { readonly key: string; readonly origin: string; readonly workspaceId: string },
  ...args: ReadonlyArray<string>
) {
  const { key, origin, workspaceId } = connection
  const all = ["--max-old-space-size=64", script, JSON.stringify({ key, origin, workspaceId }), ...args]
  const { stdout } = yield* Effect.promise(() => promisify(execFile)(process.execPath, all))
  return yield* Schema.decodeEffect(Schema.fromJsonString(schema))(stdout)
})

const Walked = Schema.Struct({
  items: Schema.Finite,
  requests: Schema.Finite,
  distinct: Schema.Finite,
  peakMegabytes: Schema.Finite
})

const Transferred = Schema.Struct({
  sent: Schema.Finite,
  received: Schema.Finite,
  sevens: Schema.Boolean,
  peakMegabytes: Schema.Finite
})

/** The columns of a work item after its id, in the order of the table. */
const columns = [
  "workspace_id, process_id, process_run_id, step, step_id, step_run_id, parent_id, state, state_updated_at",
  "created_at, payload, attempts, released_by, not_before, exception"
].join(", ")

/** The resident memory of a process now. */
const megabytesOf = (pid: number) => Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)]).toString()) / 1024

/** Work items; a page of 500 of them is half a megabyte. */
const many = 100_000
/** Bytes: more than the memory that either process may use for other things. */
const size = sized(250_000_000, 1_000_000_000)

describe("memory stays flat", () => {
  // Less than that fits into any memory.
  it.live.skipIf(!soak)(`for a client that walks ${many} work items in pages of 500, each fetched once`, () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const first = yield* Child.start(folder)
      const run = yield* Effect.gen(function* () {
        const { id } = yield* Processes.create({ name: "large", steps: [{ name: "a", task: { name: "nobody" } }] })
        const line = "a payload of some length, so that a hundred thousand do not fit into a small heap. ".repeat(8)
        return yield* ProcessRuns.start(id, { payloads: Array.from({ length: 1000 }, (_, n) => ({ n, line })) })
      }).pipe(Effect.provide(first.client))
      if (!run.started) return assert.fail("not started")
      yield* first.kill
      // A hundred thousand calls would take longer than the measurement: the rows are copied.
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
            INSERT INTO work_item (id, ${sql.literal(columns)})
            WITH RECURSIVE n (i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < ${99 + many / 1000})
            SELECT work_item.id || '-' || CAST(i AS TEXT), ${sql.literal(columns)}
            FROM work_item, n WHERE process_run_id = ${run.id}`
      ).pipe(Effect.provide(Layer.provide(StorageLayers.layerStorage(storageIn(folder)), NodeServices.layer)))
      const service = yield* Child.start(folder)
      const walked = yield* client(Walked, service, "walk", run.id)
      assert.strictEqual(walked.items, many)
      assert.strictEqual(walked.requests, many / 500)
      assert.strictEqual(walked.distinct, many / 500)
      assert.isAbove(walked.peakMegabytes, 0)
      assert.isBelow(walked.peakMegabytes, 300)
    }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
  )

  // Bytes never pass through the database, so one database is enough.
  it.live.skipIf(onPostgres)(`for client and service while ${size / 1e6} MB go up and down`, () =>
    Effect.gen(function* () {
      const service = yield* Child.start(yield* temporaryFolder)
      const item = yield* Effect.gen(function* () {
        const { id } = yield* Processes.create({ name: "large", steps: [] })
        return yield* WorkItems.create({ process: id })
      }).pipe(Effect.provide(service.client))
      let peak = 0
      const watch = Effect.sync(() => (peak = Math.max(peak, megabytesOf(service.pid)))).pipe(
        Effect.andThen(Effect.sleep("50 millis")),
        Effect.forever
      )
      const done = yield* Effect.raceFirst(client(Transferred, service, "transfer", item.id, String(size)), watch)
      assert.strictEqual(done.sent, size)
      assert.strictEqual(done.received, size)
      assert.isTrue(done.sevens)
      assert.isAbove(done.peakMegabytes, 0)
      assert.isBelow(done.peakMegabytes, 300)
      assert.isAbove(peak, 0)
      assert.isBelow(peak, 350)
    }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
  )

  // In the short form the transfer above is enough.
  it.live.skipIf(onPostgres || !soak)(
    `for client and service while an asset of ${size / 1e6} MB goes up and down`,
    () =>
      Effect.gen(function* () {
        const service = yield* Child.start(yield* temporaryFolder)
        let peak = 0
        const watch = Effect.sync(() => (peak = Math.max(peak, megabytesOf(service.pid)))).pipe(
          Effect.andThen(Effect.sleep("20 millis")),
          Effect.forever
        )
        const done = yield* Effect.raceFirst(client(Transferred, service, "asset", "large/one", String(size)), watch)
        assert.strictEqual(done.sent, size)
        assert.strictEqual(done.received, size)
        assert.isTrue(done.sevens)
        assert.isBelow(done.peakMegabytes, 250)
        assert.isAbove(peak, 0)
        assert.isBelow(peak, 300)
      }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
  )
})
