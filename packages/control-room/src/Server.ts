/**
 * The service as layers: routes over a database, blobs and a key. It listens where the `HttpServer` that it is given
 * listens, and runs no tasks itself.
 */
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as ByteSize from "effect/ByteSize"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as Etag from "effect/http/Etag"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpPlatform from "effect/http/HttpPlatform"
import * as HttpRouter from "effect/http/HttpRouter"
import * as UrlParams from "effect/http/UrlParams"
import type * as SqlClient from "effect/sql/SqlClient"
import { BlobStore } from "./BlobStore.ts"
import * as MemoryFiles from "./internal/blobs/MemoryFiles.ts"
import { Answers } from "./internal/edge/Answers.ts"
import * as ApiKeyHandlers from "./internal/endpoints/ApiKeys.ts"
import { Deliverer } from "./internal/delivery/Deliverer.ts"
import { Outbox } from "./internal/delivery/Outbox.ts"
import { TargetGuard } from "./internal/delivery/TargetGuard.ts"
import * as DataFolder from "./internal/store/DataFolder.ts"
import { Deposits } from "./internal/transfers/Deposits.ts"
import * as AssetHandlers from "./internal/endpoints/Assets.ts"
import * as AssistantHandlers from "./internal/endpoints/Assistants.ts"
import { Authorization } from "./internal/edge/Authorization.ts"
import * as Cors from "./internal/edge/Cors.ts"
import * as Endpoints from "./internal/edge/Endpoints.ts"
import * as Edge from "./internal/edge/Edge.ts"
import { FileLinks } from "./internal/transfers/FileLinks.ts"
import * as Handlers from "./internal/edge/Handlers.ts"
import { Once } from "./internal/edge/Once.ts"
import { Pagination } from "./internal/edge/Pagination.ts"
import * as Probes from "./internal/edge/Probes.ts"
import * as ProcessRunHandlers from "./internal/endpoints/ProcessRuns.ts"
import { PublicUrl } from "./internal/edge/PublicUrl.ts"
import type { RateLimit } from "./internal/edge/Buckets.ts"
import { Hosts } from "./internal/edge/Hosts.ts"
import { defaultRateLimit, RateLimits } from "./internal/edge/RateLimits.ts"
import { Strangers } from "./internal/edge/Strangers.ts"
import * as Robot from "./internal/endpoints/Robot.ts"
import * as RobotSecrets from "./internal/endpoints/RobotSecrets.ts"
import * as SecretHandlers from "./internal/endpoints/Secrets.ts"
import * as StepRunHandlers from "./internal/endpoints/StepRuns.ts"
import * as TaskPackageHandlers from "./internal/endpoints/TaskPackages.ts"
import * as Transfers from "./internal/transfers/Transfers.ts"
import { Views } from "./internal/endpoints/Views.ts"
import * as WorkerGroupHandlers from "./internal/endpoints/WorkerGroups.ts"
import * as WebhookHandlers from "./internal/endpoints/Webhooks.ts"
import * as WorkspaceHandlers from "./internal/endpoints/Workspaces.ts"
import * as WorkerProtocol from "./internal/endpoints/WorkerProtocol.ts"
import * as WorkerHandlers from "./internal/endpoints/Workers.ts"
import { Signer } from "./internal/transfers/Signer.ts"
import { StorageHealth } from "./internal/store/StorageHealth.ts"
import { limits } from "./internal/Limits.ts"
import { Git } from "./internal/git/Git.ts"
import { GitPackages } from "./internal/git/GitPackages.ts"
import { NextItems } from "./internal/runs/NextItems.ts"
import { Retention } from "./internal/runs/Retention.ts"
import { Runs } from "./internal/runs/Runs.ts"
import { ApiKeys } from "./internal/store/ApiKeys.ts"
import { Assets } from "./internal/store/Assets.ts"
import { Assistants } from "./internal/store/Assistants.ts"
import { Database } from "./internal/store/Database.ts"
import { Deliveries } from "./internal/store/Deliveries.ts"
import { Files } from "./internal/store/Files.ts"
import { Idempotency } from "./internal/store/Idempotency.ts"
import * as Migrations from "./internal/store/Migrations.ts"
import { Notices } from "./internal/store/Notices.ts"
import type * as Postgres from "@signalbox/sql/PostgresClient"
import { Outputs } from "./internal/store/Outputs.ts"
import { Processes } from "./internal/store/Processes.ts"
import { PackageSources } from "./internal/store/PackageSources.ts"
import { ProcessRuns } from "./internal/store/ProcessRuns.ts"
import { RunItems } from "./internal/store/RunItems.ts"
import { Secrets } from "./internal/store/Secrets.ts"
import { StepRuns } from "./internal/store/StepRuns.ts"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import { TransitKeys } from "./internal/store/TransitKeys.ts"
import { Webhooks } from "./internal/store/Webhooks.ts"
import { WorkerGroups } from "./internal/store/WorkerGroups.ts"
import { TaskPackages } from "./internal/store/TaskPackages.ts"
import { WorkerReports } from "./internal/store/WorkerReports.ts"
import { Workers } from "./internal/store/Workers.ts"
import { WorkItems } from "./internal/store/WorkItems.ts"
import { Workspaces } from "./internal/store/Workspaces.ts"
import { DataKeys } from "./internal/vault/DataKeys.ts"
import { MasterKey } from "./internal/vault/MasterKey.ts"
import { Seal } from "./internal/vault/Seal.ts"
import { WorkSignal } from "./internal/runs/WorkSignal.ts"

