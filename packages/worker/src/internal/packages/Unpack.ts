/**
 * Unpacks the zip of a task package without trust: nothing leaves the folder, nothing but files and folders comes into
 * being, and no more of them than a package may have.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { createWriteStream } from "node:fs"
import { dirname, join } from "node:path"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { type Entry, openPromise } from "yauzl"
import { machine, PackageFailure } from "./PackageFailure.ts"

export const packageLimits = { entries: 20_000, bytes: 5 * 1024 * 1024 * 1024, nameLength: 1024, depth: 64 }

const regular = 0o100000
const folder = 0o040000

const bad = (message: string) =>
  new PackageFailure({ code: "UNZIP_FAILURE", message: `the task package cannot be unpacked: ${message}` })

const textOf = (error: unknown) => bad(error instanceof Error ? error.message : "it cannot be read")

const shown = (name: string) => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)

/** Why an entry may not be unpacked, null when it may. */
const faultOf = (name: string, fileType: number): string | null => {
  if (fileType !== 0 && fileType !== regular && fileType !== folder) return "is a link or a special file"
  if (fileType !== 0 && (fileType === folder) !== name.endsWith("/")) return "is not what its name says"
  // oxlint-disable-next-line no-control-regex
  if (/[\\\x00-\x1f\x7f]/.test(name)) return "has a backslash or a control character in its name"
  if (name.startsWith("/") || /^[a-z]:/i.test(name)) return "has an absolute path"
  const segments = name.replace(/\/$/, "").split("/")
  if (segments.some((segment) => segment === ".." || segment === "." || segment === "")) {
    return "has `..`, `.` or an empty part in its path"
  }
  return name.length > packageLimits.nameLength || segments.length > packageLimits.depth
    ? "has a path that is too long"
    : null
}

/** No two names may be one on a file system that ignores case or the form of accents. */
const folded = (name: string) => name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC")

/** Remembers names; answers whether this one, or a folder that it is in, is another spelling of one known. */
const makeNames = () => {
  const known = new Map<string, { readonly path: string; readonly isFile: boolean }>()
  const listed = new Set<string>()
  return (name: string): boolean => {
    const whole = name.replace(/\/$/, "")
    if (listed.has(whole)) return true
    listed.add(whole)
    const segments = whole.split("/")
    for (let length = 1; length <= segments.length; length++) {
      const path = segments.slice(0, length).join("/")
      const isFile = length === segments.length && !name.endsWith("/")
      const other = known.get(folded(path))
      if (other !== undefined && (other.path !== path || other.isFile || isFile)) return true
      known.set(folded(path), { path, isFile })
    }
    return false
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Unpacks into a folder that is there and empty; answers how many bytes it then holds. */
export const unpack = Effect.fnUntraced(function* (zip: string, target: string, limits = packageLimits) {
  const fs = yield* FileSystem.FileSystem
  const onDisk = machine("the task package cannot be unpacked")
  const archive = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => openPromise(zip, { autoClose: false, strictFileNames: true }),
      catch: () => bad("it is not a usable zip")
    }),
    (archive) => Effect.sync(() => archive.close())
  )
  if (archive.entryCount > limits.entries) return yield* bad(`it has more than ${limits.entries} entries`)
  const clashes = makeNames()
  let total = 0

  const writeFile = (entry: Entry, path: string, mode: number) =>
    Effect.tryPromise({
      try: async (signal) => {
        const source = await archive.openReadStreamPromise(entry)
        const counter = new Transform({
          transform: (chunk: Buffer, _encoding, done) => {
            total += chunk.length
            // Stops here: a few bytes can unpack to more than any disk holds.
            done(total > limits.bytes ? new Error(`it has more than ${limits.bytes} bytes`) : null, chunk)
          }
        })
        await pipeline(source, counter, createWriteStream(path, { flags: "wx", mode }), { signal })
      },
      catch: textOf
    })

  const extract = Effect.fnUntraced(function* (entry: Entry) {
    const name = yield* Effect.try({
      try: () => decoder.decode(entry.fileNameRaw),
      catch: () => bad("a name is not valid UTF-8")
    })
    const mode = entry.externalFileAttributes >>> 16
    const fault = faultOf(name, mode & 0o170000)
    if (fault !== null) return yield* bad(`the entry ${shown(name)} ${fault}`)
    if (clashes(name)) return yield* bad(`the entry ${shown(name)} is there twice on some file systems`)
    const path = join(target, name)
    if (name.endsWith("/")) return yield* Effect.mapError(fs.makeDirectory(path, { recursive: true }), onDisk)
    yield* Effect.mapError(fs.makeDirectory(dirname(path), { recursive: true }), onDisk)
    yield* writeFile(entry, path, (mode & 0o111) === 0 ? 0o644 : 0o755)
  })

  yield* Stream.fromAsyncIterable(archive.eachEntry(), textOf).pipe(Stream.runForEach(extract))
  return total
}, Effect.scoped)
