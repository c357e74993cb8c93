/**
 * `$filter` and `$orderby`, over things as the wire shows them.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Failure from "../model/Failure.ts"
import type { Properties } from "../model/Model.ts"

export interface Filter {
  readonly test: (row: Properties) => boolean
  /** The properties it names. */
  readonly properties: ReadonlyArray<string>
  /** It has an operator that the directory serves to advanced queries only. */
  readonly advanced: boolean
}

/** The value below a path such as `fields/Title`. */
export const valueAt = (row: unknown, path: string): unknown =>
  path
    .split("/")
    .reduce<unknown>((value, name) => (Predicate.isObjectOrArray(value) ? Reflect.get(value, name) : undefined), row)

/** Text is compared without regard to case, as the service does it. */
const comparable = (value: unknown) => (typeof value === "string" ? value.toLowerCase() : (value ?? null))

/** Negative, zero or positive; `undefined` where there is no order. */
const compare = (left: unknown, right: unknown): number | undefined => {
  const [a, b] = [comparable(left), comparable(right)]
  if (a === b) return 0
  if (typeof a === "number" && typeof b === "number") return a - b
  return typeof a === "string" && typeof b === "string" ? (a < b ? -1 : 1) : undefined
}

const operators: Readonly<Record<string, (left: unknown, right: unknown) => boolean>> = {
  eq: (a, b) => compare(a, b) === 0,
  ne: (a, b) => compare(a, b) !== 0,
  gt: (a, b) => (compare(a, b) ?? 0) > 0,
  ge: (a, b) => (compare(a, b) ?? -1) >= 0,
  lt: (a, b) => (compare(a, b) ?? 0) < 0,
  le: (a, b) => (compare(a, b) ?? 1) <= 0
}

const text = (value: unknown) => (typeof value === "string" ? value.toLowerCase() : "")

const functions: Readonly<Record<string, (left: unknown, right: unknown) => boolean>> = {
  startswith: (a, b) => text(a).startsWith(text(b)) && typeof a === "string",
  endswith: (a, b) => text(a).endsWith(text(b)) && typeof a === "string",
  contains: (a, b) => text(a).includes(text(b)) && typeof a === "string",
  substringof: (a, b) => text(b).includes(text(a)) && typeof b === "string"
}

const token = /'(?:[^']|'')*'|[(),]|[^\s(),']+/g

const tokenize = (source: string): Result.Result<ReadonlyArray<string>, Failure.Failure> =>
  source.replace(token, "").trim() === ""
    ? Result.succeed([...source.matchAll(token)].map(([found]) => found))
    : Result.fail(Failure.badRequest("Invalid filter clause", "invalidQueryOption"))

const number = /^-?\d+(?:\.\d+)?$/

const literalOf = (source: string): unknown => {
  if (source.startsWith("'")) return source.slice(1, -1).replaceAll("''", "'")
  if (number.test(source)) return Number(source)
  return source === "true" ? true : source === "false" ? false : source === "null" ? null : source
}

/** A reader of tokens by descent. */
class Parser {
  private at = 0
  readonly properties: Array<string> = []
  advanced = false
  private readonly tokens: ReadonlyArray<string>

  constructor(tokens: ReadonlyArray<string>) {
    this.tokens = tokens
  }

  private peek(): string | undefined {
    return this.tokens[this.at]?.toLowerCase()
  }

  private next(): string | undefined {
    return this.tokens[this.at++]
  }

  private take(expected: string): boolean {
    const found = this.peek() === expected
    if (found) this.at++
    return found
  }

  /** `undefined` where it makes no sense. */
  whole(): Filter["test"] | undefined {
    const test = this.either()
    return this.at === this.tokens.length ? test : undefined
  }

  private either(): Filter["test"] | undefined {
    let left = this.both()
    while (left !== undefined && this.take("or")) {
      const [a, b] = [left, this.both()]
      left = b === undefined ? undefined : (row) => a(row) || b(row)
    }
    return left
  }

  private both(): Filter["test"] | undefined {
    let left = this.one()
    while (left !== undefined && this.take("and")) {
      const [a, b] = [left, this.one()]
      left = b === undefined ? undefined : (row) => a(row) && b(row)
    }
    return left
  }

  private one(): Filter["test"] | undefined {
    if (this.take("not")) {
      this.advanced = true
      const inner = this.one()
      return inner === undefined ? undefined : (row) => !inner(row)
    }
    if (this.take("(")) {
      const inner = this.either()
      return this.take(")") ? inner : undefined
    }
    const name = this.next()
    if (name === undefined) return undefined
    const call = functions[name.toLowerCase()]
    return call !== undefined && this.take("(") ? this.call(name.toLowerCase(), call) : this.comparison(name)
  }

  private call(name: string, run: (left: unknown, right: unknown) => boolean): Filter["test"] | undefined {
    if (name === "endswith") this.advanced = true
    const left = this.operand()
    const right = this.take(",") ? this.operand() : undefined
    if (left === undefined || right === undefined || !this.take(")")) return undefined
    // `startswith(x,'y') eq true` is the same.
    if (this.take("eq")) return this.take("true") ? (row) => run(left(row), right(row)) : undefined
    return (row) => run(left(row), right(row))
  }

  private operand(): ((row: Properties) => unknown) | undefined {
    const source = this.next()
    if (source === undefined) return undefined
    if (source.startsWith("'")) return () => literalOf(source)
    this.properties.push(source)
    return (row) => valueAt(row, source)
  }

  private comparison(property: string): Filter["test"] | undefined {
    const operator = this.next()?.toLowerCase() ?? ""
    this.properties.push(property)
    if (operator === "in" && this.take("(")) return this.among(property)
    if (operator === "ne") this.advanced = true
    const compare = operators[operator]
    const source = this.next()
    if (compare === undefined || source === undefined) return undefined
    const literal = literalOf(source)
    return (row) => compare(valueAt(row, property), literal)
  }

  private among(property: string): Filter["test"] | undefined {
    const literals: Array<unknown> = []
    do {
      const source = this.next()
      if (source === undefined) return undefined
      literals.push(literalOf(source))
    } while (this.take(","))
    return this.take(")")
      ? (row) => literals.some((literal) => compare(valueAt(row, property), literal) === 0)
      : undefined
  }
}

export const parse = (source: string): Result.Result<Filter, Failure.Failure> =>
  Result.flatMap(tokenize(source), (tokens) => {
    const parser = new Parser(tokens)
    const test = parser.whole()
    return test === undefined
      ? Result.fail(Failure.badRequest(`Invalid filter clause: '${source}'`, "invalidQueryOption"))
      : Result.succeed({ test, properties: parser.properties, advanced: parser.advanced })
  })

/** An order as `name desc,id`. */
export const parseOrder = (
  source: string
): { readonly order: (left: Properties, right: Properties) => number; readonly properties: ReadonlyArray<string> } => {
  const keys = source.split(",").map((part) => {
    const [path = "", direction] = part.trim().split(/\s+/)
    return { path, sign: direction?.toLowerCase() === "desc" ? -1 : 1 }
  })
  return {
    properties: keys.map(({ path }) => path),
    order: (left, right) =>
      keys.reduce(
        (found, { path, sign }) =>
          found === 0 ? sign * (compare(valueAt(left, path), valueAt(right, path)) ?? 0) : found,
        0
      )
  }
}
