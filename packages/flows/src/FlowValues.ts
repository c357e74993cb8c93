/**
 * Encrypts what flows record, so that values cannot be read in the files, dumps and backups of the database.
 */
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto"
import { OptionError } from "@signalbox/transport/OptionError"

/** What the ring of an execution is chosen by, when it starts. */
export interface Of {
  readonly flow: string
  /** The input as JSON. */
  readonly input: Schema.Json
}

/** An encrypted value. */
export interface Encrypted {
  /** The id of the key in its ring. */
  readonly key: string
  /** A text without `:`. */
  readonly data: string
}

/**
 * How an engine encrypts values: its option `values`. Made by `aes`; another implementation calls a key service. `place` is where the
 * value is recorded: a value must not decrypt at another place.
 */
export interface FlowValues {
  /** Returns the name of the ring of keys of an execution, which it keeps until its end. */
  readonly ringOf: (of: Of) => string
  /** Encrypts a text with the first key of a ring; null when the ring was erased. */
  readonly encrypt: (ring: string, text: string, place: string) => Encrypted | null
  /** Returns the text; null when the key is not there, or did not encrypt this at this place. */
  readonly decrypt: (ring: string, encrypted: Encrypted, place: string) => string | null
}

/** 32 bytes, or these in base64. */
export type KeyBytes = Uint8Array | string

export interface Key {
  /** Its name in the database, such as `2026-11`; unique in its ring. */
  readonly id: string
  readonly key: Redacted.Redacted<KeyBytes> | KeyBytes
}

/** The first key encrypts, all of them decrypt. */
export type Ring = ReadonlyArray<Key>

export interface AesOptions {
  /**
   * One ring, or a function that returns the ring with a name, null when it was erased. The function is called for every value, so it
   * returns rings that are in memory; what it returns later counts from then on.
   */
  readonly keys: Ring | ((name: string) => Ring | null)
  /** Returns the name of the ring of an execution, such as its tenant. It shows in the database. Default: `default`. */
  readonly keyOf?: ((of: Of) => string) | undefined
}

const [keyLength, nonceLength, tagLength] = [32, 12, 16]
const algorithm = "aes-256-gcm"

const invalid = (option: string, expected: string) => new OptionError(option, `FlowValues.aes: ${option}: ${expected}`)

const base64 = /^[\w+/-]+={0,2}$/

const bytesOf = (key: Key["key"]): Uint8Array | null => {
  const bytes = Redacted.isRedacted(key) ? Redacted.value(key) : key
  if (typeof bytes !== "string") return bytes
  return base64.test(bytes) ? Buffer.from(bytes, "base64") : null
}

/** A ring that was checked: the keys by their ids, the first one first. */
type Checked = ReadonlyMap<string, KeyObject>

/** Returns the keys of a ring. Throws an `OptionError`, which has no key in it. */
const checked = (ring: Ring, option: string): Checked => {
  if (!Array.isArray(ring) || ring.length === 0) throw invalid(option, "expected at least one key")
  const all = new Map<string, KeyObject>()
  for (const [n, { id, key }] of ring.entries()) {
    if (typeof id !== "string" || id === "") throw invalid(`${option}.${n}.id`, "expected a text that is not empty")
    if (all.has(id))
      throw invalid(`${option}.${n}.id`, `expected each id once, and ${JSON.stringify(id)} is there twice`)
    const bytes = bytesOf(key)
    if (!(bytes instanceof Uint8Array) || bytes.length !== keyLength) {
      throw invalid(`${option}.${n}.key`, `expected ${keyLength} bytes, or these in base64`)
    }
    all.set(id, createSecretKey(bytes))
  }
  return all
}

/**
 * Encrypts with AES-256-GCM. To change the key while programs run, add the new one at the end of the ring of each program, then put it
 * first; remove the old one when nothing is retained that it encrypted. A ring that is null was erased: what it encrypted cannot be read
 * any more. Throws an `OptionError` when a key is invalid.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Config from "effect/Config"
 * import * as Layer from "effect/Layer"
 * import { FlowEngine } from "@signalbox/flows/FlowEngine"
 * import * as FlowValues from "@signalbox/flows/FlowValues"
 *
 * // 32 bytes: `openssl rand -base64 32`.
 * export const engine = Layer.unwrap(
 *   Effect.map(Config.Redacted("FLOWS_KEY"), (key) =>
 *     FlowEngine.layerSqlite({
 *       file: "data/flows.db",
 *       values: FlowValues.aes({ keys: [{ id: "2026-11", key }] })
 *     })
 *   )
 * )
 * ```
 */
export const aes = ({ keyOf = () => "default", keys }: AesOptions): FlowValues => {
  const known = new WeakMap<Ring, Checked>()
  const ringOf = (ring: Ring, option: string): Checked => {
    const before = known.get(ring)
    if (before !== undefined) return before
    const now = checked(ring, option)
    known.set(ring, now)
    return now
  }
  const fixed = typeof keys === "function" ? null : checked(keys, "keys")
  const named = (name: string): Checked | null => {
    if (fixed !== null || typeof keys !== "function") return fixed
    const ring = keys(name)
    return ring === null ? null : ringOf(ring, `keys(${JSON.stringify(name)})`)
  }
  return {
    ringOf: keyOf,
    encrypt: (name, text, place) => {
      const ring = named(name)
      if (ring === null) return null
      for (const [id, key] of ring) {
        const nonce = randomBytes(nonceLength)
        const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagLength })
        cipher.setAAD(Buffer.from(place))
        const data = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]
        return { key: id, data: Buffer.concat(data).toString("base64") }
      }
      return null
    },
    decrypt: (name, { data, key: id }, place) => {
      const key = named(name)?.get(id)
      const bytes = Buffer.from(data, "base64")
      if (key === undefined || bytes.length < nonceLength + tagLength) return null
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceLength), { authTagLength: tagLength })
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(-tagLength))
      const text = decipher.update(bytes.subarray(nonceLength, -tagLength))
      try {
        return Buffer.concat([text, decipher.final()]).toString("utf8")
      } catch {
        return null
      }
    }
  }
}
