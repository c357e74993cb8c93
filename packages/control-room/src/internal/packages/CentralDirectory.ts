/**
 * The central directory of a zip: the list at its end from which tools unpack it. It alone says which entries are links.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { maxPackageEntries } from "../Limits.ts"
import { Refused } from "../Refused.ts"

export interface CentralEntry {
  readonly name: string
  /** Unpacked, in bytes. */
  readonly size: number
  /** In the zip, in bytes. */
  readonly packed: number
  /** Where its local header stands. */
  readonly offset: number
  /** Its sizes follow its data. */
  readonly isStreamed: boolean
  /** The kind of file in the sense of Unix, 0 when the zip does not say. */
  readonly fileType: number
}

/** In bytes: no package needs more for its names. */
const maxDirectory = 16 * 1024 * 1024
const endLength = 22
const max16 = 0xffff
const max32 = 0xffffffff

export const damaged = (message: string) =>
  new Refused({ code: "INVALID_REQUEST", message: `file: not a usable zip: ${message}; nothing was kept` })

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const nameOf = (bytes: Uint8Array) =>
  Effect.try({
    try: () => decoder.decode(bytes),
    catch: () => damaged("a name is not valid UTF-8; make the zip with a tool that writes UTF-8 names")
  })

/** The sizes and the offset that did not fit into an entry, in their order. */
const wideOf = (extra: DataView): ReadonlyArray<number> => {
  for (let at = 0; at + 4 <= extra.byteLength;) {
    const length = extra.getUint16(at + 2, true)
    const end = Math.min(at + 4 + length, extra.byteLength)
    if (extra.getUint16(at, true) === 1) {
      const values: Array<number> = []
      for (let field = at + 4; field + 8 <= end; field += 8) values.push(Number(extra.getBigUint64(field, true)))
      return values
    }
    at = end
  }
  return []
}

const parse = Effect.fnUntraced(function* (view: DataView, count: number) {
  const entries: Array<CentralEntry> = []
  let at = 0
  while (at < view.byteLength) {
    if (view.byteLength - at < 46 || view.getUint32(at, true) !== 0x02014b50) {
      return yield* damaged("its directory is damaged")
    }
    const nameLength = view.getUint16(at + 28, true)
    const extraLength = view.getUint16(at + 30, true)
    const next = at + 46 + nameLength + extraLength + view.getUint16(at + 32, true)
    if (next > view.byteLength) return yield* damaged("its directory is damaged")
    const extra = new DataView(view.buffer, view.byteOffset + at + 46 + nameLength, extraLength)
    const wide = [...wideOf(extra)]
    const [size = 0, packed = 0, offset = 0] = [at + 24, at + 20, at + 42].map((field) => {
      const value = view.getUint32(field, true)
      return value === max32 ? (wide.shift() ?? value) : value
    })
    const name = yield* nameOf(new Uint8Array(view.buffer, view.byteOffset + at + 46, nameLength))
    const isStreamed = (view.getUint16(at + 8, true) & 8) !== 0
    const fileType = (view.getUint32(at + 38, true) >>> 16) & 0o170000
    entries.push({ name, size, packed, offset, isStreamed, fileType })
    at = next
  }
  if (entries.length !== count) {
    return yield* damaged(`its directory has ${entries.length} entries and says ${count}`)
  }
  return entries.toSorted((a, b) => a.offset - b.offset)
})

type ReadAt = (position: number, size: number) => Effect.Effect<DataView, Refused>

/** The size in the local header of an entry, where it stands there. */
const packedAt = Effect.fnUntraced(function* (at: ReadAt, offset: number, header: DataView) {
  const packed = header.getUint32(18, true)
  if (packed !== max32) return packed
  const extra = yield* at(offset + 30 + header.getUint16(26, true), header.getUint16(28, true))
  return wideOf(extra)[1] ?? packed
})

/**
 * Each entry must begin where the one before ends: so what is read in order is what tools find through the directory, no
 * byte belongs to two entries, and nothing hides between them.
 */
const checkPlaces = Effect.fnUntraced(function* (
  entries: ReadonlyArray<CentralEntry>,
  directoryAt: number,
  at: ReadAt
) {
  let expected = 0
  for (const [index, { isStreamed, offset, packed }] of entries.entries()) {
    const next = entries[index + 1]?.offset ?? directoryAt
    if (offset !== expected || offset + 30 > next) return yield* damaged("its entries overlap, or leave gaps")
    const header = yield* at(offset, 30)
    if (header.getUint32(0, true) !== 0x04034b50) return yield* damaged("an entry is not where its directory says")
    const end = offset + 30 + header.getUint16(26, true) + header.getUint16(28, true) + packed
    if (isStreamed !== ((header.getUint16(6, true) & 8) !== 0)) {
      return yield* damaged("an entry is not what its directory says")
    }
    // Sizes after the data take 12 bytes, 20 when they are large, and 4 for a signature.
    const descriptor = next - end
    const fits = isStreamed
      ? [12, 16, 20, 24].includes(descriptor)
      : descriptor === 0 && (yield* packedAt(at, offset, header)) === packed
    if (!fits) return yield* damaged("its entries overlap, or leave gaps")
    expected = next
  }
})

/** The entries of a zip of this many bytes, in the order in which their data stands. */
export const read = Effect.fnUntraced(
  function* (path: string, length: number) {
    const fs = yield* FileSystem.FileSystem
    const file = yield* Effect.orDie(fs.open(path, { flag: "r" }))
    const at = Effect.fnUntraced(function* (position: number, size: number) {
      const buffer = new Uint8Array(size)
      let done = 0
      while (done < size) {
        const part = buffer.subarray(done)
        const got = yield* Effect.orDie(file.read(part, { position: BigInt(position + done) }))
        if (got === 0) return yield* damaged("it ends too early")
        done += got
      }
      return new DataView(buffer.buffer)
    })
    const tailLength = Math.min(length, endLength + max16)
    const tail = yield* at(length - tailLength, tailLength)
    let end = tailLength - endLength
    while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end--
    // Only one reading is possible when the last end record ends with the file.
    if (end < 0 || end + endLength + tail.getUint16(end + 20, true) !== tailLength) {
      return yield* damaged("it does not end like a zip")
    }
    const endAt = length - tailLength + end
    let count = tail.getUint16(end + 10, true)
    let size = tail.getUint32(end + 12, true)
    let offset = tail.getUint32(end + 16, true)
    let directoryEnd = endAt
    if (count === max16 || size === max32 || offset === max32) {
      const locator = yield* at(Math.max(0, endAt - 20), 20)
      const wideAt = Number(locator.getBigUint64(8, true))
      if (locator.getUint32(0, true) !== 0x07064b50 || wideAt > endAt) return yield* damaged("its end is damaged")
      const wide = yield* at(wideAt, 56)
      if (wide.getUint32(0, true) !== 0x06064b50) return yield* damaged("its end is damaged")
      count = Number(wide.getBigUint64(32, true))
      size = Number(wide.getBigUint64(40, true))
      offset = Number(wide.getBigUint64(48, true))
      directoryEnd = wideAt
    }
    if (count > maxPackageEntries) {
      return yield* new Refused({
        code: "INVALID_REQUEST",
        message: `file: ${count} entries are more than the ${maxPackageEntries} that a task package may have; nothing was kept`
      })
    }
    if (offset + size !== directoryEnd || size > maxDirectory)
      return yield* damaged("its directory is not where it says")
    const entries = yield* parse(yield* at(offset, size), count)
    yield* checkPlaces(entries, offset, at)
    return entries
  },
  (effect) => Effect.scoped(effect)
)
