/**
 * The transport encryption of secret values between vault and robots, `robocloud-vault-transit-v2`: JSON under
 * AES-256-GCM, that key under RSA-OAEP (SHA-256) for the reader. `iv` has 16 bytes. The nonce is the `iv` itself in
 * what a robot writes, and the ASCII bytes of its lower-case hex in what a robot reads, for compatibility with existing
 * robots.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import type { SealedSecret } from "@signalbox/api/contract/RobotSecrets"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes
} from "node:crypto"

/** The input does not decrypt, or is not a key; the message says which, never the content. */
export class TransitError extends TaggedError<TransitError>()("TransitError", { message: Schema.String }) {}

type Sealed = Pick<SealedSecret, "value" | "encryption">

const algorithm = "aes-256-gcm"
const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" } as const
const ivLength = 16
const tagLength = 16
/** Of the vault's own keys, in bits. */
const modulusLength = 3072

/** The public key of a reader, if it is RSA of 2048 to 8192 bits. */
export const readerKey = (der: Uint8Array): Effect.Effect<KeyObject, TransitError> =>
  Effect.try({
    try: () => createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" }),
    catch: () => new TransitError({ message: "expected base64 of the DER SubjectPublicKeyInfo of an RSA key" })
  }).pipe(
    Effect.filterOrFail(
      (key) => {
        const bits = key.asymmetricKeyType === "rsa" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0
        return bits >= 2048 && bits <= 8192
      },
      () => new TransitError({ message: "expected an RSA key of 2048 to 8192 bits" })
    )
  )

/** Encrypts for a robot that reads. */
export const sealFor = (reader: KeyObject, json: Redacted.Redacted): Effect.Effect<Sealed, TransitError> =>
  Effect.try({
    try: () => {
      const key = randomBytes(32)
      const iv = randomBytes(ivLength)
      const cipher = createCipheriv(algorithm, key, Buffer.from(iv.toString("hex"), "ascii"))
      const value = Buffer.concat([cipher.update(Redacted.value(json), "utf8"), cipher.final()])
      return {
        value,
        encryption: {
          encryptionScheme: "robocloud-vault-transit-v2" as const,
          encryptedAES: publicEncrypt({ key: reader, ...oaep }, key),
          authTag: cipher.getAuthTag(),
          iv
        }
      }
    },
    catch: () => new TransitError({ message: "this key cannot encrypt" })
  })

const privateKeyOf = (der: Redacted.Redacted<Uint8Array>) =>
  Effect.sync(() => createPrivateKey({ key: Buffer.from(Redacted.value(der)), format: "der", type: "pkcs8" }))

/** Decrypts what a robot wrote, with a private key in DER. All causes of failure look the same to the caller. */
export const open = (
  own: Redacted.Redacted<Uint8Array>,
  { encryption, value }: Sealed
): Effect.Effect<Redacted.Redacted, TransitError> =>
  Effect.flatMap(privateKeyOf(own), (own) =>
    Effect.try({
      try: () => {
        const key = privateDecrypt({ key: own, ...oaep }, encryption.encryptedAES)
        const decipher = createDecipheriv(algorithm, key, encryption.iv, { authTagLength: tagLength })
        decipher.setAuthTag(encryption.authTag)
        return Redacted.make(Buffer.concat([decipher.update(value), decipher.final()]).toString("utf8"))
      },
      catch: () =>
        new TransitError({
          message:
            "does not decrypt: encrypt it with the key at `publicKey` of this workspace, and the 16 bytes of iv as nonce"
        })
    })
  )

/** Generates a key pair of the vault, in DER. */
export const generate: Effect.Effect<{ readonly publicKey: Uint8Array; readonly privateKey: Uint8Array }> =
  Effect.callback((resume) => {
    generateKeyPair(
      "rsa",
      {
        modulusLength,
        publicKeyEncoding: { type: "spki", format: "der" },
        privateKeyEncoding: { type: "pkcs8", format: "der" }
      },
      (error, publicKey, privateKey) =>
        resume(error === null ? Effect.succeed({ publicKey, privateKey }) : Effect.die(error))
    )
  })
