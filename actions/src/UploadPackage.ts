/** The action `upload-package`: gives a task package new content. */
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Packing from "@signalbox/task-package/Packing"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as core from "@actions/core"
import { run } from "./internal/Action.ts"
import * as Inputs from "./internal/Inputs.ts"
import * as ProjectCommand from "./internal/ProjectCommand.ts"
import * as Room from "./internal/Room.ts"

/** The zip to upload: the file itself, that of a folder, or the package of a tasks file. */
const zipOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(
    fs.stat(path),
    () =>
      new Inputs.InvalidInput({
        message: `path: cannot read ${path}; give a folder with a robot.yaml, a zip, or a tasks file`
      })
  )
  if (info.type === "Directory") return yield* Packing.pack(path)
  return /\.[cm]?[jt]s$/.test(path) ? yield* ProjectCommand.packaged(path) : path
})

/** The commit that the job builds. */
const commit = Effect.sync(() => {
  const { GITHUB_REPOSITORY: repository = "", GITHUB_SHA: sha = "" } = process.env
  return sha === "" ? null : `${repository} ${sha.slice(0, 12)}`.trimStart()
})

const program = Effect.scoped(
  Effect.gen(function* () {
    const name = yield* Inputs.required("package")
    const zip = yield* zipOf(yield* Inputs.required("path"))
    const note = (yield* Inputs.optional("note")) ?? (yield* commit)
    const known = yield* Room.find("package", name, (only) => TaskPackages.stream({ limit: 500, ...only }))
    const { id } = known ?? (yield* TaskPackages.create(name))
    yield* TaskPackages.upload(id, zip, note === null ? {} : { note })
    const { current } = yield* TaskPackages.get(id)
    core.setOutput("package-id", id)
    core.setOutput("version", String(current?.version ?? ""))
    core.info(`The task package ${name} is at version ${current?.version ?? "?"}.`)
  })
)

run(program)
