/**
 * The real service for tests: a real HTTP server on a free port over a real database, chosen by the vitest project: a
 * file of SQLite in the folder, or a schema of Postgres for the folder.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Permission } from "@signalbox/api/contract/Authorization"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as StepRunSession from "@signalbox/api/robot/StepRunSession"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as WorkersClient from "@signalbox/api/Workers"
import { databaseOf, dropSchema, urlVariable } from "@signalbox/testkit/Postgres"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as HttpServer from "effect/http/HttpServer"
import * as SqlClient from "effect/sql/SqlClient"
import type * as NodeHttp from "node:http"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { AlertSender } from "../../src/internal/delivery/AlertSender.ts"
import { Deliverer } from "../../src/internal/delivery/Deliverer.ts"
import { TargetGuard } from "../../src/internal/delivery/TargetGuard.ts"
import { PublicUrl } from "../../src/internal/settings/PublicUrl.ts"
import { Alerter } from "../../src/internal/runs/Alerter.ts"
import { Retention } from "../../src/internal/runs/Retention.ts"
import { AlertTiming } from "../../src/internal/background/PollInterval.ts"
import { Scheduler } from "../../src/internal/runs/Scheduler.ts"
import { TriggerStarts } from "../../src/internal/runs/TriggerStarts.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import * as NodeServer from "../../src/NodeServer.ts"
import type { StorageOptions } from "../../src/Options.ts"
import * as Server from "../../src/Server.ts"
import * as StorageLayers from "../../src/internal/service/StorageLayers.ts"
import { ApiKeys } from "../../src/internal/store/access/ApiKeys.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import * as MasterKeyFile from "../../src/internal/storage/MasterKeyFile.ts"
import { MasterKey } from "../../src/internal/vault/MasterKey.ts"
import { PasswordCost } from "../../src/internal/vault/Passwords.ts"
import { WorkSignal } from "../../src/internal/runs/WorkSignal.ts"
import { isShard } from "../../src/internal/blobs/Shards.ts"
import { type Answer, send } from "./Http.ts"

export interface RawRequest {
  /** Null: none. Default: the key with every permission. */
  readonly key?: string | null
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent unchanged, without a content type unless the headers have one. */
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export class Service extends Context.Service<
  Service,
  {
    readonly origin: string
    readonly folder: string
    readonly workspaceId: WorkspaceId
    /** A key with every permission. */
    readonly key: string
    readonly makeKey: (permissions: ReadonlyArray<Permission>, workspace?: WorkspaceId) => Effect.Effect<string>
    readonly makeWorkspace: Effect.Effect<WorkspaceId>
    /** A request as any client could make it; paths without a leading slash are below the workspace. */
    readonly raw: (method: string, path: string, request?: RawRequest) => Effect.Effect<Answer>
    /**
     * Every row of every table, except when workers were last seen, keys last used, and how full disks are, which nodes note on their own: equal before
     * and after if nothing was changed.
     */
    readonly rows: Effect.Effect<Readonly<Record<string, ReadonlyArray<unknown>>>>
    /** The names of all files of bytes on disk, finished and staged. */
    readonly blobs: Effect.Effect<{ readonly kept: ReadonlyArray<string>; readonly staged: ReadonlyArray<string> }>
    /** One poll of the service for due timers, as if this many milliseconds had passed. */
    readonly tickIn: (millis: number) => Effect.Effect<void>
    /** One poll of the service for due schedules, as if this many milliseconds had passed. */
    readonly scheduleIn: (millis: number) => Effect.Effect<void>
    /** One run of retention, as if this many milliseconds had passed. */
    readonly retainIn: (millis: number) => Effect.Effect<void>
    /** One check of every alert that is due, and all messages that are due after it, as if this many milliseconds had passed. */
    readonly alertIn: (millis: number) => Effect.Effect<void>
    /** All due deliveries, as if this many milliseconds had passed. */
    readonly deliverIn: (millis: number) => Effect.Effect<void>
  }
>()("test/Service") {}

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-"))),
  (path) =>
    Effect.gen(function* () {
      rmSync(path, { recursive: true, force: true })
      if (postgresUrl !== undefined) yield* dropSchema(postgresUrl, schemaOf(path))
    })
)

const schemaOf = (folder: string) => basename(folder).toLowerCase()

/** The master key of a folder. */
export const masterKeyIn = (folder: string) =>
  onPostgres ? MasterKey.layerText(masterKey) : MasterKeyFile.layer(join(folder, "master.key"))

/** The storage of a folder, in this project's database. */
export const storageIn = (folder: string): StorageOptions =>
  postgresUrl === undefined
    ? { data: folder }
    : { data: folder, database: { ...databaseOf(postgresUrl), schema: schemaOf(folder) }, masterKey }

