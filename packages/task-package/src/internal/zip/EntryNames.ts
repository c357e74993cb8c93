/**
 * Which entries may be unpacked: inside the folder, as files and folders only, each a separate file on any file system.
 */
import * as Effect from "effect/Effect"
import { InvalidZip } from "../../InvalidZip.ts"
import { isHollow, type PackageLimits } from "../../PackageLimits.ts"
import { shown } from "./Refusal.ts"

/** An entry according to the directory of the zip. */
export interface Entry {
  readonly name: string
  /** Unpacked, in bytes. */
  readonly size: number
  /** In the zip, in bytes. */
  readonly compressed: number
  /** The Unix mode, 0 when the zip has none. */
  readonly mode: number
  readonly isEncrypted: boolean
  /** The compression: 0 none, 8 deflate. */
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

/** What is wrong with an entry by itself, and the remedy. The first match is reported. */
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
  [({ method }) => method !== 0 && method !== 8, "is compressed with an unknown method", "zip with deflate"]
]

const devices = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)/i

/** Why a name cannot be that of a file on Windows, which would open something else; null: it can. */
export const faultOnWindows = (name: string): string | null => {
  for (const part of partsOf(name)) {
    if (/[<>:"|?*]/.test(part)) return "has a character in its name that Windows does not allow"
    if (/[. ]$/.test(part)) return "has a name that ends with a dot or a space, which Windows ignores"
    // Also with an extension, and spaces before it.
    if (devices.test(part.replace(/ +(?=\.|$)/, ""))) return "has the name of a device of Windows"
  }
  return null
}

/** A name as a file system compares it that ignores case and the form of accents. */
const folded = (name: string) => name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC")

const refuse = (message: string) => new InvalidZip({ message })

/** Fails with the first entry that must not be unpacked. */
export const check = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Entry>,
  limits: PackageLimits,
  platform: string = process.platform
) {
  const known = new Map<string, { readonly path: string; readonly isFile: boolean }>()
  const listed = new Set<string>()
  let total = 0
  let hollow = 0
  for (const entry of entries) {
    const fault = faults.find(([isThere]) => isThere(entry, limits))
    if (fault !== undefined) return yield* refuse(`the entry ${shown(entry.name)} ${fault[1]}; ${fault[2]}`)
    const onWindows = platform === "win32" ? faultOnWindows(entry.name) : null
    if (onWindows !== null) return yield* refuse(`the entry ${shown(entry.name)} ${onWindows}; rename it`)
    total += entry.size
    if (isHollow(entry)) hollow += entry.size
    const parts = partsOf(entry.name)
    const whole = parts.join("/")
    if (listed.has(whole)) return yield* refuse(`the entry ${shown(entry.name)} appears twice; remove one`)
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
  if (hollow > limits.hollow) {
    return yield* refuse(
      `files that compress to less than a 200th have ${hollow} bytes, more than the ${limits.hollow} that a task package may have; leave them out, and let the task create what is empty`
    )
  }
})