export interface StorageOptions {
  /**
   * The folder of the files; made when it is missing. With SQLite, also of the database and the master key, for one process
   * at a time; with Postgres, one folder that all nodes share.
   */
  readonly data: string
  /** Postgres, for any number of nodes; default: SQLite in the data folder. */
  readonly database?: Postgres.Options
  /** Base64 of 32 bytes. Needed with Postgres; default with SQLite: a file in the data folder, made at the first start. */
  readonly masterKey?: Redacted.Redacted
}

export interface Options extends StorageOptions {
  /** The address under which clients reach the service; default: where it listens. */
  readonly publicUrl?: string
  /**
   * How many requests a key may make; default 100 a second with bursts of 500. `null` for no limit, neither for keys nor for
   * requests without a valid one.
   */
  readonly rateLimit?: RateLimit | null
  /**
   * Whether webhooks, callbacks and git repositories may lead to loopback, private and link-local addresses; default: only when the
   * service itself listens on loopback.
   */
  readonly allowPrivateTargets?: boolean
  /** How long runs are kept after their end, with all that is theirs; default: for ever. */
  readonly retainRuns?: Duration.Input
  /** Origins whose pages may call `/api/v1` and transfer files, `*` for all; default: none. */
  readonly cors?: ReadonlyArray<string>
  /** Whether keys that manage keys may make further workspaces; default true. */
  readonly createWorkspaces?: boolean
  /**
   * Names that requests may have in their `Host` besides those of this machine and of `publicUrl`, without ports. Checked
   * when the service listens on loopback, or when there are any.
   */
  readonly allowedHosts?: ReadonlyArray<string>
  /** Whether `/metrics` is served, which needs no key; default false. */
  readonly metrics?: boolean
}

type Routed = Pick<Options, "cors" | "createWorkspaces" | "metrics" | "rateLimit">

const repositories = Layer.mergeAll(
  Workspaces.layer,
  Processes.layer,
  ProcessRuns.layer,
  StepRuns.layer,
  WorkItems.layer,
  RunItems.layer,
  Outputs.layer,
  Files.layer,
  Idempotency.layer,
  Webhooks.layer,
  Deliveries.layer,
  Workers.layer,
  WorkerReports.layer,
  Assistants.layer,
  WorkerGroups.layer,
  ApiKeys.layer,
  Secrets.layer,
  TransitKeys.layer
)

const vault = Seal.layer.pipe(Layer.provideMerge(DataKeys.layer))

/** What keeps its bytes as files. */
const content = Layer.mergeAll(Assets.layer, PackageSources.layer.pipe(Layer.provideMerge(TaskPackages.layer)))

/** Deletes what a killed process left behind, before anything is served. */
const sweep = Layer.effectDiscard(
  Effect.gen(function* () {
    const swept = yield* unhurried((yield* BlobStore).sweep)
    if (swept > 0) yield* Effect.logInfo(`swept ${swept} unfinished uploads away`)
  })
)

/** The tables in a file, for one process. */
const sqlite = (file: string) =>
  Notices.layerLocal.pipe(
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(Migrations.layer),
    Layer.provideMerge(SqliteClient.layer({ filename: file }))
  )

/** The tables in a schema of a Postgres, for any number of nodes. What speaks to it is loaded only then. */
const postgres = (options: Postgres.Options) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@signalbox/sql/PostgresClient")),
      (driver) =>
        Notices.layerPostgres(options).pipe(
          Layer.provideMerge(Database.layer),
          Layer.provideMerge(Migrations.layer),
          Layer.provideMerge(driver.layer(options))
        )
    )
  )

/** An upload takes less time than this. */
const sweepAfter = Duration.days(1)

/** What all storage has above its tables and its key. */
const repositoriesOn = <E, R, E2, R2>(
  blobs: Layer.Layer<BlobStore, E, R>,
  keyAndTables: Layer.Layer<MasterKey | Database | Notices | SqlClient.SqlClient, E2, R2>
) =>
  sweep.pipe(
    Layer.provideMerge(blobs),
    Layer.provideMerge(Signer.layer),
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(content),
    Layer.provideMerge(repositories),
    Layer.provideMerge(vault),
    Layer.provideMerge(keyAndTables)
  )

