/**
 * What the keywords of JSON Schema have in common.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { isRaw, numberOf } from "@signalbox/transport/ExactJson"
import type { Patterns } from "./Pattern.ts"

export type Json = Schema.Json

/** Where JSON does not fit, such as `.lines.1`, and what was expected there; with nothing of what was found. */
export interface Problem {
  readonly path: string
  readonly message: string
}

/** What is left of the steps of one check. */
export interface Work {
  left: number
  depth: number
}

export type Check = (value: Json, work: Work) => Problem | null

export type JsonObject = Readonly<Record<string, Json>>

export const isObject = (value: Json | undefined): value is JsonObject => Predicate.isObject(value) && !isRaw(value)

/** The part of a schema in which a keyword is, for the function that builds its check. */
export interface Place {
  readonly schema: JsonObject
  /** Builds the check of a schema below this one. */
  readonly check: (schema: Json, ...path: ReadonlyArray<string | number>) => Check
  /** Builds the check of the schema that a `$ref` names. */
  readonly reference: (ref: string) => Check | null
  /** Notes that the keyword cannot be applied as it is; what is returned takes everything. */
  readonly expected: (what: string, ...path: ReadonlyArray<string | number>) => Check
  readonly patterns: Patterns
}

/** Builds the check of a keyword with this value. */
export type Keyword = (value: Json, place: Place) => Check

export const problem = (message: string, path = ""): Problem => ({ path, message })
/** The problem of a member or item, as one of what it is in. */
export const below = (key: string | number, found: Problem | null) =>
  found === null ? null : { ...found, path: `.${key}${found.path}` }
export const isList = (value: Json | undefined): value is ReadonlyArray<Json> => Array.isArray(value)

/** The same text for equal JSON, whatever the order of its keys. */
export const canonical = (json: Json, work: Work): string => {
  const isSimple = !Predicate.isObjectOrArray(json) || isRaw(json)
  const text = isSimple
    ? JSON.stringify(json)
    : JSON.stringify(json, (_, value: Json) =>
        isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value
      )
  work.left -= isSimple ? text.length + 8 : 8 * (text.length + 8)
  return text
}

export { numberOf }
export const isString = (value: Json): value is string => typeof value === "string"

/** The first problem. */
export const first = <A>(all: Iterable<A>, of: (one: A) => Problem | null) => {
  for (const one of all) {
    const found = of(one)
    if (found !== null) return found
  }
  return null
}

export const ofObject =
  (check: (value: JsonObject, work: Work) => Problem | null): Check =>
  (value, work) =>
    isObject(value) ? check(value, work) : null
export const ofList =
  (check: (value: ReadonlyArray<Json>, work: Work) => Problem | null): Check =>
  (value, work) =>
    isList(value) ? check(value, work) : null
