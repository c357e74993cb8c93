/**
 * The form of an encrypted value in the record: a text that names its key. A value that cannot be decrypted stays in this form, also in a
 * program that has no keys at all, so that nobody takes it for the value.
 */
import type * as Schema from "effect/Schema"
import { RecordUnreadable } from "../../FlowErrors.ts"
import type { Encrypted } from "../../FlowValues.ts"

const prefix = "signalbox-encrypted:1:"

export interface Envelope extends Encrypted {
  readonly ring: string
}

/** Whether a value is in this form: where a decrypted one is expected, its key is not there. */
export const isSealed = (json: Schema.Json): json is string => typeof json === "string" && json.startsWith(prefix)

/** Why a program cannot record a value in this form: it would be taken for an encrypted one. */
export const reserved = `Expected no text that begins with ${prefix}, which marks encrypted values`

export const seal = ({ data, key, ring }: Envelope): string =>
  `${prefix}${encodeURIComponent(ring.toWellFormed())}:${encodeURIComponent(key.toWellFormed())}:${data}`

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const partsOf = (sealed: string): Envelope => {
  const [ring = "", key = "", data = ""] = sealed.slice(prefix.length).split(":")
  return { ring: decoded(ring), key: decoded(key), data }
}

/** Returns the name of the key of a value that cannot be read, such as `default/2026-11`. */
export const keyNameOf = (sealed: string): string => {
  const { key, ring } = partsOf(sealed)
  return key === "" ? ring : `${ring}/${key}`
}

/** Returns a value without what is encrypted of it, to be shown. */
export const emptied = (json: Schema.Json): Schema.Json =>
  isSealed(json) ? seal({ ...partsOf(json), data: "" }) : json

/** The type of an unreadable value that is encrypted. */
export const encryptedType = "encrypted"

export const cannotRead = (what: string, sealed: string): string =>
  `${what} is encrypted with the key ${keyNameOf(sealed)}, which this program does not have, or which does not fit`

/** The error of an execution whose record this program cannot decrypt. */
export const unreadable = (execution: string, what: string, sealed: string): RecordUnreadable =>
  new RecordUnreadable({
    execution,
    message: cannotRead(what, sealed),
    value: { what, path: "", expected: `the key ${keyNameOf(sealed)}`, type: encryptedType }
  })
