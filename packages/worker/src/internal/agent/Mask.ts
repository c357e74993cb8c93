/**
 * Hides the values of secrets that a step run was given, in all that it writes.
 */
import * as Base64 from "effect/encoding/Base64"
import type * as Schema from "effect/Schema"

/** Shorter values would hide ordinary text; in UTF-16 units. */
const minLength = 4
/** Lines of a value that are hidden by themselves: of a key in PEM, each may be written after a time or a level. */
const minLine = 16
const stars = "***"

/** Text that arrives in pieces. */
export interface Masking {
  /** What is certain to have no more of a value in it; the rest comes with the next piece. */
  readonly push: (text: string) => string
  readonly end: () => string
}

export interface Mask {
  /** Hides a value from now on; of a list or an object, each text and number in it. */
  readonly add: (value: Schema.Json) => void
  readonly isEmpty: () => boolean
  readonly text: (text: string) => string
  readonly stream: () => Masking
}

/** The texts in a value. */
const textsOf = (value: Schema.Json): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (typeof value === "number") return [String(value)]
  if (typeof value !== "object" || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

const percent = (text: string) => {
  const strict = encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )
  // As JavaScript, Python and forms have it.
  const forms = [encodeURIComponent(text), strict, strict.replaceAll("%2F", "/"), strict.replaceAll("%20", "+")]
  return forms.flatMap((form) => [form, form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())])
}

/**
 * The characters of base64 that have bits of these bytes alone, where so many others stand before them: three bytes are four
 * characters. What is before and behind them does not change these.
 */
const innerBase64 = (bytes: Uint8Array, before: number) => {
  const all = new Uint8Array(before + bytes.length)
  all.set(bytes, before)
  return Base64.encode(all).slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6))
}

/** How a value may be written. */
const formsOf = (value: string): ReadonlyArray<string> => {
  const text = value.toWellFormed()
  const encoder = new TextEncoder()
  const trimmed = encoder.encode(text.trim())
  const base64 = [
    Base64.encode(encoder.encode(text)).replace(/=+$/, ""),
    ...[0, 1, 2].map((before) => innerBase64(trimmed, before))
  ]
  const lines = text.split(/\r?\n/)
  return [
    text,
    text.trim(),
    ...(lines.length > 1 ? [lines.join("\r\n"), ...lines.filter((line) => line.length >= minLine)] : []),
    JSON.stringify(text).slice(1, -1),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
    ...percent(text)
  ].filter((form) => form.length >= minLength)
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

export const make = (): Mask => {
  const forms = new Set<string>()
  /** At one place the longest of them. */
  let pattern: RegExp | null = null

  /** Where the end of a text begins that may be the beginning of a value. */
  const openAt = (text: string) => {
    let open = text.length
    for (const form of forms) {
      for (let length = Math.min(form.length - 1, text.length); length > text.length - open; length--) {
        if (text[text.length - length] === form[0] && text.endsWith(form.slice(0, length))) {
          open = text.length - length
          break
        }
      }
    }
    return open
  }

  const stream = (): Masking => {
    let rest = ""
    return {
      push: (piece) => {
        const text = rest + piece
        if (pattern === null) return text
        let open = openAt(text)
        let done = ""
        let at = 0
        for (const match of text.matchAll(pattern)) {
          if (match.index >= open) break
          done += text.slice(at, match.index) + stars
          at = match.index + match[0].length
          // A whole value that reaches into what was held back.
          if (at > open) open = at + openAt(text.slice(at))
        }
        rest = text.slice(open)
        return done + text.slice(at, open)
      },
      end: () => {
        const last = rest
        rest = ""
        return pattern === null ? last : last.replaceAll(pattern, stars)
      }
    }
  }

  return {
    add: (value) => {
      const before = forms.size
      for (const text of textsOf(value)) {
        if (text.trim().length < minLength) continue
        for (const form of formsOf(text)) forms.add(form)
      }
      if (forms.size === before) return
      const longest = [...forms].toSorted((a, b) => b.length - a.length)
      pattern = new RegExp(longest.map(escaped).join("|"), "g")
    },
    isEmpty: () => pattern === null,
    text: (text) => (pattern === null ? text : text.replaceAll(pattern, stars)),
    stream
  }
}
