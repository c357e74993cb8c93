/**
 * Zips that say of themselves whatever a test wants.
 */
import { crc32, deflateRawSync } from "node:zlib"

export interface Entry {
  readonly name: string | Uint8Array
  readonly content?: string | Uint8Array
  readonly deflate?: boolean
  /** The name in the directory, when it is another. */
  readonly listedAs?: string
  /** Leaves the entry out of the directory. */
  readonly unlisted?: boolean
  /** The size in the directory and the local header, when it is another. */
  readonly size?: number
  /** Upper half of the external attributes. */
  readonly mode?: number
  readonly flags?: number
  /** Where the directory says that it is, when it is elsewhere. */
  readonly at?: number
  /** Its packed size in the directory, when it is another. */
  readonly packed?: number
}

export interface Shape {
  readonly before?: Uint8Array
  readonly after?: Uint8Array
  readonly count?: number
  /** Ends with the records of ZIP64; the number is added to where they say that the directory is. */
  readonly wide?: number
}

/** A zip with these entries as they are given, and no care. */
export const make = (entries: ReadonlyArray<Entry>, { after, before, count, wide }: Shape = {}): Buffer => {
  const parts: Array<Buffer> = [Buffer.from(before ?? [])]
  const directory: Array<Buffer> = []
  let length = parts[0]?.length ?? 0
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? "")
    const data = entry.deflate === true ? deflateRawSync(content) : content
    const name = Buffer.from(entry.name)
    const size = entry.size ?? content.length
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(entry.flags ?? 0x800, 2)
    fields.writeUInt16LE(entry.deflate === true ? 8 : 0, 4)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(data.length, 14)
    fields.writeUInt32LE(size, 18)
    fields.writeUInt16LE(name.length, 22)
    const at = length
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), fields, name, data])
    parts.push(local)
    length += local.length
    if (entry.unlisted === true) continue
    const listed = entry.listedAs === undefined ? name : Buffer.from(entry.listedAs)
    const central = Buffer.alloc(46)
    central.write("PK\u0001\u0002", 0, "latin1")
    central.writeUInt16LE(0x0314, 4)
    fields.copy(central, 6)
    central.writeUInt16LE(listed.length, 28)
    if (entry.packed !== undefined) central.writeUInt32LE(entry.packed, 20)
    central.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38)
    central.writeUInt32LE(entry.at ?? at, 42)
    directory.push(central, listed)
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
  locator.writeUInt32LE(length + list.length, 8)
  locator.writeUInt32LE(1, 16)
  end.fill(0xff, 8, 20)
  return Buffer.concat([...parts, list, record, locator, end])
}
