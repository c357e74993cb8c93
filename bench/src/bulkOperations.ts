/**
 * What failures in groups and bulk operations cost, on items of 40 kinds: how long the list of groups takes, how many items a
 * second are retried, and the reads of an item beside each, every 2 ms, against those of quiet times, which alternate with
 * the retries of the runs.
 *
 * `node bench/src/bulkOperations.ts [items] [--postgres]` (default 100,000), on SQLite or on a separate Postgres that does
 * not wait for the disk.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { BulkOperations } from "../../packages/control-room/src/internal/runs/BulkOperations.ts"
import { Runs } from "../../packages/control-room/src/internal/runs/Runs.ts"
import { WorkSignal } from "../../packages/control-room/src/internal/runs/WorkSignal.ts"
import * as StorageLayers from "../../packages/control-room/src/internal/service/StorageLayers.ts"
import * as Chunks from "../../packages/control-room/src/internal/store/database/Chunks.ts"
import { BulkOperations as Jobs } from "../../packages/control-room/src/internal/store/room/BulkOperations.ts"
import { Failures } from "../../packages/control-room/src/internal/store/items/Failures.ts"
import { Processes } from "../../packages/control-room/src/internal/store/processes/Processes.ts"
import { WorkItems } from "../../packages/control-room/src/internal/store/items/WorkItems.ts"
import { Workspaces } from "../../packages/control-room/src/internal/store/access/Workspaces.ts"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import { startServer } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { storageIn } from "./storage.ts"
import { row } from "./Table.ts"

const count = Number(process.argv[2] ?? 100_000)
const runsOfItems = 10
const kinds = 40
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
const server = process.argv.includes("--postgres") ? await startServer() : null

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* Runs
  const items = yield* WorkItems
  const processes = yield* Processes
  const failures = yield* Failures
  const operations = yield* BulkOperations
  const jobs = yield* Jobs
  const workspace = (yield* (yield* Workspaces).create("bench")).id
  const definition = { name: "bulk", steps: [{ name: "s", task: { name: "t" } }] }
  const made = yield* processes.create(workspace, definition)
  if (made === null) return yield* Effect.die("the name is taken")
  const some = yield* items.create(workspace, made.view.id, "1")

  const payloads = Array.from({ length: count / runsOfItems }, (_, n) => ({ order: n, lines: "x".repeat(200) }))
  const started: Array<ProcessRunId> = []
  for (let n = 0; n < runsOfItems; n++) {
    const run = yield* runs.start(workspace, made, { type: "with_payloads", payloads })
    if (run === null) return yield* Effect.die("nothing was started")
    yield* runs.stop(run, { asDone: false, terminate: false, reason: "bench" })
    started.push(run)
  }
  // As if they had failed before there were groups, each kind in a tenth of every run.
  const message = (kind: number) =>
    JSON.stringify({
      code: `C${kind}`,
      type: "application",
      message: `order 17 has failed in the way ${"x".repeat(kind)}`
    })
  for (let kind = 0; kind < kinds; kind++) {
    const digit = sql.onDialectOrElse({
      pg: () => sql.literal("hashtext(id)"),
      orElse: () => sql.literal("rowid")
    })
    yield* sql`
      UPDATE work_item SET failure = NULL, exception = ${message(kind)}
      WHERE workspace_id = ${workspace} AND state = 'failed' AND abs(${digit}) % ${sql.literal(String(kinds))} = ${kind}`
  }
  yield* Chunks.sweep(failures.fill)
  if (server !== null) yield* sql`ANALYZE`

  const summary = (latencies: ReadonlyArray<number>) => {
    const sorted = latencies.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
    return {
      p99: at(0.99),
      text: `reads: ${String(sorted.length).padStart(6)}, p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, longest ${at(1).toFixed(1)} ms`
    }
  }

  /** The latencies of reads while an effect runs, in milliseconds. */
  const beside = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
    yield* Effect.sleep("300 millis")
    const latencies: Array<number> = []
    const read = Effect.gen(function* () {
      const due = performance.now() + 2
      yield* Effect.sleep("2 millis")
      yield* items.get(workspace, some.id)
      latencies.push(performance.now() - due)
    })
    const reader = yield* Effect.forkChild(Effect.forever(read))
    const began = performance.now()
    const result = yield* effect
    const seconds = (performance.now() - began) / 1000
    yield* Fiber.interrupt(reader)
    return { result, latencies, seconds }
  })
  const show = (name: string, seconds: number, latencies: ReadonlyArray<number>) =>
    console.log(`${name.padEnd(34)}${seconds.toFixed(2).padStart(8)} s   ${summary(latencies).text}`)

  console.log(
    `${count} failed items of ${kinds} kinds in ${runsOfItems} runs: ${server === null ? "SQLite" : "Postgres"}`
  )
  const none = { processId: null, stepId: null, type: null, code: null, state: null }
  const listed = yield* beside(failures.list(workspace, none, { after: null, limit: 100 }))
  show("the list of groups", listed.seconds, listed.latencies)
  const groups = listed.result.rows
  console.log(`  ${groups.length} groups of ${groups.reduce((sum, { failure }) => sum + failure.count, 0)} items`)

  const quiet: Array<number> = []
  const during: Array<number> = []
  let busy = 0
  let done = 0
  for (const run of started) {
    const job = yield* operations.create(workspace, "retry", { process_run_id: run }, false)
    const before = yield* beside(Effect.sleep("2 seconds"))
    quiet.push(...before.latencies)
    const retried = yield* beside(operations.tick)
    during.push(...retried.latencies)
    busy += retried.seconds
    const ended = job.bulk_operation === null ? null : yield* jobs.get(workspace, job.bulk_operation.id)
    done += ended?.done ?? 0
  }
  show("nothing else", 2 * started.length, quiet)
  show("retry of all", busy, during)
  row(`${done} items retried; p99 of reads meanwhile`, `${busy.toFixed(2)} s`, {
    ratio: summary(during).p99 / summary(quiet).p99,
    than: "quiet times"
  })
  console.log(`  ${done} retried; p99 is ${(summary(during).p99 / summary(quiet).p99).toFixed(2)} times the quiet one`)
})

const storage = StorageLayers.layerStorage(storageIn(folder, server === null ? null : server.url)).pipe(
  Layer.provide(NodeServices.layer)
)

const layer = BulkOperations.layer.pipe(
  Layer.provideMerge(Runs.layer),
  Layer.provideMerge(WorkSignal.layer),
  Layer.provideMerge(storage)
)

await Effect.runPromise(
  program.pipe(
    Effect.provide(layer),
    Effect.scoped,
    Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
  )
)
await server?.remove()
