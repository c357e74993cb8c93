/** Forms out of JSON Schemas: which fields there are, and the JSON of what was typed into them. */
import { numberFrom as exactNumber, parse as exact } from "../../exact.ts"
import * as text from "../../text/text.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

interface Common {
  /** The names of the keys that lead to it. */
  readonly path: string
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly isRequired: boolean
  readonly initial: Json | undefined
}

export type FormField = Common &
  (
    | {
        readonly kind: "text"
        readonly type: "text" | "date" | "datetime-local" | "email" | "url"
        readonly minLength: number | undefined
        readonly maxLength: number | undefined
        readonly pattern: string | undefined
      }
    | {
        readonly kind: "number"
        readonly isInteger: boolean
        readonly min: number | undefined
        readonly max: number | undefined
      }
    | { readonly kind: "choice"; readonly values: ReadonlyArray<Json> }
    | { readonly kind: "check" }
    | { readonly kind: "lines"; readonly of: "string" | "number" | "integer" }
    | { readonly kind: "group"; readonly fields: ReadonlyArray<FormField> }
    | { readonly kind: "json" }
  )

/** What was typed, by the path of its field. */
export type Drafts = Readonly<Record<string, string | boolean>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const textOf = (value: Json | undefined) => (typeof value === "string" ? value : undefined)
const numberOf = (value: Json | undefined) => (typeof value === "number" ? value : undefined)
const listOf = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const inputTypes: Readonly<Record<string, "date" | "datetime-local" | "email" | "url">> = {
  date: "date",
  "date-time": "datetime-local",
  email: "email",
  uri: "url"
}

