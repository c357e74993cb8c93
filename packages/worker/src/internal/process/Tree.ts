/**
 * Folders of environments: measured, made read-only, and removed all the same.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { join } from "node:path"

const concurrency = 16

/** What is below a folder, itself included; links are not followed. */
const walk = (
  path: string,
  visit: (path: string, info: FileSystem.File.Info) => Effect.Effect<void, PlatformError>
): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const info = yield* fs.lstat(path)
    if (info.type === "Directory") {
      yield* Effect.forEach(yield* fs.readDirectory(path), (name) => walk(join(path, name), visit), {
        concurrency,
        discard: true
      })
    }
    yield* visit(path, info)
  })

/** Takes the right to write away from all files and folders, and resolves to the bytes that they have. */
export const seal = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  let bytes = 0
  yield* walk(path, (path, info) => {
    if (info.type === "SymbolicLink") return Effect.void
    bytes += Number(info.size)
    return fs.chmod(path, info.mode & 0o555)
  })
  return bytes
})

/** Folders must be writable before what is in them can be removed. */
export const unseal = (path: string): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const info = yield* fs.lstat(path)
    if (info.type !== "Directory") return
    yield* fs.chmod(path, 0o700)
    yield* Effect.forEach(yield* fs.readDirectory(path), (name) => unseal(join(path, name)), {
      concurrency,
      discard: true
    })
  })

const ignored = <R>(effect: Effect.Effect<void, PlatformError, R>) => Effect.ignore(effect)

/** Removes a folder; renamed first, so that what is left of it when that fails is taken for nothing. */
export const remove = Effect.fnUntraced(function* (path: string, gone: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.rename(path, gone)
  yield* Effect.ignore(unseal(gone))
  yield* fs.remove(gone, { recursive: true, force: true })
}, ignored)

/** As `remove`, for what has been renamed already. */
export const removeGone = Effect.fnUntraced(function* (gone: string) {
  const fs = yield* FileSystem.FileSystem
  yield* unseal(gone)
  yield* fs.remove(gone, { recursive: true, force: true })
}, ignored)

/** The Python distributions and conda packages of an environment, by the folders and files that record them. */
export const installed = Effect.fnUntraced(function* (prefix: string) {
  const fs = yield* FileSystem.FileSystem
  const list = (path: string) => Effect.orElseSucceed(fs.readDirectory(path), (): ReadonlyArray<string> => [])
  const libraries = (yield* list(join(prefix, "lib"))).filter((name) => name.startsWith("python"))
  const folders = [...libraries.map((name) => join(prefix, "lib", name)), join(prefix, "Lib")]
  const distributions = yield* Effect.forEach(folders, (folder) => list(join(folder, "site-packages")))
  const conda = yield* list(join(prefix, "conda-meta"))
  return [
    ...distributions.flat().flatMap((name) => {
      const match = /^(.+)-([^-]+)\.dist-info$/.exec(name)
      return match === null ? [] : [`${match[1]}==${match[2]}`]
    }),
    ...conda.flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : []))
  ].toSorted()
})
