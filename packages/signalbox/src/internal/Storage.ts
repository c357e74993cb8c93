/**
 * The storage without the service: for commands that change it while nothing else has it open.
 */
import { Database } from "@signalbox/control-room/store/Database"
import { Files } from "@signalbox/control-room/store/Files"
import { Integrity } from "@signalbox/control-room/store/Integrity"
import * as Migrations from "@signalbox/control-room/store/Migrations"
import * as Postgres from "@signalbox/sql/PostgresClient"
import { DataKeys } from "@signalbox/control-room/vault/DataKeys"
import { MasterKey } from "@signalbox/control-room/vault/MasterKey"
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type { PlatformError } from "effect/PlatformError"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { join } from "node:path"
import * as Settings from "./Settings.ts"

const sqlite = (data: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      yield* (yield* FileSystem.FileSystem).makeDirectory(data, { recursive: true, mode: 0o700 })
      return SqliteClient.layer({ filename: join(data, "control-room.db") })
    })
  )

/** Connects to the database of the settings; fails while another process has the folder of an SQLite one open. */
export const layerSql = (
  settings: Settings.Settings
): Layer.Layer<SqlClient.SqlClient, SqlError | SqliteClient.SqliteOpenError | PlatformError, FileSystem.FileSystem> => {
  const { data, database } = Settings.storageOptions(settings)
  return database === undefined ? sqlite(data) : Postgres.layer(database)
}

/** As `layerSql`, to read from while the service may be running. */
export const layerReading = (settings: Settings.Settings) => {
  const { data, database } = Settings.storageOptions(settings)
  const sql: Layer.Layer<SqlClient.SqlClient, SqlError | SqliteClient.SqliteOpenError> =
    database === undefined
      ? SqliteClient.layerReadOnly({ filename: join(data, "control-room.db") })
      : Postgres.layer(database)
  return Layer.mergeAll(Integrity.layer, Files.layer).pipe(Layer.provide(Database.layer), Layer.provide(sql))
}

export const keyFileOf = (settings: Settings.Settings) => join(settings.data, "master.key")

/** Whether the master key is in a file of the data folder. */
export const hasKeyFile = ({ databaseUrl, masterKey }: Settings.Settings) => databaseUrl === null && masterKey === null

/** The keys of the vault, at the newest schema. */
export const layerDataKeys = (settings: Settings.Settings) => {
  const { masterKey } = Settings.storageOptions(settings)
  return DataKeys.layer.pipe(
    Layer.provide(hasKeyFile(settings) ? MasterKey.layerFile(keyFileOf(settings)) : MasterKey.layerText(masterKey)),
    Layer.provideMerge(Database.layer),
    Layer.provide(Migrations.layer),
    Layer.provide(layerSql(settings))
  )
}
