/**
 * Executions that wait: half of them for an hour, half for a signal, in a separate process on the SQLite file of the
 * first argument. It prints what it took to submit them, or to start again with all of them there, and what the process
 * needs while they wait.
 */
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { setTimeout } from "node:timers/promises"

const [file = "", count = "0"] = process.argv.slice(2)

const word = Flow.signal("word", Schema.String)

const flowOf = (name: string, wait: ReturnType<typeof Flow.sleep>) =>
  Flow.make(name, {
    version: 1,
    input: Schema.Finite,
    success: Schema.Void,
    error: Schema.Never,
    idempotencyKey: String,
    signals: [word],
    run: () => wait
  })
const sleeping = flowOf("sleeping", Flow.sleep("nap", "1 hour"))
const awaiting = flowOf("awaiting", Effect.asVoid(word.receive()))

const begin = performance.now()
const since = (before: number) => `${((performance.now() - before) / 1000).toFixed(2)} s`

const main = Effect.gen(function* () {
  const started = since(begin)
  const before = performance.now()
  yield* Effect.forEach(
    Array.from({ length: Number(count) }, (_, n) => (n % 2 === 0 ? sleeping : awaiting)),
    (flow, n) => Flow.submit(flow, n),
    { concurrency: 32, discard: true }
  )
  // What one more costs while all wait.
  if (Number(count) > 0) console.log(`submitted in ${since(before)}`)
  const told = performance.now()
  const id = yield* Flow.submit(awaiting, -performance.timeOrigin)
  yield* FlowExecutions.signal(id, "word", "go")
  yield* Effect.repeat(FlowExecutions.get(id), { until: ({ state }) => state === "completed" })
  const signal = performance.now() - told
  console.log(`engine there after ${started}`)
  console.log(`one more, that is signalled, from its start to its end: ${signal.toFixed(1)} ms`)
  yield* Effect.promise(() => setTimeout(5000))
  const cpu = process.cpuUsage()
  yield* Effect.promise(() => setTimeout(10_000))
  const { system, user } = process.cpuUsage(cpu)
  const share = ((system + user) / 1e6 / 10) * 100
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
  console.log(
    `while they wait: heap ${megabytes(heapUsed)}, resident ${megabytes(rss)}, ${share.toFixed(2)} % of a core`
  )
})

const flows = Layer.mergeAll(Flow.layer(sleeping), Flow.layer(awaiting)).pipe(
  Layer.provideMerge(FlowEngine.layerSqlite({ file }))
)
await Effect.runPromise(Effect.provide(main, flows))
process.exit(0)
