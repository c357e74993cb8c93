/**
 * A control room inside this process: the service on SQLite, local workers, and a client that is connected to it over
 * loopback HTTP.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServer from "@signalbox/control-room/http/NodeServer"
import * as Server from "@signalbox/control-room/Server"
import type * as Task from "@signalbox/worker/Task"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as HttpServer from "effect/http/HttpServer"
import { hostname } from "node:os"
import { join } from "node:path"
import { type Credentials, ensureCredentials } from "./internal/Credentials.ts"
import { ListenError } from "./ListenError.ts"

export interface ServiceOptions {
  /**
   * The folder that holds everything; default `.signalbox`. One process at a time, unless there is a `database`: then one
   * folder that all nodes share.
   */
  readonly data?: string
  /** Postgres, for any number of nodes; default: SQLite in the data folder. */
  readonly database?: Server.StorageOptions["database"]
  /** Base64 of 32 bytes. Needed with a `database`; default: a file in the data folder, made at the first start. */
  readonly masterKey?: Redacted.Redacted
  /** Default 127.0.0.1: only this machine. */
  readonly host?: string
  /** Default 4700; 0 picks a free one. */
  readonly port?: number
  /** The address under which clients reach the service; default: where it listens. */
  readonly publicUrl?: string
  /** Whether webhooks may lead to private addresses; default: only when the host is loopback. */
  readonly allowPrivateTargets?: boolean
  /** How many requests a key may make; default 100 a second with bursts of 500, `null` for no limit. */
  readonly rateLimit?: Server.Options["rateLimit"]
  /** Origins whose pages may call the service, `*` for all; default: none. */
  readonly cors?: ReadonlyArray<string>
  /** Whether keys that manage keys may make further workspaces; default true. */
  readonly createWorkspaces?: boolean
  /** How long runs are kept after their end, such as `"30 days"`; default: for ever. */
  readonly retainRuns?: Server.Options["retainRuns"]
}

export interface Options<T extends Task.Any> extends ServiceOptions {
  /** The tasks that the local workers bring; they run task packages besides. */
  readonly tasks?: ReadonlyArray<T>
  /** Local workers, one step run at a time each; default 1, 0 for none. */
  readonly workers?: number
}

/** Where the control room is and how to connect to it. */
export class Embedded extends Context.Service<
  Embedded,
  {
    /** Without a path. */
    readonly origin: string
    readonly credentials: Credentials
  }
>()("signalbox/Embedded") {}

const embedded = (options: { readonly data: string; readonly publicUrl?: string }) =>
  Layer.effect(
    Embedded,
    Effect.gen(function* () {
      const server = yield* HttpServer.HttpServer
      const origin = HttpServer.formatAddress(server.address)
        .replace("//0.0.0.0", "//127.0.0.1")
        .replace("//[::]", "//[::1]")
      return { origin, credentials: yield* ensureCredentials(options.data, options.publicUrl ?? origin) }
    })
  )

const listen = (host: string, port: number) => {
  const server = NodeHttpServer.layer(NodeServer.create, { host, port, gracefulShutdownTimeout: "10 seconds" })
  return Layer.effectContext(Effect.mapError(Layer.build(server), (error) => ListenError.of(error, { host, port })))
}

/**
 * The service alone, with neither a client nor workers: for programs that only serve.
 *
 * Fails with `ListenError` when the address or the port cannot be listened on, and with `SqliteOpenError` when another
 * process uses the folder.
 */
export const layerService = (options: ServiceOptions = {}) => {
  const { data = ".signalbox", host = "127.0.0.1", port = 4700, publicUrl } = options
  const { allowPrivateTargets, cors, createWorkspaces, database, masterKey, rateLimit, retainRuns } = options
  const server = Server.layer({
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(allowPrivateTargets === undefined ? {} : { allowPrivateTargets }),
    ...(cors === undefined ? {} : { cors }),
    ...(createWorkspaces === undefined ? {} : { createWorkspaces }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(retainRuns === undefined ? {} : { retainRuns })
  }).pipe(
    Layer.provideMerge(
      Server.layerStorage({
        data,
        ...(database === undefined ? {} : { database }),
        ...(masterKey === undefined ? {} : { masterKey })
      })
    ),
    Layer.provideMerge(listen(host, port))
  )
  return Layer.provideMerge(embedded({ data, ...(publicUrl === undefined ? {} : { publicUrl }) }), server)
}

/**
 * The local workers of a service, and a client that is connected to it. The workers are the same ones at each start.
 */
export const layerWorkers = <T extends Task.Any = never>(options: Options<T> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const connected = yield* Effect.promise(() => import("./internal/Connected.ts"))
      const { credentials, origin } = yield* Embedded
      const workers = join(options.data ?? ".signalbox", "workers")
      return connected.layer({
        credentials,
        origin,
        tasks: options.tasks ?? [],
        workers: options.workers ?? 1,
        // Nodes on other machines may share the data folder.
        folder: options.database === undefined ? workers : join(workers, hostname())
      })
    })
  )

/**
 * Starts a control room in a folder, with workers for the given tasks, and connects to it. Everything in the folder
 * survives: the next start goes on where this one ended, however it ended.
 *
 * Fails with `ListenError` when the address or the port cannot be listened on, and with `SqliteOpenError` when another
 * process uses the folder.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Workspaces from "@signalbox/api/Workspaces"
 * import * as Embedded from "signalbox/Embedded"
 *
 * export const name = Effect.map(Workspaces.get, (workspace) => workspace.name).pipe(
 *   Effect.provide(Embedded.layer({ port: 0 }))
 * )
 * ```
 */
export const layer = <T extends Task.Any = never>(options: Options<T> = {}) =>
  layerWorkers(options).pipe(Layer.provideMerge(layerService(options)))
