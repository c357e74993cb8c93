/**
 * The keywords of JSON Schema that say something of a value itself.
 */
import {
  canonical,
  type Check,
  isList,
  isObject,
  isString,
  type Json,
  type Keyword,
  first,
  numberOf,
  ofList,
  ofObject,
  type Place,
  problem,
  type JsonObject,
  type Work
} from "./Place.ts"
import { pattern } from "./Pattern.ts"

const types: Readonly<Record<string, (value: Json) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  string: (value) => typeof value === "string",
  number: (value) => numberOf(value) !== null,
  integer: (value) => Number.isInteger(numberOf(value)),
  array: isList,
  object: isObject
}

const type: Keyword = (value, { expected }) => {
  const names = (isList(value) ? value : [value]).flatMap((name) =>
    typeof name === "string" && Object.hasOwn(types, name) ? [name] : []
  )
  if (names.length !== (isList(value) ? value.length : 1) || names.length === 0) {
    return expected(`one or more of ${Object.keys(types).join(", ")}`)
  }
  const tests = names.flatMap((name) => types[name] ?? [])
  const message = `Expected ${names.join(" or ")}`
  return (found) => (tests.some((is) => is(found)) ? null : problem(message))
}

const oneOfValues = (values: ReadonlyArray<Json>): Check => {
  const texts = new Set(values.map((value) => canonical(value, { left: 0, depth: 0 })))
  const shown = [...texts].join(", ")
  const message = `Expected ${shown.length > 200 ? `one of the ${texts.size} values of enum or const` : shown}`
  return (found, work) => (texts.has(canonical(found, work)) ? null : problem(message))
}

/** A keyword whose value is a number, for JSON of one type; `read` returns null for others. */
const limit =
  <A>(
    read: (value: Json) => A | null,
    fits: (found: A, limit: number, work: Work) => boolean,
    message: (limit: number) => string,
    isLimit: (limit: number) => boolean = () => true
  ): Keyword =>
  (value, { expected }) => {
    const most = numberOf(value)
    if (most === null || !isLimit(most)) return expected("a number that this keyword takes")
    return (found, work) => {
      const of = read(found)
      return of === null || fits(of, most, work) ? null : problem(message(most))
    }
  }

const only =
  <A extends Json>(is: (value: Json) => value is A) =>
  (value: Json): A | null =>
    is(value) ? value : null

const isCount = (limit: number) => Number.isInteger(limit) && limit >= 0

/** The length of a text in code points, where that can matter. */
const codePoints = (text: string, work: Work) => {
  work.left -= text.length
  let count = 0
  for (const _ of text) count++
  return count
}

/** Whether a number is a whole multiple; decimal fractions have no exact form, so that 0.3 is one of 0.1. */
const isMultiple = (found: number, of: number) => {
  const quotient = found / of
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON
}

const names = (value: Json, expected: Place["expected"], ...path: ReadonlyArray<string>) =>
  isList(value) && value.every(isString) ? value : (expected("a list of names", ...path), [])

const missing = (value: JsonObject, wanted: ReadonlyArray<string>, work: Work) => {
  work.left -= wanted.length
  const name = wanted.find((key) => !Object.hasOwn(value, key))
  return name === undefined ? null : problem("Missing key", `.${name}`)
}

/** Those that are applied, by name. */
export const assertions: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["type", type],
  ["enum", (value, { expected }) => (isList(value) ? oneOfValues(value) : expected("a list of values"))],
  ["const", (value) => oneOfValues([value])],
  [
    "multipleOf",
    limit(
      numberOf,
      isMultiple,
      (of) => `Expected a multiple of ${of}`,
      (of) => of > 0
    )
  ],
  [
    "maximum",
    limit(
      numberOf,
      (found, most) => found <= most,
      (most) => `Expected at most ${most}`
    )
  ],
  [
    "exclusiveMaximum",
    limit(
      numberOf,
      (found, end) => found < end,
      (end) => `Expected less than ${end}`
    )
  ],
  [
    "minimum",
    limit(
      numberOf,
      (found, least) => found >= least,
      (least) => `Expected at least ${least}`
    )
  ],
  [
    "exclusiveMinimum",
    limit(
      numberOf,
      (found, start) => found > start,
      (start) => `Expected more than ${start}`
    )
  ],
  [
    "maxLength",
    limit(
      only(isString),
      (text, most, work) => text.length <= most || codePoints(text, work) <= most,
      (most) => `Expected at most ${most} characters`,
      isCount
    )
  ],
  [
    "minLength",
    limit(
      only(isString),
      (text, least, work) => text.length >= least * 2 || codePoints(text, work) >= least,
      (least) => `Expected at least ${least} characters`,
      isCount
    )
  ],
  [
    "pattern",
    (value, place) => {
      const match = pattern(value, place)
      const message = `Expected text that matches ${String(value)}`
      return (found, work) => (!isString(found) || match(found, work) !== false ? null : problem(message))
    }
  ],
  [
    "maxItems",
    limit(
      only(isList),
      (items, most) => items.length <= most,
      (most) => `Expected at most ${most} items`,
      isCount
    )
  ],
  [
    "minItems",
    limit(
      only(isList),
      (items, least) => items.length >= least,
      (least) => `Expected at least ${least} items`,
      isCount
    )
  ],
  [
    "uniqueItems",
    (value, { expected }) => {
      if (typeof value !== "boolean") return expected("true or false")
      if (!value) return () => null
      return ofList((items, work) =>
        new Set(items.map((item) => canonical(item, work))).size === items.length
          ? null
          : problem("Expected unique items")
      )
    }
  ],
  [
    "maxProperties",
    limit(
      only(isObject),
      (found, most) => Object.keys(found).length <= most,
      (most) => `Expected at most ${most} keys`,
      isCount
    )
  ],
  [
    "minProperties",
    limit(
      only(isObject),
      (found, least) => Object.keys(found).length >= least,
      (least) => `Expected at least ${least} keys`,
      isCount
    )
  ],
  [
    "required",
    (value, { expected }) => {
      const wanted = names(value, expected)
      return ofObject((found, work) => missing(found, wanted, work))
    }
  ],
  [
    "dependentRequired",
    (value, { expected }) => {
      const wanted = isObject(value)
        ? Object.entries(value).map(([key, keys]) => [key, names(keys, expected, key)] as const)
        : (expected("an object of lists of names"), [])
      return ofObject((found, work) =>
        first(wanted, ([key, keys]) => (Object.hasOwn(found, key) ? missing(found, keys, work) : null))
      )
    }
  ]
])
