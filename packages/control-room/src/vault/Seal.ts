/**
 * Seals secrets for the database: AES-256-GCM, bound to what each one belongs to.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { masterKey } from "../Signer.ts"

/** A sealed text was not sealed with this master key, not for this context, or was changed. */
export class SealBroken extends Schema.TaggedError<SealBroken>()("SealBroken", { message: Schema.String }) {}

const version = "s1."
const ivLength = 12
const tagLength = 16

export class Seal extends Context.Service<
  Seal,
  {
    /** `context` names what the text belongs to; it opens with the same one alone. */
    readonly seal: (text: string, context: string) => Effect.Effect<string>
    readonly open: (sealed: string, context: string) => Effect.Effect<Redacted.Redacted, SealBroken>
  }
>()("@signalbox/control-room/vault/Seal") {
  /** With a key made from the master key in a file. */
  static readonly layerFile = (path: string) =>
    Layer.effect(
      Seal,
      Effect.gen(function* () {
        const key = Buffer.from(hkdfSync("sha256", yield* masterKey(path), "", "signalbox/sealing/v1", 32))
        return Seal.of({
          seal: (text, context) =>
            Effect.sync(() => {
              const iv = randomBytes(ivLength)
              const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context))
              const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
              return version + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url")
            }),
          open: (sealed, context) =>
            Effect.try({
              try: () => {
                const bytes = Buffer.from(sealed.slice(version.length), "base64url")
                const tagEnd = ivLength + tagLength
                const opening = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, ivLength), {
                  authTagLength: tagLength
                })
                opening.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(ivLength, tagEnd))
                return Redacted.make(
                  Buffer.concat([opening.update(bytes.subarray(tagEnd)), opening.final()]).toString("utf8")
                )
              },
              catch: () =>
                new SealBroken({ message: "a stored secret does not open with this master key; restore the key file" })
            })
        })
      })
    )
}
