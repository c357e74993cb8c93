/**
 * `signalbox vault`: the master key of the vault.
 */
import { Database } from "@signalbox/control-room/store/Database"
import { channelOf } from "@signalbox/control-room/store/Notices"
import { DataKeys } from "@signalbox/control-room/vault/DataKeys"
import { MasterKey, replaceFile } from "@signalbox/control-room/vault/MasterKey"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Settings from "../Settings.ts"
import { hasKeyFile, keyFileOf, layerDataKeys } from "../Storage.ts"

/** The key cannot be changed now, or not here. */
export class CannotRotate extends Schema.TaggedError<CannotRotate>()("CannotRotate", { message: Schema.String }) {}

/** The key of a data folder; the new one is made here. */
const rotateFile = Effect.fnUntraced(function* (settings: Settings.Settings) {
  const file = keyFileOf(settings)
  if (!(yield* (yield* FileSystem.FileSystem).exists(file))) {
    return yield* new CannotRotate({
      message: `there is no ${file}: give the folder of the control room with --data`
    })
  }
  const rotated = Effect.flatMap(DataKeys, ({ rewrap }) => replaceFile(file, rewrap))
  return { rewrapped: yield* Effect.provide(rotated, layerDataKeys(settings)), key: file }
})

/** Each node listens to the others. One that still had the old key would seal under it what nothing opens later. */
const noNodes = Effect.gen(function* () {
  const { sql } = yield* Database
  const [nodes] = yield* sql.onDialectOrElse({
    pg: () => sql<{ readonly n: number }>`SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'signalbox' AND query = ${`LISTEN "${channelOf()}"`}`,
    orElse: () => Effect.succeed([{ n: 0 }])
  })
  if ((nodes?.n ?? 0) > 0) {
    return yield* new CannotRotate({ message: `${nodes?.n} nodes use this database: stop them first` })
  }
})

/** The key of the configuration; the new one comes from there too. */
const rotateConfigured = Effect.fnUntraced(function* (settings: Settings.Settings) {
  const given = yield* Effect.mapError(
    Config.Redacted("SIGNALBOX_NEW_MASTER_KEY"),
    () =>
      new CannotRotate({
        message:
          "SIGNALBOX_NEW_MASTER_KEY: set it to the new key beside the old one in SIGNALBOX_MASTER_KEY; make it with `openssl rand -base64 32`, and keep a copy"
      })
  )
  const next = yield* MasterKey.fromText(given)
  const rotated = Effect.andThen(
    noNodes,
    Effect.flatMap(DataKeys, ({ rewrap }) => rewrap(next))
  )
  const rewrapped = yield* Effect.provide(rotated, layerDataKeys(settings))
  return { rewrapped, key: "SIGNALBOX_NEW_MASTER_KEY" }
})

const rotateKey = Command.make(
  "rotate-key",
  {
    ...Settings.storageFlags,
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ json, ...given }) {
    const settings = yield* Settings.read(given)
    const inFile = hasKeyFile(settings)
    const result = yield* inFile ? rotateFile(settings) : rotateConfigured(settings)
    if (json) return yield* Console.log(JSON.stringify(result))
    yield* Console.log(
      [
        `${result.rewrapped} data keys are wrapped under the new key, ${inFile ? `in ${result.key}` : "which is SIGNALBOX_MASTER_KEY from now on"}`,
        "Back it up. Older backups of the database still need the old key.",
        "Download addresses, upload forms and cursors that were given out before no longer work."
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "Gives the vault a new master key, in `master.key` of the data folder or from SIGNALBOX_NEW_MASTER_KEY. Stop the service first"
  ),
  Command.withExamples([
    {
      command: "signalbox vault rotate-key --data .signalbox",
      description: "A key of its own making; safe to be killed"
    },
    {
      command: "SIGNALBOX_NEW_MASTER_KEY=$(cat new.key) signalbox vault rotate-key",
      description: "With SIGNALBOX_DATABASE_URL and SIGNALBOX_MASTER_KEY as the nodes have them"
    }
  ])
)

export const vault = Command.make("vault").pipe(
  Command.withDescription("Changes the master key of the vault"),
  Command.withSubcommands([rotateKey])
)
