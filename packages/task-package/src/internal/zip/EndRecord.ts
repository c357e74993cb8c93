/**
 * Reads the end record of a zip, which locates its directory. Checked before yauzl opens the zip: yauzl does not
 * validate positions of ZIP64, and an impossible one ends the process.
 */
import * as Effect from "effect/Effect"
import { damaged } from "./Refusal.ts"
import type { ReadAt } from "./Bytes.ts"

/** The directory according to the end record. */
export interface EndRecord {
  readonly count: number
  /** In bytes. */
  readonly size: number
  readonly offset: number
}

const endLength = 22
const locatorLength = 20
const wideLength = 56
const max16 = 0xffff
const max32 = 0xffffffff

/** The end record of ZIP64, before the other one; null when it has none. */
const wideOf = Effect.fnUntraced(function* (readAt: ReadAt, endAt: number) {
  if (endAt < locatorLength) return null
  const locator = yield* readAt(endAt - locatorLength, locatorLength)
  if (locator.getUint32(0, true) !== 0x07064b50) return null
  const at = Number(locator.getBigUint64(8, true))
  if (at + wideLength > endAt - locatorLength) return yield* damaged("its end is damaged")
  const record = yield* readAt(at, wideLength)
  const length = Number(record.getBigUint64(4, true)) + 12
  if (record.getUint32(0, true) !== 0x06064b50 || at + length !== endAt - locatorLength) {
    return yield* damaged("its end is damaged")
  }
  const [count = 0, size = 0, offset = 0] = [32, 40, 48].map((field) => Number(record.getBigUint64(field, true)))
  return { at, count, size, offset }
})

/** Reads the end record of a zip of this many bytes. Refuses a zip that can be read in two ways. */
export const read = Effect.fnUntraced(function* (readAt: ReadAt, length: number) {
  const tailLength = Math.min(length, endLength + max16)
  const tail = yield* readAt(length - tailLength, tailLength)
  let end = tailLength - endLength
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end--
  if (end < 0 || end + endLength + tail.getUint16(end + 20, true) !== tailLength) {
    return yield* damaged("it does not end like a zip")
  }
  const endAt = length - tailLength + end
  const narrow: EndRecord = {
    count: tail.getUint16(end + 10, true),
    size: tail.getUint32(end + 12, true),
    offset: tail.getUint32(end + 16, true)
  }
  const wide = yield* wideOf(readAt, endAt)
  const { count, offset, size } = wide ?? narrow
  // Some readers always use the wide fields, others only for fields that are full.
  const agree =
    (narrow.count === max16 || narrow.count === count) &&
    (narrow.size === max32 || narrow.size === size) &&
    (narrow.offset === max32 || narrow.offset === offset)
  if (!agree) return yield* damaged("its two end records differ")
  if (offset + size !== (wide?.at ?? endAt)) return yield* damaged("its directory is not where it declares")
  const record: EndRecord = { count, offset, size }
  return record
})
