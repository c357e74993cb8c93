/**
 * The master key as a file of the data folder.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { randomBytes } from "node:crypto"
import * as MasterKeyRecord from "../store/MasterKeyRecord.ts"
import { fingerprint, MasterKey, MasterKeyError, masterKeyLength } from "../vault/MasterKey.ts"

/** The name of the file in the data folder. */
export const fileName = "master.key"

/**
 * From a file of 32 bytes that only its owner reads; made at the first start. A change of the key that was killed is
 * brought to its end.
 */
export const layer = (path: string) =>
  Layer.effect(
    MasterKey,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* finishChange(path)
      if (!(yield* fs.exists(path))) {
        yield* refuseIfSealed(path)
        // Written under a temporary name and renamed: a start that is killed leaves no partial key.
        const temporary = `${path}.${randomBytes(4).toString("hex")}`
        yield* fs.writeFile(temporary, randomBytes(masterKeyLength), { mode: 0o600, flag: "wx" })
        yield* fs.rename(temporary, path)
      }
      yield* fs.chmod(path, 0o600)
      const master = yield* fs.readFile(path)
      if (master.length !== masterKeyLength) {
        return yield* new MasterKeyError({
          message: `${path} must hold ${masterKeyLength} bytes and holds ${master.length}: restore it from a backup`
        })
      }
      return MasterKey.fromBytes(master)
    })
  )

/** A database whose values were sealed under a key that is missing opens under no new one. */
const refuseIfSealed = Effect.fnUntraced(function* (path: string) {
  // What is not sealed yet is not lost.
  if (!(yield* MasterKeyRecord.forget)) {
    return yield* new MasterKeyError({
      message: `${path} is missing, and the database has secrets that only this key opens: restore it from a backup. Nothing was changed`
    })
  }
})

/** Where the next key of a file waits until the database has changed to it. */
const nextOf = (path: string) => `${path}.new`

/** Gives the next key its name if the database has changed to it already. */
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
 * Changes the key of a file. `change` is told the next key once that is safe on disk, and makes the database use it, all or
 * nothing; the file gets its name after that. Killed at any moment, it leaves a file that opens the database.
 */
export const replace = Effect.fnUntraced(function* <A, E, R>(
  path: string,
  change: (next: MasterKey["Service"]) => Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const folder = (yield* Path.Path).dirname(path)
  const next = randomBytes(masterKeyLength)
  // One that a killed change left, and that the database does not use: else it had its name by now.
  yield* fs.remove(nextOf(path), { force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(nextOf(path), { flag: "wx", mode: 0o600 })
      yield* file.writeAll(next)
      yield* file.sync
      // Its name has to be on disk too. Not every system lets folders be opened.
      yield* Effect.ignore(Effect.flatMap(fs.open(folder, { flag: "r" }), (opened) => opened.sync))
    })
  )
  const changed = yield* change(MasterKey.fromBytes(next))
  yield* fs.rename(nextOf(path), path)
  return changed
})
