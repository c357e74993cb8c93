/**
 * A cache of unpacked task packages by their digest, in a folder that several workers may share. The least recently
 * used are deleted when they exceed the limit.
 */
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import * as TaskPackage from "@signalbox/task-package/TaskPackage"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Semaphore from "effect/Semaphore"
import { constants } from "node:fs"
import { cp } from "node:fs/promises"
import { join } from "node:path"
import { download } from "./Download.ts"
import { machine, PackageFailure } from "../outcome/SetupFailure.ts"

export type PackageRef = NonNullable<Lease["package"]>

/** Another worker may be copying a package that was used within this time, in milliseconds. */
const inUse = 10 * 60 * 1000
/** An unfinished package of this age belongs to a killed process, in milliseconds. */
const abandoned = 24 * 60 * 60 * 1000

const onDisk = machine("the task package cannot be stored")

/** Creates `folder`; `limit` is in bytes, and packages in use may exceed it. */
export const make = Effect.fnUntraced(function* (options: { readonly folder: string; readonly limit: number }) {
  const { folder, limit } = options
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
  const turns = new Map<string, Semaphore.Semaphore>()
  const turnOf = (name: string) => {
    const known = turns.get(name)
    if (known !== undefined) return known
    const made = Semaphore.makeUnsafe(1)
    turns.set(name, made)
    return made
  }

  // The modification time of this file is the last use of the package, its text the number of its bytes.
  const mark = (name: string) => join(folder, name, "bytes")
  const content = (name: string) => join(folder, name, "content")
  const isThere = (name: string) => fs.exists(mark(name))
  const use = Effect.fnUntraced(function* (name: string) {
    const now = new Date(yield* Clock.currentTimeMillis)
    yield* fs.utimes(mark(name), now, now)
  })

  /** Renamed first, so that no other worker finds a partly deleted package. */
  const drop = Effect.fnUntraced(function* (name: string) {
    const gone = join(folder, `.gone-${crypto.randomUUID()}`)
    yield* fs.rename(join(folder, name), gone)
    yield* fs.remove(gone, { recursive: true, force: true })
  })

  const entries = Effect.fnUntraced(function* () {
    const names = (yield* fs.readDirectory(folder)).filter((name) => !name.startsWith("."))
    const found = yield* Effect.forEach(names, (name) =>
      Effect.all({ name: Effect.succeed(name), text: fs.readFileString(mark(name)), info: fs.stat(mark(name)) }).pipe(
        Effect.map(({ info, name, text }) => ({
          name,
          bytes: Number(text),
          used: info.mtime._tag === "Some" ? info.mtime.value.getTime() : 0
        })),
        Effect.option
      )
    )
    return found.flatMap((entry) => (entry._tag === "Some" ? [entry.value] : [])).toSorted((a, b) => a.used - b.used)
  })

  /** Deletes the least recently used packages until the rest fits. */
  const evict = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const all = yield* entries()
    let total = all.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const { bytes, name, used } of all) {
      if (total <= limit || used > now - inUse) break
      yield* drop(name)
      total -= bytes
    }
  }).pipe(Effect.ignore)

  const sweep = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const name of yield* fs.readDirectory(folder)) {
      if (!name.startsWith(".")) continue
      const { mtime } = yield* fs.stat(join(folder, name))
      if (mtime._tag === "Some" && mtime.value.getTime() > now - abandoned) continue
      yield* fs.remove(join(folder, name), { recursive: true, force: true })
    }
  }).pipe(Effect.ignore)

  const fetch = Effect.fnUntraced(function* (ref: PackageRef, name: string) {
    const temporary = yield* Effect.mapError(fs.makeTempDirectoryScoped({ directory: folder, prefix: ".new-" }), onDisk)
    const zip = join(temporary, "zip")
    const entry = join(temporary, "entry")
    yield* download(ref, zip)
    yield* Effect.mapError(fs.makeDirectory(entry), onDisk)
    const bytes = yield* Effect.mapError(
      TaskPackage.unpack(zip, join(entry, "content")),
      ({ message }) =>
        new PackageFailure({ code: "UNZIP_FAILURE", message: `the task package cannot be unpacked: ${message}` })
    )
    yield* Effect.mapError(fs.writeFileString(join(entry, "bytes"), String(bytes)), onDisk)
    // Another worker may have finished first: its copy is identical.
    yield* fs.rename(entry, join(folder, name)).pipe(
      Effect.catch((error) => Effect.flatMap(isThere(name), (there) => (there ? Effect.void : Effect.fail(error)))),
      Effect.mapError(onDisk)
    )
    yield* evict
  }, Effect.scoped)

  const copy = (from: string, to: string) =>
    Effect.tryPromise({
      try: () => cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE }),
      catch: (error) => machine("the task package cannot be copied")(error instanceof Error ? error : new Error())
    })

  yield* sweep
  return {
    /** Creates a working copy of a package as the folder `target`. `onFetch` runs before a download. */
    checkOut: Effect.fnUntraced(function* (ref: PackageRef, target: string, onFetch: Effect.Effect<void>) {
      const name = /^sha256:([0-9a-f]{64})$/.exec(ref.digest)?.[1]
      if (name === undefined) {
        return yield* new PackageFailure({
          code: "START_FAILURE",
          message: "the digest of the task package uses an unknown algorithm; update the worker"
        })
      }
      const once = Effect.gen(function* () {
        yield* turnOf(name).withPermits(1)(
          Effect.gen(function* () {
            if (yield* Effect.mapError(isThere(name), onDisk)) return yield* Effect.mapError(use(name), onDisk)
            yield* onFetch
            yield* fetch(ref, name)
          })
        )
        yield* copy(content(name), target)
      })
      // Another worker may have evicted the package just now.
      yield* once.pipe(
        Effect.catchTag("PackageFailure", (error) =>
          Effect.flatMap(
            Effect.orElseSucceed(isThere(name), () => true),
            (there) =>
              there || error.code !== "START_FAILURE"
                ? Effect.fail(error)
                : Effect.andThen(Effect.ignore(fs.remove(target, { recursive: true, force: true })), once)
          )
        )
      )
    })
  }
})

export type Cache = Effect.Success<ReturnType<typeof make>>
