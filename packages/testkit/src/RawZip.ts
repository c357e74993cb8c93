/** Builds zips with arbitrary, also wrong, headers. */
import { crc32, deflateRawSync } from "node:zlib"

export interface Entry {
  readonly name: string | Uint8Array
  readonly content?: string | Uint8Array
  readonly deflate?: boolean
  /** The name in the directory, if it differs. */
  readonly listedAs?: string
  /** Leaves the entry out of the directory. */
  readonly unlisted?: boolean
  /** The size in the directory and the local header, if it is wrong. */
  readonly size?: number
  /** Upper half of the external attributes. */
  readonly mode?: number
  readonly flags?: number
  /** The position in the directory, if it is wrong. */
  readonly at?: number
  /** Its packed size in the directory, if it is wrong. */
  readonly packed?: number
  /** Extra fields in the directory. */
  readonly extra?: Uint8Array
  /** Extra fields before its data. */
  readonly localExtra?: Uint8Array
  /** Omits checksum and sizes before its data, as if they only followed it. */
  readonly unsized?: boolean
  /** Bytes that are counted as its data after they end. */
  readonly padding?: Uint8Array
  /** Bytes after its data. */
  readonly trailer?: Uint8Array
  /** Its checksum in the directory and the local header, if it is wrong. */
  readonly crc?: number
  /** Its compression in the directory, if it differs. */
  readonly method?: number
}

export interface Shape {
  readonly before?: Uint8Array
  readonly after?: Uint8Array
  readonly count?: number
  /** Ends with the records of ZIP64; the number is added to the position of the directory in them. */
  readonly wide?: number
  /** The position of these records in the locator of ZIP64, if it is wrong. */
  readonly locator?: bigint
  /** Keeps the narrow end record as without ZIP64, with this many entries. */
  readonly narrow?: number
}

/** Builds an extra field. */
export const extraField = (id: number, data: Uint8Array): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUInt16LE(id, 0)
  head.writeUInt16LE(data.length, 2)
  return Buffer.concat([head, data])
}

/** Encodes numbers one after the other, in this many bytes each. */
export const numbers = (bytes: 4 | 8, ...values: ReadonlyArray<number | bigint>): Buffer => {
  const buffer = Buffer.alloc(bytes * values.length)
  for (const [index, value] of values.entries()) {
    if (bytes === 4) buffer.writeUInt32LE(Number(value), 4 * index)
    else buffer.writeBigUInt64LE(BigInt(value), 8 * index)
  }
  return buffer
}

/** Builds a zip with these entries, unchecked. */
export const make = (
  entries: ReadonlyArray<Entry>,
  { after, before, count, locator: locatorAt, narrow, wide }: Shape = {}
): Buffer => {
  const parts: Array<Buffer> = [Buffer.from(before ?? [])]
  const directory: Array<Buffer> = []
  let length = parts[0]?.length ?? 0
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? "")
    const packed = entry.deflate === true ? deflateRawSync(content) : content
    const data = entry.padding === undefined ? packed : Buffer.concat([packed, entry.padding])
    const name = Buffer.from(entry.name)
    const size = entry.size ?? content.length
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(entry.flags ?? 0x800, 2)
    fields.writeUInt16LE(entry.deflate === true ? 8 : 0, 4)
    fields.writeUInt32LE(entry.crc ?? crc32(content), 10)
    fields.writeUInt32LE(data.length, 14)
    fields.writeUInt32LE(size, 18)
    fields.writeUInt16LE(name.length, 22)
    const at = length
    const localExtra = entry.localExtra ?? Buffer.alloc(0)
    fields.writeUInt16LE(localExtra.length, 24)
    const trailer = entry.trailer ?? Buffer.alloc(0)
    const localFields = Buffer.from(fields)
    if (entry.unsized === true) localFields.fill(0, 10, 22)
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), localFields, name, localExtra, data, trailer])
    parts.push(local)
    length += local.length
    if (entry.unlisted === true) continue
    const listed = entry.listedAs === undefined ? name : Buffer.from(entry.listedAs)
    const central = Buffer.alloc(46)
    central.write("PK\u0001\u0002", 0, "latin1")
    central.writeUInt16LE(0x0314, 4)
    fields.copy(central, 6)
    const extra = entry.extra ?? Buffer.alloc(0)
    central.writeUInt16LE(listed.length, 28)
    central.writeUInt16LE(extra.length, 30)
    if (entry.method !== undefined) central.writeUInt16LE(entry.method, 10)
    if (entry.packed !== undefined) central.writeUInt32LE(entry.packed, 20)
    central.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38)
    central.writeUInt32LE(entry.at ?? at, 42)
    directory.push(central, listed, Buffer.from(extra))
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write("PK\u0005\u0006", 0, "latin1")
  const listed = count ?? entries.filter((entry) => entry.unlisted !== true).length
  end.writeUInt16LE(listed & 0xffff, 8)
  end.writeUInt16LE(listed & 0xffff, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(length, 16)
  if (wide === undefined) return Buffer.concat([...parts, list, end, Buffer.from(after ?? [])])
  const record = Buffer.alloc(56)
  record.write("PK\u0006\u0006", 0, "latin1")
  record.writeUInt32LE(44, 4)
  record.writeUInt32LE(listed, 24)
  record.writeUInt32LE(listed, 32)
  record.writeUInt32LE(list.length, 40)
  record.writeUInt32LE(length + wide, 48)
  const locator = Buffer.alloc(20)
  locator.write("PK\u0006\u0007", 0, "latin1")
  locator.writeBigUInt64LE(locatorAt ?? BigInt(length + list.length), 8)
  locator.writeUInt32LE(1, 16)
  if (narrow === undefined) end.fill(0xff, 8, 20)
  else end.writeUInt16LE(narrow, 10)
  return Buffer.concat([...parts, list, record, locator, end])
}
