/**
 * The master key as a file of the data folder.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { randomBytes } from "node:crypto"
import * as MasterKeyRecord from "../store/database/MasterKeyRecord.ts"
import { fingerprint, MasterKey, MasterKeyError, masterKeyLength } from "../vault/MasterKey.ts"

/** The name of the file in the data folder. */
export const fileName = "master.key"

/**
 * Reads a file of 32 bytes that only its owner can read; creates it at the first start. Completes a change of the key
 * that was interrupted.
 */
export const layer = (path: string) =>
  Layer.effect(
    MasterKey,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* finishChange(path)
      if (!(yield* fs.exists(path))) {
        yield* refuseIfSealed(path)
        // Written under a temporary name and renamed, so that a killed start leaves no partial key.
        const temporary = `${path}.${randomBytes(4).toString("hex")}`
        yield* fs.writeFile(temporary, randomBytes(masterKeyLength), { mode: 0o600, flag: "wx" })
        yield* fs.rename(temporary, path)
      }
      yield* fs.chmod(path, 0o600)
      const master = yield* fs.readFile(path)
      if (master.length !== masterKeyLength) {
        return yield* new MasterKeyError({
          message: `${path} must have ${masterKeyLength} bytes and has ${master.length}: restore it from a backup`
        })
      }
      return MasterKey.fromBytes(master)
    })
  )

/** No new key opens values that were sealed under a missing one. */
const refuseIfSealed = Effect.fnUntraced(function* (path: string) {
  // A database without sealed values loses nothing.
  if (!(yield* MasterKeyRecord.forget)) {
    return yield* new MasterKeyError({
      message: `${path} is missing, and the database has secrets that only this key opens: restore it from a backup. Nothing was changed`
    })
  }
})

/** Path of the next key until the database has changed to it. */
const nextOf = (path: string) => `${path}.new`

/** Renames the next key if the database has already changed to it. */
const finishChange = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(nextOf(path)))) return
  const next = yield* fs.readFile(nextOf(path))
  const known = yield* MasterKeyRecord.known
  if (next.length === masterKeyLength && known === fingerprint(MasterKey.fromBytes(next))) {
    yield* fs.rename(nextOf(path), path)
  }
})

/**
 * Replaces the key of a file. `change` receives the next key once that is on disk, and makes the database use it
 * atomically; the file is renamed after that. Killed at any moment, it leaves a file that opens the database.
 */
export const replace = Effect.fnUntraced(function* <A, E, R>(
  path: string,
  change: (next: MasterKey["Service"]) => Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const folder = (yield* Path.Path).dirname(path)
  const next = randomBytes(masterKeyLength)
  // Left by an interrupted change that the database does not use, or `finishChange` would have renamed it.
  yield* fs.remove(nextOf(path), { force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(nextOf(path), { flag: "wx", mode: 0o600 })
      yield* file.writeAll(next)
      yield* file.sync
      // The rename has to be on disk too. Not every system lets folders be opened.
      yield* Effect.ignore(Effect.flatMap(fs.open(folder, { flag: "r" }), (opened) => opened.sync))
    })
  )
  const changed = yield* change(MasterKey.fromBytes(next))
  yield* fs.rename(nextOf(path), path)
  return changed
})
