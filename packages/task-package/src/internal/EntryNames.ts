/**
 * Which entries may be unpacked: inside the folder, as files and folders only, each a file of its own on any file system.
 */
import * as Effect from "effect/Effect"
import { InvalidZip } from "../InvalidZip.ts"
import type { PackageLimits } from "../PackageLimits.ts"
import { shown } from "./Refusal.ts"

/** What the directory of a zip says of an entry. */
export interface Entry {
  readonly name: string
  /** Unpacked, in bytes. */
  readonly size: number
  /** Mode in the sense of Unix, 0 when the zip does not say. */
  readonly mode: number
  readonly isEncrypted: boolean
  /** How it is compressed: 0 not at all, 8 deflate. */
  readonly method: number
}

/** Whether the entry is a folder. */
export const isFolder = ({ name }: { readonly name: string }) => name.endsWith("/")

const kind = {
  mask: 0o170000,
  regular: 0o100000,
  folder: 0o040000
}
const typeOf = (entry: Entry) => entry.mode & kind.mask

const partsOf = (name: string) => name.replace(/\/$/, "").split("/")

/** What is wrong with an entry by itself, and what to do about it. The first that holds is said. */
const faults: ReadonlyArray<
  readonly [isThere: (entry: Entry, limits: PackageLimits) => boolean, what: string, remedy: string]
> = [
  [
    (entry) => ![0, kind.regular, kind.folder].includes(typeOf(entry)),
    "is a link or a special file",
    "put the file itself into the zip"
  ],
  [
    (entry) => typeOf(entry) !== 0 && (typeOf(entry) === kind.folder) !== isFolder(entry),
    "is not what its name says",
    "only names of folders end with a slash"
  ],
  [({ name }) => name.includes("\\"), "has a backslash in its name", "separate folders by slashes"],
  // oxlint-disable-next-line no-control-regex
  [({ name }) => /[\x00-\x1f\x7f]/.test(name), "has a control character in its name", "rename it"],
  [
    ({ name }) => name.startsWith("/") || /^[a-z]:/i.test(name),
    "has an absolute path",
    "zip with paths relative to the folder of robot.yaml"
  ],
  [
    ({ name }) => partsOf(name).some((part) => part === ".." || part === "." || part === ""),
    "has `..`, `.` or an empty part in its path",
    "zip with paths relative to the folder of robot.yaml"
  ],
  [
    ({ name }, limits) => name.length > limits.path || partsOf(name).length > limits.depth,
    "has a path that is too long",
    "use shorter names and fewer folders"
  ],
  [({ isEncrypted }) => isEncrypted, "is encrypted", "zip without a password"],
  [({ method }) => method !== 0 && method !== 8, "is compressed in a way that is not known", "zip with deflate"]
]

/** A name as a file system sees it that ignores case and the form of accents. */
const folded = (name: string) => name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC")

const refuse = (message: string) => new InvalidZip({ message })

/** Fails with the first entry that may not be unpacked. */
export const check = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>, limits: PackageLimits) {
  const known = new Map<string, { readonly path: string; readonly isFile: boolean }>()
  const listed = new Set<string>()
  let total = 0
  for (const entry of entries) {
    const fault = faults.find(([isThere]) => isThere(entry, limits))
    if (fault !== undefined) return yield* refuse(`the entry ${shown(entry.name)} ${fault[1]}; ${fault[2]}`)
    total += entry.size
    const parts = partsOf(entry.name)
    const whole = parts.join("/")
    if (listed.has(whole)) return yield* refuse(`the entry ${shown(entry.name)} is there twice; leave one out`)
    listed.add(whole)
    let path = ""
    for (const [index, part] of parts.entries()) {
      path = index === 0 ? part : `${path}/${part}`
      const isFile = !isFolder(entry) && index === parts.length - 1
      const other = known.get(folded(path))
      if (other !== undefined && (other.path !== path || other.isFile || isFile)) {
        return yield* refuse(
          `the entries ${shown(other.path)} and ${shown(path)} would be one on some file systems; rename one`
        )
      }
      known.set(folded(path), { path, isFile })
    }
  }
  if (total > limits.unpacked) {
    return yield* refuse(
      `unpacked it has more than the ${limits.unpacked} bytes that a task package may have; leave out what tasks do not need`
    )
  }
})