/** The state of a control room, without any interface. */
export const layerStorage = ({ data, database, masterKey }: StorageOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const path = yield* Path.Path
      const files = yield* DataFolder.prepare(data, database !== undefined)
      return repositoriesOn(
        database === undefined ? BlobStore.layerDisk(files) : BlobStore.layerDisk(files, sweepAfter),
        (database === undefined && masterKey === undefined
          ? MasterKey.layerFile(path.join(data, "master.key"))
          : MasterKey.layerText(masterKey)
        ).pipe(
          Layer.provideMerge(database === undefined ? sqlite(path.join(data, "control-room.db")) : postgres(database))
        )
      )
    })
  )

/**
 * State that is gone with the layer, and never on a disk: SQLite in memory, and files in memory behind a `FileSystem` that
 * it gives to the service too.
 */
export const layerMemory = repositoriesOn(
  BlobStore.layerDisk("/files"),
  Layer.merge(MasterKey.layerRandom, sqlite(":memory:"))
).pipe(
  Layer.provideMerge(HttpPlatform.layer),
  Layer.provideMerge(Layer.mergeAll(MemoryFiles.layer, Path.layer, Etag.layerWeak))
)

/** The whole contract. */
const endpoints = (createWorkspaces: boolean) =>
  Layer.mergeAll(
    Handlers.layer,
    WorkspaceHandlers.layer(createWorkspaces),
    StepRunHandlers.layer,
    AssetHandlers.layer,
    TaskPackageHandlers.layer,
    AssistantHandlers.layer,
    ProcessRunHandlers.layer,
    WebhookHandlers.layer,
    ApiKeyHandlers.layer,
    SecretHandlers.layer,
    WorkerHandlers.layer,
    WorkerGroupHandlers.layer,
    WorkerProtocol.layer,
    Robot.layer,
    RobotSecrets.layer
  )

const routes = ({ cors = [], createWorkspaces = true, metrics = false }: Routed) =>
  Layer.mergeAll(
    Layer.provide(endpoints(createWorkspaces), Authorization.layer),
    Endpoints.layerDocument(Edge.openApiPath),
    Endpoints.layerPage(Edge.docsPath),
    Probes.layer({ metrics }),
    Transfers.layer,
    Edge.layer,
    cors.length === 0 ? Layer.empty : Cors.layer(cors)
  )

/** Spans are made only where somebody collects them. */
const quietTracer = Layer.unwrap(
  Effect.map(Tracer.Tracer, (tracer) =>
    tracer === Tracer.nativeTracer ? Layer.succeed(References.TracerEnabled, false) : Layer.empty
  )
)

/** Task packages from git repositories. */
const gitPackages = GitPackages.layer.pipe(Layer.provide(Git.layer), Layer.provide(Deposits.layer))

/** Runs, deliveries, packages that follow a branch and what is old, with the loops that let time pass for them. */
export const running = ({ retainRuns }: Pick<Options, "retainRuns">) =>
  Layer.mergeAll(
    Runs.layerTicking,
    Deliverer.layerRunning,
    GitPackages.layerTicking,
    Layer.provide(Retention.layerTicking, Retention.layer(retainRuns))
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(Runs.layer, NextItems.layer, Deliverer.layer, gitPackages)),
    Layer.provideMerge(WorkSignal.layer)
  )

/** The routes of the whole service with what only they use. */
export const application = (options: Routed) =>
  routes(options).pipe(
    Layer.provide(
      Layer.mergeAll(
        Pagination.layer,
        Views.layer,
        Once.layer,
        RateLimits.layer(options.rateLimit === undefined ? defaultRateLimit : options.rateLimit)
      )
    ),
    Layer.provide(Layer.merge(Answers.layer, Strangers.layer(options.rateLimit === null ? null : undefined))),
    Layer.provide(Layer.mergeAll(Deposits.layer, StorageHealth.layer)),
    Layer.provide(FileLinks.layer)
  )

/** What holds while requests are handled. */
export const settings = Layer.mergeAll(
  quietTracer,
  // Keys and signatures in addresses stay out of spans.
  Layer.succeed(UrlParams.CurrentRedactedNames, ["token", "signature"]),
  Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(limits.jsonBody))
)

/**
 * The whole service on the storage and the `HttpServer` at hand. Routes of your own that are added to the same router
 * are served beside it. `Mounted` has the service under a path of another server.
 */
export const layer = (options: Omit<Options, keyof StorageOptions> = {}) =>
  HttpRouter.serve(application(options), {
    disableLogger: true,
    disableListenLog: true,
    routerConfig: Edge.routerConfig
  }).pipe(
    Layer.provide(Hosts.layer(options.allowedHosts)),
    Layer.provide(PublicUrl.layer(options.publicUrl)),
    Layer.provide(running(options)),
    Layer.provide(TargetGuard.layer(options.allowPrivateTargets)),
    Layer.provide(settings)
  )
