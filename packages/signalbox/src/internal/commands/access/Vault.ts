/** `signalbox vault`: the master key of the vault. */
import * as Administration from "@signalbox/control-room/Administration"
import type { StorageOptions } from "@signalbox/control-room/Options"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { flagsOf } from "../../settings/Setting.ts"
import * as Storage from "../../settings/Storage.ts"

/** Replaces the configured key by another one from the configuration. */
const rotateConfigured = Effect.fnUntraced(function* (options: StorageOptions) {
  const given = yield* Effect.mapError(
    Config.Redacted("SIGNALBOX_NEW_MASTER_KEY"),
    () =>
      new Administration.CannotRotate({
        message:
          "SIGNALBOX_NEW_MASTER_KEY: set it to the new key beside the old one in SIGNALBOX_MASTER_KEY; create it with `openssl rand -base64 32`, and keep a copy"
      })
  )
  return { rewrapped: yield* Administration.rotateMasterKey(options, given), key: "SIGNALBOX_NEW_MASTER_KEY" }
})

const rotateFile = (options: StorageOptions) =>
  Effect.map(Administration.rotateMasterKeyFile(options), ({ file, rewrapped }) => ({ rewrapped, key: file }))

const rotateKey = Command.make(
  "rotate-key",
  {
    storage: flagsOf(Storage.storage),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ json, storage }) {
    const options = yield* Storage.read(storage)
    const inFile = Administration.hasMasterKeyFile(options)
    const result = yield* inFile ? rotateFile(options) : rotateConfigured(options)
    if (json) return yield* Console.log(JSON.stringify(result))
    yield* Console.log(
      [
        `${result.rewrapped} data keys are wrapped under the new key, ${inFile ? `in ${result.key}` : "which is SIGNALBOX_MASTER_KEY from now on"}`,
        "Back it up. Older backups of the database still need the old key.",
        "Download addresses, upload forms and cursors issued earlier no longer work."
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "Replaces the master key of the vault, in `master.key` of the data folder or by SIGNALBOX_NEW_MASTER_KEY. Stop the service first"
  ),
  Command.withExamples([
    {
      command: "signalbox vault rotate-key --data .signalbox",
      description: "Generate a key; may be interrupted and run again"
    },
    {
      command: "SIGNALBOX_NEW_MASTER_KEY=$(cat new.key) signalbox vault rotate-key",
      description: "Use the given key, with SIGNALBOX_DATABASE_URL and SIGNALBOX_MASTER_KEY of the nodes"
    }
  ])
)

export const vault = Command.make("vault").pipe(
  Command.withDescription("Replaces the master key of the vault"),
  Command.withSubcommands([rotateKey])
)
