/** `signalbox packages`: task packages. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Packing from "@signalbox/task-package/Packing"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { connected, connectionFlags } from "../Connection.ts"
import { printFields } from "../Listing.ts"
import { deleteCommand, find, listCommand, nameArgument, type Noun, showCommand } from "./Noun.ts"

/** The path leads neither to a folder with a robot.yaml nor to a zip. */
export class ContentError extends TaggedError<ContentError>()("ContentError", { message: Schema.String }) {}

export const packageNoun: Noun<TaskPackages.TaskPackageSummary> = {
  one: "task package",
  many: "task packages",
  command: "packages",
  list: (only) => TaskPackages.stream({ limit: 500, ...only }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: { id: ({ id }) => id, type: ({ type }) => type, name: ({ name }) => name },
  first: "create one with `signalbox packages create`"
}

const contentArgument = Argument.String("path").pipe(
  Argument.withDescription("A folder with a robot.yaml, which is zipped, or a zip of one")
)

/** The zip to upload: the file itself, or that of a folder. */
const zipOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(
    fs.stat(path),
    () => new ContentError({ message: `cannot read ${path}: give a folder with a robot.yaml, or a zip of one` })
  )
  return info.type === "Directory" ? yield* Packing.pack(path) : path
})

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the package")),
    path: Argument.optional(contentArgument),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, name, path }) {
    const program = Effect.gen(function* () {
      const zip = Option.isNone(path) ? null : yield* zipOf(path.value)
      const { id } = yield* TaskPackages.create(name)
      if (zip !== null) yield* TaskPackages.upload(id, zip)
      return yield* TaskPackages.get(id)
    })
    yield* printFields(json, yield* connected(data)(Effect.scoped(program)))
  })
).pipe(
  Command.withDescription("Creates a task package, with its content when a path is given"),
  Command.withExamples([{ command: "signalbox packages create invoices robots/invoices", description: "Of a folder" }])
)

const upload = Command.make(
  "upload",
  { package: nameArgument(packageNoun), path: contentArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, package: given, path }) {
    const program = Effect.gen(function* () {
      const zip = yield* zipOf(path)
      const { id } = yield* find(packageNoun, given)
      yield* TaskPackages.upload(id, zip)
      return yield* TaskPackages.get(id)
    })
    yield* printFields(json, yield* connected(data)(Effect.scoped(program)))
  })
).pipe(
  Command.withDescription("Gives a task package new content"),
  Command.withExamples([{ command: "signalbox packages upload invoices invoices.zip", description: "From a zip" }])
)

export const packages = Command.make("packages").pipe(
  Command.withDescription("Lists, shows, creates, uploads and deletes task packages"),
  Command.withSubcommands([
    listCommand(packageNoun),
    showCommand(packageNoun, ({ id }) => TaskPackages.get(id)),
    create,
    upload,
    deleteCommand(packageNoun, ({ id }) => TaskPackages.remove(id))
  ])
)
