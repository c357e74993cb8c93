/** The content of task packages: from a folder or a zip of this machine to the workspace, unless that has it. */
import type { TaskPackageId } from "@signalbox/api/contract/Ids"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type { Conflict, ControlRoomError, InvalidRequest } from "@signalbox/api/ControlRoomError"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Packing from "@signalbox/task-package/Packing"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { PackageError } from "./PackageError.ts"

/** The digest of a stream of bytes. */
export const digestOf = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  Effect.map(
    Stream.runFold(
      bytes,
      () => createHash("sha256"),
      (hash, chunk) => hash.update(chunk)
    ),
    (hash) => hash.digest("hex")
  )

/**
 * Why content is not uploaded again although the package has other content: it is that of the newest version, and somebody
 * has made an older one current. Null when that is not so.
 */
export const heldOf = Effect.fnUntraced(function* ({ current, id, name }: TaskPackages.TaskPackage, digest: string) {
  if (current === null || current.newest === current.version) return null
  const { version, ...newest } = yield* TaskPackages.getVersion(id, current.newest)
  return newest.digest === `sha256:${digest}` && newest.digest !== current.digest
    ? `version ${version} has this content, but version ${current.version} is current; change that with \`signalbox packages promote ${name} ${version}\``
    : null
})

/** Whether the current content of a package is this. A service without versions has the bytes alone. */
export const isCurrent = Effect.fnUntraced(function* (known: TaskPackages.TaskPackage, digest: string) {
  const has = known.current?.digest.replace("sha256:", "") ?? (yield* digestOf(TaskPackages.download(known.id)))
  return has === digest
})

/** Where the content of a package is. */
export type Source = { readonly folder: string } | { readonly zip: string }

const find = (name: string) =>
  Effect.map(Stream.runCollect(TaskPackages.stream({ name })), (found) => found.find((one) => one.name === name))

/** The id of the package of this name, which another program may create at the same time. */
const ensured = (
  name: string
): Effect.Effect<TaskPackageId, Conflict | InvalidRequest | ControlRoomError, ControlRoom> =>
  Effect.gen(function* () {
    const known = yield* find(name)
    if (known !== undefined) return known.id
    const { id } = yield* TaskPackages.create(name)
    return id
  }).pipe(Effect.retry({ times: 1, while: ({ _tag }) => _tag === "Conflict" }))

const deliver = Effect.fnUntraced(function* (name: string, source: Source) {
  const fs = yield* FileSystem.FileSystem
  const field = `packages.${name}`
  const path =
    "folder" in source
      ? yield* Effect.mapError(
          Packing.pack(source.folder),
          ({ message }) => new PackageError({ package: name, message: `${field}.folder: ${message}` })
        )
      : source.zip
  const digest = yield* Effect.mapError(
    digestOf(fs.stream(path)),
    () => new PackageError({ package: name, message: `${field}.zip: cannot read ${path}; check the path` })
  )
  const known = yield* TaskPackages.get(yield* ensured(name))
  if (known.git !== null) {
    const message = `${field}: the package takes its content from a git repository; delete the package first, or choose another name`
    return yield* new PackageError({ package: name, message })
  }
  if (yield* isCurrent(known, digest)) return
  const held = yield* heldOf(known, digest)
  if (held !== null) return yield* Effect.logWarning(`${field}: ${held}`)
  yield* TaskPackages.upload(known.id, path)
}, Effect.scoped)

/** Creates the packages that the workspace does not have, and uploads content that is not current. */
export const deliverAll = (packages: Readonly<Record<string, Source>>) =>
  Effect.forEach(Object.entries(packages), ([name, source]) => deliver(name, source), { discard: true })
