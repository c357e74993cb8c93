/**
 * Reads and writes large JSON in slices: `JSON.parse` and `JSON.stringify` hold the event loop for up to a second where 8 MB are
 * millions of values.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Result from "effect/Result"
import * as ExactJson from "@signalbox/transport/ExactJson"

type Json = Schema.Json
type Container = Array<Json> | { [key: string]: Json }

export interface Read {
  readonly json: Json
  /** Whether it is free of numbers such as 1e400. */
  readonly isFinite: boolean
  /** Whether it has one of the keys that were asked for, however deep. */
  readonly hasKey: boolean
}

/** Characters of a slice, of which each may be a value: some milliseconds. */
const slice = 50_000
/** Keys of an object that are sorted at once. */
const mostSorted = 10_000

const code = (char: string) => char.charCodeAt(0)
const [quote, comma, colon] = [code('"'), code(","), code(":")]
const [openList, closeList, openObject, closeObject] = [code("["), code("]"), code("{"), code("}")]
const isSpace = (char: number) => char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09

/** What JSON.parse has to read: an escape, or a character that is refused. */
const notPlain = /\\|[^\u0020-\uffff]/

/** The string from its first quote to its end; null: it is none. */
const stringIn = (text: string, from: number, end: number): string | null => {
  const inner = text.slice(from + 1, end - 1)
  if (!notPlain.test(inner)) return end > from + 1 && text.charCodeAt(end - 1) === quote ? inner : null
  return Result.getOrElse(
    Result.try((): string | null => JSON.parse(text.slice(from, end))),
    () => null
  )
}

const words: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["true", true],
  ["false", false],
  ["null", null]
])

/** Reads what `ExactJson.parse` reads, and does not nest too deep, in slices; returns null where that throws. */
export function* read(text: string, keys: ReadonlyArray<string>): Generator<void, Read | null> {
  const wanted = new Set(keys)
  const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
  const root: Array<Json> = []
  const outer: Array<Container> = []
  let container: Container = root
  let key = ""
  let expected: "value" | "first value" | "key" | "first key" | "end" = "value"
  let isFinite = true
  let hasKey = false
  const put = (value: Json) => {
    if (Array.isArray(container)) container.push(value)
    else if (key === "__proto__") {
      Object.defineProperty(container, key, { value, configurable: true, enumerable: true, writable: true })
    } else container[key] = value
  }
  const enter = (inner: Container) => {
    put(inner)
    outer.push(container)
    container = inner
  }
  let at = 0
  for (let due = slice; ;) {
    if (at >= due) {
      yield
      due = at + slice
    }
    const char = text.charCodeAt(at)
    if (isSpace(char)) at++
    else if (expected === "end" && container === root) {
      return at < text.length ? null : { json: root[0] ?? null, isFinite, hasKey }
    } else if (
      (expected === "end" || expected === (Array.isArray(container) ? "first value" : "first key")) &&
      char === (Array.isArray(container) ? closeList : closeObject)
    ) {
      container = outer.pop() ?? root
      expected = "end"
      at++
    } else if (expected === "end") {
      if (char !== comma) return null
      expected = Array.isArray(container) ? "value" : "key"
      at++
    } else if (expected === "key" || expected === "first key") {
      if (char !== quote) return null
      const end = ExactJson.endOfString(text, at + 1)
      const name = stringIn(text, at, end)
      if (name === null) return null
      at = end
      while (isSpace(text.charCodeAt(at))) at++
      if (text.charCodeAt(at++) !== colon) return null
      hasKey ||= wanted.has(name)
      key = name
      expected = "value"
    } else if (char === openList || char === openObject) {
      enter(char === openList ? [] : {})
      expected = char === openList ? "first value" : "first key"
      at++
    } else if (char === quote) {
      const end = ExactJson.endOfString(text, at + 1)
      const value = stringIn(text, at, end)
      if (value === null) return null
      put(value)
      expected = "end"
      at = end
    } else {
      scalar.lastIndex = at
      if (!scalar.test(text)) return null
      const source = text.slice(at, scalar.lastIndex)
      const value = words.get(source)
      const number = value === undefined ? ExactJson.numberIn(source) : null
      isFinite &&= number !== Infinity && number !== -Infinity
      put(value ?? number)
      expected = "end"
      at = scalar.lastIndex
    }
  }
}

/** JSON whose objects have sorted keys, so that two spellings of one value are the same text. */
export const sorted = (_key: string, value: unknown): unknown =>
  Predicate.isObject(value) && !ExactJson.isRaw(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A container that is being written, and the place of its next member. */
type Written =
  | { readonly value: Array<Json>; readonly keys: null; next: number }
  | { readonly value: { [key: string]: Json }; readonly keys: ReadonlyArray<string>; next: number }

const isContainer = (json: Json): json is Container => Predicate.isObjectOrArray(json) && !ExactJson.isRaw(json)

/**
 * The text that `JSON.stringify(json, sorted)` has, in parts; but the keys of an object that has more than 10,000 are in the order in
 * which they came.
 */
export function* canonical(json: Json): Generator<string> {
  const open: Array<Written> = []
  let text = ""
  const write = (value: Json) => {
    if (!isContainer(value)) {
      text += JSON.stringify(value)
      return
    }
    if (Array.isArray(value)) {
      text += "["
      open.push({ value, keys: null, next: 0 })
      return
    }
    text += "{"
    const own = Object.keys(value)
    // As an object has them that was made of them: integers are first.
    const keys = own.length > mostSorted ? own : Object.keys(Object.fromEntries(own.sort().map((name) => [name, 0])))
    open.push({ value, keys, next: 0 })
  }
  write(json)
  for (let written = open.at(-1); written !== undefined; written = open.at(-1)) {
    const index = written.next++
    if (index === (written.keys ?? written.value).length) {
      text += written.keys === null ? "]" : "}"
      open.pop()
    } else {
      if (index > 0) text += ","
      if (written.keys === null) write(written.value[index] ?? null)
      else {
        const name = written.keys[index] ?? ""
        text += `${JSON.stringify(name)}:`
        write(written.value[name] ?? null)
      }
    }
    if (text.length >= slice) {
      yield text
      text = ""
    }
  }
  yield text
}
