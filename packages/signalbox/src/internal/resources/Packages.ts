/** `signalbox packages`: task packages. */
import * as Named from "@signalbox/api/Named"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as TaskPackage from "@signalbox/task-package/TaskPackage"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { type Columns, printFields, printList } from "../output/List.ts"
import { zipOf } from "../package/Content.ts"
import {
  deleteCommand,
  find,
  limitFlag,
  listCommand,
  nameArgument,
  NameError,
  type Noun,
  showCommand
} from "./Resource.ts"

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
  Argument.withDescription(
    "A folder with a robot.yaml, which is zipped, a zip of one, or a tasks file in TypeScript, which is packaged"
  )
)

const noteFlag = Flag.String("note").pipe(
  Flag.withDescription("The reason, shown in the list of versions"),
  Flag.withMetavar("TEXT"),
  Flag.optional
)

const noteOf = (note: Option.Option<string>) => (Option.isNone(note) ? {} : { note: note.value })

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
  Command.withExamples([
    { command: "signalbox packages create invoices robots/invoices", description: "Create a package from a folder" }
  ])
)

const upload = Command.make(
  "upload",
  {
    package: nameArgument(packageNoun),
    path: contentArgument,
    note: noteFlag,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, note, package: given, path }) {
    const program = Effect.gen(function* () {
      const zip = yield* zipOf(path)
      const { id } = yield* find(packageNoun, given)
      yield* TaskPackages.upload(id, zip, noteOf(note))
      return yield* TaskPackages.get(id)
    })
    yield* printFields(json, yield* connected(data)(Effect.scoped(program)))
  })
).pipe(
  Command.withDescription("Uploads the next version of a task package, and makes it current"),
  Command.withExamples([
    { command: "signalbox packages upload invoices invoices.zip", description: "Upload a zip" },
    {
      command: "signalbox packages upload invoices robots/invoices --note 'reads the new form'",
      description: "Upload a folder, with a note"
    }
  ])
)

/** Uploads the content unless it is that of the current version. */
const deliver = Effect.fnUntraced(function* (name: string, path: string, note: Option.Option<string>) {
  const zip = yield* zipOf(path)
  const { digest } = yield* TaskPackage.inspect(zip)
  const [known] = (yield* Named.find(packageNoun, name)).found
  const before = yield* known === undefined ? TaskPackages.create(name) : TaskPackages.get(known.id)
  const uploaded = before.current?.digest !== digest
  if (uploaded) yield* TaskPackages.upload(before.id, zip, noteOf(note))
  const { current, id, name: of } = uploaded ? yield* TaskPackages.get(before.id) : before
  return { id, name: of, version: current?.version ?? null, digest, uploaded }
})

const push = Command.make(
  "push",
  {
    package: Argument.String("task-package").pipe(
      Argument.withDescription("The name or the id of a task package; one of a new name is created")
    ),
    path: contentArgument,
    note: noteFlag,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, note, package: name, path }) {
    yield* printFields(json, yield* connected(data)(Effect.scoped(deliver(name, path, note))))
  })
).pipe(
  Command.withDescription("Creates a task package or its next version; unchanged content creates none"),
  Command.withExamples([
    {
      command: "signalbox packages push invoices robots/invoices --note 'reads the new form'",
      description: "Upload a folder, with a note"
    },
    { command: "signalbox packages push greetings tasks.ts", description: "Package and push tasks in TypeScript" }
  ])
)

const versionColumns: Columns<TaskPackages.TaskPackageVersionListed> = {
  version: ({ version }) => String(version),
  state: ({ state }) => state,
  "created at": ({ created_at }) => created_at,
  by: ({ created_by: by }) =>
    by === null ? "" : by.type === "commit" ? `${by.id.slice(0, 12)} ${by.name ?? ""}`.trimEnd() : (by.name ?? by.id),
  digest: ({ digest }) => digest.replace("sha256:", "").slice(0, 12),
  note: ({ note }) => note ?? ""
}

const versions = Command.make(
  "versions",
  { package: nameArgument(packageNoun), limit: limitFlag, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, limit, package: given }) {
    const program = Effect.gen(function* () {
      const { id } = yield* find(packageNoun, given)
      const all = TaskPackages.streamVersions(id, { limit: 100 })
      const found = Option.isNone(limit) ? all : Stream.take(all, limit.value)
      yield* printList(json, found, versionColumns, "No versions yet: upload one with `signalbox packages upload`")
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Lists the versions of a task package, newest first, with author, time and state"),
  Command.withExamples([{ command: "signalbox packages versions invoices", description: "By its name" }])
)

const promote = Command.make(
  "promote",
  {
    package: nameArgument(packageNoun),
    version: Argument.Int("version").pipe(Argument.withDescription("The number of the version, as in `versions`")),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, package: given, version }) {
    const promoted = Effect.flatMap(find(packageNoun, given), ({ id }) => TaskPackages.promote(id, version))
    yield* printFields(json, yield* connected(data)(promoted))
  })
).pipe(
  Command.withDescription(
    "Makes a version of a task package current; step runs in progress continue with their version"
  ),
  Command.withExamples([{ command: "signalbox packages promote invoices 7", description: "Make version 7 current" }])
)

const rollback = Command.make(
  "rollback",
  { package: nameArgument(packageNoun), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, package: given }) {
    const program = Effect.gen(function* () {
      const { id, name } = yield* find(packageNoun, given)
      const { current } = yield* TaskPackages.get(id)
      if (current === null)
        return yield* new NameError({ message: `the task package ${name} has no content to go back from` })
      return yield* TaskPackages.rollback(id, { from: current.version })
    })
    yield* printFields(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription(
    "Makes the previous version of a task package current; step runs in progress end after their current item"
  ),
  Command.withExamples([
    { command: "signalbox packages rollback invoices", description: "Roll back and print the current version" }
  ])
)

export const packages = Command.make("packages").pipe(
  Command.withDescription("Lists, shows, creates, pushes, rolls back and deletes task packages"),
  Command.withSubcommands([
    listCommand(packageNoun),
    showCommand(packageNoun, ({ id }) => TaskPackages.get(id)),
    create,
    upload,
    push,
    versions,
    promote,
    rollback,
    deleteCommand(packageNoun, ({ id }) => TaskPackages.remove(id))
  ])
)
