/**
 * A task package from a folder: zipped so that the same files give the same bytes, wherever and whenever that is done.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Yaml from "effect/encoding/Yaml"
import * as Zip from "effect/encoding/Zip"
import ignore, { type Ignore } from "ignore"
import { basename, join } from "node:path"
import { ApplyFileError } from "./Document.ts"

const Robot = Schema.Struct({ ignoreFiles: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))) })
const decodeRobot = Schema.decodeUnknownEffect(Robot)

interface Found {
  /** Inside the package, with slashes. */
  readonly name: string
  readonly info: FileSystem.File.Info
}

/** What the files that `ignoreFiles` of a `robot.yaml` names leave out; the patterns are those of a `.gitignore`. */
const ignoredBy = Effect.fnUntraced(function* (field: string, root: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(join(root, "robot.yaml")),
    () => new ApplyFileError({ message: `${field}: there is no robot.yaml in ${root}; a task package needs one` })
  )
  const parsed = yield* Effect.try({
    try: () => Yaml.parse(text),
    catch: () => new ApplyFileError({ message: `${field}: ${join(root, "robot.yaml")} is not valid YAML` })
  })
  const { ignoreFiles } = yield* Effect.mapError(
    decodeRobot(parsed),
    () => new ApplyFileError({ message: `${field}: robot.yaml: ignoreFiles: expected a list of file names` })
  )
  const patterns = ignore({ ignorecase: false })
  for (const file of ignoreFiles ?? []) {
    const lines = yield* Effect.mapError(
      fs.readFileString(join(root, file)),
      () =>
        new ApplyFileError({
          message: `${field}: robot.yaml: ignoreFiles: cannot read ${join(root, file)}; make it, or take it out`
        })
    )
    patterns.add(lines)
  }
  return patterns
})

/** The files of a package in the order of their names. Folders that are ignored are not looked into. */
const walk = Effect.fnUntraced(function* (field: string, root: string, ignored: Ignore) {
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
        return yield* new ApplyFileError({
          message: `${field}: ${join(root, name)} is a link or a special file, which a task package may not have; put the file itself there, or name it in a file of ignoreFiles`
        })
      }
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
})

/** The zip of a folder, in a file that lives as long as the scope. */
export const zipped = Effect.fn("apply.zipped")(
  function* (field: string, root: string) {
    const fs = yield* FileSystem.FileSystem
    const files = yield* walk(field, root, yield* ignoredBy(field, root))
    const path = join(yield* fs.makeTempDirectoryScoped({ prefix: "signalbox-" }), `${basename(root)}.zip`)
    // All times are that of the first day that a zip knows, and of the modes only that of programs is kept.
    yield* Stream.fromIterable(files).pipe(
      Stream.map(({ info, name }) =>
        Zip.fileStream(name, fs.stream(join(root, name)), {
          size: Number(info.size),
          mode: (info.mode & 0o100) === 0 ? 0o644 : 0o755
        })
      ),
      Stream.pipeThroughChannel(Zip.encode()),
      Stream.run(fs.sink(path))
    )
    return path
  },
  (effect, field, root) =>
    effect.pipe(
      Effect.catchTag("PlatformError", (error) =>
        Effect.fail(new ApplyFileError({ message: `${field}: cannot zip ${root}: ${error.message}` }))
      ),
      Effect.catchTag("ZipError", (error) =>
        Effect.fail(
          new ApplyFileError({
            message: `${field}: cannot zip ${root}: ${error.message}; apply again when nothing changes the folder`
          })
        )
      )
    )
)
