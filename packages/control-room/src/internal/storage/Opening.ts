/** Opens the storage of the options: the database with its tables, and the master key. */
import * as PostgresDriver from "@signalbox/sql/PostgresDriver"
import { direct, type PostgresDriverError, type PostgresOptions } from "@signalbox/sql/PostgresOptions"
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Folder from "@signalbox/transport/Folder"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type * as SqlClient from "effect/sql/SqlClient"
import type { MigrationError } from "effect/sql/Migrator"
import type { SqlError } from "effect/sql/SqlError"
import type { PlatformError } from "effect/PlatformError"
import { join } from "node:path"
import type { StorageOptions } from "../../Options.ts"
import { BlobHolds } from "../blobs/BlobHolds.ts"
import { isShard } from "../blobs/Shards.ts"
import { Database } from "../store/database/Database.ts"
import { AuditReading } from "../store/audit/AuditReading.ts"
import { Files } from "../store/files/Files.ts"
import { Integrity } from "../store/database/Integrity.ts"
import * as Nodes from "../store/room/Nodes.ts"
import { Notifier } from "../store/database/Notifier.ts"
import { MasterKey } from "../vault/MasterKey.ts"
import { BackupError } from "./Archive.ts"
import * as BlobStores from "./BlobStores.ts"
import * as DataFolder from "./DataFolder.ts"
import * as MasterKeyFile from "./MasterKeyFile.ts"

/** The name of the database in the data folder. */
export const databaseName = "control-room.db"

export const databaseFile = ({ data }: StorageOptions) => join(data, databaseName)

/** Who keeps blobs from being removed: in Postgres rows, with SQLite files, since only the service writes its database. */
export const layerHolds = ({
  data,
  database
}: StorageOptions): Layer.Layer<BlobHolds, never, Database | FileSystem.FileSystem | Path.Path> =>
  database === undefined ? BlobHolds.layerFolder(join(data, "backups")) : BlobHolds.layerRows

/** The path of the master key when it is a file. */
export const keyFile = ({ data }: StorageOptions) => join(data, MasterKeyFile.fileName)

/** Whether the master key is a file of the data folder. */
export const hasKeyFile = ({ database, masterKey }: StorageOptions) => database === undefined && masterKey === undefined

export const layerMasterKey = (options: StorageOptions) =>
  hasKeyFile(options) ? MasterKeyFile.layer(keyFile(options)) : MasterKey.layerText(options.masterKey)

/** The tables at the newest schema in an SQLite file, for one process. */
export const layerSqlite = (filename: string) =>
  Notifier.layerLocal.pipe(
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(Nodes.layerMigrated),
    Layer.provideMerge(SqliteClient.layer({ filename }))
  )

/** The tables at the newest schema in a schema of a Postgres, for any number of nodes. */
const layerPostgres = (options: NonNullable<StorageOptions["database"]>) =>
  Layer.unwrap(
    Effect.map(PostgresDriver.load, (postgres) =>
      Notifier.layerPostgres(options).pipe(
        Layer.provideMerge(Database.layer),
        Layer.provideMerge(Nodes.layerMigrated),
        Layer.provideMerge(postgres.layer(options))
      )
    )
  )

/** The tables at the newest schema, with the notifications between nodes. */
export const layerTables = (
  options: StorageOptions
): Layer.Layer<
  Database | Notifier | SqlClient.SqlClient,
  BackupError | MigrationError | PlatformError | PostgresDriverError | SqlError | SqliteClient.SqliteOpenError,
  FileSystem.FileSystem
> =>
  options.database === undefined
    ? Layer.provideMerge(layerSqlite(databaseFile(options)), Layer.effectDiscard(refuseLost(options)))
    : Layer.provideMerge(layerPostgres(options.database), Layer.effectDiscard(refuseRestoring(options)))

/** Refuses a folder into which a restore was killed, or still writes: a new room there would be empty. */
const refuseRestoring = Effect.fnUntraced(function* ({ data }: StorageOptions) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(DataFolder.restoring(data)))) return
  const message = `a restore into ${data} has not ended: wait for it or, if it was stopped, restore the backup into another folder. Nothing was changed`
  return yield* new BackupError({ message })
})

/** Refuses a folder whose database is gone while files are there: a new one would name none of them. */
const refuseLost = Effect.fnUntraced(function* (options: StorageOptions) {
  const fs = yield* FileSystem.FileSystem
  const [filename, files] = [databaseFile(options), BlobStores.folderOf(options)]
  // The last that a restore writes.
  if ((yield* fs.exists(filename)) && (yield* fs.stat(filename)).size > 0n) return
  yield* refuseRestoring(options)
  const shards = (yield* fs.exists(files)) ? yield* fs.readDirectory(files) : []
  for (const shard of shards.filter(isShard)) {
    if ((yield* fs.readDirectory(join(files, shard))).length === 0) continue
    const message = `${filename} is missing or empty, and ${files} has files of a control room: put the database back, or restore a backup into another folder. Nothing was changed`
    return yield* new SqliteClient.SqliteOpenError({ filename, message })
  }
})

type Client<R> = Layer.Layer<
  SqlClient.SqlClient,
  SqlError | SqliteClient.SqliteOpenError | PlatformError | PostgresDriverError,
  R
>

/** A Postgres: through a connection pooler only for the service, which has short transactions. */
export const layerDatabase = (database: PostgresOptions) =>
  Layer.unwrap(Effect.map(PostgresDriver.load, (postgres) => postgres.layer(database)))

/** The database without migration; fails while another process has the folder of an SQLite one open. */
export const layerClient = (options: StorageOptions): Client<FileSystem.FileSystem> => {
  const { data, database } = options
  if (database !== undefined) return layerDatabase(direct(database))
  const folder = Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* Folder.check(data)
    yield* fs.makeDirectory(data, { recursive: true, mode: 0o700 })
  })
  return Layer.provideMerge(SqliteClient.layer({ filename: databaseFile(options) }), Layer.effectDiscard(folder))
}

/** The database as it is, for what runs beside the service: an SQLite one is only read. */
export const layerBeside = (options: StorageOptions): Client<never> => {
  const { database } = options
  return database === undefined
    ? SqliteClient.layerReadOnly({ filename: databaseFile(options) })
    : layerDatabase(direct(database))
}

/** The database for a check, which may run while the service does. */
export const layerReading = (options: StorageOptions) =>
  Layer.mergeAll(Integrity.layer, Files.layer, AuditReading.layer).pipe(
    Layer.provideMerge(Database.layer),
    Layer.provide(layerBeside(options))
  )
