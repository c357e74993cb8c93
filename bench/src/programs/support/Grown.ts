/**
 * A room with so many items, on a folder or on a Postgres: most items are done; a hundred failed ones, and those of another process and
 * run, are the oldest, where a scan would find them last. Beside them are runs that have ended, one for a hundred items.
 */
import { Permission } from "@signalbox/api/contract/Authorization"
import { ProcessId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Gauges from "../../../../packages/control-room/src/internal/runs/Gauges.ts"
import { Runs } from "../../../../packages/control-room/src/internal/runs/Runs.ts"
import { ApiKeys } from "../../../../packages/control-room/src/internal/store/access/ApiKeys.ts"
import { Workspaces } from "../../../../packages/control-room/src/internal/store/access/Workspaces.ts"
import { Processes } from "../../../../packages/control-room/src/internal/store/processes/Processes.ts"
import type { Task } from "./ItemOperations.ts"
import * as Room from "./Room.ts"

const few = 100
const itemsOfRun = 100
const at = "2026-11-20T08:15:30.000Z"

/** Ids that sort by number; `kind`: 0 of items, 1 of runs. */
const id = (kind: number, n: number) => `01900000-0000-7000-800${kind}-${n.toString(16).padStart(12, "0")}`
const numberOf = (id: string) => Number.parseInt(id.slice(-12), 16)

interface Names {
  readonly key: string
  readonly workspace: string
  readonly small: string
  readonly large: string
}

/** What is in the folder from a call before, so that a large room can be filled in several. */
const named = Effect.fnUntraced(function* (folder: string) {
  const file = join(folder, "grown.json")
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Names
  const workspace = yield* (yield* Workspaces).create("bench")
  const { key } = yield* (yield* ApiKeys).create(workspace.id, "bench", Permission.literals)
  const store = yield* Processes
  const steps = [{ name: "s", task: { name: "t" } }]
  const small = yield* store.create(workspace.id, { name: "small", steps })
  const large = yield* store.create(workspace.id, { name: "large", steps })
  if (small === null || large === null) return yield* Effect.die("the names are taken")
  const names: Names = { key, workspace: workspace.id, small: small.view.id, large: large.view.id }
  writeFileSync(file, JSON.stringify(names))
  return names
})

/** Adds what is missing of so many items, for at most so many seconds; returns how many there are. */
const fill = Effect.fnUntraced(function* ({ large, small, workspace }: Names, rows: number, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  const digits = sql.onDialectOrElse({
    pg: () => sql.literal("lpad(to_hex(n), 12, '0')"),
    orElse: () => sql.literal("printf('%012x', n)")
  })
  const begun = performance.now()
  const [last] = yield* sql<{ readonly id: string | null }>`
    SELECT max(id) AS id FROM work_item WHERE id < ${"01900000-0000-7000-8001"}`
  let filled = last === undefined || last.id === null ? 0 : numberOf(last.id) + 1
  const numbers = (from: number, to: number) => sql`
    WITH RECURSIVE numbers (n) AS (SELECT ${sql.literal(String(from))} UNION ALL
      SELECT n + 1 FROM numbers WHERE n + 1 < ${sql.literal(String(to))})`
  // Parts, so that no transaction is very large.
  while (filled < rows && performance.now() - begun < seconds * 1000) {
    const to = Math.min(rows, filled + 50_000)
    // The first two have the items.
    const runs = [filled === 0 ? 0 : 2 + filled / itemsOfRun, 2 + Math.ceil(to / itemsOfRun)] as const
    yield* sql`
      INSERT INTO process_run (id, workspace_id, process_id, process_name, state, created_at, started_by, steps, counts, failed)
      ${numbers(...runs)}
      SELECT '01900000-0000-7000-8001-' || ${digits}, ${workspace},
        CASE WHEN n = 0 THEN ${small} ELSE ${large} END, 'p',
        CASE WHEN n < 2 THEN 'unresolved' ELSE 'completed' END, ${at}, '{"type":"api","details":null}', '[]', '[]', 0
      FROM numbers`
    yield* sql`
      INSERT INTO work_item (id, workspace_id, process_id, process_run_id, state, state_updated_at, created_at, payload, attempts)
      ${numbers(filled, to)}
      SELECT '01900000-0000-7000-8000-' || ${digits}, ${workspace},
        CASE WHEN n < ${sql.literal(String(few))} THEN ${small} ELSE ${large} END,
        CASE WHEN n < ${sql.literal(String(few))} THEN ${id(1, 0)} ELSE ${id(1, 1)} END,
        CASE WHEN n < ${sql.literal(String(2 * few))} THEN 'failed' ELSE 'done' END,
        ${at}, ${at}, '{"order":17,"customer":"Ada"}', 1
      FROM numbers`
    filled = to
  }
  if (filled === rows) yield* sql`ANALYZE`
  return filled
})

interface Page {
  readonly next: string | null
  readonly data: ReadonlyArray<unknown>
}

/** The room with its items, as far as they could be added in so many seconds, and one call of each operation. */
export const open = async (folder: string, url: string | null, rows: number, seconds = Infinity) => {
  const room = Room.start(folder, url)
  const prepared = await room.runPromise(
    Effect.gen(function* () {
      const names = yield* named(folder)
      const filled = yield* fill(names, rows, seconds)
      const workspace = WorkspaceId.make(names.workspace)
      const small = yield* (yield* Processes).get(workspace, ProcessId.make(names.small))
      if (small === null) return yield* Effect.die("the process is gone")
      const runs = yield* Runs
      const start = runs.start(workspace, small, {
        type: "with_payloads",
        payloads: Array.from({ length: 100 }, (_, order) => ({ order, customer: "Ada" }))
      })
      const gauges = yield* Gauges.make
      const origin = `${yield* Room.origin}/api/v1/workspaces/${names.workspace}`
      return { ...names, filled, gauges, origin, start, tick: runs.tick }
    })
  )

  const { filled, key, large, origin } = prepared
  const headers = { authorization: `RC-WSKEY ${key}`, "content-type": "application/json" }
  const ask = async (address: string, init: RequestInit = {}): Promise<Page> => {
    const response = await fetch(address, { ...init, headers })
    if (response.status !== 200) throw new Error(await response.text())
    return (await response.json()) as Page
  }
  const list = `${origin}/work-items`

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
  let deep: string | undefined
  const body = JSON.stringify({ process: { id: large }, payload: { order: 17, customer: "Ada" } })

  const calls: Readonly<Record<Task["operation"], () => Promise<unknown>>> = {
    page: () => ask(`${list}?limit=100`),
    pageOfRun: () => ask(`${list}?limit=100&process_run_id=${id(1, 1)}&include_data=true`),
    pageOfFailed: () => ask(`${list}?limit=100&state=failed&process_run_id=${id(1, 0)}`),
    deep: async () => ask((deep ??= await deepPage())),
    runs: () => ask(`${origin}/process-runs?limit=100`),
    get: () => ask(`${list}/${id(0, 50)}`),
    post: () => ask(list, { method: "POST", body }),
    start: () => room.runPromise(prepared.start),
    tick: () => room.runPromise(prepared.tick),
    gauges: () => room.runPromise(prepared.gauges)
  }
  return { calls, filled, close: () => room.dispose() }
}

/** Milliseconds of each call. */
export const timesOf = async (call: () => Promise<unknown>, count: number) => {
  const times: Array<number> = []
  for (let n = 0; n < count; n++) {
    const before = performance.now()
    await call()
    times.push(performance.now() - before)
  }
  return times
}
