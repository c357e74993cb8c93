/** `signalbox backup` and `restore`: a room as one file, and back. */
import * as Administration from "@signalbox/control-room/Administration"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { resolve } from "node:path"
import { flagsOf } from "../../settings/Setting.ts"
import * as Storage from "../../settings/Storage.ts"

const json = Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))

const keyOf = (database: "sqlite" | "postgres", data: string) =>
  database === "sqlite" ? `${data}/master.key` : "SIGNALBOX_MASTER_KEY"

export const backup = Command.make(
  "backup",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("The archive to write")),
    storage: flagsOf(Storage.storage),
    force: Flag.Boolean("force").pipe(Flag.withDescription("Replace FILE when it exists"), Flag.withDefault(false)),
    json
  },
  Effect.fnUntraced(function* ({ file, force, json, storage }) {
    const options = yield* Storage.read(storage)
    const made = yield* Administration.backup({ ...options, file: resolve(file), force })
    for (const blob of made.missing) {
      yield* Console.error(
        `signalbox: the bytes of a file are missing (${blob}): find the file with \`signalbox check\``
      )
    }
    if (json) return yield* Console.log(JSON.stringify(made))
    yield* Console.log(
      [
        `${made.file}: the database and ${made.files} files, ${made.bytes} bytes`,
        "It contains payloads, files and sealed secrets: restrict access to it.",
        `It does not contain the master key, which is needed to open secrets: back up ${keyOf(made.database, options.data)} separately.`
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "Writes the database and all files to one archive, with mode 0600; the service may run. Runs pg_dump on Postgres. No file is deleted until the backup has ended"
  ),
  Command.withExamples([
    {
      command: "signalbox backup room.backup --data .signalbox",
      description: "Back up a data folder; the service may run"
    },
    {
      command: "SIGNALBOX_DATABASE_URL=postgres://... signalbox backup room.backup",
      description: "Back up Postgres, with SIGNALBOX_DATA of the nodes; the password is not passed as an argument"
    }
  ])
)

const sinceUse = (what: string, at: string | null) => (at === null ? `never ${what}` : `last ${what} ${at}`)

export const restore = Command.make(
  "restore",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("The archive of a backup")),
    storage: flagsOf(Storage.storage),
    json
  },
  Effect.fnUntraced(function* ({ file, json, storage }) {
    const options = yield* Storage.read(storage)
    const restored = yield* Administration.restore({ ...options, file: resolve(file) })
    if (json) return yield* Console.log(JSON.stringify({ ...restored, paused: true }))
    const key = keyOf(restored.database, options.data)
    yield* Console.log(
      [
        `Restored the backup of ${restored.created_at}, with ${restored.files} files.`,
        ...(restored.needs_master_key ? [`Copy the master key of the original room to: ${key}`] : []),
        ...(restored.keys.length === 0
          ? []
          : [
              "These API keys are valid again, including those revoked since the backup (`signalbox keys revoke ID`):",
              ...restored.keys.map(
                ({ created_at, id, last_used_at, name, workspace }) =>
                  `  ${id}  ${name}, of ${workspace}, created ${created_at}, ${sinceUse("used", last_used_at)}`
              )
            ]),
        ...(restored.accounts.length === 0
          ? []
          : [
              "These accounts are as they were, including those disabled or removed since the backup (`signalbox users disable LOGIN`):",
              ...restored.accounts.map(
                ({ created_at, disabled, last_sign_in_at, login, manages_room }) =>
                  `  ${login}${manages_room ? ", operates the room" : ""}${disabled ? ", disabled" : ""}, created ${created_at}, ${sinceUse("signed in", last_sign_in_at)}`
              )
            ]),
        `Run \`signalbox check\`, then start the control room. It is paused: no work is assigned and nothing is sent until \`signalbox resume\`.`
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "Restores a backup into an empty data folder and, on Postgres, an empty database. The room is paused until `signalbox resume`"
  ),
  Command.withExamples([
    { command: "signalbox restore room.backup --data restored", description: "Restore into a new folder" },
    {
      command: "SIGNALBOX_DATABASE_URL=postgres://... signalbox restore room.backup --data restored",
      description: "Restore the backup of a room on Postgres"
    }
  ])
)
