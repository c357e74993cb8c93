/** Adds the texts of fields to schemas of the OpenAPI document. */
import * as Predicate from "effect/Predicate"
import { generalFields } from "./Fields.ts"
import { specialFields } from "./SpecialFields.ts"

type Schemas = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Schemas => Predicate.isObjectOrArray(value)

/** Keywords of JSON Schema that contain further schemas of the same value or of its items. */
const nested = ["items", "anyOf", "oneOf", "allOf", "additionalProperties"]

/** Readers that show the variants of a field one by one leave out the text beside them: the first variant has it too. */
const withText = (field: Schemas, text: string): Schemas => {
  const { anyOf } = field
  if (!Array.isArray(anyOf)) return { ...field, description: text }
  const variants = anyOf.map((one: unknown, index) =>
    index === 0 && isObject(one) ? { description: text, ...one } : one
  )
  return { ...field, anyOf: variants, description: text }
}

/** A schema with a description of each of its fields. `owner` is a component or an operation, `parent` a field of it. */
export const describeFields = (schema: unknown, owner: string, parent = ""): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => describeFields(one, owner, parent))
  if (!isObject(schema)) return schema
  const { properties } = schema
  const parts = nested
    .filter((keyword) => keyword in schema)
    .map((keyword) => [keyword, describeFields(schema[keyword], owner, parent)])
  if (!isObject(properties)) return { ...schema, ...Object.fromEntries(parts) }
  const fields = Object.entries(properties).map(([name, field]) => {
    const keys = [`${owner}.${parent}.${name}`, `${parent}.${name}`, `${owner}.${name}`]
    const text = keys.map((key) => specialFields[key]).find((known) => known !== undefined) ?? generalFields[name]
    const described = describeFields(field, owner, name)
    return [name, isObject(described) && text !== undefined ? withText(described, text) : described]
  })
  return { ...schema, ...Object.fromEntries(parts), properties: Object.fromEntries(fields) }
}
