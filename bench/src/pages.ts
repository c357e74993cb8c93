/**
 * The time of a page of 100 work items over HTTP, for each combination of filters, from the start and from deep inside:
 * with a thousand rows and with a million, side by side. Most rows are done; a hundred failed ones, and those of another
 * process and run, are the oldest, where a scan would find them last.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as NodeServer from "@signalbox/control-room/NodeServer"
import * as Server from "@signalbox/control-room/Server"
import * as StorageLayers from "../../packages/control-room/src/internal/service/StorageLayers.ts"
import { ApiKeys } from "../../packages/control-room/src/internal/store/access/ApiKeys.ts"
import { Processes } from "../../packages/control-room/src/internal/store/processes/Processes.ts"
import { Workspaces } from "../../packages/control-room/src/internal/store/access/Workspaces.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpServer from "effect/http/HttpServer"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { row } from "./Table.ts"

const rounds = 40
const few = 100
const sizes = [1_000, 1_000_000] as const

/** Ids that sort by number. */
const id = (kind: number, n: number) => `01900000-0000-7000-800${kind}-${n.toString(16).padStart(12, "0")}`

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Two processes with a run each: few old items in the first, all others in the second. */
const fill = Effect.fnUntraced(function* (workspace: string, processes: readonly [string, string], rows: number) {
  const sql = yield* SqlClient.SqlClient
  const at = "2026-11-20T08:15:30.000Z"
  for (const [index, process] of processes.entries()) {
    yield* sql`INSERT INTO process_run ${sql.insert({
      id: id(1, index),
      workspace_id: workspace,
      process_id: process,
      process_name: "p",
      state: "unresolved",
      created_at: at,
      started_by: '{"type":"api","details":null}',
      steps: "[]",
      counts: "[]",
      failed: 0
    })}`
  }
  yield* sql`
    INSERT INTO work_item (id, workspace_id, process_id, process_run_id, state, state_updated_at, created_at, payload, attempts)
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${rows})
    SELECT printf('01900000-0000-7000-8000-%012x', n), ${workspace},
      CASE WHEN n < ${few} THEN ${processes[0]} ELSE ${processes[1]} END,
      CASE WHEN n < ${few} THEN ${id(1, 0)} ELSE ${id(1, 1)} END,
      CASE WHEN n < ${2 * few} THEN 'failed' ELSE 'done' END, ${at}, ${at}, '{"order":17,"customer":"Ada"}', 1
    FROM numbers`
})

interface Page {
  readonly next: string | null
  readonly data: ReadonlyArray<unknown>
}

const measure = (rows: number) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  const measured = Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const workspace = yield* (yield* Workspaces).create("bench")
    const { key } = yield* (yield* ApiKeys).create(workspace.id, "bench", Permission.literals)
    const store = yield* Processes
    const small = yield* store.create(workspace.id, { name: "small", steps: [] })
    const large = yield* store.create(workspace.id, { name: "large", steps: [] })
    if (small === null || large === null) return yield* Effect.die("the names are taken")
    yield* fill(workspace.id, [small.view.id, large.view.id], rows)
    const list = `${HttpServer.formatAddress(address)}/api/v1/workspaces/${workspace.id}/work-items`
    const fetchPage = (url: string) =>
      Effect.promise(async () => {
        const response = await fetch(url, { headers: { authorization: `RC-WSKEY ${key}` } })
        if (response.status !== 200) throw new Error(await response.text())
        return (await response.json()) as Page
      })
    const timeOf = Effect.fnUntraced(function* (url: string) {
      const times: Array<number> = []
      for (let round = 0; round < rounds + 5; round++) {
        const before = performance.now()
        yield* fetchPage(url)
        // The first rounds warm up.
        if (round >= 5) times.push(performance.now() - before)
      }
      return median(times)
    })
    const ofProcess = { small: `process_id=${small.view.id}`, large: `process_id=${large.view.id}` }
    const ofRun = { small: `process_run_id=${id(1, 0)}`, large: `process_run_id=${id(1, 1)}` }
    const filters: Readonly<Record<string, string>> = {
      "no filter": "",
      "state=done": "state=done",
      "state=failed": "state=failed",
      "state=new (none)": "state=new",
      process_id: ofProcess.large,
      "process_id of the few": ofProcess.small,
      "process_id, state=failed": `${ofProcess.large}&state=failed`,
      process_run_id: ofRun.large,
      "process_run_id of the few": ofRun.small,
      "process_run_id, state=failed": `${ofRun.large}&state=failed`,
      "process_id, process_run_id": `${ofProcess.large}&${ofRun.large}`,
      "process_id of another run": `${ofProcess.small}&${ofRun.large}`,
      "all three": `${ofProcess.large}&${ofRun.large}&state=failed`
    }
    const results = new Map<string, number>()
    for (const [name, filter] of Object.entries(filters)) {
      for (const data of ["", "include_data=true"]) {
        const first = `${list}?${[filter, data, "limit=100"].filter((part) => part !== "").join("&")}`
        const label = data === "" ? name : `${name}, include_data`
        results.set(label, yield* timeOf(first))
        // A hundred thousand items deep, if there are so many.
        let { next } = yield* fetchPage(first.replace("limit=100", "limit=500"))
        for (let step = 0; next !== null && step < 200; step++) {
          const page = yield* fetchPage(next)
          if (page.next === null) break
          next = page.next
        }
        if (next !== null) results.set(`${label}, deep`, yield* timeOf(next.replace("limit=500", "limit=100")))
      }
    }
    return results
  }).pipe(
    Effect.provide(
      Server.layer({ rateLimit: null }).pipe(
        Layer.provideMerge(StorageLayers.layerStorage({ data: folder })),
        Layer.provideMerge(
          NodeHttpServer.layer(NodeServer.create, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })
        )
      )
    ),
    Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
  )
  return Effect.runPromise(measured)
}

const [small, large] = [await measure(sizes[0]), await measure(sizes[1])]
console.log(`milliseconds of a page of 100, median of ${rounds}`.padEnd(48) + "  1,000 rows   1,000,000 rows   ratio")
for (const [name, millis] of large) {
  const before = small.get(name)
  const beside = before === undefined ? undefined : { ratio: millis / before, than: "1,000 rows" }
  row(`a page of 100 of 1,000,000 rows: ${name}`, `${millis.toFixed(2)} ms`, beside)
  console.log(
    name.padEnd(48) +
      (before?.toFixed(2) ?? "-").padStart(12) +
      millis.toFixed(2).padStart(17) +
      (before === undefined ? "-" : (millis / before).toFixed(2)).padStart(8)
  )
}