/** The files of bytes in a data folder. */
export const blobsIn = (folder: string) =>
  Effect.sync(() => {
    const files = join(folder, "files")
    const names = existsSync(files) ? readdirSync(files) : []
    return {
      kept: names.filter(isShard).flatMap((shard) => readdirSync(join(files, shard))),
      staged: existsSync(join(files, "staging")) ? readdirSync(join(files, "staging")) : []
    }
  })

/** The Postgres of the tests; undefined when they run on SQLite. */
export const postgresUrl = process.env[urlVariable]

/** For tests that are about files of SQLite, or differ on purpose. */
export const onPostgres = postgresUrl !== undefined

/** Of every node on Postgres. */
export const masterKey = Redacted.make(Buffer.alloc(32, 7).toString("base64"))

/**
 * A clock that can be set: its wall clock is ahead of another by what `millis` returns then. `elapsed`: by how much its monotonic clock
 * is, since time has passed.
 */
export const adjustable = (clock: Clock.Clock, millis: () => number, elapsed = () => 0): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis(),
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis()),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(millis()) * 1_000_000n,
  currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(millis()) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + BigInt(elapsed()) * 1_000_000n,
  monotonicTimeNanos: Effect.map(clock.monotonicTimeNanos, (now) => now + BigInt(elapsed()) * 1_000_000n),
  sleep: (duration) => clock.sleep(duration)
})

/** A clock for what happens later than now by another. */
export const movedBy = (clock: Clock.Clock, millis: number) =>
  adjustable(
    clock,
    () => millis,
    () => millis
  )

const service = (folder: string) =>
  Layer.effect(
    Service,
    Effect.gen(function* () {
      const server = yield* HttpServer.HttpServer
      const workspaces = yield* Workspaces
      const apiKeys = yield* ApiKeys
      const { tick } = yield* Runs
      const scheduler = yield* Scheduler
      const retention = yield* Retention
      const alerter = yield* Alerter
      const alertSender = yield* AlertSender
      const deliverer = yield* Deliverer
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock
      const workspace = yield* workspaces.firstOr("test")
      const { key } = yield* apiKeys.create(workspace.id, "test", Permission.literals)
      const origin = HttpServer.formatAddress(server.address)
      return Service.of({
        origin,
        folder,
        workspaceId: workspace.id,
        key,
        makeKey: (permissions, owner = workspace.id) =>
          Effect.map(apiKeys.create(owner, "test", permissions), (made) => made.key),
        makeWorkspace: Effect.map(workspaces.create("other"), (other) => other.id),
        raw: (method, path, { body, headers, json, key: given = key } = {}) => {
          const target = path.startsWith("/") ? path : `/api/v1/workspaces/${workspace.id}/${path}`
          const content = json === undefined ? body : JSON.stringify(json)
          return send(origin, method, path.startsWith(origin) ? path.slice(origin.length) : target, {
            headers: {
              ...(given === null ? {} : { authorization: `RC-WSKEY ${given}` }),
              ...(json === undefined ? {} : { "content-type": "application/json" }),
              ...headers
            },
            ...(content === undefined ? {} : { body: content })
          })
        },
        rows: Effect.gen(function* () {
          const tables = yield* sql.onDialectOrElse({
            pg: () =>
              sql<{ readonly name: string }>`
                SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()`,
            orElse: () => sql<{ readonly name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
          })
          const rows: Record<string, ReadonlyArray<unknown>> = {}
          // What nodes say of themselves, no request changes.
          for (const { name } of tables.filter(({ name }) => !["node", "node_disk", "audit_chain"].includes(name))) {
            const all = yield* sql.unsafe<object>(`SELECT * FROM "${name}"`)
            // Timers tell by themselves which step runs wait for a worker.
            const asked = all.filter((row) => !("event_type" in row && row.event_type === "NO_WORKER"))
            // By all columns: the first one of many tables is the workspace, which puts its rows in no order.
            // Entries of the audit get their places in the chain by themselves.
            const placed = name === "audit_entry" ? { number: null, mac: null, previous_mac: null } : {}
            const texts = new Map(
              asked.map((row) => [
                JSON.stringify(row),
                { ...row, ...placed, last_seen_at: null, last_used_at: null, wait_told: null }
              ])
            )
            rows[name] = [...texts.keys()].sort().map((text) => texts.get(text))
          }
          return rows
        }).pipe(Effect.orDie),
        blobs: blobsIn(folder),
        tickIn: (millis) => Effect.provideService(tick, Clock.Clock, movedBy(clock, millis)),
        scheduleIn: (millis) => Effect.provideService(scheduler.tick, Clock.Clock, movedBy(clock, millis)),
        retainIn: (millis) => Effect.provideService(retention.tick, Clock.Clock, movedBy(clock, millis)),
        alertIn: (millis) =>
          Effect.provideService(Effect.andThen(alerter.tick, alertSender.tick), Clock.Clock, movedBy(clock, millis)),
        deliverIn: (millis) => Effect.provideService(deliverer.tick, Clock.Clock, movedBy(clock, millis))
      })
    })
  )

/** A password takes a millisecond. */
const quickPasswords = Layer.succeed(PasswordCost, { N: 2 ** 10, r: 8, p: 1 })

/** The service with its storage, in a folder that is not deleted. */
export const layerIn = (
  folder: string,
  options: Parameters<typeof Server.layer>[0] = { rateLimit: null },
  storage = storageIn(folder),
  server: () => NodeHttp.Server = NodeServer.create
) =>
  Layer.unwrap(
    Effect.map(Service, ({ key, origin, workspaceId }) =>
      ControlRoom.layerHttpClient({ baseUrl: origin, workspaceId, apiKey: Redacted.make(key) })
    )
  ).pipe(
    Layer.provideMerge(service(folder)),
    Layer.provideMerge(NodeHttpClient.layerUndici),
    Layer.provideMerge(Layer.provide(Server.layer(options), quickPasswords)),
    // The same instances as those of the service: a layer is built once.
    Layer.provideMerge(Layer.merge(Scheduler.layer, TriggerStarts.layer)),
    Layer.provideMerge(Runs.layer.pipe(Layer.provide(WorkSignal.layer))),
    Layer.provideMerge(Retention.layer(options?.retainRuns, options?.retainAudit)),
    Layer.provideMerge(
      Layer.merge(Deliverer.layer, Layer.provideMerge(Alerter.layer, AlertSender.layer)).pipe(
        Layer.provide(Layer.merge(TargetGuard.layer(options?.allowPrivateTargets), PublicUrl.layer(options?.publicUrl)))
      )
    ),
    Layer.provideMerge(StorageLayers.layerStorage(storage)),
    Layer.provideMerge(NodeHttpServer.layer(server, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 }))
  )

