/**
 * Lists of executions by state beside many that have ended: the median and the largest of twenty, and how long a new process takes to
 * be there.
 *
 * `node src/flows/lists.ts sqlite|postgres 1000000`: so many ended executions, 100 halted ones, and 100 that wait.
 */
import { FlowEngine, type FlowEngineError } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as Flow from "@signalbox/flows/Flow"
import { startServer } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Client } from "pg"
import { quantile } from "./Contender.ts"

const [where = "", text = ""] = process.argv.slice(2)
const count = Number(text)
const folder = await mkdtemp(join(tmpdir(), "signalbox-lists-"))
const file = join(folder, "flows.db")
const postgres = where === "postgres" ? await startServer() : null

const waiting = Flow.make("waiting", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: String,
  run: () => Flow.sleep("nap", "1 hour")
})

/** Runs an effect in a new engine, and prints how long it took to be there. */
const inEngine = (effect: Effect.Effect<void, FlowEngineError, FlowEngine>) => {
  const begin = performance.now()
  const engine =
    postgres === null
      ? FlowEngine.layerSqlite({ file })
      : FlowEngine.layerPostgres({ url: Redacted.make(postgres.url), schema: "lists" })
  const there = Effect.sync(() => console.log(`there after ${(performance.now() - begin).toFixed(0)} ms`))
  return Effect.runPromise(
    Effect.provide(Effect.andThen(there, effect), Layer.provideMerge(Flow.layer(waiting), engine))
  )
}

const numbers = (from: number, to: number) =>
  postgres === null
    ? `(WITH RECURSIVE s(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM s WHERE n < ${to}) SELECT n FROM s)`
    : `(SELECT generate_series(${from}, ${to}) AS n) s`
const rows = (from: number, to: number, state: string, ended: string) =>
  `INSERT INTO flow_run (id, flow, version, flow_key, state, chapter, round, tags, epoch, mail, seen, asides, token, started_at, changed_at, ended_at, expired, partition_no)
   SELECT 'many-' || n, 'many', 1, 'many-' || n, ${state}, 0, 0, '[]', 1, 0, 0, 0, '', n, n, ${ended}, 0, 0 FROM ${numbers(from, to)}`
const fill = [
  rows(1, count, "CASE n % 3 WHEN 0 THEN 'failed' WHEN 1 THEN 'completed' ELSE 'cancelled' END", "n + 1"),
  rows(count + 1, count + 100, "'halted'", "NULL")
]

const main = Effect.gen(function* () {
  const lists = {
    halted: { state: ["halted"] },
    "halted of one flow": { state: ["halted"], flow: "many" },
    waiting: { state: ["waiting"] },
    "what has not ended": { state: ["queued", "waiting", "running", "undoing", "halted", "suspended"] },
    suspended: { state: ["suspended"] },
    "failed of one flow": { state: ["failed"], flow: "many" },
    "by flow": { flow: "waiting" },
    "by key": { key: "many-7" },
    all: {}
  } as const
  for (const [title, options] of Object.entries(lists)) {
    const times: Array<number> = []
    let found = 0
    for (let n = 0; n < 20; n++) {
      const before = performance.now()
      found = (yield* Effect.orDie(FlowExecutions.list(options))).executions.length
      times.push(performance.now() - before)
    }
    const [median, longest] = [quantile(times, 0.5), Math.max(...times)].map((millis) => millis.toFixed(1))
    console.log(`${title.padEnd(20)} ${String(found).padStart(4)} in ${median} ms, at most ${longest} ms`)
  }
})

await inEngine(
  Effect.forEach(
    Array.from({ length: 100 }, (_, n) => n),
    (n) => Effect.orDie(Flow.submit(waiting, n)),
    { discard: true }
  )
)
if (postgres === null) {
  const db = new DatabaseSync(file)
  for (const statement of fill) db.exec(statement)
  db.close()
} else {
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  await client.query("SET search_path = lists")
  for (const statement of fill) await client.query(statement)
  await client.query("ANALYZE flow_run")
  await client.end()
}
await inEngine(main)
await postgres?.remove()
await rm(folder, { recursive: true, force: true })
