/** What a command takes as the content of a task package. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Packing from "@signalbox/task-package/Packing"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as ModuleFile from "../files/ModuleFile.ts"
import * as TasksPackage from "./TasksPackage.ts"

/** The path leads to nothing that can be the content of a task package. */
export class ContentError extends TaggedError<ContentError>()("ContentError", { message: Schema.String }) {}

/** The zip to upload, which exists as long as the scope: the file itself, that of a folder, or the package of a tasks file. */
export const zipOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(
    fs.stat(path),
    () =>
      new ContentError({
        message: `cannot read ${path}: give a folder with a robot.yaml, a zip of one, or a tasks file such as tasks.ts`
      })
  )
  if (info.type === "Directory") return yield* Packing.pack(path)
  return ModuleFile.isModule(path) ? (yield* TasksPackage.make(path)).zip : path
})
