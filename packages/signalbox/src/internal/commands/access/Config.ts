/** `signalbox config`: the settings of `up` with the given flags and environment. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Settings from "../../settings/Settings.ts"
import { table } from "../../text/Table.ts"

export const config = Command.make(
  "config",
  {
    ...Settings.flags,
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print JSON, a line for each setting"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ json, ...given }) {
    const settings = yield* Settings.show(given)
    if (json)
      return yield* Effect.forEach(settings, (setting) => Console.log(JSON.stringify(setting)), { discard: true })
    yield* Console.log(
      table(
        ["setting", "value", "from", "default", "what it is"],
        settings.map(({ default: fallback, description, flag, source, value, variable }) => [
          flag === null ? variable : `${flag}, ${variable}`,
          value,
          source,
          fallback,
          description
        ])
      )
    )
  })
).pipe(
  Command.withDescription(
    "Shows every setting, its value and where it comes from: a flag, the environment or its default"
  ),
  Command.withExamples([
    { command: "signalbox config", description: "The settings of `signalbox up` here" },
    { command: "SIGNALBOX_PORT=8080 signalbox config --json", description: "For programs; secrets are never shown" }
  ])
)
