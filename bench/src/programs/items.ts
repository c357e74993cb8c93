/**
 * Runs of one step through a worker, which is in one process with the service: the items of a run, or runs of one item after another.
 */
import * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { Runs } from "../../../packages/control-room/src/internal/runs/Runs.ts"
import { Workspaces } from "../../../packages/control-room/src/internal/store/access/Workspaces.ts"
import { Processes } from "../../../packages/control-room/src/internal/store/processes/Processes.ts"
import { ProcessRuns } from "../../../packages/control-room/src/internal/store/runs/ProcessRuns.ts"
import { Workers } from "../../../packages/control-room/src/internal/store/workers/Workers.ts"
import type { Counts } from "../harness/Postgres.ts"
import { serve } from "../harness/Program.ts"
import * as SqliteCounts from "../harness/SqliteCounts.ts"
import { quantile } from "../harness/Statistics.ts"
import type { Measured } from "../harness/Suite.ts"
import * as Room from "./support/Room.ts"
import { attempts, outputOf, payload, type Work } from "./support/Work.ts"

const [folder = ".", url = "", counted = ""] = process.argv.slice(2)
const counts =
  counted === "sqlite" ? await SqliteCounts.count() : (): Counts => ({ statements: 0, syncs: 0, walBytes: 0 })

const Order = Schema.Struct({ order: Schema.Finite, customer: Schema.String })
const Total = Schema.Struct({ order: Schema.Finite, total: Schema.Finite })
const tasks = [
  Task.make("quiet", { input: Order, output: Total, run: () => Effect.void }),
  Task.make("output", { input: Order, output: Total, run: (item) => Effect.succeed(outputOf(item.payload)) }),
  Task.make("failing", {
    input: Order,
    output: Total,
    run: ({ payload }) =>
      Effect.fail(new Task.ApplicationFailure({ code: "BENCH", message: `order ${payload.order} failed` }))
  })
]

const room = Room.start(folder, url === "" ? null : url)
const workspace = (await room.runPromise(Effect.flatMap(Workspaces, (workspaces) => workspaces.create("bench")))).id

const worker = Layer.unwrap(
  Effect.gen(function* () {
    const { link_token } = yield* (yield* Workers).createLinkToken(workspace, "9999-12-31T23:59:59.999Z")
    return Worker.layer({
      origin: yield* Room.origin,
      linkToken: Redacted.make(link_token),
      name: "worker",
      tasks,
      capacity: 100
    })
  })
)

const processes = new Map<string, Effect.Success<ReturnType<(typeof Processes)["Service"]["create"]>>>()

/** A process for each task and number of concurrent step runs. */
const processOf = Effect.fnUntraced(function* (work: Work) {
  const { concurrency, kind } = work
  const max_attempts = attempts(work)
  const name = `${kind}-${concurrency}-${max_attempts}`
  const known = processes.get(name)
  if (known !== undefined && known !== null) return known
  const retry = max_attempts > 1 ? { retry: { max_attempts, delay_seconds: 0 } } : {}
  const steps = [{ name: "work", task: { name: kind }, max_parallel: concurrency, ...retry }]
  const made = yield* (yield* Processes).create(workspace, { name, steps })
  if (made === null) return yield* Effect.die("the name is taken")
  processes.set(name, made)
  return made
})

/** The run when it has ended. */
const runOf = Effect.fnUntraced(function* (work: Work, items: number, every: "2 millis" | "50 millis") {
  const made = yield* processOf(work)
  const payloads = Array.from({ length: items }, (_, n) => payload(n))
  const id = yield* (yield* Runs).start(workspace, made, { type: "with_payloads", payloads })
  if (id === null) return yield* Effect.die("nothing was started")
  const runs = yield* ProcessRuns
  const run = yield* runs.get(workspace, id).pipe(
    Effect.repeat({
      until: (run) => run?.state === "completed" || run?.state === "unresolved",
      schedule: Schedule.spaced(every)
    })
  )
  const wanted = work.kind === "failing" ? "unresolved" : "completed"
  if (run?.state !== wanted) return yield* Effect.die(`the run is ${run?.state}, not ${wanted}`)
  return run
})

const rate = Effect.fnUntraced(function* (work: Work) {
  // As after any start some time ago: the planner knows the tables.
  yield* (yield* SqlClient.SqlClient)`ANALYZE`
  const cpu = process.cpuUsage()
  const run = yield* runOf(work, work.items, "50 millis")
  const { system, user } = process.cpuUsage(cpu)
  const measured: Measured = { perSecond: work.items / (run.duration ?? 0), cpu: (system + user) / 1000 / work.items }
  return measured
})

/** One after the other, with nothing else to do: from the call that starts a run to the end that the run has recorded. */
const latency = Effect.fnUntraced(function* (work: Work) {
  const times: Array<number> = []
  for (let n = 0; n < work.items; n++) {
    const begun = performance.timeOrigin + performance.now()
    const { ended_at } = yield* runOf(work, 1, "2 millis")
    times.push(Date.parse(ended_at ?? "") - begun)
    yield* Effect.sleep("20 millis")
  }
  const measured: Measured = { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
  return measured
})

const services = await room.context()
const working = ManagedRuntime.make(Layer.provide(worker, Layer.succeedContext(services)))
await working.context()

const done = (work: Work) => (work.what === "latency" ? latency(work) : rate(work))
serve(async (work: Work) => (work.what === "counts" ? counts() : room.runPromise(done(work))), {
  close: () => working.dispose().then(() => room.dispose())
})
