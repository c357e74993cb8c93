/** Zips that must be refused as task packages, for every reader of packages. */
import { crc32 } from "node:zlib"
import * as RawZip from "./RawZip.ts"

export interface HostileZip {
  readonly what: string
  readonly zip: Uint8Array
  /** Matches the message of the refusal: the entry, if it is about one. */
  readonly says: RegExp
  /** Matches the remedy in the message. */
  readonly remedy: RegExp
}

const text = "tasks:\n  New:\n    shell: python tasks.py\n"
const robot: RawZip.Entry = { name: "robot.yaml", content: text }
const zipOf = (...entries: ReadonlyArray<RawZip.Entry>) => RawZip.make([robot, ...entries])
const named = (name: string | Uint8Array) => zipOf({ name, content: "x" })
const well = zipOf()
const crcOf = (content: string) => crc32(Buffer.from(content))

/** A second name for an entry, as some tools write it. */
const otherName = (name: string, other: string) =>
  RawZip.extraField(
    0x7075,
    Buffer.concat([Buffer.of(1), RawZip.numbers(4, crc32(Buffer.from(name))), Buffer.from(other)])
  )

/** Sizes after the data of `content`; correct unless given. */
const descriptor = (content: string, { crc = crcOf(content), size = content.length } = {}) =>
  Buffer.concat([Buffer.from("PK\u0007\u0008"), RawZip.numbers(4, crc, size, size)])

const again = /create the zip again/

type Row = readonly [what: string, zip: Uint8Array, says: RegExp, remedy: RegExp]

const paths: ReadonlyArray<Row> = [
  ["a path upwards", named("../up"), /"\.\.\/up".*`\.\.`/, /relative to the folder of robot\.yaml/],
  ["a path upwards in the middle", named("a/../../up"), /`\.\.`/, /relative to the folder/],
  ["a path upwards at the end", named("a/.."), /`\.\.`/, /relative to the folder/],
  ["a folder upwards", zipOf({ name: "../", mode: 0o40755 }), /`\.\.`/, /relative to the folder/],
  ["a path with a dot", named("./a"), /`\.`/, /relative to the folder/],
  ["an empty part", named("a//b"), /empty part/, /relative to the folder/],
  ["an empty name", named(""), /empty part/, /relative to the folder/],
  ["an absolute path", named("/etc/passwd"), /"\/etc\/passwd".*absolute/, /relative to the folder/],
  ["a drive", named("C:/x"), /absolute/, /relative to the folder/],
  ["a drive's folder", named("c:x"), /absolute/, /relative to the folder/],
  ["a backslash", named("a\\..\\..\\x"), /backslash/, /by slashes/],
  ["a line break", named("a\nb"), /control character/, /rename it/],
  ["a NUL", named("a\u0000b"), /control character/, /rename it/],
  ["a name that is no UTF-8", named(Buffer.from([0x61, 0xff])), /UTF-8/, again],
  ["a long path", named("a/".repeat(512) + "bb"), /too long/, /shorter names/],
  ["a deep path", named("a/".repeat(64) + "b"), /too long/, /fewer folders/],
  ["a symbolic link", zipOf({ name: "l", content: "/etc", mode: 0o120777 }), /"l" is a link/, /the file itself/],
  [
    "a link, then a file through it",
    zipOf({ name: "l", content: "..", mode: 0o120777 }, { name: "l/evil" }),
    /is a link/,
    /the file itself/
  ],
  ["a device", zipOf({ name: "d", mode: 0o60644 }), /special/, /the file itself/],
  ["a folder named like a file", zipOf({ name: "d", mode: 0o40755 }), /not what its name says/, /slash/],
  ["a file named like a folder", zipOf({ name: "d/", mode: 0o100644 }), /not what its name says/, /slash/]
]

