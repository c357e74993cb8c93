/**
 * Bytes of a large file that is not whole yet, beside its place: another process continues after them. The name of that file says of
 * which state of which item they are, so that bytes of two states never meet in it; processes that download the same state at the
 * same time write the same bytes.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Hex from "effect/encoding/Hex"
import type { Arrived } from "../../Downloads.ts"
import type { DriveItem } from "../../model/Drive.ts"
import * as QuickXorHash from "../../QuickXorHash.ts"
import type { TransferError } from "../../TransferError.ts"
import { localFailed, stamped } from "./LocalFile.ts"

/** Smaller files come in a moment, and begin anew. */
const leastBytes = 4 * 1024 * 1024

/** Where the bytes of an item are until they are all there. */
export interface PartialFile {
  /** Where the whole file goes. */
  readonly target: string
  readonly path: string
  readonly eTag: string
}

const nameBytes = 10

const shortHash = Effect.fnUntraced(function* (text: string) {
  const crypto = yield* WebCrypto
  const hash = yield* Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
  return Hex.encode(new Uint8Array(hash).slice(0, nameBytes))
})

/** The file of an item that goes to a place; undefined: it is small, or the service does not name its state. */
export const of = Effect.fnUntraced(function* (
  target: string,
  { eTag, id, parentReference, size }: DriveItem
): Effect.fn.Return<PartialFile | undefined, never, Path.Path> {
  if (size === undefined || size === null || size <= leastBytes || eTag === undefined || eTag === null) return undefined
  const paths = yield* Path.Path
  const place = yield* shortHash(paths.basename(target))
  const state = yield* shortHash(JSON.stringify([parentReference?.driveId, id, eTag, size]))
  return { target, eTag, path: paths.join(paths.dirname(target), `.${place}.${state}.part`) }
})

/** What is there already, if anything is. */
export const arrived = Effect.fnUntraced(function* ({
  eTag,
  path
}: PartialFile): Effect.fn.Return<Arrived | undefined, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const hash = QuickXorHash.make()
  const read = Stream.runForEach(fs.stream(path, { chunkSize: 256 * 1024 }), (chunk) =>
    Effect.sync(() => hash.add(chunk))
  )
  const isRead = yield* Effect.match(read, { onFailure: () => false, onSuccess: () => true })
  return isRead && hash.size > 0 ? { eTag, hash } : undefined
})

const removed = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.ignore(fs.remove(path, { force: true })))

/** Removes what is there. */
export const discard = ({ path }: PartialFile) => removed(path)

/** Removes what is left of other states of what goes to the same place. */
export const discardOthers = Effect.fnUntraced(function* ({ path }: PartialFile) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const own = paths.basename(path)
  const prefix = own.slice(0, own.lastIndexOf(".", own.length - ".part".length - 1) + 1)
  const names = yield* Effect.orElseSucceed(fs.readDirectory(paths.dirname(path)), () => [])
  const others = names.filter((name) => name !== own && name.startsWith(prefix) && name.endsWith(".part"))
  yield* Effect.forEach(others, (name) => removed(paths.join(paths.dirname(path), name)), { discard: true })
})

/** Writes the bytes that follow `offset`, and moves the file to its place once it is whole. What breaks off stays. */
export const write = Effect.fnUntraced(function* <E, R>(
  { path, target }: PartialFile,
  offset: number,
  bytes: Stream.Stream<Uint8Array, E, R>,
  modified: string | null
): Effect.fn.Return<void, E | TransferError, R | FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const failed = localFailed("write", target)
  // Nothing is cut off: another process may be writing the same bytes.
  const opened = Effect.catchReason(fs.open(path, { flag: "r+" }), "PlatformError", "NotFound", () =>
    fs.open(path, { flag: "wx" })
  )
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Effect.mapError(opened, failed)
      yield* Effect.mapError(file.seek(BigInt(offset), "start"), failed)
      let end = offset
      yield* Stream.runForEach(bytes, (chunk) => {
        end += chunk.length
        return Effect.mapError(file.writeAll(chunk), failed)
      })
      yield* Effect.mapError(Effect.andThen(file.truncate(end), file.sync), failed)
    })
  )
  yield* Effect.mapError(Effect.andThen(stamped(path, modified), fs.rename(path, target)), failed)
})
