/** Changes of a payload by JSON pointers, and what they have changed. Numbers keep their text. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

type Json = Schema.Json

/** A change that cannot be made. */
export class BadEdit extends TaggedError<BadEdit>()("BadEdit", { message: Schema.String }) {}

export type Edit =
  | { readonly kind: "set"; readonly pointer: string; readonly value: Json }
  | { readonly kind: "remove"; readonly pointer: string }

/** What has changed at a place; undefined: nothing is there. */
export interface Change {
  readonly pointer: string
  readonly before: Json | undefined
  readonly after: Json | undefined
}

const bad = (message: string) => Result.fail(new BadEdit({ message }))

/** JSON; null when the text is none. */
export const parse = (text: string): { readonly value: Json } | null =>
  Result.getOrNull(Result.try(() => ({ value: ExactJson.parse(text) })))

/** Reads `/pointer=value`. The value is JSON, or a text without quotes. */
export const parseSet = (given: string): Result.Result<Edit, BadEdit> => {
  const [, pointer, text] = /^(\/[^=]*)=(.*)$/s.exec(given) ?? []
  if (pointer === undefined || text === undefined) {
    return bad('--set: Expected POINTER=JSON, such as /amount=12.5, or "/lines/0/name=a lamp"')
  }
  const json = parse(text)
  if (json !== null) return Result.succeed({ kind: "set", pointer, value: json.value })
  // It was meant as JSON.
  if (/^\s*["[{]/.test(text))
    return bad(`--set ${pointer}: Expected JSON; quote it for the shell, such as '/a={"b":1}'`)
  return Result.succeed({ kind: "set", pointer, value: text })
}

/** Reads `/pointer`. */
export const parseRemove = (given: string): Result.Result<Edit, BadEdit> =>
  given.startsWith("/")
    ? Result.succeed({ kind: "remove", pointer: given })
    : bad("--remove: Expected a JSON pointer, such as /amount")

const keysOf = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))

const keyIn = (parent: string, key: string | number) =>
  `${parent}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`

type Container = ReadonlyArray<Json> | { readonly [key: string]: Json }

const isContainer = (json: Json | undefined): json is Container =>
  Predicate.isObjectOrArray(json) && !ExactJson.isRaw(json)

// `Array.isArray` does not know read-only arrays.
const isList = (json: Container): json is ReadonlyArray<Json> => Array.isArray(json)

/** The place of an entry; the length for one that is appended. Null: it is none. */
const indexOf = (list: ReadonlyArray<Json>, key: string): number | null => {
  if (key === "-") return list.length
  return /^(0|[1-9]\d*)$/.test(key) && Number(key) <= list.length ? Number(key) : null
}

const at = (json: Container, key: string): Json | undefined =>
  isList(json) ? json[indexOf(json, key) ?? json.length] : Object.hasOwn(json, key) ? json[key] : undefined

const replaced = (json: Container, key: string, value: Json | undefined): Json => {
  if (isList(json)) {
    const index = indexOf(json, key) ?? json.length
    return [...json.slice(0, index), ...(value === undefined ? [] : [value]), ...json.slice(index + 1)]
  }
  // Of a key that is there the place stays.
  if (value !== undefined) return { ...json, [key]: value }
  return Object.fromEntries(Object.entries(json).filter(([other]) => other !== key))
}

const edited = (
  json: Json | undefined,
  edit: Edit,
  keys: ReadonlyArray<string>,
  parent: string
): Result.Result<Json, BadEdit> => {
  const flag = `--${edit.kind} ${edit.pointer}`
  const where = parent === "" ? "the payload" : `${parent} of the payload`
  const [key = "", ...rest] = keys
  if (!isContainer(json)) {
    return bad(
      `${flag}: ${where} is not an object or a list; replace it as a whole, such as --set '${parent || "/a"}={}'`
    )
  }
  if (isList(json) && indexOf(json, key) === null) {
    return bad(`${flag}: ${where} is a list of ${json.length}; give an index below that, or - for a new entry`)
  }
  const child = at(json, key)
  if (rest.length > 0) {
    if (child === undefined)
      return bad(`${flag}: ${where} has no ${key}; set it first, such as --set '${keyIn(parent, key)}={}'`)
    return Result.map(edited(child, edit, rest, keyIn(parent, key)), (value) => replaced(json, key, value))
  }
  if (edit.kind === "set") return Result.succeed(replaced(json, key, edit.value))
  return child === undefined ? bad(`${flag}: ${where} has no ${key}`) : Result.succeed(replaced(json, key, undefined))
}

/** Makes one change. */
export const apply = (payload: Json, edit: Edit): Result.Result<Json, BadEdit> =>
  edited(payload, edit, keysOf(edit.pointer), "")

/** The places at which two payloads differ, the deepest ones. */
export const changes = (before: Json | undefined, after: Json | undefined, pointer = ""): ReadonlyArray<Change> => {
  if (isContainer(before) && isContainer(after) && isList(before) === isList(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return keys.flatMap((key) => changes(at(before, key), at(after, key), keyIn(pointer, key)))
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ pointer, before, after }]
}
