/**
 * A control room inside this process: the service on SQLite, local workers, and a client connected to it over loopback
 * HTTP.
 */
import * as NodeHttpServer from "@signalbox/platform/NodeHttpServer"
import type { NodeServices } from "@signalbox/platform/NodeServices"
import { address, check, text, whole } from "@signalbox/transport/OptionError"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type { BackupError, MasterKeyError } from "@signalbox/control-room/Administration"
import * as NodeServer from "@signalbox/control-room/NodeServer"
import type { ServiceOptions as Served, StorageOptions } from "@signalbox/control-room/Options"
import * as Server from "@signalbox/control-room/Server"
import type { Process } from "@signalbox/api/Process"
import type { Settings } from "@signalbox/worker/Environments"
import type { SqliteOpenError } from "@signalbox/sql/SqliteClient"
import { defined } from "@signalbox/transport/Defined"
import type { HomeError } from "@signalbox/worker/Home"
import type * as Task from "@signalbox/worker/Task"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { PlatformError } from "effect/PlatformError"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpServer from "effect/http/HttpServer"
import type { MigrationError } from "effect/sql/Migrator"
import type { SqlError } from "effect/sql/SqlError"
import { type Credentials, ensureCredentials } from "./internal/connection/Credentials.ts"
import type { PackageError } from "./internal/package/PackageError.ts"
import { workersFolder } from "./internal/connection/WorkersFolder.ts"
import { ListenError } from "./ListenError.ts"

export { PackageError } from "./internal/package/PackageError.ts"

export interface ServiceOptions {
  /**
   * The data folder; default `.signalbox`. One process at a time, unless there is a `database`: then one folder that
   * all nodes share.
   */
  readonly data?: string
  /** Postgres, for any number of nodes; default: SQLite in the data folder. */
  readonly database?: StorageOptions["database"]
  /** Base64 of 32 bytes. Needed with a `database`; default: a file in the data folder, created at the first start. */
  readonly masterKey?: Redacted.Redacted
  /** A bucket for the files in place of the data folder. */
  readonly s3?: StorageOptions["s3"]
  /** Default 127.0.0.1: reachable from this machine only. */
  readonly host?: string
  /** Default 4700; 0 picks a free one. */
  readonly port?: number
  /** The address under which clients reach the service; default: where it listens. */
  readonly publicUrl?: string
  /** The address under which workers in the same network reach the service, if they cannot use `publicUrl`; default: none. */
  readonly internalUrl?: string
  /** The name of the workspace that the first start creates; default `default`. */
  readonly workspace?: string
  /** Whether webhooks may lead to private addresses; default: only when the host is loopback. */
  readonly allowPrivateTargets?: boolean
  /** How many requests a key may make; default 100 a second with bursts of 500, `null` for no limit. */
  readonly rateLimit?: Served["rateLimit"]
  /** Origins whose pages may call the service, `*` for all; default: none. */
  readonly cors?: ReadonlyArray<string>
  /** Names that requests may have in their `Host`, besides those of this machine and of `publicUrl`; default: none. */
  readonly allowedHosts?: ReadonlyArray<string>
  /** Addresses and networks of proxies whose `X-Forwarded-For` counts, such as `10.0.0.0/8`; default: none. */
  readonly trustedProxies?: ReadonlyArray<string>
  /** Whether `/metrics` is served, which needs no key; default false. */
  readonly metrics?: boolean
  /** Whether keys that manage keys may create further workspaces; default true. */
  readonly createWorkspaces?: boolean
  /** Whether people may sign in with a password over plain http, also from other machines; default false. */
  readonly insecureSignIn?: boolean
  /** Whether keys open the console also when the room has accounts of people; default false. */
  readonly consoleKeys?: boolean
  /** `own`: this program signs people in to the console, by `Administration.openSession`; default: the room does. */
  readonly signIn?: Served["signIn"]
  /** Providers with which people sign in to the console, such as Microsoft Entra ID; default: none. */
  readonly providers?: NonNullable<Served["providers"]>
  /** An account that signs in with a provider alone is disabled after this time without a sign-in; default 30 days. */
  readonly providerStale?: Served["providerStale"]
  /** How long runs are stored after their end, such as `"30 days"`; default: for ever. */
  readonly retainRuns?: Served["retainRuns"]
  /** How long entries of the audit are stored, such as `"400 days"`; default: for ever. */
  readonly retainAudit?: Served["retainAudit"]
  /** The console, as `Files.read` of `@signalbox/console` returns it; default: none. */
  readonly console?: Served["console"]
  /** Durable flows for its keys and its console, as `FlowManagement.mounted` of `@signalbox/flows` returns them; default: none. */
  readonly flows?: Served["flows"]
}

