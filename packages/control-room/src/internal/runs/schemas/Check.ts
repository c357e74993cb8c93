/**
 * Checks JSON against a JSON Schema (draft 2020-12) in a bounded number of steps: a schema can be written so that some JSON would
 * take exponential time, and the service is one thread for all its workspaces.
 */
import type * as Schema from "effect/Schema"
import { applicators } from "./Applicators.ts"
import { assertions } from "./Assertions.ts"
import * as Pattern from "./Pattern.ts"
import { memberOf, tokensOf } from "./References.ts"
import { type Check, isObject, type Place, type Problem, type Work } from "./Place.ts"

const fits: Check = () => null

/** Steps of one check, in which the event loop waits: about 40 ms at most. */
const mostSteps = 2_500_000
/** Steps for all payloads of a request, between which it does not wait. */
const mostStepsOfRequest = 30_000_000
/** A schema takes about as long as so many characters of text. */
const costOfSchema = 4
/** Schemas inside each other in one check: JSON is at most 256 deep. */
const mostDepth = 1000
/** References that lead from one to the next, each through a schema: checks are as deep. */
const mostReferences = 500
/** Instructions of all patterns of a schema: building them takes about 20 ms. */
const mostPatterns = 5000

const exhausted: Problem = {
  path: "",
  message: "Expected a payload that can be checked in fewer steps; make it smaller, or input_schema simpler"
}

/** What would change which payloads fit, and is not applied, with the remedy. */
const unsupported: Readonly<Record<string, string>> = {
  unevaluatedItems: "items in its place: unevaluatedItems cannot be applied",
  unevaluatedProperties: "additionalProperties in its place: unevaluatedProperties cannot be applied",
  $dynamicRef: "$ref in its place: $dynamicRef cannot be applied",
  $recursiveRef: "$ref in its place: $recursiveRef cannot be applied",
  additionalItems: "prefixItems and items, which is how draft 2020-12 says it",
  dependencies: "dependentRequired or dependentSchemas, which is how draft 2020-12 says it"
}

/** What must be said in the place of this keyword; null: it is applied, or changes nothing. `at`: the path of its schema. */
const outOfScope = (name: string, at: string): string | null =>
  name === "$id" && at !== ""
    ? "$id at the root alone: references are to the document"
    : Object.hasOwn(unsupported, name)
      ? (unsupported[name] ?? null)
      : null

/** The steps that are left. */
export interface Budget {
  left: number
}

export const budget = (): Budget => ({ left: mostStepsOfRequest })

export interface Compiled {
  /**
   * Returns where JSON does not fit; null: it fits. Parts of the schema that cannot be applied are left out. `budget`: what
   * all payloads of a request may take together.
   */
  readonly check: (value: Schema.Json, budget?: Budget) => Problem | null
  /** Why the schema cannot be applied in full, with the path of the first part; null: it can. */
  readonly problem: string | null
}

export const compile = (root: Schema.Json): Compiled => {
  let problem: string | null = null
  const patterns = Pattern.make(mostPatterns)
  const references = new Map<string, { check: Check }>()
  /** The schemas that references name and that are not built yet: a chain of them would be too deep for the stack. */
  const waiting: Array<{ readonly build: () => void; readonly depth: number }> = []
  let depth = 0

  const reference = (ref: string): Check | null => {
    const tokens = tokensOf(ref)
    if (tokens === null) return null
    const key = JSON.stringify(tokens)
    const known = references.get(key)
    if (known !== undefined) return (value, work) => known.check(value, work)
    if (depth >= mostReferences) return null
    const schema = tokens.reduce<Schema.Json | undefined>(memberOf, root)
    if (schema === undefined) return null
    // Before its check is built, since a schema can refer to itself.
    const entry = { check: fits }
    references.set(key, entry)
    const at = tokens.map((token) => `.${token}`).join("")
    waiting.push({ depth: depth + 1, build: () => (entry.check = build(schema, at)) })
    return (value, work) => entry.check(value, work)
  }

  const build = (schema: Schema.Json, at: string): Check => {
    const expected = (what: string, ...path: ReadonlyArray<string | number>): Check => {
      problem ??= `${[at, ...path].join(".")}: expected ${what}`
      return fits
    }
    if (schema === true) return fits
    if (schema === false) return () => ({ path: "", message: "Expected nothing here" })
    if (!isObject(schema)) return expected("a schema: an object, true or false")
    const place: Omit<Place, "expected"> = {
      schema,
      reference,
      patterns,
      check: (inner, ...path) => build(inner, [at, ...path].join("."))
    }
    const checks = Object.entries(schema).flatMap(([name, value]) => {
      const wrong = (what: string, ...path: ReadonlyArray<string | number>) => expected(what, name, ...path)
      const remedy = outOfScope(name, at)
      if (remedy !== null) return [wrong(remedy)]
      const keyword = applicators.get(name) ?? assertions.get(name)
      return keyword === undefined ? [] : [keyword(value, { ...place, expected: wrong })]
    })
    return (value, work) => {
      work.left -= costOfSchema
      if (work.left < 0 || work.depth > mostDepth) {
        work.left = -1
        return exhausted
      }
      work.depth += 1
      let found: Problem | null = null
      for (const check of checks) {
        found = check(value, work)
        if (found !== null) break
      }
      work.depth -= 1
      return found
    }
  }

  const check = build(root, "")
  for (const next of waiting) {
    depth = next.depth
    next.build()
  }
  return {
    problem,
    check: (value, budget) => {
      const most = Math.min(mostSteps, budget?.left ?? mostSteps)
      const work: Work = { left: most, depth: 0 }
      const found = check(value, work)
      if (budget !== undefined) budget.left -= most - work.left
      // What alternatives have found after that means nothing.
      return work.left < 0 ? exhausted : found
    }
  }
}
