/**
 * `signalbox robot`: robots on this machine, without a control room.
 */
import * as Environments from "@signalbox/worker/Environments"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { join } from "node:path"
import * as EnvironmentSettings from "../../settings/Environments.ts"
import { flagsOf, read } from "../../settings/Setting.ts"
import { home } from "../../settings/Worker.ts"

const run = Command.make(
  "run",
  {
    folder: Argument.String("folder").pipe(Argument.withDescription("The folder with robot.yaml")),
    task: Flag.String("task").pipe(
      Flag.withDescription("The name of the task; may be left out when there is only one"),
      Flag.optional
    ),
    item: Flag.String("item").pipe(
      Flag.withDescription(
        'A JSON file: a list of work items, [{"payload": …, "files": {"name": "path"}}], or the payload of one; default: the input that the robot finds itself'
      ),
      Flag.optional
    ),
    home: flagsOf({ data: { ...home.data, description: "The folder of environments" } }),
    environments: flagsOf(EnvironmentSettings.environments)
  },
  Effect.fnUntraced(function* ({ folder, item, task, ...given }) {
    const { data } = yield* read(home, given.home)
    yield* Environments.runRobot(folder, {
      folder: join(data, "environments"),
      settings: yield* EnvironmentSettings.read(given.environments),
      write: (lines) => (lines.length === 0 ? Effect.void : Console.log(lines.join("\n"))),
      ...Option.match(task, { onNone: () => ({}), onSome: (task) => ({ task }) }),
      ...Option.match(item, { onNone: () => ({}), onSome: (item) => ({ item }) })
    })
  })
).pipe(
  Command.withDescription(
    "Runs a robot on this machine, in its environment, with work items from files. Exits with 0 when the task succeeds, else with 1"
  ),
  Command.withExamples([
    { command: "signalbox robot run robots/invoices", description: "Run the only task, with one empty item" },
    {
      command: "signalbox robot run robots/invoices --task Read --item invoice.json",
      description: "Run a task by name, with the payload in a file"
    }
  ])
)

export const robot = Command.make("robot").pipe(
  Command.withDescription("Runs robots on this machine, without a control room"),
  Command.withSubcommands([run])
)