export interface Options<T extends Task.Any> extends ServiceOptions {
  /** The tasks of the local workers, which also run task packages. */
  readonly tasks?: ReadonlyArray<T>
  /** Local workers, one step run at a time each; default 1, 0 for none. */
  readonly workers?: number
  /**
   * Task packages that the workspace has from the start on, by their names: robots in Python, for steps that `Process.packageTask`
   * describes. Each from a folder with a `robot.yaml`, or a zip of one. Content that is current already is not uploaded again.
   */
  readonly packages?: Readonly<Record<string, { readonly folder: string } | { readonly zip: string }>>
  /** Processes that are deployed at the start; bring their tasks with `tasks`, or use `layer` of `signalbox/Process`. */
  readonly processes?: ReadonlyArray<Process>
  /** How the local workers build the environments of task packages; default: by the first tool on `PATH` that can. */
  readonly environments?: Settings
}

/** The address of the control room and how to connect to it. */
export class Embedded extends Context.Service<
  Embedded,
  {
    /** The address for workers: without a path, unless the service is mounted below one. */
    readonly origin: string
    /**
     * The first workspace and a key with every permission but the one that reads values of secrets: the same at each start,
     * and in `credentials.json` (0600) of the data folder.
     */
    readonly credentials: Credentials
  }
>()("signalbox/Embedded") {}

/**
 * The first workspace and key of a service that your program mounts (`Mounted.layerRoutes` of
 * `@signalbox/control-room`), on its storage. With it, `layerWorkers` starts local workers there.
 *
 * ```ts
 * import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import * as Mounted from "@signalbox/control-room/Mounted"
 * import * as Server from "@signalbox/control-room/Server"
 * import * as Layer from "effect/Layer"
 * import * as HttpRouter from "effect/http/HttpRouter"
 * import { createServer } from "node:http"
 * import * as Embedded from "signalbox/Embedded"
 *
 * const data = ".signalbox"
 * const publicUrl = "http://127.0.0.1:3000/automation"
 * const served = HttpRouter.serve(Mounted.layerRoutes({ publicUrl }), {
 *   disableLogger: true
 * }).pipe(
 *   Layer.provide(NodeHttpServer.layer(createServer, { port: 3000 }))
 * )
 * export const server = Embedded.layerWorkers({ data }).pipe(
 *   Layer.provideMerge(Embedded.layerCredentials({ data, publicUrl })),
 *   Layer.provideMerge(served),
 *   Layer.provide(Server.layerStorage({ data })),
 *   Layer.provide(NodeServices.layer)
 * )
 * ```
 */
export const layerCredentials = (options: {
  readonly data: string
  /** With the path that the service is mounted at. */
  readonly publicUrl: string
  /** The name of the workspace that the first start creates; default `default`. */
  readonly workspace?: string
}) => {
  check("Embedded.layerCredentials", options, { data: text, publicUrl: address, workspace: text })
  const origin = options.publicUrl.replace(/\/+$/, "")
  const ensured = ensureCredentials(options.data, origin, options.workspace)
  return Layer.effect(
    Embedded,
    Effect.map(ensured, (credentials) => ({ origin, credentials }))
  )
}

const embedded = (options: {
  readonly data: string
  readonly publicUrl: string | undefined
  readonly workspace: string | undefined
}) =>
  Layer.effect(
    Embedded,
    Effect.gen(function* () {
      const server = yield* HttpServer.HttpServer
      const origin = HttpServer.formatAddress(server.address)
        .replace("//0.0.0.0", "//127.0.0.1")
        .replace("//[::]", "//[::1]")
      return {
        origin,
        credentials: yield* ensureCredentials(options.data, options.publicUrl ?? origin, options.workspace)
      }
    })
  )

