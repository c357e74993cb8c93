/**
 * The service in the process of a program, over HTTP and without a rate limit, with its repositories for what a program prepares.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServer from "@signalbox/control-room/NodeServer"
import * as Server from "@signalbox/control-room/Server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import * as HttpServer from "effect/http/HttpServer"
import { Runs } from "../../../../packages/control-room/src/internal/runs/Runs.ts"
import { WorkSignal } from "../../../../packages/control-room/src/internal/runs/WorkSignal.ts"
import * as StorageLayers from "../../../../packages/control-room/src/internal/service/StorageLayers.ts"
import { storageIn } from "./storage.ts"

/** On SQLite in the folder, or on the Postgres at `url`. */
export const layer = (folder: string, url: string | null) =>
  Server.layer({ rateLimit: null }).pipe(
    // The same instance as that of the service: a layer is built once.
    Layer.provideMerge(Runs.layer.pipe(Layer.provide(WorkSignal.layer))),
    Layer.provideMerge(StorageLayers.layerStorage(storageIn(folder, url))),
    Layer.provideMerge(NodeHttpClient.layerUndici),
    Layer.provideMerge(
      NodeHttpServer.layer(NodeServer.create, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })
    ),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Warn"))
  )

export const start = (folder: string, url: string | null) => ManagedRuntime.make(layer(folder, url))

export const origin = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address))
