/**
 * Identifiers: made from what they name, so that the same seed gives the same ids in each run.
 */
import { createHash, randomBytes } from "node:crypto"

const hash = (of: string) => createHash("sha256").update(of).digest()

/** A UUID. */
export const uuid = (of: string): string => {
  const hex = hash(of).toString("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

/** As the items of a business drive have them. */
export const item = (of: string): string =>
  `01${[...hash(of)].map((byte) => alphabet[byte % alphabet.length]).join("")}`

export const drive = (of: string): string => `b!${hash(of).toString("base64url")}`

/** A random value that cannot be guessed. */
export const secret = (): string => randomBytes(32).toString("base64url")

/** Sixteen random bytes as a UUID. */
export const random = (): string => uuid(secret())