/** Lets a test check alerts at its own times: the loop of the service would claim them in between. */
export const alertsByHand = Layer.succeed(AlertTiming, { ...AlertTiming.defaultValue(), startDelay: "1 day" })

/** The service with its storage, in a new folder. */
export const layer = Layer.unwrap(Effect.map(temporaryFolder, (folder) => layerIn(folder))).pipe(
  Layer.provide(alertsByHand)
)

/** The calls of a linked worker and of its step runs. */
export const workerAt = Effect.fnUntraced(function* (
  origin: string,
  identity: WorkerProtocol.WorkerIdentity,
  tasks: ReadonlyArray<string>
) {
  const protocol = yield* WorkerProtocol.make(origin, identity)
  const session = (lease: WorkerProtocol.Lease) =>
    StepRunSession.make({
      origin,
      token: Redacted.make(lease.run_token),
      workspaceId: identity.workspaceId,
      processId: lease.process_id,
      processRunId: lease.process_run_id,
      stepRunId: lease.step_run_id
    })
  /** Leases one step run; fails the test when there is none. */
  const lease = Effect.gen(function* () {
    const [lease] = yield* protocol.lease({ free: 1, tasks, waitSeconds: 5 })
    return lease ?? (yield* Effect.die(new Error("no step run to lease")))
  })
  /** Leases and starts one step run. */
  const take = Effect.gen(function* () {
    const leased = yield* lease
    yield* protocol.start(leased)
    return { lease: leased, session: yield* session(leased) }
  })
  /**
   * Dates the last heartbeat of the worker 40 seconds ahead, so that it is not lost on a slow machine. A minute without heartbeats
   * still loses it.
   */
  const stayAlive = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const heard = Effect.suspend(() => {
      const ahead = new Date(Date.now() + 40_000).toISOString()
      return sql`UPDATE worker SET last_seen_at = ${ahead} WHERE id = ${identity.workerId}`
    })
    yield* heard
    yield* Effect.forkChild(Effect.repeat(heard, Schedule.spaced("1 second")))
  }).pipe(Effect.orDie)
  return { identity, protocol, session, lease, take, stayAlive }
})

/** A worker controlled by the test, through the interface of workers. */
export const linkWorkerAt = Effect.fnUntraced(function* (origin: string, tasks: ReadonlyArray<string>) {
  const { link_token } = yield* WorkersClient.createLinkToken()
  const identity = yield* WorkerProtocol.link({ origin, linkToken: Redacted.make(link_token), name: "test", tasks })
  return yield* workerAt(origin, identity, tasks)
})

/** A worker of the current service. */
export const linkWorker = (tasks: ReadonlyArray<string>) =>
  Effect.flatMap(Service, ({ origin }) => linkWorkerAt(origin, tasks))
