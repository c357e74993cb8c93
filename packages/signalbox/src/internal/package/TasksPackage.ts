/** Makes a task package of a tasks file: a zip that a worker runs as it runs robots in Python. */
import * as Packing from "@signalbox/task-package/Packing"
import * as TaskPackage from "@signalbox/task-package/TaskPackage"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { basename, dirname, join } from "node:path"
import * as TasksFile from "../files/TasksFile.ts"
import * as Bundle from "./Bundle.ts"
import * as Licenses from "./Licenses.ts"
import * as Manifests from "./Manifests.ts"
import * as Native from "./Native.ts"
import * as NodeVersion from "./NodeVersion.ts"
import { TasksPackageError } from "./TasksPackageError.ts"

/** A zip and what is in it. */
export interface TasksPackage {
  /** A file that exists as long as the scope. */
  readonly zip: string
  /** What its project is called, else its folder. */
  readonly name: string
  /** The names of the tasks, in the order of the file. */
  readonly tasks: ReadonlyArray<string>
  /** `sha256:` and the SHA-256 of the zip in hexadecimal. */
  readonly digest: string
  /** Bytes of the zip. */
  readonly size: number
  /** The range of versions of Node that it runs on. */
  readonly node: string
  readonly packages: ReadonlyArray<Licenses.Bundled>
}

/** The names of the tasks of a file, each once. */
const namesOf = Effect.fnUntraced(function* (file: string) {
  const names = (yield* TasksFile.load(file, undefined, "")).map(({ name }) => name)
  if (names.length === 0) {
    return yield* new TasksPackageError({ message: `${file} has no tasks; add one to the array \`tasks\`` })
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return names
  return yield* new TasksPackageError({
    message: `${file} has two tasks named ${JSON.stringify(twice)}; give each a unique name`
  })
})

/** JSON is YAML, with no name that would need quotes. */
const robotYaml = (names: ReadonlyArray<string>) =>
  [
    "tasks:",
    ...names.map((name) => `  ${JSON.stringify(name)}:\n    command: ${JSON.stringify(["node", "robot.mjs", name])}`),
    "artifactsDir: output",
    ""
  ].join("\n")

const refuseNative = (file: string, { name, part }: Native.NativePart) =>
  new TasksPackageError({
    message: `cannot package ${file}: ${name} has a native part (${part}), which runs only on machines like this one; use a package without it, or start a worker with \`signalbox worker start --tasks ${file}\` where it is installed`
  })

const write = Effect.fnUntraced(function* (zip: string, files: Readonly<Record<string, string>>) {
  const fs = yield* FileSystem.FileSystem
  const entries = Object.entries(files).map(([name, text]) => {
    const bytes = new TextEncoder().encode(text)
    return { name, size: bytes.length, mode: 0o644, body: Stream.make(bytes) }
  })
  yield* Stream.fromIterable(entries).pipe(Packing.encode, Stream.run(fs.sink(zip)))
})

/**
 * Loads and checks a tasks file, bundles it with what it imports, and zips that with a `robot.yaml` that has a command for each task.
 * The same sources and versions give the same bytes on every machine.
 *
 * Fails with `TasksError` for a file that is no tasks file, and with `TasksPackageError` for one that cannot be packaged.
 */
export const make = Effect.fn("TasksPackage.make")(
  function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    const tasks = yield* namesOf(path)
    const file = yield* fs.realPath(path)
    const project = yield* Manifests.projectOf(file)
    const root = project?.folder ?? dirname(file)
    const bundle = yield* Bundle.make(file, root)
    const packages = yield* Licenses.packagesOf(bundle.modules, root)
    const [compiled] = bundle.native
    const native = yield* compiled === undefined
      ? Native.ofPackages(packages.map(({ owner }) => owner))
      : Native.ofFile(compiled)
    if (native !== null) return yield* refuseNative(path, native)
    const node = NodeVersion.neededBy(project?.manifest ?? {})
    const range = `>=${node.join(".")}`
    const name = (project?.manifest.name ?? basename(root)).replace(/^@[^/]*\//, "")
    const zip = join(yield* fs.makeTempDirectoryScoped({ prefix: "signalbox-" }), `${name}.zip`)
    yield* write(zip, {
      LICENSES: yield* Licenses.textOf(packages),
      "package.json": `${JSON.stringify({ private: true, type: "module", engines: { node: range } }, null, 2)}\n`,
      "robot.mjs": NodeVersion.guard(node, "./tasks.mjs"),
      "robot.yaml": robotYaml(tasks),
      "tasks.mjs": bundle.code
    })
    const { digest } = yield* TaskPackage.inspect(zip)
    const { size } = yield* fs.stat(zip)
    return { zip, name, tasks, digest, size: Number(size), node: range, packages } satisfies TasksPackage
  },
  (effect, path) =>
    Effect.catchTag(effect, ["InvalidRobotYaml", "InvalidZip", "ZipError"], (error) =>
      Effect.fail(new TasksPackageError({ message: `cannot package ${path}: ${error.message}` }))
    )
)
