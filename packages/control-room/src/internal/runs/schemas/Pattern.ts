/**
 * Patterns of JSON Schemas, matched in time that is linear in the text: by RE2, which does not backtrack.
 */
import * as Result from "effect/Result"
import { RE2JS } from "re2js"
import type { Json, Place, Work } from "./Place.ts"

interface Pattern {
  readonly matches: (text: string) => boolean
  /** Instructions of its program: a match takes at most so many steps for each character. */
  readonly size: number
}

/** Characters of a pattern, and instructions of its program; building one of this size takes about ten milliseconds. */
const most = { length: 1000, size: 2000 }

/** Returns the pattern, or why it cannot be applied. */
const compile = (source: string): Pattern | string => {
  if (source.length > most.length) return `a pattern of at most ${most.length} characters`
  // RE2 has syntax of its own, such as \Q; only what both take means the same to whoever wrote the schema.
  if (Result.isFailure(Result.try(() => new RegExp(source, "u")))) return "an ECMAScript pattern (flag u)"
  const compiled = Result.try(() => RE2JS.compile(RE2JS.translateRegExp(source)))
  if (Result.isFailure(compiled)) return "a pattern without lookaround, back references and large nested repetitions"
  const size = compiled.success.programSize()
  if (size > most.size) return "a pattern with smaller repetitions"
  return { size, matches: (text) => compiled.success.test(text) }
}

/** Builds what matches text against a pattern; what returns null is of one that cannot be applied. */
export const pattern = (source: Json, { expected, patterns }: Place, ...path: ReadonlyArray<string>) => {
  if (typeof source !== "string") return expected("a pattern", ...path)
  if (patterns.left <= 0) return expected("patterns that are smaller in all", ...path)
  const compiled = compile(source)
  if (typeof compiled === "string") return expected(compiled, ...path)
  patterns.left -= compiled.size
  // A step of a pattern takes about an eighth of the time of another one.
  const match = (text: string, work: Work) => {
    work.left -= Math.ceil((text.length * compiled.size) / 8)
    return work.left >= 0 && compiled.matches(text)
  }
  return match
}
