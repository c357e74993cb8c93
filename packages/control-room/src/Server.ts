/**
 * The service as layers: routes over a database, blobs and a key. It listens on the `HttpServer` that it is given, and
 * runs no tasks itself.
 */
import type { PostgresDriverError } from "@signalbox/sql/PostgresOptions"
import type { SqliteOpenError } from "@signalbox/sql/SqliteClient"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import type * as Etag from "effect/http/Etag"
import type * as HttpPlatform from "effect/http/HttpPlatform"
import * as HttpRouter from "effect/http/HttpRouter"
import type { MigrationError } from "effect/sql/Migrator"
import type { SqlError } from "effect/sql/SqlError"
import type { Administration } from "./Administration.ts"
import type { BlobStore } from "./BlobStore.ts"
import type { ServiceOptions, StorageOptions } from "./Options.ts"
import { ClientUrl, PublicUrl } from "./internal/settings/PublicUrl.ts"
import * as Service from "./internal/service/Service.ts"
import { checkService } from "./internal/service/OptionRules.ts"
import { Storage } from "./internal/service/StorageLayers.ts"
import * as StorageLayers from "./internal/service/StorageLayers.ts"
import { TargetGuard } from "./internal/delivery/TargetGuard.ts"
import * as Edge from "./internal/edge/Edge.ts"
import { Hosts } from "./internal/edge/Hosts.ts"
import type { BackupError } from "./internal/storage/Archive.ts"
import type { MasterKeyError } from "./internal/vault/MasterKey.ts"

export { Storage } from "./internal/service/StorageLayers.ts"

/**
 * The state of a control room, without any interface: the database, the master key, the bytes of files, and their
 * `Administration`. Fails with `MasterKeyError` when the key is missing or not that of the database, with `SqliteOpenError` when
 * another process uses the folder, with `BackupError` when a restore into the folder has not ended, and with `PostgresDriverError`
 * when `@effect/sql-pg` is not installed.
 *
 * ```ts
 * import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import * as NodeServer from "@signalbox/control-room/NodeServer"
 * import * as Server from "@signalbox/control-room/Server"
 * import * as Layer from "effect/Layer"
 *
 * export const served = Server.layer().pipe(
 *   Layer.provide(Server.layerStorage({ data: ".signalbox" })),
 *   Layer.provide(
 *     NodeHttpServer.layer(NodeServer.create, { port: 4700, host: "127.0.0.1" })
 *   ),
 *   Layer.provide(NodeServices.layer)
 * )
 * ```
 */
export const layerStorage: (
  options: StorageOptions
) => Layer.Layer<
  Storage | Administration | BlobStore,
  BackupError | MasterKeyError | MigrationError | PlatformError | PostgresDriverError | SqlError | SqliteOpenError,
  FileSystem.FileSystem | Path.Path
> = StorageLayers.layerStorage

/**
 * State in memory, lost when the layer is released: SQLite in memory, and files in memory behind a `FileSystem` that it
 * also provides to the service.
 */
export const layerMemory: Layer.Layer<
  Storage | Administration | BlobStore | FileSystem.FileSystem | Path.Path | Etag.Generator | HttpPlatform.HttpPlatform,
  MasterKeyError | MigrationError | PlatformError | PostgresDriverError | SqlError | SqliteOpenError
> = StorageLayers.layerMemory

/**
 * The whole service on the storage and the `HttpServer` of the context. Your own routes, added to the same router, are
 * served beside it. `Mounted` has the service under a path of another server.
 */
export const layer = (options: ServiceOptions = {}) => {
  checkService("Server.layer", options)
  return Layer.unwrap(
    Effect.map(Storage, (stored) =>
      HttpRouter.serve(Service.application(options), {
        disableLogger: true,
        disableListenLog: true,
        routerConfig: Edge.routerConfig
      }).pipe(
        Layer.provide(Hosts.layer(options.allowedHosts, options.internalUrl)),
        Layer.provide(ClientUrl.layer(options.internalUrl)),
        Layer.provide(Service.running(options)),
        Layer.provide(PublicUrl.layer(options.publicUrl)),
        Layer.provide(TargetGuard.layer(options.allowPrivateTargets)),
        Layer.provide(Service.settings),
        Layer.provide(Layer.succeedContext(stored))
      )
    )
  )
}
