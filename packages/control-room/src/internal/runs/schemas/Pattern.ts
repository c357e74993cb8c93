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

/** Characters of a pattern, and instructions of its program; building one of this size takes some milliseconds. */
const most = { length: 1000, size: 2000 }
/** What repeats is built as often as it may repeat, so that a short pattern may be a program of any size. */
const mostExpected = 2 * most.size

/** A category of Unicode, such as \p{L}, takes about as long to build as so many instructions. */
const costOfCategory = 40

/** The patterns of one schema. */
export interface Patterns {
  /** Instructions of patterns that may still be used. */
  left: number
  /** Those that were built, by their text, and instructions of others that may be: what is refused costs time too. */
  readonly built: { left: number; readonly known: Map<string, Pattern | string> }
}

export const make = (left: number): Patterns => ({ left, built: { left, known: new Map() } })

/** An escape, a class, a repetition, a bracket, or a character. */
const token =
  /\\(?:[pPx]\{[^}]*\}|u\{[^}]*\}|u[0-9a-f]{4}|x[0-9a-f]{2}|.)|\[(?:\\.|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}|\(\?(?:[:=!]|<[=!]?)|[^]/giu

interface Open {
  /** Of the branch that is read, without its last part. */
  before: number
  last: number
  /** Of the branches before; those of one instruction each become one. */
  branches: number
  single: number
}

const opened = (): Open => ({ before: 0, last: 0, branches: 0, single: 0 })
const endBranch = (open: Open) => {
  const size = open.before + open.last
  if (size === 1) open.single = 1
  else open.branches += size
  open.before = 0
  open.last = 0
}

/** About as many instructions as the program of a pattern has, found without building it; more rather than fewer. */
export const expectedSize = (source: string): number => {
  const stack = [opened()]
  for (const [text, from, comma, to] of source.matchAll(token)) {
    const open = stack.at(-1)
    if (open === undefined) return 0
    if (text.startsWith("(")) stack.push(opened())
    else if (text === "|") endBranch(open)
    else if (text === ")") {
      endBranch(open)
      stack.pop()
      const outer = stack.at(-1)
      // What is no pattern is refused before it is built.
      if (outer === undefined) return 0
      outer.before += outer.last
      outer.last = open.branches + open.single
    } else if (from !== undefined) {
      open.last *= to !== undefined && to !== "" ? Number(to) : Number(from) + (comma === "" ? 0 : 1)
    } else if (!/^[*+?]$/.test(text)) {
      open.before += open.last
      open.last = 1
    }
  }
  const [root = opened()] = stack
  endBranch(root)
  return root.branches + root.single
}

/** Returns the pattern, or why it cannot be applied. */
const compile = (source: string): Pattern | string => {
  // RE2 has syntax of its own, such as \Q; only what both take means the same to whoever wrote the schema.
  if (Result.isFailure(Result.try(() => new RegExp(source, "u")))) return "an ECMAScript pattern (flag u)"
  const compiled = Result.try(() => RE2JS.compile(RE2JS.translateRegExp(source)))
  if (Result.isFailure(compiled)) return "a pattern without lookaround, back references and large nested repetitions"
  const size = compiled.success.programSize()
  if (size > most.size) return "a pattern with smaller repetitions"
  return { size, matches: (text) => compiled.success.test(text) }
}

/** Returns the pattern, or why it cannot be applied; built once for a schema, and not at all when that would take long. */
const find = (source: string, built: Patterns["built"]): Pattern | string => {
  const known = built.known.get(source)
  if (known !== undefined) return known
  if (source.length > most.length) return `a pattern of at most ${most.length} characters`
  if (built.left <= 0) return "patterns that are smaller in all"
  const expected = Math.max(expectedSize(source), source.length)
  // Reading it took time too.
  built.left -= Math.ceil(source.length / 10)
  const compiled = expected > mostExpected ? "a pattern with smaller repetitions" : compile(source)
  if (expected <= mostExpected) built.left -= typeof compiled === "string" ? expected : compiled.size
  built.left -= costOfCategory * (source.match(/\\p/gi)?.length ?? 0)
  built.known.set(source, compiled)
  return compiled
}

/** Builds what matches text against a pattern; what returns null is of one that cannot be applied. */
export const pattern = (source: Json, { expected, patterns }: Place, ...path: ReadonlyArray<string>) => {
  if (typeof source !== "string") return expected("a pattern", ...path)
  if (patterns.left <= 0) return expected("patterns that are smaller in all", ...path)
  const compiled = find(source, patterns.built)
  if (typeof compiled === "string") return expected(compiled, ...path)
  patterns.left -= compiled.size
  // A step of a pattern takes about an eighth of the time of another one.
  const match = (text: string, work: Work) => {
    work.left -= Math.ceil((text.length * compiled.size) / 8)
    return work.left >= 0 && compiled.matches(text)
  }
  return match
}
