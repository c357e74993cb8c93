/**
 * The one key from which all others of a data folder come.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
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

  /** From configuration: base64 of 32 bytes, the same on every node. */
  static readonly layerText = (text: Redacted.Redacted | undefined) =>
    Layer.effect(
      MasterKey,
      Effect.gen(function* () {
        if (text === undefined) {
          return yield* new MasterKeyError({
            message: `with a Postgres database the master key comes from the configuration: set it to base64 of ${masterKeyLength} random bytes (\`openssl rand -base64 ${masterKeyLength}\`), the same on every node, and keep a copy`
          })
        }
        const given = Redacted.value(text).trim()
        const master = Buffer.from(given, "base64")
        if (master.length !== masterKeyLength || master.toString("base64") !== given) {
          return yield* new MasterKeyError({
            message: `the master key of the configuration must be base64 of ${masterKeyLength} bytes; restore it from a backup, or make the first one with \`openssl rand -base64 ${masterKeyLength}\``
          })
        }
        return MasterKey.fromBytes(master)
      })
    )

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
