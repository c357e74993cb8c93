/** `signalbox package`: a task package of a tasks file. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connectionFlags } from "../../connection/Connection.ts"
import { printFields } from "../../output/List.ts"
import { TasksPackageError } from "../../package/TasksPackageError.ts"
import * as TasksPackage from "../../package/TasksPackage.ts"

const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1000)} kB`

export const packageTasks = Command.make(
  "package",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("A TypeScript or JavaScript file that exports `tasks`"),
      Argument.withDefault("tasks.ts")
    ),
    out: Flag.String("out").pipe(
      Flag.withDescription("Where to write the zip; default: the name of the project with .zip"),
      Flag.withMetavar("FILE"),
      Flag.optional
    ),
    json: connectionFlags.json
  },
  Effect.fnUntraced(function* ({ file, json, out }) {
    const fs = yield* FileSystem.FileSystem
    const { digest, name, node, packages, size, tasks, zip } = yield* TasksPackage.make(file)
    const target = Option.getOrElse(out, () => `${name}.zip`)
    yield* Effect.mapError(
      fs.copyFile(zip, target),
      ({ message }) => new TasksPackageError({ message: `--out: cannot write ${target}: ${message}; check the path` })
    )
    if (json) {
      const listed = packages.map(({ license, name, version }) => ({ name, version, license }))
      return yield* Console.log(JSON.stringify({ file: target, tasks, size, digest, node, packages: listed }))
    }
    yield* printFields(false, { file: target, tasks, size: kilobytes(size), digest, node, packages: packages.length })
    const unstated = packages.filter(({ license }) => license === null)
    if (unstated.length > 0) {
      const names = unstated.map(({ name, version }) => `${name} ${version}`).join(", ")
      yield* Console.error(`No licence is stated by ${names}: review it before you deliver the package`)
    }
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Builds a task package from a tasks file: bundled, with the licences of its dependencies. The same sources give the same digest"
  ),
  Command.withExamples([
    { command: "signalbox package", description: "Package tasks.ts into NAME.zip, with the name of package.json" },
    { command: "signalbox package src/tasks.ts --out invoices.zip", description: "Package another file" },
    { command: "signalbox package --json", description: "Print one line of JSON with tasks, digest and licences" }
  ])
)
