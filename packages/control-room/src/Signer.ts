/**
 * Signs what the service hands out and takes back: download addresses, upload forms, cursors.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto"

/** The master key of a data folder is not what it should be. */
export class MasterKeyError extends Schema.TaggedError<MasterKeyError>()("MasterKeyError", {
  message: Schema.String
}) {}

/** The master key of a data folder: 32 bytes in a file that only its owner reads; made at the first start. */
export const masterKey = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(path))) {
    // Written whole before it gets its name: a start that is killed leaves no half key.
    const temporary = `${path}.${randomBytes(4).toString("hex")}`
    yield* fs.writeFile(temporary, randomBytes(32), { mode: 0o600, flag: "wx" })
    yield* fs.rename(temporary, path)
  }
  const master = yield* fs.readFile(path)
  if (master.length === 32) return master
  return yield* new MasterKeyError({
    message: `${path} must hold 32 bytes and holds ${master.length}: restore it from a backup`
  })
})

export class Signer extends Context.Service<
  Signer,
  {
    readonly sign: (text: string) => string
    readonly verify: (text: string, signature: string) => boolean
  }
>()("@signalbox/control-room/Signer") {
  /** From a master key in a file (see `masterKey`). */
  static readonly layerFile = (path: string) =>
    Layer.effect(
      Signer,
      Effect.gen(function* () {
        const master = yield* masterKey(path)
        const key = Buffer.from(hkdfSync("sha256", master, "", "signalbox/signing/v1", 32))
        const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url")
        return Signer.of({
          sign,
          verify: (text, signature) => {
            const expected = Buffer.from(sign(text))
            const given = Buffer.from(signature)
            return expected.length === given.length && timingSafeEqual(expected, given)
          }
        })
      })
    )
}
