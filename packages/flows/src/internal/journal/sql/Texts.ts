/**
 * Texts as columns. Databases store neither NUL nor lone surrogates, and Postgres indexes no texts of several kilobytes.
 */
import { createHash } from "node:crypto"

/** The escape before the number of a character that cannot be stored; itself a noncharacter. */
const mark = "\u{10fffe}"
const hidden = /[\0\u{10fffe}\p{Surrogate}]/u
const allHidden = /[\0\u{10fffe}\p{Surrogate}]/gu
const shown = /\u{10fffe}([0-9a-f]+);/gu

/** The longest text in an index, in UTF-16 units of at most four bytes each. */
const longest = 500

export const toText = (text: string): string =>
  hidden.test(text)
    ? text.replaceAll(allHidden, (character) => `${mark}${(character.codePointAt(0) ?? 0).toString(16)};`)
    : text

export const fromText = (text: string): string =>
  text.includes(mark) ? text.replaceAll(shown, (_, code) => String.fromCodePoint(Number.parseInt(code, 16))) : text

export const toNullable = (text: string | null): string | null => (text === null ? null : toText(text))
export const fromNullable = (text: string | null): string | null => (text === null ? null : fromText(text))

/** Returns the indexed form of a text: itself, or the hash of a long one. */
export const addressOf = (text: string): string => {
  const kept = toText(text)
  return kept.length <= longest ? kept : `${mark}#${createHash("sha256").update(kept).digest("hex")}`
}

/** Splits an indexed text into two columns: its address, and the whole text if that differs. */
export const split = (text: string): readonly [address: string, long: string | null] => {
  const kept = toText(text)
  return kept.length <= longest ? [kept, null] : [addressOf(text), kept]
}

/** Returns the whole text if its address differs. */
export const longOf = (text: string): string | null => split(text)[1]

export const joined = (address: string, long: string | null): string => fromText(long ?? address)

/** Returns the prefix of a text, for an index of prefixes. */
export const beginOf = (text: string): string => {
  const kept = toText(text)
  return kept.length <= longest ? kept : kept.slice(0, longest).replace(/\p{Surrogate}$/u, "")
}
