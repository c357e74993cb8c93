/** Opens a zip whose entries are checked to be safe. Their data is checked as it is read. */
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { crc32, createInflateRaw } from "node:zlib"
import * as Yauzl from "yauzl"
import { InvalidZip } from "../../InvalidZip.ts"
import type { PackageLimits } from "../../PackageLimits.ts"
import * as Bytes from "./Bytes.ts"
import * as EndRecord from "./EndRecord.ts"
import * as EntryNames from "./EntryNames.ts"
import * as Layout from "./Layout.ts"
import { damaged, failureOf, shown } from "./Refusal.ts"

export interface ArchiveEntry extends EntryNames.Entry {
  /** Its unpacked bytes; can be read once. Fails when they are not those that the zip declares. */
  readonly body: Stream.Stream<Uint8Array, InvalidZip | PlatformError>
}

/** In bytes: no package needs more for its names. */
const maxDirectory = 16 * 1024 * 1024

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const nameOf = ({ fileNameRaw }: Yauzl.Entry) =>
  Effect.try({
    try: () => decoder.decode(fileNameRaw),
    catch: () => damaged("a name is not valid UTF-8")
  })

/** The bytes of an entry in the directory. */
const listedLength = (entry: Yauzl.Entry) =>
  46 + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength

/** Opens a zip until the scope closes, with its entries in the order of their data. */
export const open = Effect.fnUntraced(function* (path: string, limits: PackageLimits) {
  const { readAt, size } = yield* Bytes.open(path)
  const end = yield* EndRecord.read(readAt, size)
  if (end.count > limits.entries) {
    return yield* new InvalidZip({
      message: `${end.count} entries exceed the limit of ${limits.entries}; remove files that tasks do not need`
    })
  }
  if (end.size > maxDirectory) return yield* damaged(`its directory has more than ${maxDirectory} bytes`)

  const catchAs = failureOf(path)
  const zip = yield* Effect.acquireRelease(
    Effect.tryPromise({
      // Names are decoded from their bytes, and sizes checked while data is read, with our own refusals.
      try: () => Yauzl.openPromise(path, { autoClose: false, decodeStrings: false, validateEntrySizes: false }),
      catch: catchAs
    }),
    (zip) => Effect.sync(() => zip.close())
  )
  const listed = yield* Stream.runCollect(Stream.fromAsyncIterable(zip.eachEntry(), failureOf(path, "its directory: ")))
  if (listed.reduce((sum, entry) => sum + listedLength(entry), 0) !== end.size) {
    return yield* damaged(`its directory does not have the ${end.count} entries that it declares`)
  }

  const bodyOf = (entry: Yauzl.Entry, name: string) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const packed = yield* Effect.acquireRelease(
          Effect.tryPromise({ try: () => zip.openReadStreamPromise(entry, { decodeFileData: false }), catch: catchAs }),
          (stream) => Effect.sync(() => stream.destroy())
        )
        const inflate = entry.compressionMethod === 0 ? null : createInflateRaw()
        if (inflate !== null) {
          packed.on("error", (error) => inflate.destroy(error)).pipe(inflate)
          yield* Effect.addFinalizer(() => Effect.sync(() => inflate.destroy()))
        }
        let size = 0
        let checksum = 0
        const checkChunk = (chunk: Uint8Array) => {
          size += chunk.length
          checksum = crc32(chunk, checksum)
          // Stops here: a few bytes can unpack to more than any disk holds.
          return size > entry.uncompressedSize
            ? Effect.fail(damaged(`${shown(name)} is larger than it declares`))
            : Effect.void
        }
        const checkEnd = Effect.suspend(() => {
          if (size !== entry.uncompressedSize) return Effect.fail(damaged(`${shown(name)} is smaller than it declares`))
          if (checksum !== entry.crc32)
            return Effect.fail(damaged(`${shown(name)} does not have the CRC that it declares`))
          return inflate !== null && inflate.bytesWritten !== entry.compressedSize
            ? Effect.fail(damaged(`${shown(name)} has bytes after its data`))
            : Effect.void
        })
        const chunks: AsyncIterable<Uint8Array> = inflate ?? packed
        return Stream.fromAsyncIterable(chunks, catchAs).pipe(
          Stream.tap(checkChunk),
          Stream.concat(Stream.drain(Stream.fromEffect(checkEnd)))
        )
      })
    )

  const inOrder = listed.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  const entries = yield* Effect.forEach(inOrder, (entry) =>
    Effect.map(nameOf(entry), (name): ArchiveEntry => ({
      name,
      size: entry.uncompressedSize,
      compressed: entry.compressedSize,
      mode: entry.externalFileAttributes >>> 16,
      isEncrypted: entry.isEncrypted(),
      method: entry.compressionMethod,
      body: bodyOf(entry, name)
    }))
  )
  yield* EntryNames.check(entries, limits)
  yield* Layout.check(inOrder, end.offset, readAt, (entry) =>
    Effect.tryPromise({
      try: () => zip.readLocalFileHeaderPromise(entry),
      catch: failureOf(path, "an entry is not where its directory says: ")
    })
  )
  return entries
})
