/** `signalbox assistant`: runs assistants on this machine, for the person using it. */
import * as NodeTransport from "@signalbox/transport/node"
import * as Assistants from "@signalbox/api/Assistants"
import { AssistantId } from "@signalbox/api/contract/Ids"
import * as AssistantRunner from "@signalbox/worker/Assistant"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { columns, connected, connectionFlags, print } from "../Connection.ts"

/** The task of the assistant failed, or the service ended the run. */
export class AssistantFailed extends Schema.TaggedError<AssistantFailed>()("AssistantFailed", {
  message: Schema.String
}) {}

/** No assistant has this name or id. */
export class NoSuchAssistant extends Schema.TaggedError<NoSuchAssistant>()("NoSuchAssistant", {
  message: Schema.String
}) {}

/** An assistant by its name, else by its id. */
const find = Effect.fnUntraced(function* (nameOrId: string) {
  const named = yield* Stream.runHead(Stream.filter(Assistants.stream({ limit: 500 }), ({ name }) => name === nameOrId))
  if (Option.isSome(named)) return named.value
  return yield* Assistants.get(AssistantId.make(nameOrId)).pipe(
    Effect.catchTag("NotFound", () =>
      Effect.fail(
        new NoSuchAssistant({
          message: `no assistant has the name or id ${nameOrId}; see \`signalbox assistant list\``
        })
      )
    )
  )
})

const run = Command.make(
  "run",
  {
    assistant: Argument.String("assistant").pipe(Argument.withDescription("The name or the id of an assistant")),
    output: Flag.String("output").pipe(
      Flag.withDescription("The folder for its artifacts"),
      Flag.withDefault("output")
    ),
    packages: Flag.String("packages").pipe(
      Flag.withDescription("The folder of unpacked task packages; workers may share it"),
      Flag.withDefault(".signalbox-worker/packages")
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ assistant: name, data, json, output, packages }) {
    // With --json standard output has the run only.
    const say = json ? Console.error : Console.log
    const program = Effect.gen(function* () {
      const { id } = yield* find(name)
      const { error, run } = yield* AssistantRunner.run(id, {
        packagesFolder: packages,
        artifactsFolder: output,
        write: (lines) => (lines.length === 0 ? Effect.void : say(lines.join("\n")))
      })
      yield* print(json, run, (run) => columns([run.id, 36], [run.state, 11], [run.assistant.name, 0]))
      if (error !== null) return yield* new AssistantFailed({ message: `${error.code}: ${error.message}` })
    })
    return yield* program.pipe(connected(data), Effect.provide(NodeTransport.layer))
  })
).pipe(
  Command.withDescription("Runs an assistant on this machine and reports it; exits with 0 when it succeeded, else 1"),
  Command.withExamples([
    {
      command: 'signalbox assistant run "monthly report"',
      description: "Its output is printed, its files are in output"
    }
  ])
)

const list = Command.make(
  "list",
  connectionFlags,
  Effect.fnUntraced(function* ({ data, json }) {
    yield* connected(data)(
      Stream.runForEach(Assistants.stream(), (found) =>
        print(json, found, ({ id, name }) => columns([id, 36], [name, 0]))
      )
    )
  })
).pipe(
  Command.withDescription("Lists assistants, the newest first"),
  Command.withExamples([{ command: "signalbox assistant list", description: "What can be run here" }])
)

export const assistant = Command.make("assistant").pipe(
  Command.withDescription("Runs assistants, tasks for the person at this machine"),
  Command.withSubcommands([run, list])
)
