/**
 * JSON whose numbers keep their digits where JavaScript would round them, such as ids of 20 digits: what is shown, edited
 * and saved is what came.
 */
import * as text from "./text/text.ts"

/** A number that is kept as its text, in a browser that cannot write one. */
class Kept {
  readonly rawJSON: string
  constructor(rawJSON: string) {
    this.rawJSON = rawJSON
  }
}

type Keep = (digits: string) => unknown

/** How a browser that cannot write such a number keeps it. */
export const keptAside: Keep = (digits) => new Kept(digits)

// TypeScript does not declare it yet; browsers before 2025 do not have it.
const { rawJSON } = JSON as unknown as { readonly rawJSON?: Keep }

/** Numbers of fewer characters without an exponent are exact. */
const mayHaveMore = /(?:^|[[:,\s])-?(?:\d[\d.]{14}|\d[\d.]{0,13}[eE])/

/** The tokens of JSON in which a digit can be. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

const digitsOf = (number: string) =>
  number
    .replace(/[eE].*/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+/, "")
    .replace(/0+$/, "")

const isExact = (number: string): boolean => {
  const written = String(Number(number))
  return written === number || (/[.eE]/.test(number) && digitsOf(written) === digitsOf(number))
}

/** Puts numbers in the place of texts that begin with the mark. */
const unmarked = (json: unknown, mark: string, keep: Keep): unknown => {
  if (typeof json === "string") return json.startsWith(mark) ? keep(json.slice(mark.length)) : json
  if (Array.isArray(json)) return json.map((one) => unmarked(one, mark, keep))
  if (typeof json !== "object" || json === null) return json
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, unmarked(value, mark, keep)]))
}

/** As `JSON.parse`, also in what it throws; `JSON.stringify` writes the numbers as they were. */
export const parse = (text: string, keep: Keep = rawJSON ?? keptAside): unknown => {
  if (!mayHaveMore.test(text)) return JSON.parse(text)
  // Nobody can have put it into the text.
  const mark = `${crypto.getRandomValues(new Uint32Array(4)).join("-")}:`
  let isMarked = false
  const marked = text.replace(tokens, (token) => {
    if (token.startsWith('"') || isExact(token)) return token
    isMarked = true
    return `"${mark}${token}"`
  })
  // What is no JSON is said of the text as it is.
  const json: unknown = JSON.parse(text)
  return isMarked ? unmarked(JSON.parse(marked), mark, keep) : json
}

/** The number that was typed, with its digits. */
export const numberFrom = (typed: string): unknown => {
  try {
    return parse(typed)
  } catch {
    return Number(typed)
  }
}

/** The path of the first number that this browser would not send as it is; null: there is none. */
export const keptIn = (json: unknown, path: ReadonlyArray<string> = []): string | null => {
  if (json instanceof Kept) return path.join(".")
  if (typeof json !== "object" || json === null) return null
  for (const [key, value] of Object.entries(json)) {
    const found = keptIn(value, [...path, key])
    if (found !== null) return found
  }
  return null
}

/** A body as JSON. Throws with the path of a number that this browser would round. */
export const written = (body: unknown): string => {
  const path = keptIn(body)
  if (path === null) return JSON.stringify(body)
  throw new Error(text.frame.rounds(path))
}
