/** `signalbox assistants`: what people can run; `signalbox assistant run` runs one here. */
import * as Assistants from "@signalbox/api/Assistants"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { type Columns, printFields, printList } from "../output/List.ts"
import { find, limitFlag, listCommand, type Noun, showCommand } from "./Resource.ts"
import { packageNoun } from "./Packages.ts"

export const assistantNoun: Noun<Assistants.Assistant> = {
  one: "assistant",
  many: "assistants",
  command: "assistants",
  list: () => Assistants.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: { id: ({ id }) => id, name: ({ name }) => name, task: ({ task }) => task.name },
  first: "create one with `signalbox assistants create`"
}

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the assistant")),
    package: Flag.String("package").pipe(Flag.withDescription("The task package, by name or id")),
    task: Flag.String("task").pipe(Flag.withDescription("The task of the package")),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, name, package: given, task }) {
    const created = Effect.flatMap(find(packageNoun, given), ({ id }) =>
      Assistants.create({ name, task, taskPackage: id })
    )
    yield* printFields(json, yield* connected(data)(created))
  })
).pipe(
  Command.withDescription("Creates an assistant from a task of a package"),
  Command.withExamples([
    {
      command: 'signalbox assistants create reader --package invoices --task "Read orders"',
      description: "Create an assistant"
    }
  ])
)

const runColumns: Columns<Assistants.AssistantRun> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  assistant: ({ assistant }) => assistant.name,
  "started at": ({ started_at }) => started_at
}

const runs = Command.make(
  "runs",
  {
    assistant: Flag.String("assistant").pipe(
      Flag.withDescription("Only runs of this assistant, by name or id"),
      Flag.optional
    ),
    limit: limitFlag,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ assistant, data, json, limit }) {
    const program = Effect.gen(function* () {
      const only = Option.isNone(assistant) ? {} : { assistant: (yield* find(assistantNoun, assistant.value)).id }
      const all = Assistants.streamRuns(only)
      const found = Option.isNone(limit) ? all : Stream.take(all, limit.value)
      yield* printList(json, found, runColumns, "No runs yet: start one with `signalbox assistant run`")
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Lists the runs of assistants, newest first"),
  Command.withExamples([
    { command: "signalbox assistants runs --assistant reader", description: "List the runs of one assistant" }
  ])
)

export const assistants = Command.make("assistants").pipe(
  Command.withDescription("Lists, shows and creates assistants, and lists their runs"),
  Command.withSubcommands([
    listCommand(assistantNoun),
    showCommand(assistantNoun, ({ id }) => Assistants.get(id)),
    create,
    runs
  ])
)
