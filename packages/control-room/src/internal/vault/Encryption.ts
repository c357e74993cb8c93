/**
 * AES-256-GCM in the stored form: base64 of nonce (12 bytes), ciphertext and tag (16 bytes). The context is
 * authenticated, not stored, so that a value moved elsewhere does not open there.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"

/**
 * A stored ciphertext does not open: it was changed, moved, or encrypted under another key. No caller can recover from
 * that, so it is a defect wherever the service itself wrote the ciphertext.
 */
export class CannotOpen extends TaggedError<CannotOpen>()("CannotOpen", { message: Schema.String }) {}

const algorithm = "aes-256-gcm"
const nonceLength = 12
const tagLength = 16

/** Encrypts under a key of 32 bytes. */
export const encrypt = (key: Uint8Array, plaintext: Uint8Array, context: string): string => {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]).toString("base64")
}

/** Returns the plaintext, if nothing was changed and the context is the one it was encrypted with. */
export const decrypt = (key: Uint8Array, stored: string, context: string): Effect.Effect<Uint8Array, CannotOpen> =>
  Effect.try({
    try: () => {
      const bytes = Buffer.from(stored, "base64")
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceLength), { authTagLength: tagLength })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-tagLength))
      return Buffer.concat([decipher.update(bytes.subarray(nonceLength, -tagLength)), decipher.final()])
    },
    catch: () => new CannotOpen({ message: `a sealed value does not open in its place: ${context}` })
  })

/** Like `decrypt`, of a text that the service itself has encrypted: one that does not open is a defect. */
export const decryptText = (key: Uint8Array, stored: string, context: string): Effect.Effect<string> =>
  Effect.orDie(Effect.map(decrypt(key, stored, context), (opened) => new TextDecoder().decode(opened)))
