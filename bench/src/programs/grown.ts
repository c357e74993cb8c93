/**
 * A room with so many items, on the folder of the first argument or the Postgres of the second: each task is one operation, whose time is that
 * of a median call. Most items are done; a hundred failed ones, and those of another process and run, are the oldest, where a scan
 * would find them last.
 */
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { Runs } from "../../../packages/control-room/src/internal/runs/Runs.ts"
import { ApiKeys } from "../../../packages/control-room/src/internal/store/access/ApiKeys.ts"
import { Workspaces } from "../../../packages/control-room/src/internal/store/access/Workspaces.ts"
import { Processes } from "../../../packages/control-room/src/internal/store/processes/Processes.ts"
import { serve } from "../harness/Program.ts"
import { median } from "../harness/Statistics.ts"
import type { Measured } from "../harness/Suite.ts"
import type { Task } from "./support/ItemOperations.ts"
import * as Room from "./support/Room.ts"

const [folder = ".", url = "", given = "0"] = process.argv.slice(2)
const rows = Number(given)
const few = 100
const room = Room.start(folder, url === "" ? null : url)

/** Ids that sort by number. */
const id = (kind: number, n: number) => `01900000-0000-7000-800${kind}-${n.toString(16).padStart(12, "0")}`

/** Two processes with a run each: few old items in the first, all others in the second. */
const fill = Effect.fnUntraced(function* (workspace: string, processes: readonly [string, string]) {
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
  const digits = sql.onDialectOrElse({
    pg: () => sql.literal("lpad(to_hex(n), 12, '0')"),
    orElse: () => sql.literal("printf('%012x', n)")
  })
  // Parts, so that no transaction is very large.
  for (let from = 0; from < rows; from += 50_000) {
    yield* sql`
      INSERT INTO work_item (id, workspace_id, process_id, process_run_id, state, state_updated_at, created_at, payload, attempts)
      WITH RECURSIVE numbers (n) AS (SELECT ${sql.literal(String(from))} UNION ALL
        SELECT n + 1 FROM numbers WHERE n + 1 < ${sql.literal(String(Math.min(rows, from + 50_000)))})
      SELECT '01900000-0000-7000-8000-' || ${digits}, ${workspace},
        CASE WHEN n < ${sql.literal(String(few))} THEN ${processes[0]} ELSE ${processes[1]} END,
        CASE WHEN n < ${sql.literal(String(few))} THEN ${id(1, 0)} ELSE ${id(1, 1)} END,
        CASE WHEN n < ${sql.literal(String(2 * few))} THEN 'failed' ELSE 'done' END,
        ${at}, ${at}, '{"order":17,"customer":"Ada"}', 1
      FROM numbers`
  }
  yield* sql`ANALYZE`
})

interface Page {
  readonly next: string | null
  readonly data: ReadonlyArray<unknown>
}

const prepared = await room.runPromise(
  Effect.gen(function* () {
    const workspace = yield* (yield* Workspaces).create("bench")
    const { key } = yield* (yield* ApiKeys).create(workspace.id, "bench", Permission.literals)
    const store = yield* Processes
    const steps = [{ name: "s", task: { name: "t" } }]
    const small = yield* store.create(workspace.id, { name: "small", steps })
    const large = yield* store.create(workspace.id, { name: "large", steps })
    if (small === null || large === null) return yield* Effect.die("the names are taken")
    yield* fill(workspace.id, [small.view.id, large.view.id])
    const start = (yield* Runs).start(workspace.id, small, {
      type: "with_payloads",
      payloads: Array.from({ length: 100 }, (_, order) => ({ order, customer: "Ada" }))
    })
    return {
      key,
      large: large.view.id,
      start,
      list: `${yield* Room.origin}/api/v1/workspaces/${workspace.id}/work-items`
    }
  })
)

const { key, large, list } = prepared
const headers = { authorization: `RC-WSKEY ${key}`, "content-type": "application/json" }
const ask = async (address: string, init: RequestInit = {}): Promise<Page> => {
  const response = await fetch(address, { ...init, headers })
  if (response.status !== 200) throw new Error(await response.text())
  return (await response.json()) as Page
}

/** Deep inside, or where the list ends. */
const deepPage = async () => {
  let at = `${list}?limit=500`
  for (let page = 0; page < 100; page++) {
    const { next } = await ask(at)
    if (next === null) break
    at = next
  }
  return at.replace("limit=500", "limit=100")
}
const deep = await deepPage()
const body = JSON.stringify({ process: { id: large }, payload: { order: 17, customer: "Ada" } })

const calls: Readonly<Record<Task["operation"], () => Promise<unknown>>> = {
  page: () => ask(`${list}?limit=100`),
  pageOfRun: () => ask(`${list}?limit=100&process_run_id=${id(1, 1)}&include_data=true`),
  pageOfFailed: () => ask(`${list}?limit=100&state=failed&process_run_id=${id(1, 0)}`),
  deep: () => ask(deep),
  get: () => ask(`${list}/${id(0, 50)}`),
  post: () => ask(list, { method: "POST", body }),
  start: () => room.runPromise(prepared.start)
}

serve(
  async ({ calls: count, operation }: Task): Promise<Measured> => {
    const times: Array<number> = []
    for (let n = 0; n < count; n++) {
      const before = performance.now()
      await calls[operation]()
      times.push(performance.now() - before)
    }
    return { millis: median(times) }
  },
  { close: () => room.dispose() }
)
