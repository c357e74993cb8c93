/**
 * One contender of `tasks.ts`: processes the given number of items, or as many as it can in `seconds`, and prints
 * how many it worked in how many seconds, from the first that was fetched to the last that was completed.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServer from "@signalbox/control-room/NodeServer"
import { Runs } from "../../packages/control-room/src/internal/runs/Runs.ts"
import * as Server from "@signalbox/control-room/Server"
import * as StorageLayers from "../../packages/control-room/src/internal/service/StorageLayers.ts"
import { ProcessRuns } from "../../packages/control-room/src/internal/store/runs/ProcessRuns.ts"
import { Processes } from "../../packages/control-room/src/internal/store/processes/Processes.ts"
import { Workers } from "../../packages/control-room/src/internal/store/workers/Workers.ts"
import { Workspaces } from "../../packages/control-room/src/internal/store/access/Workspaces.ts"
import { WorkSignal } from "../../packages/control-room/src/internal/runs/WorkSignal.ts"
import * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as HttpServer from "effect/http/HttpServer"
import * as SqlClient from "effect/sql/SqlClient"
import { run as runGraphile, makeWorkerUtils } from "graphile-worker"
import { PgBoss } from "pg-boss"
import { storageIn } from "./storage.ts"
import type { Contest, Result } from "./tasks.ts"

const payload = (n: number) => ({ order: n, customer: "Ada" })
const outputOf = (item: { readonly order: number }) => ({ order: item.order, total: item.order * 2 })

/** Counts what is worked, and says when all is, or when the time is over. */
const counting = ({ items, seconds }: Contest) => {
  let first: number | undefined
  let last = 0
  let count = 0
  let finish: () => void = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  return {
    begin: () => {
      if (first !== undefined) return
      first = performance.now()
      setTimeout(finish, seconds * 1000)
    },
    completed: (more = 1) => {
      count += more
      last = performance.now()
      if (count >= items) finish()
    },
    finished,
    result: (): Result => ({ items: count, seconds: (last - (first ?? 0)) / 1000 })
  }
}

/** The service with its worker in this process; the times are those of the run. */
const signalbox = async (contest: Contest): Promise<Result> => {
  const { concurrency, database, folder, items, outputs } = contest
  const task = Task.make("work", {
    input: Schema.Struct({ order: Schema.Finite, customer: Schema.String }),
    output: Schema.Struct({ order: Schema.Finite, total: Schema.Finite }),
    run: (item) => (outputs ? Effect.succeed(outputOf(item.payload)) : Effect.void)
  })
  const measured = Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const workspace = yield* (yield* Workspaces).create("bench")
    const made = yield* (yield* Processes).create(workspace.id, {
      name: "bench",
      steps: [{ name: "work", task: { name: "work" }, max_parallel: concurrency }]
    })
    if (made === null) return yield* Effect.die("the name is taken")
    const payloads = Array.from({ length: items }, (_, n) => payload(n))
    const id = yield* (yield* Runs).start(workspace.id, made, { type: "with_payloads", payloads })
    if (id === null) return yield* Effect.die("nothing was started")
    // As after any start some time ago: the planner knows the tables.
    const sql = yield* SqlClient.SqlClient
    yield* sql`ANALYZE`
    const { link_token } = yield* (yield* Workers).createLinkToken(workspace.id, "9999-12-31T23:59:59.999Z")
    const cpu = process.cpuUsage()
    yield* Layer.build(
      Worker.layer({
        origin: HttpServer.formatAddress(address),
        linkToken: Redacted.make(link_token),
        name: "worker",
        tasks: [task],
        capacity: concurrency
      })
    )
    const runs = yield* ProcessRuns
    const run = yield* runs.get(workspace.id, id).pipe(
      Effect.repeat({
        until: (run) => run?.state === "completed" || run?.state === "unresolved",
        schedule: Schedule.spaced("100 millis")
      })
    )
    if (run?.state !== "completed") return yield* Effect.die("the run was not completed")
    const { system, user } = process.cpuUsage(cpu)
    return { items, seconds: run.duration ?? 0, cpu: (system + user) / 1e6 }
  })
  return Effect.runPromise(
    Effect.scoped(measured).pipe(
      Effect.provide(
        Server.layer({ rateLimit: null }).pipe(
          // The same instance as that of the service: a layer is built once.
          Layer.provideMerge(Runs.layer.pipe(Layer.provide(WorkSignal.layer))),
          Layer.provideMerge(StorageLayers.layerStorage(storageIn(folder, database))),
          Layer.provideMerge(NodeHttpClient.layerUndici),
          Layer.provideMerge(
            NodeHttpServer.layer(NodeServer.create, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })
          )
        )
      ),
      Effect.provideService(References.MinimumLogLevel, "Warn")
    )
  )
}

const graphile = async (contest: Contest): Promise<Result> => {
  const connectionString = contest.database ?? ""
  const counter = counting(contest)
  const utils = await makeWorkerUtils({ connectionString })
  await utils.migrate()
  await utils.withPgClient(async (client) => {
    await client.query(
      `SELECT graphile_worker.add_job('work', json_build_object('order', n, 'customer', 'Ada'))
       FROM generate_series(1, $1::int) AS n`,
      [contest.items]
    )
    await client.query("ANALYZE")
  })
  const runner = await runGraphile({
    connectionString,
    noHandleSignals: true,
    ...contest.options,
    taskList: {
      work: async (item, { addJob }) => {
        counter.begin()
        if (contest.outputs) await addJob("output", outputOf(item as { readonly order: number }))
      }
    }
  })
  // The job's row is deleted by then.
  runner.events.on("job:complete", () => counter.completed())
  await counter.finished
  const result = counter.result()
  await runner.stop()
  await utils.release()
  return result
}

const pgBoss = async (contest: Contest): Promise<Result> => {
  const counter = counting(contest)
  const boss = new PgBoss(contest.database ?? "")
  boss.on("error", (error: unknown) => console.error(error))
  await boss.start()
  await boss.createQueue("work")
  await boss.createQueue("output")
  for (let n = 0; n < contest.items; n += 1000) {
    await boss.insert(
      "work",
      Array.from({ length: Math.min(1000, contest.items - n) }, (_, index) => ({ data: payload(n + index) }))
    )
  }
  await boss.getDb().executeSql("ANALYZE", [])
  // A job is complete when the handler of its batch has returned and the row is written: counted when the next batch comes.
  const reserved = new Map<number, number>()
  const workOf = (worker: number) => async (jobs: ReadonlyArray<{ readonly data: { readonly order: number } }>) => {
    counter.begin()
    counter.completed(reserved.get(worker) ?? 0)
    reserved.set(worker, jobs.length)
    const made = jobs.map(({ data }) => ({ data: outputOf(data) }))
    if (contest.outputs) await boss.insert("output", made)
  }
  const { localConcurrency = 1, ...options } = contest.options
  for (let worker = 0; worker < Number(localConcurrency); worker++) {
    await boss.work("work", options, workOf(worker))
  }
  await counter.finished
  const result = counter.result()
  await boss.stop({ graceful: false })
  return result
}

const [given = ""] = process.argv.slice(2)
const contest = JSON.parse(given) as Contest
const result = await { signalbox, graphile, pgBoss }[contest.who](contest)
console.log(JSON.stringify(result))
process.exit(0)
