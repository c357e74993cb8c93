/** `signalbox assistant`: runs assistants on this machine, for the person using it. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as NodeTransport from "@signalbox/transport/node"
import * as AssistantRunner from "@signalbox/worker/Assistant"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { join } from "node:path"
import { columns, connected, connectionFlags, print } from "../../connection/Connection.ts"
import * as EnvironmentSettings from "../../settings/Environments.ts"
import { flagsOf } from "../../settings/Setting.ts"
import { assistantNoun } from "../../resources/Assistants.ts"
import { find, listCommand } from "../../resources/Resource.ts"

/** The task of the assistant failed, or the service ended the run. */
export class AssistantFailed extends TaggedError<AssistantFailed>()("AssistantFailed", {
  message: Schema.String
}) {}

const run = Command.make(
  "run",
  {
    assistant: Argument.String("assistant").pipe(Argument.withDescription("The name or the id of an assistant")),
    output: Flag.String("output").pipe(Flag.withDescription("The folder for artifacts"), Flag.withDefault("output")),
    packages: Flag.String("packages").pipe(
      Flag.withDescription("The folder of unpacked task packages; may be shared with workers"),
      Flag.withDefault(".signalbox-worker/packages")
    ),
    ...connectionFlags,
    environments: flagsOf(EnvironmentSettings.environments)
  },
  Effect.fnUntraced(function* ({ assistant: name, data, environments, json, output, packages }) {
    // With --json standard output has the run only.
    const say = json ? Console.error : Console.log
    const program = Effect.gen(function* () {
      const { id } = yield* find(assistantNoun, name)
      const { error, run } = yield* AssistantRunner.run(id, {
        packagesFolder: packages,
        environmentsFolder: join(packages, "..", "environments"),
        environments: yield* EnvironmentSettings.read(environments),
        artifactsFolder: output,
        write: (lines) => (lines.length === 0 ? Effect.void : say(lines.join("\n")))
      })
      yield* print(json, run, (run) => columns([run.id, 36], [run.state, 11], [run.assistant.name, 0]))
      if (error !== null) return yield* new AssistantFailed({ message: `${error.code}: ${error.message}` })
    })
    return yield* program.pipe(connected(data), Effect.provide(NodeTransport.layer))
  })
).pipe(
  Command.withDescription(
    "Runs an assistant on this machine and reports the run. Exits with 0 when it succeeded, else with 1"
  ),
  Command.withExamples([
    {
      command: 'signalbox assistant run "monthly report"',
      description: "Print the output, and write artifacts to ./output"
    }
  ])
)

export const assistant = Command.make("assistant").pipe(
  Command.withDescription("Runs assistants on this machine"),
  Command.withSubcommands([run, listCommand(assistantNoun)])
)
