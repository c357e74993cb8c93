/**
 * What commands on very many work items do to the event loop of the service: how long each takes, the longest time for
 * which the loop was blocked, and the slowest of the concurrent reads, one every 5 ms.
 *
 * `node bench/src/bulk.ts [items] [--postgres]` (default 100,000), on SQLite or on a separate Postgres that does
 * not wait for the disk.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { type ProcessId, type ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import { Runs } from "../../packages/control-room/src/internal/runs/Runs.ts"
import * as StorageLayers from "../../packages/control-room/src/internal/service/StorageLayers.ts"
import * as Chunks from "../../packages/control-room/src/internal/store/database/Chunks.ts"
import { Deliveries } from "../../packages/control-room/src/internal/store/notifications/Deliveries.ts"
import { IdempotencyRecords } from "../../packages/control-room/src/internal/store/access/IdempotencyRecords.ts"
import { Processes } from "../../packages/control-room/src/internal/store/processes/Processes.ts"
import { StepRuns } from "../../packages/control-room/src/internal/store/runs/StepRuns.ts"
import { Workers } from "../../packages/control-room/src/internal/store/workers/Workers.ts"
import * as Tokens from "../../packages/control-room/src/internal/vault/Tokens.ts"
import { WorkItems } from "../../packages/control-room/src/internal/store/items/WorkItems.ts"
import { Workspaces } from "../../packages/control-room/src/internal/store/access/Workspaces.ts"
import { WorkSignal } from "../../packages/control-room/src/internal/runs/WorkSignal.ts"
import { startServer } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { storageIn } from "./programs/support/storage.ts"

const [given = 100_000] = process.argv.slice(2).filter((one) => one !== "--postgres")
const count = Number(given)
if (!Number.isSafeInteger(count) || count < 1) {
  throw new RangeError("node bench/src/bulk.ts [items] [--postgres]: items is a whole number of at least 1")
}
/** What one call takes. */
const batch = Math.min(count, 10_000)
const batched = batch.toLocaleString("en")
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
const server = process.argv.includes("--postgres") ? await startServer() : null

