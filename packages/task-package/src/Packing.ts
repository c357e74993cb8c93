/** Packs task packages reproducibly: the same files give the same bytes, wherever and whenever they are packed. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Zip from "effect/encoding/Zip"
import ignore, { type Ignore } from "ignore"
import { basename, join, sep } from "node:path"
import { ignoreFilesOf } from "./RobotYaml.ts"

/** A folder cannot be packed as a task package. The message names the file and the remedy. */
export class PackingError extends Schema.TaggedError<PackingError>()("PackingError", { message: Schema.String }) {}

/** A file of a package. */
export interface PackageFile<E = never, R = never> {
  /** Its path inside the package, with slashes. */
  readonly name: string
  /** In bytes; the body must have as many. */
  readonly size: number
  /** Its mode; only whether its owner may execute it is preserved. */
  readonly mode: number
  readonly body: Stream.Stream<Uint8Array, E, R>
}

/**
 * Zips files in the order of the stream. All get the earliest time that a zip can express.
 *
 * The stream fails with `ZipError` when a name cannot be in a zip, or a body has another size than declared.
 *
 * ```ts
 * import * as Packing from "@signalbox/task-package/Packing"
 * import * as Stream from "effect/Stream"
 *
 * const robotYaml = new TextEncoder().encode(
 *   "tasks: { Read: { shell: python tasks.py } }"
 * )
 *
 * export const zip = Stream.make({
 *   name: "robot.yaml",
 *   size: robotYaml.length,
 *   mode: 0o644,
 *   body: Stream.make(robotYaml)
 * }).pipe(Packing.encode)
 * ```
 */
export const encode = <E, R, E2, R2>(files: Stream.Stream<PackageFile<E, R>, E2, R2>) =>
  files.pipe(
    Stream.map(({ body, mode, name, size }) =>
      Zip.fileStream(name, body, { size, mode: (mode & 0o100) === 0 ? 0o644 : 0o755 })
    ),
    Stream.pipeThroughChannel(Zip.encode())
  )

interface Found {
  readonly name: string
  readonly info: FileSystem.File.Info
}

/** Builds a filter of the files that `ignoreFiles` exclude; the patterns are those of a `.gitignore`. */
const ignoredBy = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const isThere = (file: string) => Effect.orElseSucceed(fs.exists(join(root, file)), () => false)
  // One without robot.yaml has no list of files that are ignored.
  if (!(yield* isThere("robot.yaml")) && (yield* isThere("package.yaml"))) return ignore()
  const text = yield* Effect.mapError(
    fs.readFileString(join(root, "robot.yaml")),
    () => new PackingError({ message: `robot.yaml is missing in ${root}; a task package needs one` })
  )
  const patterns = ignore({ ignorecase: false })
  const files = yield* Effect.mapError(ignoreFilesOf(text), ({ message }) => {
    return new PackingError({ message: `${root}${sep}${message}` })
  })
  for (const file of files) {
    const message = `robot.yaml: ignoreFiles: cannot read ${join(root, file)}; create it, or remove it from the list`
    patterns.add(yield* Effect.mapError(fs.readFileString(join(root, file)), () => new PackingError({ message })))
  }
  return patterns
})

/** The files of a package, ordered by name. Ignored folders are not read. */
const walk = Effect.fnUntraced(function* (root: string, ignored: Ignore) {
  const fs = yield* FileSystem.FileSystem
  const found: Array<Found> = []
  const waiting = [""]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of yield* fs.readDirectory(join(root, folder))) {
      const name = `${folder}${entry}`
      if (entry === ".git") continue
      const info = yield* fs.lstat(join(root, name))
      if (ignored.ignores(info.type === "Directory" ? `${name}/` : name)) continue
      if (info.type === "Directory") waiting.push(`${name}/`)
      else if (info.type === "File") found.push({ name, info })
      else {
        return yield* new PackingError({
          message: `${join(root, name)} is a link or a special file, which task packages must not contain; put the file itself there, or name it in a file of ignoreFiles`
        })
      }
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
})

/**
 * Zips a folder, without the files that `ignoreFiles` of its `robot.yaml` exclude, and resolves to the path of the zip,
 * which exists as long as the scope.
 *
 * Fails with `PackingError` when `robot.yaml` is missing, the folder has links or special files, or it changes while it
 * is read.
 *
 * ```ts
 * import * as Packing from "@signalbox/task-package/Packing"
 * import * as TaskPackage from "@signalbox/task-package/TaskPackage"
 * import * as Effect from "effect/Effect"
 *
 * export const digest = Packing.pack("robots/invoices").pipe(
 *   Effect.flatMap((zip) => TaskPackage.inspect(zip)),
 *   Effect.map(({ digest }) => digest),
 *   Effect.scoped
 * )
 * ```
 */
export const pack = Effect.fn("Packing.pack")(
  function* (root: string) {
    const fs = yield* FileSystem.FileSystem
    const files = yield* walk(root, yield* ignoredBy(root))
    const path = join(yield* fs.makeTempDirectoryScoped({ prefix: "signalbox-" }), `${basename(root)}.zip`)
    yield* Stream.fromIterable(files).pipe(
      Stream.map(({ info, name }) => ({
        name,
        size: Number(info.size),
        mode: info.mode,
        body: fs.stream(join(root, name))
      })),
      encode,
      Stream.run(fs.sink(path))
    )
    return path
  },
  (effect, root) =>
    effect.pipe(
      Effect.catchTag("PlatformError", (error) =>
        Effect.fail(new PackingError({ message: `cannot zip ${root}: ${error.message}` }))
      ),
      Effect.catchTag("ZipError", (error) =>
        Effect.fail(
          new PackingError({
            message: `cannot zip ${root}: ${error.message}; try again when no other program changes the folder`
          })
        )
      )
    )
)
