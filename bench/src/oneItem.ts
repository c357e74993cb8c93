/**
 * What an item costs, one at a time or more: CPU time of the room and of the worker, each a process of its own, statements (on
 * SQLite), commits and bytes of the log (on Postgres) per item, from its reservation to its release.
 *
 * `DATABASE_URL` names an empty Postgres; default: SQLite in a temporary folder.
 * `node src/oneItem.ts [items] [concurrent] [outputs|none|failing|retried]`; the last line is JSON. Run it in two checkouts by turns to compare them.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServer from "@signalbox/control-room/NodeServer"
import * as Server from "@signalbox/control-room/Server"
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
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { StatementSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Runs } from "../../packages/control-room/src/internal/runs/Runs.ts"
import { WorkSignal } from "../../packages/control-room/src/internal/runs/WorkSignal.ts"
import * as StorageLayers from "../../packages/control-room/src/internal/service/StorageLayers.ts"
import { Processes } from "../../packages/control-room/src/internal/store/processes/Processes.ts"
import { ProcessRuns } from "../../packages/control-room/src/internal/store/runs/ProcessRuns.ts"
import { Workers } from "../../packages/control-room/src/internal/store/workers/Workers.ts"
import { Workspaces } from "../../packages/control-room/src/internal/store/access/Workspaces.ts"
import { storageIn } from "./programs/support/storage.ts"

type Kind = "outputs" | "none" | "failing" | "retried"

const [first = "2000", second = "1", third = "none"] = process.argv.slice(2)

const Failure = { failing: Task.BusinessFailure, retried: Task.ApplicationFailure }

/** The worker, in a process of its own: `node oneItem.ts worker JSON`. */
interface WorkerOptions {
  readonly origin: string
  readonly linkToken: string
  readonly concurrent: number
  readonly kind: Kind
}

const work = async ({ concurrent, kind, linkToken, origin }: WorkerOptions) => {
  const task = Task.make("work", {
    input: Schema.Struct({ order: Schema.Finite, customer: Schema.String }),
    output: Schema.Struct({ order: Schema.Finite, total: Schema.Finite }),
    run: ({
      payload: { order }
    }): Effect.Effect<
      { readonly order: number; readonly total: number } | void,
      Task.BusinessFailure | Task.ApplicationFailure
    > =>
      kind === "failing" || kind === "retried"
        ? Effect.fail(new Failure[kind]({ code: "NO_STOCK", message: `none is left of ${order}` }))
        : kind === "outputs"
          ? Effect.succeed({ order, total: order * 2 })
          : Effect.void
  })
  let before = process.cpuUsage()
  process.on("message", (said) => {
    const { system, user } = process.cpuUsage(before)
    if (said === "begin") before = process.cpuUsage()
    else process.send?.((system + user) / 1000, () => process.exit(0))
  })
  await Effect.runPromise(
    Worker.run({
      origin,
      linkToken: Redacted.make(linkToken),
      name: "worker",
      tasks: [task],
      capacity: concurrent
    }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.provideService(References.MinimumLogLevel, "Error"))
  )
}

const counted = { statements: 0, commits: 0 }

/** Counts the statements of SQLite, each of which runs as one of these. */
const countStatements = () => {
  for (const method of ["run", "all"] as const) {
    // Both take the values of their parameters.
    const original = StatementSync.prototype[method] as (
      this: StatementSync,
      ...args: ReadonlyArray<unknown>
    ) => unknown
    Object.assign(StatementSync.prototype, {
      [method](this: StatementSync, ...args: ReadonlyArray<unknown>) {
        counted.statements++
        if (this.sourceSQL === "COMMIT") counted.commits++
        return original.apply(this, args)
      }
    })
  }
}