const listen = (host: string, port: number) => {
  const server = NodeHttpServer.layer(NodeServer.create, { host, port, gracefulShutdownTimeout: "10 seconds" })
  return Layer.effectContext(Effect.mapError(Layer.build(server), (error) => ListenError.of(error, { host, port })))
}

/**
 * The service without a client and workers, for programs that only serve.
 *
 * Fails with `ListenError` when the service cannot listen on the address or port, and with `SqliteOpenError` when
 * another process uses the folder.
 */
export const layerService = (options: ServiceOptions = {}) => {
  check("Embedded.layerService", options, { data: text, host: text, port: whole(0, 65_535), workspace: text })
  const { data = ".signalbox", host = "127.0.0.1", port = 4700, publicUrl, workspace } = options
  const { allowPrivateTargets, cors, createWorkspaces, database, masterKey, rateLimit, retainAudit, retainRuns, s3 } =
    options
  const { allowedHosts, console, consoleKeys, flows, insecureSignIn, internalUrl, metrics, signIn, trustedProxies } =
    options
  const { providers, providerStale } = options
  const server = Server.layer(
    defined({
      publicUrl,
      allowPrivateTargets,
      allowedHosts,
      trustedProxies,
      internalUrl,
      console,
      consoleKeys,
      cors,
      flows,
      insecureSignIn,
      metrics,
      signIn,
      providers,
      providerStale,
      createWorkspaces,
      rateLimit,
      retainAudit,
      retainRuns
    })
  ).pipe(
    Layer.provideMerge(
      Server.layerStorage({
        data,
        ...defined({ database, masterKey, s3 })
      })
    ),
    Layer.provideMerge(listen(host, port))
  )
  return Layer.provideMerge(embedded({ data, publicUrl, workspace }), server)
}

/** The local workers of a service, and a client connected to it. The workers are the same at each start. */
export const layerWorkers = <T extends Task.Any = never>(options: Options<T> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      check("Embedded.layerWorkers", options, { data: text, workers: whole(0, 1_000) })
      const connected = yield* Effect.promise(() => import("./internal/connection/Connected.ts"))
      const { credentials, origin } = yield* Embedded
      const { data = ".signalbox", database } = options
      const workers = connected.layer({
        credentials,
        origin,
        tasks: options.tasks ?? [],
        workers: options.workers ?? 1,
        environments: options.environments ?? {},
        folder: workersFolder({ data, database })
      })
      const deployed = Effect.andThen(
        connected.deliverPackages(options.packages ?? {}),
        connected.deployAll(options.processes ?? [])
      )
      return Layer.provideMerge(Layer.effectDiscard(deployed), workers)
    })
  )

/** Why a control room in this process does not start. */
export type StartError =
  | BackupError
  | HomeError
  | ListenError
  | MasterKeyError
  | MigrationError
  | PackageError
  | PlatformError
  | SqlError
  | SqliteOpenError

/** The services that tasks need from the program, besides those that the control room has for them. */
export type Needed<T extends Task.Any> = Exclude<Task.Services<T>, ControlRoom | HttpClient.HttpClient | NodeServices>

/**
 * Starts a control room in a folder, with workers for the given tasks, and connects to it. Everything in the folder is
 * durable: the next start continues where this one ended, however it ended.
 *
 * Fails with `ListenError` when the service cannot listen on the address or port, with `SqliteOpenError` when another
 * process uses the folder, with `PackageError` when the content of one of `packages` cannot be read, and as `deploy` of
 * `@signalbox/api/Process` when one of `processes` cannot be deployed.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Workspaces from "@signalbox/api/Workspaces"
 * import * as Embedded from "signalbox/Embedded"
 *
 * export const name = Effect.map(
 *   Workspaces.get,
 *   (workspace) => workspace.name
 * ).pipe(Effect.provide(Embedded.layer({ port: 0 })))
 * ```
 */
export const layer = <T extends Task.Any = never>(
  options: Options<T> = {}
): Layer.Layer<ControlRoom | Embedded, StartError, Needed<T>> =>
  // What it needs is `Services<T>` without one service after the other, which TypeScript does not see to be `Needed<T>`
  // for a `T` that it does not know yet.
  layerWorkers(options).pipe(Layer.provideMerge(layerService(options))) as Layer.Layer<
    ControlRoom | Embedded,
    StartError,
    Needed<T>
  >
