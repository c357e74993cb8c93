/** Jobs of graphile-worker, on the Postgres of the first argument. */
import { Logger, makeWorkerUtils, run } from "graphile-worker"
import { once } from "node:events"
import { serve } from "../harness/Program.ts"
import { quantile } from "../harness/Statistics.ts"
import type { Measured } from "../harness/Suite.ts"
import { attempts, counting, outputOf, payload, type Work } from "./support/Work.ts"

const [connectionString = ""] = process.argv.slice(2)
/** It would write a line for each job. */
const logger = new Logger(() => () => {})
const utils = await makeWorkerUtils({ connectionString, logger })
await utils.migrate()

const start = ({ concurrency, kind, options }: Work, begin: () => void = () => {}) =>
  run({
    connectionString,
    logger,
    noHandleSignals: true,
    concurrency,
    maxPoolSize: concurrency + 2,
    ...options,
    taskList: {
      work: async (item, { addJob }) => {
        begin()
        if (kind === "output") await addJob("output", outputOf(item as { readonly order: number }))
        if (kind === "failing") throw new Error("the order failed")
      }
    }
  })

/** What another round has left. */
const clear = () => utils.withPgClient((client) => client.query("DELETE FROM graphile_worker._private_jobs"))

const rate = async (work: Work) => {
  await utils.withPgClient(async (client) => {
    await client.query(
      `SELECT graphile_worker.add_job('work', json_build_object('order', n, 'customer', 'Ada'), max_attempts => $2)
       FROM generate_series(1, $1::int) AS n`,
      [work.items, attempts(work)]
    )
    await client.query("ANALYZE")
  })
  const counter = counting(work.items)
  const runner = await start(work, counter.begin)
  // The job's row is deleted, or marked, by then.
  runner.events.on(work.kind === "failing" ? "job:failed" : "job:complete", () => counter.completed())
  await counter.finished
  const measured = counter.measured()
  await runner.stop()
  await clear()
  return measured
}

const latency = async (work: Work) => {
  const runner = await start(work)
  const times: Array<number> = []
  for (let n = 0; n < work.items; n++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const completed = once(runner.events, "job:complete")
    const begun = performance.now()
    await utils.addJob("work", payload(n))
    await completed
    times.push(performance.now() - begun)
  }
  await runner.stop()
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

serve(async (work: Work): Promise<Measured> => (work.what === "latency" ? latency(work) : rate(work)))
