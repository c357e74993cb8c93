/** `signalbox groups`: worker groups, and who is in them. */
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { printFields } from "../output/List.ts"
import { pauseCommands, pausedText } from "./Pausing.ts"
import { deleteCommand, find, listCommand, nameArgument, type Noun, showCommand } from "./Resource.ts"
import { workerNoun } from "./Workers.ts"

export const groupNoun: Noun<WorkerGroups.WorkerGroup> = {
  one: "worker group",
  many: "worker groups",
  command: "groups",
  list: (only) => WorkerGroups.stream({ limit: 500, ...only }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: { id: ({ id }) => id, name: ({ name }) => name, paused: ({ paused }) => pausedText(paused) },
  first: "create one with `signalbox groups create`"
}

const newName = Argument.String("name").pipe(Argument.withDescription("The name of the group"))

const create = Command.make(
  "create",
  { name: newName, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, name }) {
    yield* printFields(json, yield* connected(data)(WorkerGroups.create(name)))
  })
).pipe(
  Command.withDescription("Creates a worker group"),
  Command.withExamples([
    { command: "signalbox groups create linux", description: "Create a group for steps to run on" }
  ])
)

const rename = Command.make(
  "rename",
  { group: nameArgument(groupNoun), name: newName, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, group, json, name }) {
    const renamed = Effect.flatMap(find(groupNoun, group), ({ id }) => WorkerGroups.rename(id, name))
    yield* printFields(json, yield* connected(data)(renamed))
  })
).pipe(
  Command.withDescription("Renames a worker group"),
  Command.withExamples([
    { command: "signalbox groups rename windows desktops", description: "Rename a group; steps stay bound to it" }
  ])
)

const memberships = {
  add: { apply: WorkerGroups.addWorker, description: "Adds a worker to a group" },
  remove: {
    apply: WorkerGroups.removeWorker,
    description: "Removes a worker from a group; the worker itself is not deleted"
  }
} as const

const membership = (name: keyof typeof memberships) => {
  const { apply, description } = memberships[name]
  return Command.make(
    name,
    { group: nameArgument(groupNoun), worker: nameArgument(workerNoun), ...connectionFlags },
    Effect.fnUntraced(function* ({ data, group, json, worker }) {
      const program = Effect.gen(function* () {
        const found = yield* Effect.all([find(groupNoun, group), find(workerNoun, worker)])
        return yield* apply(found[0].id, found[1].id)
      })
      yield* printFields(json, yield* connected(data)(program))
    })
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      { command: `signalbox groups ${name} linux local-1`, description: "Name the group and the worker, by name or id" }
    ])
  )
}

export const groups = Command.make("groups").pipe(
  Command.withDescription(
    "Lists, shows, creates, renames, pauses and deletes worker groups, and changes their members"
  ),
  Command.withSubcommands([
    listCommand(groupNoun),
    showCommand(groupNoun, ({ id }) => WorkerGroups.get(id)),
    create,
    rename,
    membership("add"),
    membership("remove"),
    ...pauseCommands(
      groupNoun,
      { pause: ({ id }, options) => WorkerGroups.pause(id, options), resume: ({ id }) => WorkerGroups.resume(id) },
      false
    ),
    deleteCommand(groupNoun, ({ id }) => WorkerGroups.remove(id))
  ])
)
