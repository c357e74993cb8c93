/** Reads zips of task packages, which are untrusted. Service and workers refuse the same ones. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { dirname, join } from "node:path"
import { isFolder } from "./internal/zip/EntryNames.ts"
import { type ArchiveEntry, open } from "./internal/zip/Archive.ts"
import { packageLimits } from "./PackageLimits.ts"
import * as RobotYaml from "./RobotYaml.ts"

/** What reading a task package completely has found. */
export interface Inspected {
  /** The names of its tasks, in the order of `robot.yaml`. */
  readonly tasks: ReadonlyArray<string>
  /** `sha256:` and the SHA-256 of the zip in hexadecimal. */
  readonly digest: string
}

const taskFileOf = Effect.fnUntraced(function* ({ body, name, size }: ArchiveEntry, most: number) {
  if (size > most) {
    return yield* new RobotYaml.InvalidRobotYaml({ field: null, message: `${name} has more than ${most} bytes` })
  }
  return yield* Stream.mkUint8Array(body)
})

const digestOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  yield* Stream.runForEach(fs.stream(path), (chunk) => Effect.sync(() => hash.update(chunk)))
  return `sha256:${hash.digest("hex")}`
})

/**
 * Reads a zip from its first byte to its last, and resolves to its tasks and its digest. Writes nothing.
 *
 * Fails with `InvalidZip` for a zip that no worker should unpack, with `InvalidRobotYaml` when its root has no usable
 * `robot.yaml`, and with `PlatformError` when the file cannot be read.
 *
 * ```ts
 * import * as TaskPackage from "@signalbox/task-package/TaskPackage"
 * import * as Effect from "effect/Effect"
 *
 * export const names = Effect.map(
 *   TaskPackage.inspect("invoices.zip"),
 *   ({ tasks }) => tasks
 * )
 * ```
 */
export const inspect = Effect.fn("TaskPackage.inspect")(function* (path: string, limits = packageLimits) {
  const entries = yield* open(path, limits)
  const found = new Map<RobotYaml.TaskFile, Uint8Array>()
  for (const entry of entries) {
    const name = RobotYaml.taskFiles.find((file) => file === entry.name)
    if (name === undefined) yield* Stream.runDrain(entry.body)
    else found.set(name, yield* taskFileOf(entry, limits.robotYaml))
  }
  const file = RobotYaml.taskFiles.find((name) => found.has(name))
  const bytes = file === undefined ? undefined : found.get(file)
  if (file === undefined || bytes === undefined || bytes.length === 0) {
    return yield* new RobotYaml.InvalidRobotYaml({
      field: null,
      message: "robot.yaml is missing at the root of the zip, or it is empty"
    })
  }
  const tasks = yield* RobotYaml.textOf(bytes).pipe(
    Effect.flatMap(RobotYaml.tasksOf),
    Effect.mapError(RobotYaml.inFile(file))
  )
  const inspected: Inspected = { tasks, digest: yield* digestOf(path) }
  return inspected
}, Effect.scoped)

/**
 * Unpacks a zip into `target`, a folder that it creates, and resolves to the total bytes of its files. Files that are
 * executable in the zip remain so. When it fails or is interrupted, it deletes the folder.
 *
 * Fails with `InvalidZip` for a zip that `inspect` refuses, and with `PlatformError` when the file cannot be read, the
 * folder exists, or the disk is full.
 *
 * ```ts
 * import * as TaskPackage from "@signalbox/task-package/TaskPackage"
 *
 * export const unpacked = TaskPackage.unpack("invoices.zip", "invoices")
 * ```
 */
export const unpack = Effect.fn("TaskPackage.unpack")(function* (zip: string, target: string, limits = packageLimits) {
  const fs = yield* FileSystem.FileSystem
  const entries = yield* open(zip, limits)
  const extract = Effect.fnUntraced(function* (entry: ArchiveEntry) {
    const path = join(target, entry.name)
    if (isFolder(entry)) {
      yield* Stream.runDrain(entry.body)
      return yield* fs.makeDirectory(path, { recursive: true })
    }
    yield* fs.makeDirectory(dirname(path), { recursive: true })
    const mode = (entry.mode & 0o111) === 0 ? 0o644 : 0o755
    yield* Stream.run(entry.body, fs.sink(path, { flag: "wx", mode }))
  })
  yield* fs.makeDirectory(target)
  yield* Effect.forEach(entries, extract, { discard: true }).pipe(
    Effect.onError(() => Effect.ignore(fs.remove(target, { recursive: true, force: true })))
  )
  return entries.reduce((sum, { size }) => sum + size, 0)
}, Effect.scoped)
