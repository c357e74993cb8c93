/**
 * `signalbox migrate`: brings the database to the newest schema. `up` does the same when it starts; this does it
 * separately.
 */
import * as Administration from "@signalbox/control-room/Administration"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { flagsOf } from "../../settings/Setting.ts"
import * as Storage from "../../settings/Storage.ts"

export const migrate = Command.make(
  "migrate",
  {
    storage: flagsOf(Storage.storage),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ json, storage }) {
    const result = yield* Administration.migrate(yield* Storage.read(storage))
    if (json) return yield* Console.log(JSON.stringify(result))
    for (const name of result.applied) yield* Console.log(`applied ${name}`)
    const done = result.applied.length === 0 ? "; already up to date" : ""
    yield* Console.log(`the schema is at ${result.schema}${done}`)
  })
).pipe(
  Command.withDescription("Migrates the database to the newest schema, like `up` at its start. Stop the service first"),
  Command.withExamples([
    {
      command: "signalbox migrate --data .signalbox",
      description: "Migrate the database and print the applied migrations"
    },
    {
      command: "SIGNALBOX_DATABASE_URL=postgres://... signalbox migrate",
      description: "Migrate Postgres before the nodes are updated"
    }
  ])
)
