/** `signalbox compact`: gives the space of deleted rows back to the disk. */
import * as Administration from "@signalbox/control-room/Administration"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { flagsOf } from "../../settings/Setting.ts"
import * as Storage from "../../settings/Storage.ts"

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

export const compact = Command.make(
  "compact",
  {
    storage: flagsOf(Storage.storage),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ json, storage }) {
    const result = yield* Administration.compact(yield* Storage.read(storage))
    if (json) return yield* Console.log(JSON.stringify(result))
    yield* Console.log(`compacted the database from ${megabytes(result.before)} to ${megabytes(result.after)}`)
  })
).pipe(
  Command.withDescription(
    "Rewrites an SQLite database without the space of deleted rows, which databases of older versions retain. Stop the service first"
  ),
  Command.withExamples([
    {
      command: "signalbox compact --data .signalbox",
      description: "Compact the database; needs free space for a copy, and may be interrupted and run again"
    }
  ])
)
