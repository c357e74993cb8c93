/** Values of programs as the JSON that is sent: what `JSON.stringify` makes of them, where it says the same. */
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as ExactJson from "./ExactJson.ts"

/** Where a value has no JSON, and why; with nothing of the value. */
export class Unfit {
  /** Such as `payloads.3.total`; empty for the value as a whole. */
  readonly path: string
  readonly problem: string
  constructor(path: string, problem: string) {
    this.path = path
    this.problem = problem
  }
  /** Both, for people. */
  get message(): string {
    return this.path === "" ? this.problem : `${this.path}: ${this.problem}`
  }
}

const below = (path: string, name: string | number): string => (path === "" ? String(name) : `${path}.${name}`)

/** Levels; the service takes fewer. */
const maxDepth = 1000

/** What JSON cannot say, by `typeof`. */
const unfit: Readonly<Record<string, string>> = {
  bigint: "a bigint, which JSON does not have; give it as a text",
  function: "a function, which JSON does not have",
  symbol: "a symbol, which JSON does not have",
  undefined: "undefined, which JSON does not have; give null"
}

const hasToJson = (value: object): value is { readonly toJSON: (key: string) => unknown } =>
  "toJSON" in value && typeof value.toJSON === "function"

/** Whether it is an object as literals make them, also of another realm. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || (typeof prototype === "object" && Object.getPrototypeOf(prototype) === null)
}

const nameOf = ({ constructor }: object): string =>
  typeof constructor === "function" && constructor.name !== "" ? constructor.name : "a class"

/** An object, and those that it is within. */
interface Within {
  readonly value: object
  readonly depth: number
  readonly above: Within | null
}

const isWithin = (value: object, above: Within | null): boolean => {
  for (let one = above; one !== null; one = one.above) if (one.value === value) return true
  return false
}

const enter = (value: object, above: Within | null): Within => ({ value, depth: (above?.depth ?? 0) + 1, above })

const ofObject = (value: object, path: string, above: Within | null): Schema.Json | Unfit => {
  if (isWithin(value, above)) return new Unfit(path, "is within itself, which JSON cannot say")
  if (above?.depth === maxDepth) return new Unfit(path, `is nested more than ${maxDepth} levels deep`)
  const within = enter(value, above)
  if (Array.isArray(value)) {
    const items: Array<Schema.Json> = []
    for (const [index, item] of value.entries()) {
      // As `JSON.stringify` does: an item that is left out would move the others.
      const json = item === undefined ? null : jsonAt(item, below(path, index), within)
      if (json instanceof Unfit) return json
      items.push(json)
    }
    return items
  }
  if (!isPlain(value)) {
    return new Unfit(path, `an instance of ${nameOf(value)}, which has no toJSON; give a plain object`)
  }
  const members: Array<[string, Schema.Json]> = []
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const json = jsonAt(member, below(path, name), within)
    if (json instanceof Unfit) return json
    members.push([name, json])
  }
  return Object.fromEntries(members)
}

const jsonAt = (value: unknown, path: string, above: Within | null): Schema.Json | Unfit => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (typeof value === "number") {
    return Number.isFinite(value) ? value : new Unfit(path, `${value}, which JSON does not have`)
  }
  if (typeof value !== "object") return new Unfit(path, unfit[typeof value] ?? "no JSON")
  // The text of a number, which `JSON.stringify` writes as it is: `Schema.Json` has no type for it.
  if (ExactJson.isRaw(value)) return value as unknown as Schema.Json
  // Its own JSON is a placeholder.
  if (Redacted.isRedacted(value))
    return new Unfit(path, "a redacted value, which is not sent; a secret belongs into the vault")
  if (!hasToJson(value)) return ofObject(value, path, above)
  if (isWithin(value, above)) return new Unfit(path, "is within itself, which JSON cannot say")
  let made: unknown
  try {
    made = value.toJSON(path.slice(path.lastIndexOf(".") + 1))
  } catch {
    return new Unfit(path, "its toJSON throws")
  }
  return made === value ? ofObject(value, path, above) : jsonAt(made, path, enter(value, above))
}

/**
 * Returns a value as JSON, or where it has none. `path` is where it is in the input of the caller, such as `payloads.3`; empty: it is
 * the input.
 *
 * ```ts
 * import { jsonOf, Unfit } from "@signalbox/transport/JsonValue"
 *
 * // "total: NaN, which JSON does not have"
 * const json = jsonOf({ total: Number.NaN }, "")
 * export const problem = json instanceof Unfit ? json.message : null
 * ```
 */
export const jsonOf = (value: unknown, path: string): Schema.Json | Unfit => jsonAt(value, path, null)
