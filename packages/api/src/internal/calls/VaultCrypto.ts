/**
 * The transport encryption of secret values, `robocloud-vault-transit-v2`, on Web Crypto. `effect/crypto` accepts
 * AES-GCM nonces of 12 bytes only; here they have 16 and 32.
 */
import { encryptionScheme, type SealedSecret } from "../endpoints/RobotSecrets.ts"

type Sealed = Pick<SealedSecret, "value" | "encryption">

/** Of the reader; the vault's own keys have as many bits. */
const rsa = { name: "RSA-OAEP", hash: "SHA-256", modulusLength: 3072, publicExponent: new Uint8Array([1, 0, 1]) }

const tagLength = 16

/** A key pair of a reader. `publicKey` is its DER SubjectPublicKeyInfo. */
export interface ReaderKeyPair {
  readonly publicKey: Uint8Array
  readonly privateKey: CryptoKey
}

export const generate = async (crypto: Crypto): Promise<ReaderKeyPair> => {
  const pair = await crypto.subtle.generateKey(rsa, false, ["encrypt", "decrypt"])
  return {
    publicKey: new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey)),
    privateKey: pair.privateKey
  }
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** Web Crypto requires bytes that are not shared. */
const own = (bytes: Uint8Array) => new Uint8Array(bytes)

const aes = (bytes: Uint8Array) => ({ name: "AES-GCM", iv: own(bytes), tagLength: tagLength * 8 })

/**
 * Decrypts what the vault sealed for the reader. The nonce is the ASCII text of the `iv` in hex, for compatibility with
 * existing robots.
 */
export const open = async (crypto: Crypto, privateKey: CryptoKey, { encryption, value }: Sealed): Promise<string> => {
  const raw = await crypto.subtle.decrypt({ name: rsa.name }, privateKey, own(encryption.encryptedAES))
  const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["decrypt"])
  const sealed = new Uint8Array([...value, ...encryption.authTag])
  const nonce = new TextEncoder().encode(hex(encryption.iv))
  return new TextDecoder("utf-8", { fatal: true }).decode(await crypto.subtle.decrypt(aes(nonce), key, sealed))
}

/** Encrypts for the vault, whose key is DER. The nonce is the `iv` itself. */
export const seal = async (crypto: Crypto, der: Uint8Array, text: string): Promise<Sealed> => {
  const reader = await crypto.subtle.importKey("spki", own(der), rsa, false, ["encrypt"])
  const raw = crypto.getRandomValues(new Uint8Array(32))
  const iv = crypto.getRandomValues(new Uint8Array(16))
  const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"])
  const sealed = new Uint8Array(await crypto.subtle.encrypt(aes(iv), key, new TextEncoder().encode(text)))
  return {
    value: sealed.subarray(0, -tagLength),
    encryption: {
      encryptionScheme,
      encryptedAES: new Uint8Array(await crypto.subtle.encrypt({ name: rsa.name }, reader, raw)),
      authTag: sealed.subarray(-tagLength),
      iv
    }
  }
}