const names: ReadonlyArray<Row> = [
  ["a name twice", zipOf({ name: "a" }, { name: "a" }), /"a" appears twice/, /remove one/],
  ["robot.yaml twice", zipOf(robot), /twice/, /remove one/],
  ["names that differ in case", zipOf({ name: "A" }, { name: "a" }), /"A" and "a"/, /rename one/],
  ["folders that differ in case", zipOf({ name: "A/x" }, { name: "a/y" }), /"A" and "a"/, /rename one/],
  ["a second Robot.yaml", zipOf({ name: "Robot.YAML" }), /would be one/, /rename one/],
  ["names that differ in form", zipOf({ name: "\u00e9" }, { name: "e\u0301" }), /would be one/, /rename one/],
  ["names that fold together", zipOf({ name: "ß" }, { name: "SS" }), /would be one/, /rename one/],
  ["a file and a folder", zipOf({ name: "a" }, { name: "a/b" }), /would be one/, /rename one/],
  ["a folder and a file", zipOf({ name: "a/b" }, { name: "a" }), /would be one/, /rename one/]
]

const layouts: ReadonlyArray<Row> = [
  ["another name in the directory", zipOf({ name: "a", listedAs: "../a" }), /`\.\.`/, /relative to the folder/],
  ["another harmless name there", zipOf({ name: "a", listedAs: "b" }), /not what its directory says/, again],
  [
    "a second name before the data",
    zipOf({ name: "a", localExtra: otherName("a", "../a") }),
    /not what its directory says/,
    again
  ],
  ["a second name in the directory", zipOf({ name: "a", extra: otherName("a", "b") }), /not what its directory/, again],
  ["another compression in the directory", zipOf({ name: "a", method: 8 }), /not what its directory says/, again],
  ["an entry that is not listed", zipOf({ name: "../a", unlisted: true }), /gaps/, again],
  ["an entry before the rest", RawZip.make([{ name: "a", unlisted: true }, robot]), /gaps/, again],
  ["a wrong count", RawZip.make([robot], { count: 2 }), /directory/, again],
  ["a count that is too small", RawZip.make([robot, { name: "a" }], { count: 1 }), /directory/, again],
  ["two entries of the same bytes", zipOf({ name: "a", at: 0 }), /overlap/, again],
  [
    "an entry inside of another",
    zipOf({ name: "a", content: RawZip.make([{ name: "b", content: "x" }]) }, { name: "b", at: 200 }),
    /overlap|not where/,
    again
  ],
  ["an entry beyond the end", zipOf({ name: "a", at: 2 ** 31 }), /overlap/, again],
  ["more bytes than it has", zipOf({ name: "a", packed: 9 }, { name: "b" }), /overlap/, again],
  ["fewer bytes than it has", RawZip.make([{ ...robot, packed: 9 }, { name: "b" }]), /gaps/, again],
  ["a gap", zipOf({ name: "a", content: "PK", unlisted: true }, { name: "b" }), /gaps/, again],
  ["bytes after the data of an entry", zipOf({ name: "a", content: "x", trailer: Buffer.from("more") }), /gaps/, again],
  [
    "sizes after the data that are not announced",
    zipOf({ name: "a", content: "x", trailer: descriptor("x") }),
    /gaps/,
    again
  ],
  [
    "a wrong checksum after the data",
    zipOf({ name: "a", content: "x", flags: 0x808, trailer: descriptor("x", { crc: 1 }) }),
    /not what its directory says/,
    again
  ],
  [
    "a size that only follows data that is not compressed",
    zipOf({ name: "a", content: "x", flags: 0x808, unsized: true, trailer: descriptor("x") }),
    /size after its data/,
    again
  ],
  [
    "a wrong size after the data",
    zipOf({ name: "a", content: "x", flags: 0x808, trailer: descriptor("x", { size: 9 }) }),
    /not what its directory says/,
    again
  ]
]

const wideSize = (size: bigint) => RawZip.extraField(1, RawZip.numbers(8, size))

