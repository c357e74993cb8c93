/**
 * `signalbox vault`: the master key of the vault.
 */
import { DataKeys } from "@signalbox/control-room/vault/DataKeys"
import { replaceFile } from "@signalbox/control-room/vault/MasterKey"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Settings from "../Settings.ts"
import { keyFileOf, layerDataKeys } from "../Storage.ts"

/** The folder is not that of a control room. */
export class NoMasterKey extends Schema.TaggedError<NoMasterKey>()("NoMasterKey", { message: Schema.String }) {}

const rotateKey = Command.make(
  "rotate-key",
  {
    ...Settings.storageFlags,
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ json, ...given }) {
    const settings = yield* Settings.read(given)
    const file = keyFileOf(settings)
    if (!(yield* (yield* FileSystem.FileSystem).exists(file))) {
      return yield* new NoMasterKey({
        message: `there is no ${file}: give the folder of the control room with --data`
      })
    }
    const rotated = Effect.flatMap(DataKeys, ({ rewrap }) => replaceFile(file, rewrap))
    const rewrapped = yield* Effect.provide(rotated, layerDataKeys(settings))
    yield* Console.log(
      json
        ? JSON.stringify({ rewrapped, file })
        : [
            `${file} has a new key; ${rewrapped} data keys are wrapped under it`,
            "Back it up. Older backups of the database still need the old key.",
            "Download addresses, upload forms and cursors that were given out before no longer work."
          ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "Gives the vault a new master key, in `master.key` of the data folder. Stop the service first. Secrets stay as they are"
  ),
  Command.withExamples([{ command: "signalbox vault rotate-key --data .signalbox", description: "Safe to be killed" }])
)

export const vault = Command.make("vault").pipe(
  Command.withDescription("Changes the master key of the vault"),
  Command.withSubcommands([rotateKey])
)
