/**
 * Local files on both ends of a transfer.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { uuidV4Unsafe } from "effect/crypto/SecureRandom"
import type { DriveItem } from "../../model/Drive.ts"
import * as QuickXorHash from "../../QuickXorHash.ts"
import { LocalFailed, type TransferError, transferError } from "../../TransferError.ts"

export const localFailed = (what: string, path: string) => (error: PlatformError) =>
  transferError(new LocalFailed({ path, message: `cannot ${what} ${path}: ${error.message}` }))

/** Makes a folder with those above it. */
export const makeFolder = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(fs.makeDirectory(path, { recursive: true }), localFailed("make the folder", path))
})

/** Gives a file the time of the last change, if it is known. */
export const stamped = (path: string, modified: string | null) => {
  const time = modified === null ? Number.NaN : Date.parse(modified)
  return Number.isNaN(time)
    ? Effect.void
    : Effect.flatMap(FileSystem.FileSystem, (fs) => fs.utimes(path, new Date(time), new Date(time)))
}

/**
 * Writes a file beside its place and moves it there once it is whole. What breaks off leaves nothing behind, and an older file
 * of this name stays until then.
 */
export const writeWhole = Effect.fnUntraced(function* <E, R>(
  path: string,
  bytes: Stream.Stream<Uint8Array, E, R>,
  modified: string | null
): Effect.fn.Return<void, E | TransferError, R | FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const failed = localFailed("write", path)
  const temporary = paths.join(paths.dirname(path), `.${uuidV4Unsafe()}.part`)
  const write = Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Effect.mapError(fs.open(temporary, { flag: "wx" }), failed)
      yield* Stream.runForEach(bytes, (chunk) => Effect.mapError(file.writeAll(chunk), failed))
      yield* Effect.mapError(file.sync, failed)
    })
  )
  yield* write.pipe(
    Effect.andThen(Effect.mapError(Effect.andThen(stamped(temporary, modified), fs.rename(temporary, path)), failed)),
    Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
  )
})

/** When the file was changed last, as its owner sees it. */
export const modifiedOf = (item: DriveItem): string | null =>
  item.fileSystemInfo?.lastModifiedDateTime ?? item.lastModifiedDateTime ?? null

/** Whether the local file is what the service keeps: by its hash, and by size and time where the service has none. */
export const isWhole = Effect.fnUntraced(function* (path: string, item: DriveItem) {
  const fs = yield* FileSystem.FileSystem
  const { remoteItem, ...own } = item
  const { file, fileSystemInfo, lastModifiedDateTime, size } = remoteItem ?? own
  const info = yield* Effect.option(fs.stat(path))
  if (Option.isNone(info) || info.value.type !== "File" || Number(info.value.size) !== size) return false
  if (size === 0) return true
  const stored = file?.hashes?.quickXorHash ?? null
  if (stored === null) {
    const modified = Date.parse(fileSystemInfo?.lastModifiedDateTime ?? lastModifiedDateTime ?? "")
    const seconds = (time: number) => Math.floor(time / 1000)
    return Option.exists(info.value.mtime, (time) => seconds(time.getTime()) === seconds(modified))
  }
  const hash = QuickXorHash.make()
  const read = Stream.runForEach(fs.stream(path), (chunk) => Effect.sync(() => hash.add(chunk)))
  return yield* Effect.match(read, { onFailure: () => false, onSuccess: () => hash.digest() === stored })
})
