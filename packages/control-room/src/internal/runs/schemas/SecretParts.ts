/**
 * The parts of a JSON Schema as far as secrets go: which of them are secret, and which apply to what is inside a value. What a part cannot
 * say exactly counts as secret, so every alternative of a combinator applies.
 */
import { unescaped } from "../../engine/JsonPointer.ts"
import { isList, isObject, type Json, type JsonObject, type Place } from "./Place.ts"
import * as Pattern from "./Pattern.ts"
import { memberOf, tokensOf } from "./References.ts"

/** Returns whether a key matches; null: the pattern cannot be applied. Without steps that are left the result means nothing. */
type Match = ReturnType<typeof Pattern.pattern>

export interface Part {
  isSecret: boolean
  /** Whether it or a part that it leads to is secret. */
  reaches: boolean
  /** Parts that apply to the same value. */
  readonly same: Array<Part>
  readonly members: Map<string, Part>
  readonly patterns: Array<{ readonly source: string; readonly match: Match; readonly part: Part }>
  /** Of members that neither `members` nor `patterns` name. */
  readonly others: Array<Part>
  /** Of the items of lists, by their index. */
  readonly places: Map<number, Part>
  /** Of items from this index. */
  from: number
  readonly rest: Array<Part>
  /** Of every member and item. */
  readonly each: Array<Part>
  /** Of the JSON in a text, which is one value of the payload. */
  readonly content: Array<Part>
}

const empty = (): Part => ({
  isSecret: false,
  reaches: false,
  same: [],
  members: new Map(),
  patterns: [],
  others: [],
  places: new Map(),
  from: 0,
  rest: [],
  each: [],
  content: []
})

/** All parts that a part leads to. */
const ledTo = (part: Part): ReadonlyArray<Part> => [
  ...part.same,
  ...part.members.values(),
  ...part.patterns.map((pattern) => pattern.part),
  ...part.others,
  ...part.places.values(),
  ...part.rest,
  ...part.each,
  ...part.content
]

/** Notes at all parts whether they lead to a secret one. */
const reach = (parts: ReadonlyArray<Part>) => {
  const from = new Map<Part, Array<Part>>(parts.map((part) => [part, []]))
  for (const part of parts) for (const next of ledTo(part)) from.get(next)?.push(part)
  const found = new Set(parts.filter(({ isSecret }) => isSecret))
  // What is added to a set is walked too.
  for (const part of found) {
    part.reaches = true
    for (const before of from.get(part) ?? []) found.add(before)
  }
  for (const part of parts) part.isSecret ||= part.content.some(({ reaches }) => reaches)
}

/** Instructions of all patterns of a schema, as for checks. */
const mostPatterns = 5000

const isMarked = (schema: JsonObject) => schema["x-secret"] === true || schema["writeOnly"] === true

/** How schemas below one apply, by the keyword that has them. */
const same = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"] as const
const sameByKey = ["dependentSchemas", "dependencies"] as const
const rest = ["items", "additionalItems", "unevaluatedItems", "contains"] as const
const others = ["additionalProperties", "unevaluatedProperties"] as const

