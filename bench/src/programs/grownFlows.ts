/**
 * An engine of flows beside so many executions that have ended, on the SQLite file or the Postgres of the arguments: each task is one operation,
 * whose time is that of a median call.
 */
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { serve } from "../harness/Program.ts"
import { median } from "../harness/Statistics.ts"
import type { Measured } from "../harness/Suite.ts"
import { chain } from "./flows/Flows.ts"
import type { Task } from "./support/FlowOperations.ts"

const [kind = "", where = "", given = "0"] = process.argv.slice(2)
const rows = Number(given)
const engine =
  kind === "sqlite"
    ? FlowEngine.layerSqlite({ file: where })
    : FlowEngine.layerPostgres({ url: Redacted.make(where), schema: "flows" })
const sqlOfEngine = Layer.provide(FlowEngine.sqlClient, engine)
const runtime = ManagedRuntime.make(Flow.layer(chain).pipe(Layer.provideMerge(Layer.mergeAll(engine, sqlOfEngine))))

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Two hours ago: what ended long ago is swept.
  const at = String(Date.now() - 7_200_000)
  const then = sql.literal(`${at} + n`)
  const insert = (from: number, to: number, state: string, ended: string) => sql`
    INSERT INTO flow_run (id, flow, version, flow_key, state, chapter, round, tags, epoch, mail, seen, asides, token, started_at, changed_at, ended_at, expired, partition_no)
    WITH RECURSIVE numbers (n) AS (SELECT ${sql.literal(String(from))} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.literal(String(to))})
    SELECT 'many-' || n, 'many', 1, 'many-' || n, ${sql.literal(state)}, 0, 0, '[]', 1, 0, 0, 0, '', ${then}, ${then}, ${sql.literal(ended)}, 0, 0 FROM numbers`
  const ended = "CASE n % 3 WHEN 0 THEN 'failed' WHEN 1 THEN 'completed' ELSE 'cancelled' END"
  for (let from = 1; from <= rows; from += 50_000)
    yield* insert(from, Math.min(rows, from + 49_999), ended, `${at} + n`)
  yield* insert(rows + 1, rows + 100, "'halted'", "NULL")
  yield* sql`ANALYZE`
})
await runtime.runPromise(fill)

/** A list that is empty would be fast. */
const listed = (options: Parameters<typeof FlowExecutions.list>[0]) =>
  Effect.flatMap(FlowExecutions.list(options), ({ executions }) =>
    executions.length === 0 ? Effect.die("nothing is listed") : Effect.void
  )

const calls: Readonly<Record<Task["operation"], () => Effect.Effect<unknown, unknown, FlowEngine>>> = {
  flow: () => Flow.execute(chain, { size: 2, key: crypto.randomUUID() }),
  lists: () => listed({ state: ["halted"] }),
  ended: () => listed({ state: ["failed"], flow: "many" })
}

serve(
  async ({ calls: count, operation }: Task): Promise<Measured> => {
    const times: Array<number> = []
    for (let n = 0; n < count; n++) {
      const before = performance.now()
      await runtime.runPromise(calls[operation]())
      times.push(performance.now() - before)
    }
    return { millis: median(times) }
  },
  { close: () => runtime.dispose() }
)
