/**
 * The source of a schema that takes given JSON.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

/** Objects with more keys than this are taken for records. */
const mostKeys = 50
/** What lies deeper is any JSON. */
const mostDepth = 8

type Json = Schema.Json
type JsonObject = { readonly [key: string]: Json }

const isObject = (value: Json): value is JsonObject => Predicate.isObject(value)

const isArray = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

const union = (members: ReadonlyArray<string>): string =>
  members.length === 1 ? (members[0] ?? "Schema.Json") : `Schema.Union([${members.join(", ")}])`

const structOf = (objects: ReadonlyArray<JsonObject>, depth: number): string => {
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  if (keys.length > mostKeys) {
    return `Schema.Record(Schema.String, ${infer(
      objects.flatMap((object) => Object.values(object)),
      depth + 1
    )})`
  }
  const members = keys.map((key) => {
    const having = objects.filter((object) => Object.hasOwn(object, key))
    const inferred = infer(
      having.map((object) => object[key] ?? null),
      depth + 1
    )
    return `${JSON.stringify(key)}: ${having.length === objects.length ? inferred : `Schema.optionalKey(${inferred})`}`
  })
  return `Schema.Struct({ ${members.join(", ")} })`
}

const kinds: ReadonlyArray<readonly [schema: string, is: (value: Json) => boolean]> = [
  ["Schema.String", (value) => typeof value === "string"],
  ["Schema.Finite", (value) => typeof value === "number"],
  ["Schema.Boolean", (value) => typeof value === "boolean"]
]

/** Returns the source of a schema that takes all of these; of none, one that takes any JSON. */
export const infer = (samples: ReadonlyArray<Json>, depth = 0): string => {
  if (samples.length === 0 || depth > mostDepth) return "Schema.Json"
  const members = kinds.filter(([, is]) => samples.some(is)).map(([schema]) => schema)
  const objects = samples.filter(isObject)
  if (objects.length > 0) members.push(structOf(objects, depth))
  const arrays = samples.filter(isArray)
  if (arrays.length > 0) members.push(`Schema.Array(${infer(arrays.flat(), depth + 1)})`)
  if (members.length === 0) return "Schema.Null"
  return samples.includes(null) ? `Schema.NullOr(${union(members)})` : union(members)
}
