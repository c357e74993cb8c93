/** Digests of JSON values that do not depend on the order of keys. */
import type * as Schema from "effect/Schema"
import { createHash } from "node:crypto"

const canonical = (value: Schema.Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, of]) => `${JSON.stringify(key)}:${canonical(of)}`).join(",")}}`
}

/** SHA-256, 64 hexadecimal digits. */
export const digestOf = (value: Schema.Json): string => createHash("sha256").update(canonical(value)).digest("hex")

/** A fraction in `[0, 1)`, derived from a text. */
export const fractionOf = (text: string): number =>
  createHash("sha256").update(text).digest().readUIntBE(0, 6) / 2 ** 48
