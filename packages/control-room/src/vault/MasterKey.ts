/**
 * The one key from which all others of a data folder come.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { hkdfSync, randomBytes } from "node:crypto"

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

  /** From a file of 32 bytes that only its owner reads; made at the first start. */
  static readonly layerFile = (path: string) =>
    Layer.effect(
      MasterKey,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        if (!(yield* fs.exists(path))) {
          // Written whole before it gets its name: a start that is killed leaves no half key.
          const temporary = `${path}.${randomBytes(4).toString("hex")}`
          yield* fs.writeFile(temporary, randomBytes(masterKeyLength), { mode: 0o600, flag: "wx" })
          yield* fs.rename(temporary, path)
        }
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