const serve = (items: number, concurrent: number, kind: Kind) => {
  const url = process.env["DATABASE_URL"] ?? null
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  const measured = Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const workspace = yield* (yield* Workspaces).create("bench")
    const made = yield* (yield* Processes).create(workspace.id, {
      name: "bench",
      steps: [
        {
          name: "work",
          task: { name: "work" },
          max_parallel: concurrent,
          ...(kind === "retried" ? { retry: { max_attempts: 2, delay_seconds: 0 } } : {})
        }
      ]
    })
    if (made === null) return yield* Effect.die("the name is taken")
    const start = Effect.fnUntraced(function* (count: number) {
      const payloads = Array.from({ length: count }, (_, n) => ({ order: n, customer: "Ada" }))
      const id = yield* (yield* Runs).start(workspace.id, made, { type: "with_payloads", payloads })
      return id ?? (yield* Effect.die("nothing was started"))
    })
    const runs = yield* ProcessRuns
    const ended = (id: string) =>
      runs.get(workspace.id, id).pipe(
        Effect.repeat({
          until: (run) => run?.state === "completed" || run?.state === "unresolved",
          schedule: Schedule.spaced("50 millis")
        })
      )
    const { link_token: linkToken } = yield* (yield* Workers).createLinkToken(workspace.id, "9999-12-31T23:59:59.999Z")
    const options: WorkerOptions = { origin: HttpServer.formatAddress(address), linkToken, concurrent, kind }
    const child = spawn(
      process.execPath,
      [...process.execArgv, import.meta.filename, "worker", JSON.stringify(options)],
      {
        stdio: ["ignore", "inherit", "inherit", "ipc"]
      }
    )
    // Compiled by then, and the planner knows the tables.
    yield* Effect.flatMap(start(1000), ended)
    const sql = yield* SqlClient.SqlClient
    yield* sql`ANALYZE`
    // The log of SQLite is written from its beginning again, so that its size says nothing.
    const written = Effect.fnUntraced(function* () {
      if (url === null) return { statements: counted.statements, commits: counted.commits, bytes: null }
      const [row] = yield* sql<{ readonly commits: string; readonly bytes: string }>`
        SELECT xact_commit AS commits, pg_current_wal_insert_lsn() - '0/0' AS bytes
        FROM pg_stat_database WHERE datname = current_database()`
      return { statements: null, commits: Number(row?.commits ?? 0), bytes: Number(row?.bytes ?? 0) }
    })
    const id = yield* start(items)
    const before = yield* written()
    const cpu = process.cpuUsage()
    child.send("begin")
    const run = yield* ended(id)
    const { system, user } = process.cpuUsage(cpu)
    const after = yield* written()
    child.send("end")
    const [worker] = (yield* Effect.promise(() => once(child, "message"))) as [number]
    const per = (n: number) => Math.round((n / items) * 100) / 100
    const between = (name: keyof typeof after) => {
      const [from, to] = [before[name], after[name]]
      return from === null || to === null ? null : per(to - from)
    }
    const seconds = run?.duration ?? 0
    return {
      items,
      concurrent,
      kind,
      perSecond: Math.round(items / seconds),
      roomMillis: per((system + user) / 1000),
      workerMillis: per(worker),
      statements: between("statements"),
      commits: between("commits"),
      bytes: between("bytes")
    }
  })
  return Effect.runPromise(
    Effect.scoped(measured).pipe(
      Effect.provide(
        Server.layer({ rateLimit: null }).pipe(
          // The same instance as that of the service: a layer is built once.
          Layer.provideMerge(Runs.layer.pipe(Layer.provide(WorkSignal.layer))),
          Layer.provideMerge(StorageLayers.layerStorage(storageIn(folder, url))),
          Layer.provideMerge(NodeHttpClient.layerUndici),
          Layer.provideMerge(
            NodeHttpServer.layer(NodeServer.create, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })
          )
        )
      ),
      Effect.provideService(References.MinimumLogLevel, "Warn")
    )
  ).finally(() => rmSync(folder, { recursive: true, force: true }))
}

if (first === "worker") {
  await work(JSON.parse(second) as WorkerOptions)
} else {
  countStatements()
  console.log(JSON.stringify(await serve(Number(first), Number(second), third as Kind)))
  process.exit(0)
}
