/**
 * Counts what this process does to its SQLite file: statements, waits for the disk, and bytes of the log. It costs time, so nothing is timed
 * in a process that counts.
 */
import { openSync, readlinkSync, readSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { DatabaseSync, StatementSync } from "node:sqlite"
import type { Counts } from "./Postgres.ts"

/** A page of 4 KB and the header of its frame. */
const frameBytes = 4096 + 24

/** Where the index of the log says how many frames are valid. */
const framesAt = 16

/** Returns what tells the counts so far. */
export const count = async (): Promise<() => Counts> => {
  let statements = 0
  let syncs = 0
  let frames = 0
  const counted = (prototype: object, names: ReadonlyArray<string>) => {
    for (const name of names) {
      const original: unknown = Reflect.get(prototype, name)
      if (typeof original !== "function") continue
      Reflect.set(prototype, name, function (this: object, ...args: ReadonlyArray<unknown>) {
        statements++
        return Reflect.apply(original, this, args)
      })
    }
  }
  counted(DatabaseSync.prototype, ["exec"])
  counted(StatementSync.prototype, ["run", "get", "all", "iterate"])

  // Never closed: that would release the locks that SQLite holds on the file.
  const indices = new Map<string, { readonly descriptor: number; last: number }>()
  const noteFrames = (log: string) => {
    const known = indices.get(log) ?? { descriptor: openSync(log.replace(/-wal$/, "-shm"), "r"), last: 0 }
    indices.set(log, known)
    const header = new Uint32Array(1)
    readSync(known.descriptor, header, 0, 4, framesAt)
    const [now = 0] = header
    // Fewer than before: the log has begun anew.
    frames += now >= known.last ? now - known.last : now
    known.last = now
  }
  const some = await open("/dev/null")
  const prototype = Object.getPrototypeOf(some) as FileHandle
  await some.close()
  const original = prototype.datasync
  prototype.datasync = function (this: FileHandle) {
    const file = readlinkSync(`/proc/self/fd/${this.fd}`)
    if (file.endsWith("-wal")) {
      syncs++
      noteFrames(file)
    }
    return Reflect.apply(original, this, [])
  }
  return () => ({ statements, syncs, walBytes: frames * frameBytes })
}
