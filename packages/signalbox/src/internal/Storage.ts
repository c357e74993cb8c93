/**
 * The storage without the service: for commands that change it while nothing else has it open.
 */
import { Database } from "@signalbox/control-room/store/Database"
import * as Migrations from "@signalbox/control-room/store/Migrations"
import { DataKeys } from "@signalbox/control-room/vault/DataKeys"
import { MasterKey } from "@signalbox/control-room/vault/MasterKey"
import * as SqliteClient from "@signalbox/sqlite/SqliteClient"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Settings from "./Settings.ts"

/** Connects to the database of the settings; fails while another process has its folder open. */
export const layerSql = (settings: Settings.Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { data } = yield* Settings.storageOptions(settings)
      yield* (yield* FileSystem.FileSystem).makeDirectory(data, { recursive: true, mode: 0o700 })
      return SqliteClient.layer({ filename: join(data, "control-room.db") })
    })
  )

export const keyFileOf = (settings: Settings.Settings) => join(settings.data, "master.key")

/** The keys of the vault, at the newest schema. */
export const layerDataKeys = (settings: Settings.Settings) =>
  DataKeys.layer.pipe(
    Layer.provide(MasterKey.layerFile(keyFileOf(settings))),
    Layer.provideMerge(Database.layer),
    Layer.provide(Migrations.layer),
    Layer.provide(layerSql(settings))
  )
