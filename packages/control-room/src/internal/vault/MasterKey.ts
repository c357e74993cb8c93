/** The key from which all others of a data folder are derived. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Hex from "effect/encoding/Hex"
import { hkdfSync, randomBytes } from "node:crypto"

/** The master key of a data folder is missing, invalid, or another database's. */
export class MasterKeyError extends TaggedError<MasterKeyError>()("MasterKeyError", {
  message: Schema.String
}) {}

/** Bytes of a master key. */
export const masterKeyLength = 32

export class MasterKey extends Context.Service<
  MasterKey,
  {
    /** Derives a key of 32 bytes for one purpose; keys of different purposes reveal nothing about each other. */
    readonly derive: (purpose: string) => Uint8Array
  }
>()("@signalbox/control-room/vault/MasterKey") {
  /** From 32 random bytes. */
  static readonly fromBytes = (bytes: Uint8Array): MasterKey["Service"] => ({
    derive: (purpose) => Buffer.from(hkdfSync("sha256", bytes, "", `signalbox/${purpose}`, 32))
  })

  /** An ephemeral key, for in-memory storage. */
  static readonly layerRandom = Layer.sync(MasterKey, () => MasterKey.fromBytes(randomBytes(masterKeyLength)))

  /** From base64 of 32 bytes, the form in configuration. */
  static readonly fromText = Effect.fnUntraced(function* (text: Redacted.Redacted) {
    const given = Redacted.value(text).trim()
    const master = Buffer.from(given, "base64")
    if (master.length !== masterKeyLength || master.toString("base64") !== given) {
      return yield* new MasterKeyError({
        message: `the master key (SIGNALBOX_MASTER_KEY) must be base64 of ${masterKeyLength} bytes; restore it from a backup, or create the first one with \`openssl rand -base64 ${masterKeyLength}\``
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
}

/** Identifies the master key of a database without revealing anything about it. */
export const fingerprint = (master: MasterKey["Service"]) => Hex.encode(master.derive("fingerprint/v1"))