const long = "2020-01-01T00:00:00.000Z"
const payload = JSON.stringify({ order: 17, customer: "Ada", lines: "x".repeat(200) })

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* Runs
  const items = yield* WorkItems
  const processes = yield* Processes
  const workspace = (yield* (yield* Workspaces).create("bench")).id
  const definition = { name: "bulk", steps: [{ name: "s", task: { name: "t" } }] }
  const numbers = sql`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`
  const digits = sql.onDialectOrElse({
    pg: () => sql.literal("lpad(to_hex(n), 12, '0')"),
    orElse: () => sql.literal("printf('%012x', n)")
  })
  let filled = 0

  /** So many new items in the queue of a process. */
  const fill = Effect.fnUntraced(function* (process: ProcessId) {
    const prefix = `0190000${filled++}-0000-7000-8000-`
    yield* sql`
      INSERT INTO work_item (id, workspace_id, process_id, state, created_at, payload, attempts)
      ${numbers} SELECT ${sql.literal(`'${prefix}' || `)}${digits}, ${workspace}, ${process}, 'new', ${long}, ${payload}, 0
      FROM numbers`
    return prefix
  })

  const created = (name: string) =>
    Effect.flatMap(processes.create(workspace, { ...definition, name }), (made) =>
      made === null ? Effect.die("the name is taken") : Effect.succeed(made)
    )
  const first = yield* created("first")
  const some = yield* items.create(workspace, (yield* created("read")).view.id, "1")

  console.log(`${count} items: ${server === null ? "SQLite" : "Postgres"}`)
  console.log("command".padEnd(46) + "seconds   loop held, longest   slowest read beside it")

  const measured = Effect.fnUntraced(function* <A, E>(name: string, effect: Effect.Effect<A, E>) {
    // What was done before has its pause, so that none of it counts here.
    yield* Effect.sleep("200 millis")
    const delay = monitorEventLoopDelay({ resolution: 1 })
    let slowest = 0
    const read = Effect.gen(function* () {
      const due = performance.now() + 5
      yield* Effect.sleep("5 millis")
      yield* items.get(workspace, some.id)
      slowest = Math.max(slowest, performance.now() - due)
    })
    const reader = yield* Effect.forkChild(Effect.forever(read))
    delay.enable()
    yield* Effect.sleep("20 millis")
    const before = performance.now()
    const result = yield* Effect.exit(effect)
    const took = performance.now() - before
    yield* Effect.sleep("20 millis")
    delay.disable()
    yield* Fiber.interrupt(reader)
    console.log(
      name.padEnd(46) +
        (took / 1000).toFixed(2).padStart(7) +
        `${(delay.max / 1e6).toFixed(0)} ms`.padStart(21) +
        `${slowest.toFixed(0)} ms`.padStart(25)
    )
    return yield* result
  })

  const start = Effect.fnUntraced(function* (process: typeof first) {
    const run = yield* runs.start(workspace, process, { type: "with_inputs" })
    return run ?? (yield* Effect.die("nothing was started"))
  })
  const stop = (run: ProcessRunId) => runs.stop(run, { asDone: false, terminate: false, reason: "bench" })

  const prefix = yield* fill(first.view.id)
  const ids = Array.from({ length: batch }, (_, n) =>
    WorkItemId.make(prefix + (count - batch + n + 1).toString(16).padStart(12, "0"))
  )
  const run = yield* measured("start with_inputs", start(first))
  yield* measured("stop of a run with all of them pending", stop(run))
  yield* measured(`batch retry of ${batched}`, runs.batch(workspace, "retry", ids))
  yield* measured(`stop of a run with ${batched} pending`, stop(run))
  yield* measured(`batch mark_as_done of ${batched}`, runs.batch(workspace, "mark_as_done", ids))
  yield* measured(`batch delete of ${batched}`, runs.batch(workspace, "delete", ids))
  yield* measured("delete of the run", runs.remove(run))

  const second = yield* created("second")
  yield* fill(second.view.id)
  yield* stop(yield* start(second))
  yield* measured("delete of a process with a run of all", runs.removeProcess(workspace, second.view.id))

  const third = yield* created("third")
  const thirdPrefix = yield* fill(third.view.id)
  const idsOfThird = Array.from({ length: batch }, (_, n) =>
    WorkItemId.make(thirdPrefix + (n + 1).toString(16).padStart(12, "0"))
  )
  yield* measured(
    `start with_work_item_ids of ${batched}`,
    runs.start(workspace, third, { type: "with_work_item_ids", work_item_ids: idsOfThird })
  )

  const fourth = yield* processes.create(workspace, {
    name: "fourth",
    steps: [
      { name: "a", task: { name: "a" } },
      { name: "b", task: { name: "b" } }
    ]
  })
  if (fourth === null) return yield* Effect.die("the name is taken")
  const stepRuns = yield* StepRuns
  const workers = yield* Workers
  const { link_token } = yield* workers.createLinkToken(workspace, "2999-01-01T00:00:00.000Z")
  const token = Tokens.parse(link_token)
  const linked = token === null ? null : yield* workers.link(token, "bench", ["a"])
  if (linked === null) return yield* Effect.die("the worker is not linked")
  const outputs = Effect.fnUntraced(function* () {
    const made = yield* runs.start(workspace, fourth, { type: "with_payloads", payloads: [1] })
    if (made === null) return yield* Effect.die("nothing was started")
    const [leased] = yield* runs.lease(linked.worker, ["a"], false, 1)
    if (leased === undefined) return yield* Effect.die("nothing was leased")
    yield* runs.startStepRun(leased.stepRun)
    const id = yield* runs.reserveNext(leased.stepRun)
    const outputPrefix = `0190000${filled++}-0000-7000-8000-`
    yield* sql`
      INSERT INTO output (id, workspace_id, process_id, process_run_id, step_run_id, parent_id, created_at, payload, released)
      ${numbers} SELECT ${sql.literal(`'${outputPrefix}' || `)}${digits}, ${workspace}, ${fourth.view.id}, ${made},
        ${leased.stepRun.id}, ${id}, ${long}, ${payload}, 0 FROM numbers`
    return (yield* stepRuns.find(leased.stepRun.id)) ?? (yield* Effect.die("there is no step run"))
  })
  yield* measured("end of a step run with that many outputs", runs.finish(yield* outputs(), null))
  yield* measured(
    "failure of a step run with that many outputs",
    runs.finish(yield* outputs(), { code: "TIMEOUT", message: "bench" })
  )

  yield* sql`
    INSERT INTO idempotency_key (workspace_id, key, fingerprint, status, body, created_at, expires_at)
    ${numbers} SELECT ${workspace}, 'key-' || ${digits}, 'f', 200, ${payload}, ${long}, ${long} FROM numbers`
  const idempotency = yield* IdempotencyRecords
  yield* measured("sweep of as many idempotency records", Chunks.sweep(idempotency.sweep))

  yield* sql`
    INSERT INTO webhook (id, workspace_id, endpoint, events, enabled, secret, created_at)
    VALUES ('w', ${workspace}, 'http://localhost', '[]', 1, 's', ${long})`
  yield* sql`
    INSERT INTO webhook_delivery (id, webhook_id, event_id, event_type, endpoint, state, created_at, attempts, body)
    ${numbers} SELECT 'd-' || ${digits}, 'w', 'e', 't', 'http://localhost', 'delivered', ${long}, 1, ${payload} FROM numbers`
  const deliveries = yield* Deliveries
  yield* measured("sweep of as many deliveries", Chunks.sweep(deliveries.sweep))
})

const storage = StorageLayers.layerStorage(storageIn(folder, server === null ? null : server.url)).pipe(
  Layer.provide(NodeServices.layer)
)

await Effect.runPromise(
  program.pipe(
    Effect.provide(Runs.layer.pipe(Layer.provideMerge(WorkSignal.layer), Layer.provideMerge(storage))),
    Effect.scoped,
    Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
  )
)
await server?.remove()
