/** `signalbox config`: the settings of `up` with the given flags and environment. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { environments } from "../../settings/Environments.ts"
import { server } from "../../settings/Server.ts"
import { flagsOf } from "../../settings/Setting.ts"
import { show } from "../../settings/Show.ts"
import { table } from "../../text/Table.ts"

export const config = Command.make(
  "config",
  {
    settings: flagsOf(server),
    environments: flagsOf(environments),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print JSON, a line for each setting"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ environments, json, settings }) {
    const all = yield* show({ ...settings, ...environments })
    if (json) return yield* Effect.forEach(all, (setting) => Console.log(JSON.stringify(setting)), { discard: true })
    yield* Console.log(
      table(
        ["setting", "value", "from", "default", "description"],
        all.map(({ default: fallback, description, flag, source, value, variable }) => [
          [flag, variable].filter((name) => name !== null).join(", "),
          value,
          source,
          fallback,
          description
        ])
      )
    )
  })
).pipe(
  Command.withDescription("Shows every setting with its value and source: a flag, the environment or the default"),
  Command.withExamples([
    { command: "signalbox config", description: "Show the settings of `signalbox up` in this folder" },
    { command: "SIGNALBOX_PORT=8080 signalbox config --json", description: "Print JSON; secrets are never shown" }
  ])
)
