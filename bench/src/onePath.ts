/**
 * What an item costs the service besides its requests: CPU time of a run of one item, from its start over the
 * lease to the end, without HTTP and without a worker, in a workspace with nothing else.
 *
 * `DATABASE_URL` names an empty Postgres; default: SQLite in a temporary folder. `node src/onePath.ts [runs]`; the last line is
 * JSON. Run it in two checkouts by turns to compare them.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { NextItems } from "../../packages/control-room/src/internal/runs/NextItems.ts"
import { Runs } from "../../packages/control-room/src/internal/runs/Runs.ts"
import { WorkSignal } from "../../packages/control-room/src/internal/runs/WorkSignal.ts"
import * as StorageLayers from "../../packages/control-room/src/internal/service/StorageLayers.ts"
import { Processes } from "../../packages/control-room/src/internal/store/processes/Processes.ts"
import { StepRuns } from "../../packages/control-room/src/internal/store/runs/StepRuns.ts"
import { Workers } from "../../packages/control-room/src/internal/store/workers/Workers.ts"
import { Workspaces } from "../../packages/control-room/src/internal/store/access/Workspaces.ts"
import * as Tokens from "../../packages/control-room/src/internal/vault/Tokens.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { storageIn } from "./storage.ts"
import { row } from "./Table.ts"

const count = Number(process.argv[2] ?? 2000)
const url = process.env["DATABASE_URL"] ?? null
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))

const measured = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* (yield* Workspaces).create("bench")
  const made = yield* (yield* Processes).create(workspace.id, {
    name: "bench",
    steps: [{ name: "work", task: { name: "work" }, max_parallel: 4 }]
  })
  if (made === null) return yield* Effect.die("the name is taken")
  const workers = yield* Workers
  const { link_token } = yield* workers.createLinkToken(workspace.id, "9999-12-31T23:59:59.999Z")
  const token = Tokens.parse(link_token)
  const linked = token?.kind === "link" ? yield* workers.link(token, "worker", ["work"], []) : null
  if (linked === null) return yield* Effect.die("no worker was linked")
  const { worker } = linked
  const runs = yield* Runs
  const nextItems = yield* NextItems
  const stepRuns = yield* StepRuns

  const one = Effect.fnUntraced(function* (order: number) {
    const payloads = [{ order, customer: "Ada" }]
    yield* runs.start(workspace.id, made, { type: "with_payloads", payloads })
    const [leased] = yield* runs.lease(worker, ["work"], false, 1)
    if (leased === undefined) return yield* Effect.die("nothing was leased")
    const { leaseToken, stepRun } = leased
    yield* runs.startStepRun(stepRun)
    const ask = { stepRun: stepRun.id, leaseToken, reserve: true }
    const [given] = (yield* nextItems.next(worker, stepRun.processRunId, [{ ...ask, settled: null }])) ?? []
    if (given === null || given === undefined || !("attempt" in given)) return yield* Effect.die("nothing was given")
    const settled = {
      item: given.id,
      attempt: given.attempt,
      exception: null,
      outputs: [{ order }],
      dropOutputs: false
    }
    yield* nextItems.next(worker, stepRun.processRunId, [{ ...ask, settled }])
    const live = yield* stepRuns.find(stepRun.id)
    if (live !== null) yield* runs.finish(live, null)
  })

  // Compiled by then, and the planner knows the tables.
  for (let order = 0; order < 500; order++) yield* one(order)
  yield* sql`ANALYZE`
  const before = process.cpuUsage()
  for (let order = 0; order < count; order++) yield* one(order)
  const { system, user } = process.cpuUsage(before)
  return (system + user) / count
})

const layer = Layer.mergeAll(Runs.layer, NextItems.layer).pipe(
  Layer.provideMerge(WorkSignal.layer),
  Layer.provideMerge(StorageLayers.layerStorage(storageIn(folder, url))),
  Layer.provide(NodeServices.layer)
)
const microseconds = await Effect.runPromise(Effect.scoped(Effect.provide(measured, layer)))
row("CPU of a run of one item", `${Math.round(microseconds)} µs`)
console.log(JSON.stringify({ runs: count, microsecondsPerRun: Math.round(microseconds) }))
rmSync(folder, { recursive: true, force: true })
process.exit(0)