/** The parts of a schema; the first is that of the whole value. */
const partsOfSchema = (root: JsonObject): ReadonlyArray<Part> => {
  const patterns = Pattern.make(mostPatterns)
  const nothing = () => () => null
  const place: Place = { schema: {}, check: nothing, reference: () => null, expected: nothing, patterns }
  const anchors = anchorsOf(root)
  const known = new Map<JsonObject, Part>()
  const parts: Array<Part> = []
  const waiting: Array<() => void> = []

  const partOf = (schema: Json | undefined): ReadonlyArray<Part> => {
    if (!isObject(schema)) return []
    const before = known.get(schema)
    if (before !== undefined) return [before]
    const part = empty()
    known.set(schema, part)
    parts.push(part)
    // Not at once: schemas may be deeper than the stack.
    waiting.push(() => read(schema, part))
    return [part]
  }
  const all = (value: Json | undefined) => (isList(value) ? value.flatMap(partOf) : partOf(value))
  const entries = (value: Json | undefined) => (isObject(value) ? Object.entries(value) : [])

  const read = (schema: JsonObject, part: Part) => {
    part.isSecret = isMarked(schema)
    for (const name of same) part.same.push(...all(schema[name]))
    for (const name of sameByKey) for (const [, inner] of entries(schema[name])) part.same.push(...partOf(inner))
    for (const name of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      const ref = schema[name]
      if (typeof ref === "string") part.same.push(...partOf(referred(root, anchors, ref)))
    }
    for (const [name, inner] of entries(schema["properties"])) {
      for (const member of partOf(inner)) part.members.set(name, member)
    }
    for (const [source, inner] of entries(schema["patternProperties"])) {
      const match = Pattern.pattern(source, place)
      for (const member of partOf(inner)) part.patterns.push({ source, match, part: member })
    }
    for (const name of others) part.others.push(...partOf(schema[name]))
    const { items, prefixItems } = schema
    const first = isList(prefixItems) ? prefixItems : isList(items) ? items : []
    for (const [index, inner] of first.entries()) for (const item of partOf(inner)) part.places.set(index, item)
    // `contains` describes any item, so that it begins at the first.
    part.from = schema["contains"] === undefined ? first.length : 0
    for (const name of rest) part.rest.push(...partOf(schema[name]))
    part.content.push(...partOf(schema["contentSchema"]))
  }

  partOf(root)
  for (const next of waiting) next()
  return parts
}

/** The schemas that have a name of their own, by that name. */
const anchorsOf = (root: JsonObject): ReadonlyMap<string, Json> => {
  const found = new Map<string, Json>()
  const waiting: Array<Json> = [root]
  for (const json of waiting) {
    if (isList(json)) for (const one of json) waiting.push(one)
    else if (isObject(json)) {
      for (const name of ["$anchor", "$dynamicAnchor"]) {
        const anchor = json[name]
        if (typeof anchor === "string" && !found.has(anchor)) found.set(anchor, json)
      }
      for (const member of Object.values(json)) waiting.push(member)
    }
  }
  return found
}

/** What a reference names in the document; undefined: something else. */
const referred = (root: JsonObject, anchors: ReadonlyMap<string, Json>, ref: string): Json | undefined => {
  const id = root["$id"]
  const inside = typeof id === "string" && id !== "" && ref.startsWith(id.replace(/#$/, "")) ? id.replace(/#$/, "") : ""
  const fragment = ref.slice(inside.length)
  if (fragment === "" && ref !== "") return root
  const tokens = tokensOf(fragment)
  return tokens === null ? anchors.get(fragment.replace(/^#/, "")) : tokens.reduce<Json | undefined>(memberOf, root)
}

/** In pointers of `sensitive`: every member or item. */
export const each = "*"

/** The parts of JSON pointers, each to a secret; the first is that of the whole value. */
const partsOfPointers = (pointers: ReadonlyArray<string>): ReadonlyArray<Part> => {
  const root = empty()
  const parts = [root]
  const next = () => {
    const part = empty()
    parts.push(part)
    return part
  }
  for (const pointer of pointers) {
    let part = root
    for (const token of pointer.split("/").slice(1)) {
      const key = unescaped(token)
      let child = key === each ? part.each[0] : part.members.get(key)
      if (child === undefined) {
        child = next()
        if (key === each) part.each.push(child)
        else part.members.set(key, child)
        if (/^(0|[1-9]\d*)$/.test(key)) part.places.set(Number(key), child)
      }
      part = child
    }
    part.isSecret = true
  }
  return parts
}

/** The part of whole payloads, by the schema and the pointers of a process. */
export const partOf = (schema: Json, pointers: ReadonlyArray<string>): Part => {
  const root = empty()
  const parts = [root]
  for (const some of [partsOfPointers(pointers), isObject(schema) ? partsOfSchema(schema) : []]) {
    root.same.push(...some.slice(0, 1))
    parts.push(...some)
  }
  reach(parts)
  return root
}
