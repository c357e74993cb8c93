/**
 * Checks that the entries of a zip follow one another, from its first byte to its directory, and that their headers
 * equal the directory: then readers that use the directory and those that read from the start see the same files, no
 * byte belongs to two entries, and nothing hides between them. yauzl checks none of this.
 */
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import { type Entry, type LocalFileHeader, parseExtraFields } from "yauzl"
import type { InvalidZip } from "../../InvalidZip.ts"
import type { ReadAt } from "./Bytes.ts"
import { damaged } from "./Refusal.ts"

const max32 = 0xffffffff
const headerLength = 30
const isEncrypted = 1
const isStreamed = 8

const unlike = damaged("an entry is not what its directory says")
const misplaced = damaged("its entries overlap, or leave gaps")

interface Fields {
  readonly id: number
  readonly data: Buffer
}

/** Size and packed size in the header before the data of an entry, from the ZIP64 field if they are there. */
const sizesOf = (header: LocalFileHeader, extra: ReadonlyArray<Fields>) => {
  const wide = extra.find(({ id }) => id === 1)?.data ?? Buffer.alloc(0)
  let field = 0
  const [size = 0, packed = 0] = [header.uncompressedSize, header.compressedSize].map((value) => {
    if (value !== max32 || field + 8 > wide.length) return value
    field += 8
    return Number(wide.readBigUInt64LE(field - 8))
  })
  return { size, packed }
}

/** Some tools write a second name, which other tools use instead of the first. */
const hasOtherName = (name: Buffer, extra: ReadonlyArray<Fields>) =>
  extra.some(({ data, id }) => id === 0x7075 && !data.subarray(5).equals(name))

/**
 * The descriptor after the data of a streamed entry: an optional signature, its checksum, and its sizes in 8 or 16
 * bytes.
 */
const hasDescriptor = (bytes: DataView, entry: Entry) => {
  const isSigned = bytes.byteLength === 16 || bytes.byteLength === 24
  if (isSigned && bytes.getUint32(0, true) !== 0x08074b50) return false
  const at = isSigned ? 4 : 0
  const isWide = bytes.byteLength >= 20
  const read = (field: number) =>
    isWide ? Number(bytes.getBigUint64(at + 4 + 8 * field, true)) : bytes.getUint32(at + 4 + 4 * field, true)
  return (
    bytes.getUint32(at, true) === entry.crc32 && read(0) === entry.compressedSize && read(1) === entry.uncompressedSize
  )
}

/** Fails unless the entries, in the order of their data, fill the zip up to its directory. */
export const check = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Entry>,
  directoryAt: number,
  readAt: ReadAt,
  headerOf: (entry: Entry) => Effect.Effect<LocalFileHeader, InvalidZip | PlatformError>
) {
  let expected = 0
  for (const [index, entry] of entries.entries()) {
    const next = entries[index + 1]?.relativeOffsetOfLocalHeader ?? directoryAt
    if (entry.relativeOffsetOfLocalHeader !== expected || expected + headerLength > next) return yield* misplaced
    const header = yield* headerOf(entry)
    const end = header.fileDataStart + entry.compressedSize
    if (end > next) return yield* misplaced
    const extra = yield* Effect.try({ try: () => parseExtraFields(header.extraField), catch: () => unlike })
    const flags = header.generalPurposeBitFlag ^ entry.generalPurposeBitFlag
    const { packed, size } = sizesOf(header, extra)
    if (
      (flags & (isStreamed | isEncrypted)) !== 0 ||
      header.compressionMethod !== entry.compressionMethod ||
      !header.fileName.equals(entry.fileNameRaw) ||
      hasOtherName(entry.fileNameRaw, [...extra, ...entry.extraFields])
    ) {
      return yield* unlike
    }
    if ((entry.generalPurposeBitFlag & isStreamed) === 0) {
      if (packed !== entry.compressedSize || end !== next) return yield* misplaced
      if (size !== entry.uncompressedSize || header.crc32 !== entry.crc32) return yield* unlike
    } else {
      if (![12, 16, 20, 24].includes(next - end)) return yield* misplaced
      if (!hasDescriptor(yield* readAt(end, next - end), entry)) return yield* unlike
      // Readers from the start could only guess where it ends.
      if (entry.compressionMethod === 0 && packed === 0 && size === 0) {
        return yield* damaged("an entry that is not compressed has its size after its data")
      }
    }
    expected = next
  }
  if (expected !== directoryAt) return yield* misplaced
})
