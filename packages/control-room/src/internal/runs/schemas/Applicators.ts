/**
 * The keywords of JSON Schema that apply other schemas.
 */
import {
  below,
  type Check,
  first,
  isList,
  isObject,
  type Json,
  type Keyword,
  ofList,
  ofObject,
  type Place,
  problem,
  type Problem,
  type Work,
  numberOf
} from "./Place.ts"
import { pattern } from "./Pattern.ts"

/** A map of schemas, each with its check. */
const checksOf = (value: Json, { check, expected }: Place, name: string) =>
  isObject(value)
    ? Object.entries(value).map(([key, schema]) => [key, check(schema, name, key)] as const)
    : (expected("an object of schemas"), [])

const list = (value: Json, { check, expected }: Place, name: string): ReadonlyArray<Check> =>
  isList(value) && value.length > 0
    ? value.map((schema, index) => check(schema, name, index))
    : (expected("a list of schemas"), [])

/** What is wrong with the alternative that fits best: the one whose problem is deepest. */
const nearest = (problems: ReadonlyArray<Problem>, message: string, work: Work) => {
  for (const { path } of problems) work.left -= 32 + 4 * path.length
  const deepest = problems.toSorted((a, b) => b.path.split(".").length - a.path.split(".").length)[0]
  return problems.length === 1 || (deepest !== undefined && deepest.path !== "") ? (deepest ?? null) : problem(message)
}

const alternatives = (checks: ReadonlyArray<Check>, value: Json, work: Work) => {
  const problems = checks.flatMap((check) => check(value, work) ?? [])
  return { fitting: checks.length - problems.length, problems }
}

/** The names of `properties` and the patterns of `patternProperties`, which are not additional. */
const declared = (place: Place) => {
  const { schema } = place
  const keys = new Set(isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [])
  // What is wrong with them is said at `patternProperties`.
  const silent: Place = { ...place, expected: () => () => null, patterns: { ...place.patterns } }
  const patterns = isObject(schema["patternProperties"])
    ? Object.keys(schema["patternProperties"]).map((source) => pattern(source, silent))
    : []
  return (key: string, work: Work) => keys.has(key) || patterns.some((match) => match(key, work) !== false)
}

const each = (check: Check, from: number) =>
  ofList((items, work) => first(items.keys(), (n) => (n < from ? null : below(n, check(items[n] ?? null, work)))))

/** Those that are applied, by name. */
export const applicators: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  [
    "$ref",
    (value, { expected, reference }) =>
      (typeof value === "string" ? reference(value) : null) ??
      expected('a schema in the same document that exists, such as "#/$defs/Order", after at most 500 other references')
  ],
  [
    "allOf",
    (value, place) => {
      const checks = list(value, place, "allOf")
      return (found, work) => first(checks, (check) => check(found, work))
    }
  ],
  [
    "anyOf",
    (value, place) => {
      const checks = list(value, place, "anyOf")
      return (found, work) => {
        const problems: Array<Problem> = []
        for (const check of checks) {
          const wrong = check(found, work)
          if (wrong === null) return null
          problems.push(wrong)
        }
        return checks.length === 0
          ? null
          : nearest(problems, `Expected a match for one of ${checks.length} alternatives`, work)
      }
    }
  ],
  [
    "oneOf",
    (value, place) => {
      const checks = list(value, place, "oneOf")
      return (found, work) => {
        const { fitting, problems } = alternatives(checks, found, work)
        if (fitting === 1 || checks.length === 0) return null
        const message = `Expected a match for exactly one of ${checks.length} alternatives`
        return fitting === 0 ? nearest(problems, message, work) : problem(`${message}; ${fitting} do`)
      }
    }
  ],
  [
    "not",
    (value, { check }) => {
      const inner = check(value, "not")
      return (found, work) =>
        inner(found, work) === null ? problem("Expected a value that does not match the schema of not") : null
    }
  ],
  [
    "if",
    (value, { check, schema }) => {
      const condition = check(value, "if")
      const [then, otherwise] = ["then", "else"].map((name) => check(schema[name] ?? true, name))
      return (found, work) => (condition(found, work) === null ? then : otherwise)?.(found, work) ?? null
    }
  ],
  [
    "dependentSchemas",
    (value, place) => {
      const checks = checksOf(value, place, "dependentSchemas")
      return ofObject((found, work) =>
        first(checks, ([key, check]) => (Object.hasOwn(found, key) ? check(found, work) : null))
      )
    }
  ],
  [
    "prefixItems",
    (value, place) => {
      const checks = list(value, place, "prefixItems")
      return ofList((items, work) =>
        first(checks.slice(0, items.length).entries(), ([n, check]) => below(n, check(items[n] ?? null, work)))
      )
    }
  ],
  [
    "items",
    (value, { check, expected, schema }) => {
      if (isList(value)) return expected("one schema; a schema for each place is prefixItems")
      const prefix = schema["prefixItems"]
      return each(check(value, "items"), isList(prefix) ? prefix.length : 0)
    }
  ],
  [
    "contains",
    (value, { check, expected, schema }) => {
      const inner = check(value, "contains")
      const [min, max] = [numberOf(schema["minContains"] ?? 1), numberOf(schema["maxContains"] ?? Infinity)]
      if (min === null || max === null) return expected("numbers in minContains and maxContains")
      return ofList((items, work) => {
        const count = items.filter((item) => inner(item, work) === null).length
        return count >= min && count <= max ? null : problem("Expected a different number of items that match contains")
      })
    }
  ],
  [
    "properties",
    (value, place) => {
      const checks = checksOf(value, place, "properties")
      return ofObject((found, work) => {
        work.left -= checks.length
        return first(checks, ([key, check]) =>
          Object.hasOwn(found, key) ? below(key, check(found[key] ?? null, work)) : null
        )
      })
    }
  ],
  [
    "patternProperties",
    (value, place) => {
      const checks = checksOf(value, place, "patternProperties").map(
        ([source, check]) => [pattern(source, place, source), check] as const
      )
      return ofObject((found, work) =>
        first(checks, ([match, check]) =>
          first(Object.keys(found), (key) =>
            match(key, work) === true ? below(key, check(found[key] ?? null, work)) : null
          )
        )
      )
    }
  ],
  [
    "additionalProperties",
    (value, place) => {
      const isDeclared = declared(place)
      const check = place.check(value, "additionalProperties")
      if (value === true) return check
      return ofObject((found, work) =>
        first(Object.keys(found), (key) =>
          isDeclared(key, work)
            ? null
            : value === false
              ? problem("Unexpected key", `.${key}`)
              : below(key, check(found[key] ?? null, work))
        )
      )
    }
  ],
  [
    "propertyNames",
    (value, { check }) => {
      const inner = check(value, "propertyNames")
      return ofObject((found, work) =>
        first(Object.keys(found), (key) => {
          const wrong = inner(key, work)
          return wrong === null
            ? null
            : problem(`a name that does not match propertyNames: ${wrong.message}`, `.${key}`)
        })
      )
    }
  ]
])
