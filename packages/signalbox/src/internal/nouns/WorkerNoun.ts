/** `signalbox workers`: the workers that a workspace knows. */
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { connected, connectionFlags } from "../Connection.ts"
import { printFields } from "../Listing.ts"
import { deleteCommand, find, listCommand, nameArgument, type Noun, showCommand } from "./Noun.ts"

export const workerNoun: Noun<Workers.Worker> = {
  one: "worker",
  many: "workers",
  command: "workers",
  list: Workers.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: { id: ({ id }) => id, state: ({ state }) => state, name: ({ name }) => name },
  first: "link one with `signalbox worker link-token` and `signalbox worker start`"
}

const rename = Command.make(
  "rename",
  {
    worker: nameArgument(workerNoun),
    name: Argument.String("name").pipe(Argument.withDescription("Its new name")),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, name, worker }) {
    const renamed = Effect.flatMap(find(workerNoun, worker), ({ id }) => Workers.rename(id, name))
    yield* printFields(json, yield* connected(data)(renamed))
  })
).pipe(
  Command.withDescription("Renames a worker"),
  Command.withExamples([{ command: "signalbox workers rename local-1 desk", description: "Nothing else changes" }])
)

export const workers = Command.make("workers").pipe(
  Command.withDescription("Lists, shows, renames and deletes the workers of the workspace"),
  Command.withSubcommands([
    listCommand(workerNoun),
    showCommand(workerNoun, ({ id }) => Workers.get(id)),
    rename,
    deleteCommand(workerNoun, ({ id }) => Workers.remove(id))
  ])
)
