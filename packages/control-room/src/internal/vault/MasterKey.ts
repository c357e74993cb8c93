/**
 * The one key from which all others of a data folder come.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { hkdfSync, randomBytes } from "node:crypto"
import { Database } from "../store/Database.ts"

/** The master key of a data folder is not what it should be. */
export class MasterKeyError extends Schema.TaggedError<MasterKeyError>()("MasterKeyError", {
  message: Schema.String
}) {}

/** Bytes of a master key. */
export const masterKeyLength = 32

export class MasterKey extends Context.Service<
  MasterKey,
  {
    /** A key of 32 bytes for one purpose; keys of different purposes say nothing about each other. */
    readonly derive: (purpose: string) => Buffer
  }
>()("@signalbox/control-room/vault/MasterKey") {
  /** From 32 random bytes. */
  static readonly fromBytes = (bytes: Uint8Array): MasterKey["Service"] => ({
    derive: (purpose) => Buffer.from(hkdfSync("sha256", bytes, "", `signalbox/${purpose}`, 32))
  })

  /** A key that nobody keeps, for state that nobody keeps. */
  static readonly layerRandom = Layer.sync(MasterKey, () => MasterKey.fromBytes(randomBytes(masterKeyLength)))

  /** From base64 of 32 bytes, as configuration has it. */
  static readonly fromText = Effect.fnUntraced(function* (text: Redacted.Redacted) {
    const given = Redacted.value(text).trim()
    const master = Buffer.from(given, "base64")
    if (master.length !== masterKeyLength || master.toString("base64") !== given) {
      return yield* new MasterKeyError({
        message: `the master key (SIGNALBOX_MASTER_KEY) must be base64 of ${masterKeyLength} bytes; restore it from a backup, or make the first one with \`openssl rand -base64 ${masterKeyLength}\``
      })
    }
    return MasterKey.fromBytes(master)
  })

  /** From configuration: base64 of 32 bytes, the same on every node. */
  static readonly layerText = (text: Redacted.Redacted | undefined) =>
    Layer.effect(
      MasterKey,
      Effect.gen(function* () {
        if (text === undefined) {
          return yield* new MasterKeyError({
            message: `with a Postgres database the master key is not in the data folder: set SIGNALBOX_MASTER_KEY (\`masterKey\` in code) to base64 of ${masterKeyLength} random bytes, e.g. from \`openssl rand -base64 ${masterKeyLength}\`, the same on every node, and keep a copy`
          })
        }
        return yield* MasterKey.fromText(text)
      })
    )

  /**
   * From a file of 32 bytes that only its owner reads; made at the first start. A change of the key that was killed is
   * brought to its end.
   */
  static readonly layerFile = (path: string) =>
    Layer.effect(
      MasterKey,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* finishChange(path)
        if (!(yield* fs.exists(path))) {
          yield* refuseIfSealed(path)
          // Written whole before it gets its name: a start that is killed leaves no half key.
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
}

/** By this the database knows its master key; it says nothing of the key. */
export const fingerprint = (master: MasterKey["Service"]) => master.derive("fingerprint/v1").toString("hex")

/** A database whose values were sealed under a key that is missing opens under no new one. */
const refuseIfSealed = Effect.fnUntraced(function* (path: string) {
  const { sql } = yield* Database
  const [sealed] = yield* sql`SELECT 1 FROM data_key LIMIT 1`
  if (sealed !== undefined) {
    return yield* new MasterKeyError({
      message: `${path} is missing, and the database has secrets that only this key opens: restore it from a backup. Nothing was changed`
    })
  }
  // Nothing is sealed yet, so nothing is lost.
  yield* sql`DELETE FROM master_key`
})

/** Where the next key of a file waits until the database has changed to it. */
const nextOf = (path: string) => `${path}.new`

/** Gives the next key its name if the database has changed to it already. */
const finishChange = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(nextOf(path)))) return
  const next = yield* fs.readFile(nextOf(path))
  const { sql } = yield* Database
  const [known] = yield* sql<{ readonly fingerprint: string }>`SELECT fingerprint FROM master_key`
  if (next.length === masterKeyLength && known?.fingerprint === fingerprint(MasterKey.fromBytes(next))) {
    yield* fs.rename(nextOf(path), path)
  }
})

/**
 * Changes the key of a file. `change` is told the next key once that is safe on disk, and makes the database use it, all or
 * nothing; the file gets its name after that. Killed at any moment, it leaves a file that opens the database.
 */
export const replaceFile = Effect.fnUntraced(function* <A, E, R>(
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
