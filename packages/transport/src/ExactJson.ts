/**
 * JSON whose numbers keep their text where a number of JavaScript would be another one: robots in other languages pass on ids
 * of 20 digits, with which nobody calculates. Such a number is what `JSON.rawJSON` returns, and `JSON.stringify` writes its text.
 */
import * as Schema from "effect/Schema"

type Json = Schema.Json

/** A number that is kept as its text. */
export type RawNumber = { readonly rawJSON: string }

// They are in all versions of Node that are supported; TypeScript does not declare them yet.
const { isRawJSON, rawJSON } = JSON as unknown as {
  readonly isRawJSON: ((value: unknown) => value is RawNumber) | undefined
  readonly rawJSON: (text: string) => RawNumber
}

/** Whether it is such a number. Where the runtime has none, nothing is. */
export const isRaw: (value: unknown) => value is RawNumber = isRawJSON ?? ((_): _ is RawNumber => false)

/** The number nearest to a value that is one; null: it is none. */
export const numberOf = (value: Json | undefined): number | null =>
  typeof value === "number" ? value : isRaw(value) ? Number(value.rawJSON) : null

/** Numbers of fewer characters without an exponent are exact. */
const leastLength = 16
/** What is longer is not compared. */
const mostLength = 1000

const digitsOf = (number: string) =>
  number
    .replace(/[eE].*/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+/, "")
    .replace(/0+$/, "")

/** Whether JSON is free of numbers such as 1e400, which most languages read as infinity, and JSON.stringify writes as null. */
export const isFinite: (json: Json) => boolean = Schema.is(Schema.Json)

/** Whether the number of JavaScript is this one, and is written as an integer if this is. */
const isExact = (source: string): boolean => {
  // It remains what JSON.parse makes of it.
  if (/[eE]/.test(source) && Math.abs(Number(source)) === Infinity) return true
  if (source.length > mostLength) return false
  const written = String(Number(source))
  return written === source || (/[.eE]/.test(source) && digitsOf(written) === digitsOf(source))
}

/** The number that JSON has there, or what keeps its text. */
export const numberIn = (source: string): Json =>
  (source.length < leastLength && !/[eE]/.test(source)) || isExact(source) ? Number(source) : rawJSON(source)

const code = (char: string) => char.charCodeAt(0)
const [quote, minus, plus, point, zero, nine] = [code('"'), code("-"), code("+"), code("."), code("0"), code("9")]
const isDigit = (char: number) => char >= zero && char <= nine
const isExponent = (char: number) => char === code("e") || char === code("E")

/** The end of the string in JSON that begins before `from`. */
export const endOfString = (text: string, from: number): number => {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === "\\") slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}

/** The text with each number that is not exact as a string that begins with the mark; null: it has none. */
const marked = (text: string, mark: string): string | null => {
  let out = ""
  let copied = 0
  let at = 0
  while (at < text.length) {
    const char = text.charCodeAt(at)
    if (char === quote) at = endOfString(text, at + 1)
    else if (char === minus || isDigit(char)) {
      const from = at
      let hasExponent = false
      for (let part = char; isDigit(part) || part === point || part === minus || part === plus || isExponent(part);) {
        hasExponent ||= isExponent(part)
        part = text.charCodeAt(++at)
      }
      if (!hasExponent && at - from < leastLength) continue
      const source = text.slice(from, at)
      if (isExact(source)) continue
      out += `${text.slice(copied, from)}"${mark}${source}"`
      copied = at
    } else at++
  }
  return copied === 0 ? null : out + text.slice(copied)
}

type Container = Array<Json> | { [key: string]: Json }

/** Puts numbers in the place of marked strings; throws where one of them is none. */
const unmarked = (json: Json, mark: string): Json => {
  const root: [Json] = [json]
  const waiting: Array<Container> = [root]
  const numberIn = (value: Json): RawNumber | null => {
    // It was just parsed, so that nobody else has it.
    if (typeof value === "object" && value !== null) waiting.push(value as Container)
    return typeof value === "string" && value.startsWith(mark) ? rawJSON(value.slice(mark.length)) : null
  }
  for (let container = waiting.pop(); container !== undefined; container = waiting.pop()) {
    if (Array.isArray(container)) {
      // Not by its entries, each of which would be a list: there may be millions.
      for (let index = 0; index < container.length; index++) {
        const value = container[index]
        if (typeof value === "number") continue
        const number = numberIn(value ?? null)
        if (number !== null) container[index] = number
      }
    } else {
      for (const [key, value] of Object.entries(container)) {
        if (key.startsWith(mark)) throw new SyntaxError("a key is a number")
        const number = numberIn(value)
        if (number !== null) container[key] = number
      }
    }
  }
  return root[0]
}

/** As `JSON.parse`, also in what it throws; `JSON.stringify` writes the numbers as they were. */
export const parse = (text: string): Json => {
  // Nobody can have put it into the text.
  const mark = crypto.randomUUID()
  const other = marked(text, mark)
  return other === null ? JSON.parse(text) : unmarked(JSON.parse(other), mark)
}