/** `orderNumber` and `order_number` are read as `Order number`. */
const titled = (name: string) => {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Follows references within the schema. */
const resolved = (schema: Json | undefined, root: JsonObject, depth = 0): JsonObject => {
  if (!isObject(schema)) return {}
  const reference = textOf(schema["$ref"])
  if (reference === undefined || !reference.startsWith("#/") || depth > 8) return schema
  const target = reference
    .slice(2)
    .split("/")
    .reduce<Json | undefined>(
      (at, key) => (isObject(at) ? at[key.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
      root
    )
  return {
    ...resolved(target, root, depth + 1),
    ...Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$ref"))
  }
}

const nullable = (type: Json | undefined): string | undefined => {
  const types = listOf(type).filter((one) => one !== "null")
  return textOf(types.length === 1 ? types[0] : type)
}

const fieldOf = (schema: JsonObject, root: JsonObject, common: Common, depth: number): FormField => {
  const type = nullable(schema["type"])
  const values = "const" in schema ? [schema["const"] ?? null] : listOf(schema["enum"])
  if (values.length > 0) return { ...common, kind: "choice", values }
  if (type === "boolean") return { ...common, kind: "check" }
  if (type === "string") {
    return {
      ...common,
      kind: "text",
      type: inputTypes[textOf(schema["format"]) ?? ""] ?? "text",
      minLength: numberOf(schema["minLength"]),
      maxLength: numberOf(schema["maxLength"]),
      pattern: textOf(schema["pattern"])
    }
  }
  if (type === "number" || type === "integer") {
    return {
      ...common,
      kind: "number",
      isInteger: type === "integer",
      min: numberOf(schema["minimum"]),
      max: numberOf(schema["maximum"])
    }
  }
  if (type === "array") {
    const of = textOf(resolved(schema["items"], root)["type"])
    if (of === "string" || of === "number" || of === "integer") return { ...common, kind: "lines", of }
  }
  if (type === "object" && isObject(schema["properties"]) && depth < 4) {
    return { ...common, kind: "group", fields: fieldsOf(schema, root, common.path, depth + 1) }
  }
  return { ...common, kind: "json" }
}

const fieldsOf = (schema: JsonObject, root: JsonObject, path: string, depth: number): ReadonlyArray<FormField> => {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {}
  const required = listOf(schema["required"])
  return Object.entries(properties).map(([name, property]) => {
    const one = resolved(property, root)
    return fieldOf(
      one,
      root,
      {
        path: path === "" ? name : `${path}.${name}`,
        name,
        label: textOf(one["title"]) ?? titled(name),
        hint: textOf(one["description"]) ?? "",
        isRequired: required.includes(name),
        initial: one["default"]
      },
      depth
    )
  })
}

/** The fields of a schema of objects; null where it is of something else, or is not known. */
export const formOf = (schema: JsonObject | null | undefined): ReadonlyArray<FormField> | null => {
  if (schema == null) return null
  const root = resolved(schema, schema)
  return isObject(root["properties"]) ? fieldsOf(root, schema, "", 0) : null
}

const localTime = (value: string) => {
  const time = new Date(value)
  return Number.isNaN(time.getTime())
    ? value
    : new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A number that is kept as its text is an object. */
const shown = (value: Json) => (typeof value === "object" ? JSON.stringify(value) : String(value))

const draftOf = (field: FormField, value: Json): string | boolean => {
  if (field.kind === "check") return value === true
  if (field.kind === "choice")
    return String(field.values.findIndex((one) => JSON.stringify(one) === JSON.stringify(value)))
  if (field.kind === "lines") return listOf(value).map(shown).join("\n")
  if (field.kind === "json") return JSON.stringify(value, null, 2)
  return field.kind === "text" && field.type === "datetime-local" ? localTime(shown(value)) : shown(value)
}

/** The drafts of a value; without one, those of the defaults. */
export const draftsOf = (fields: ReadonlyArray<FormField>, value?: JsonObject): Drafts =>
  Object.assign(
    {},
    ...fields.map((field) => {
      const here = value === undefined ? field.initial : value[field.name]
      if (field.kind === "group")
        return draftsOf(field.fields, isObject(here) ? here : value === undefined ? undefined : {})
      return here == null ? {} : { [field.path]: draftOf(field, here) }
    })
  )

/** Whether the form has a field for all of a value: what it has none for would be lost. */
export const fits = (fields: ReadonlyArray<FormField>, value: Json): value is JsonObject =>
  isObject(value) &&
  Object.entries(value).every(([name, one]) => {
    const field = fields.find((field) => field.name === name)
    return field !== undefined && (field.kind !== "group" || fits(field.fields, one))
  })

export interface Assembled {
  readonly value: JsonObject
  /** What is wrong, by the path of the field. */
  readonly errors: Readonly<Record<string, string>>
}

class Wrong extends Error {}

const numberFrom = (typed: string, isInteger: boolean): number => {
  const number = Number(typed)
  if (!Number.isFinite(number)) throw new Wrong(text.processes.enterNumber)
  if (isInteger && !Number.isInteger(number)) throw new Wrong(text.processes.enterInteger)
  return number
}

/** A number that was checked, with its digits. */
// It is JSON: a number, or one that is kept as its text.
const kept = (typed: string) => exactNumber(typed) as Json

/** Throws `Wrong` with what to do. */
const valueOf = (field: Exclude<FormField, { readonly kind: "group" }>, draft: string): Json => {
  switch (field.kind) {
    case "text": {
      if (field.minLength !== undefined && draft.length < field.minLength) {
        throw new Wrong(text.processes.enterAtLeast(field.minLength))
      }
      if (field.maxLength !== undefined && draft.length > field.maxLength) {
        throw new Wrong(text.processes.enterAtMost(field.maxLength))
      }
      return field.type === "datetime-local" ? new Date(draft).toISOString() : draft
    }
    case "number": {
      const number = numberFrom(draft, field.isInteger)
      if (field.min !== undefined && number < field.min) throw new Wrong(text.processes.mustBeAtLeast(field.min))
      if (field.max !== undefined && number > field.max) throw new Wrong(text.processes.mustBeAtMost(field.max))
      return kept(draft)
    }
    case "choice":
      return field.values[Number(draft)] ?? null
    case "lines": {
      const lines = draft.split("\n").filter((line) => line.trim() !== "")
      return field.of === "string"
        ? lines
        : lines.map((line) => {
            numberFrom(line, field.of === "integer")
            return kept(line)
          })
    }
    case "check":
      return false
    case "json":
      try {
        // What it parses is JSON, in which a number may be kept as its text.
        return exact(draft) as Json
      } catch {
        throw new Wrong(text.processes.enterJson)
      }
  }
}

/** The JSON of what was typed. Optional fields that are empty are left out. */
export const assemble = (fields: ReadonlyArray<FormField>, drafts: Drafts): Assembled => {
  const value: Record<string, Json> = {}
  const errors: Record<string, string> = {}
  for (const field of fields) {
    if (field.kind === "group") {
      const inner = assemble(field.fields, drafts)
      const isEmpty = Object.keys(inner.value).length === 0
      // What is required of an optional group counts only when something of the group was typed.
      if (isEmpty && !field.isRequired) continue
      value[field.name] = inner.value
      Object.assign(errors, inner.errors)
      continue
    }
    const draft = drafts[field.path]
    if (field.kind === "check") {
      if (draft !== undefined || field.isRequired) value[field.name] = draft === true
    } else if (typeof draft !== "string" || draft === "" || (field.kind === "choice" && draft === "-1")) {
      if (field.isRequired) {
        if (field.kind === "lines") value[field.name] = []
        else errors[field.path] = text.processes.required
      }
    } else {
      try {
        value[field.name] = valueOf(field, draft)
      } catch (error) {
        if (!(error instanceof Wrong)) throw error
        errors[field.path] = error.message
      }
    }
  }
  return { value, errors }
}