const ends: ReadonlyArray<Row> = [
  ["a ZIP64 directory that is elsewhere", RawZip.make([robot], { wide: 8 }), /directory/, again],
  ["a ZIP64 directory beyond the end", RawZip.make([robot], { wide: 2 ** 31 }), /directory/, again],
  ["a ZIP64 end beyond the end", RawZip.make([robot], { wide: 0, locator: 2n ** 40n }), /end is damaged/, again],
  ["a ZIP64 end where no file is", RawZip.make([robot], { wide: 0, locator: 2n ** 63n }), /end is damaged/, again],
  ["a ZIP64 end inside of an entry", RawZip.make([robot], { wide: 0, locator: 4n }), /end is damaged/, again],
  [
    "two ends that differ",
    RawZip.make([robot, { name: "a" }], { wide: 0, narrow: 1 }),
    /two end records differ/,
    again
  ],
  [
    "a ZIP64 size that no disk holds",
    zipOf({ name: "a", size: 0xffffffff, extra: wideSize(2n ** 62n) }),
    /5368709120/,
    /leave out/
  ],
  [
    "a ZIP64 size that is missing",
    zipOf({ name: "a", size: 0xffffffff, extra: wideSize(0n).subarray(0, 8) }),
    /zip/,
    again
  ],
  [
    "a ZIP64 place where no file is",
    zipOf({ name: "a", at: 0xffffffff, extra: wideSize(2n ** 63n) }),
    /overlap/,
    again
  ],
  ["a ZIP64 end without its locator", Buffer.concat([well.subarray(0, -12), Buffer.alloc(12, 0xff)]), /end/, again],
  ["no middle", Buffer.concat([well.subarray(0, 50), well.subarray(60)]), /directory/, again],
  ["20,001 entries", RawZip.make([robot], { count: 20_001 }), /20000/, /remove files/],
  ["bytes before it", RawZip.make([robot], { before: Buffer.from("#!/bin/sh\n") }), /zip/, again],
  ["bytes after it", RawZip.make([robot], { after: Buffer.from("more") }), /end/, again],
  ["two zips in one", Buffer.concat([well, well]), /directory/, again],
  ["half of it", well.subarray(0, 40), /end/, again],
  ["all but a byte", well.subarray(0, -1), /end/, again],
  ["no zip", Buffer.from("hello"), /end/, again],
  ["nothing", new Uint8Array(0), /end/, again]
]

const bomb = Buffer.alloc(4 * 1024 * 1024)

const contents: ReadonlyArray<Row> = [
  ["encryption", zipOf({ name: "a", content: "x", flags: 0x801 }), /"a" is encrypted/, /without a password/],
  ["strong encryption", zipOf({ name: "a", content: "x", flags: 0x841 }), /encryption/, again],
  [
    "a compression that is not known",
    zipOf({ name: "a", method: 12 }),
    /compressed with an unknown method/,
    /with deflate/
  ],
  [
    "bytes behind compressed data",
    zipOf({ name: "a", content: "x", deflate: true, padding: Buffer.from("more") }),
    /"a" has bytes after its data/,
    again
  ],
  ["a wrong checksum", zipOf({ name: "a", content: "x", crc: 1 }), /"a".*CRC/, again],
  ["data that is not compressed", zipOf({ name: "a", content: "xyz", method: 8 }), /zip/, again],
  ["a size that is too small", zipOf({ name: "a", content: bomb, deflate: true, size: 9 }), /"a" is larger/, again],
  ["a size that is too large", zipOf({ name: "a", content: "x", deflate: true, size: 9 }), /"a" is smaller/, again],
  ["a stored size that is too large", zipOf({ name: "a", content: "x", size: 9 }), /"a" is smaller/, again],
  ["a size above 5 GB", zipOf(...["a", "b"].map((name) => ({ name, size: 4_000_000_000 }))), /5368709120/, /leave out/]
]

/** Zips that both the service and a worker must refuse. Each is valid except for its fault. */
export const hostileZips: ReadonlyArray<HostileZip> = [...paths, ...names, ...layouts, ...ends, ...contents].map(
  ([what, zip, says, remedy]) => ({ what, zip, says, remedy })
)
