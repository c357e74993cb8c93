/**
 * The check of payloads against a JSON Schema: keyword by keyword, and in how many steps.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import type * as Schema from "effect/Schema"
import { RE2JS } from "re2js"
import { budget, compile } from "../src/internal/runs/schemas/Check.ts"
import { expectedSize } from "../src/internal/runs/schemas/Pattern.ts"

type Json = Schema.Json

const problemOf = (schema: Json, value: Json) => {
  const problem = compile(schema).check(value)
  return problem === null ? null : `${problem.path}: ${problem.message}`
}

/** For each keyword: a schema, what fits, and what does not. */
const keywords: ReadonlyArray<
  readonly [schema: Json, fits: ReadonlyArray<Json>, refused: ReadonlyArray<readonly [Json, RegExp]>]
> = [
  [
    { type: "integer" },
    [1, 1.0, -3],
    [
      [1.5, /^: Expected integer$/],
      ["1", /Expected integer/]
    ]
  ],
  [{ type: ["string", "null"] }, ["", null], [[1, /Expected string or null/]]],
  [{ enum: [1, "a", { b: [1], c: 2 }] }, [1, "a", { c: 2, b: [1] }], [[2, /Expected 1, "a"/]]],
  [{ const: { a: null } }, [{ a: null }], [[{}, /Expected/]]],
  [{ multipleOf: 0.1 }, [0.3, 1, "a"], [[0.35, /multiple of 0.1/]]],
  [
    { minimum: 1, maximum: 2 },
    [1, 2],
    [
      [0, /at least 1/],
      [3, /at most 2/]
    ]
  ],
  [
    { exclusiveMinimum: 1, exclusiveMaximum: 2 },
    [1.5],
    [
      [1, /more than 1/],
      [2, /less than 2/]
    ]
  ],
  [
    { minLength: 2, maxLength: 2 },
    ["ab", "😀😀"],
    [
      ["😀", /at least 2/],
      ["abc", /at most 2/]
    ]
  ],
  [{ pattern: "^[A-Z]+$" }, ["AB", 1], [["Ab", /^: Expected text that matches \^\[A-Z\]\+\$$/]]],
  [{ pattern: "^\\p{L}{2}\\u002d$" }, ["äö-"], [["ä", /Expected/]]],
  [
    { minItems: 1, maxItems: 2, uniqueItems: true },
    [[1], [1, 2]],
    [
      [[], /at least 1/],
      [[1, 1], /unique/]
    ]
  ],
  [
    { prefixItems: [{ type: "string" }], items: false },
    [[], ["a"]],
    [
      [[1], /^\.0: /],
      [["a", 1], /^\.1: /]
    ]
  ],
  [
    { contains: { type: "string" }, maxContains: 1 },
    [["a", 1]],
    [
      [[1], /contains/],
      [["a", "b"], /contains/]
    ]
  ],
  [
    { minProperties: 1, maxProperties: 1 },
    [{ a: 1 }],
    [
      [{}, /at least 1/],
      [{ a: 1, b: 2 }, /at most 1/]
    ]
  ],
  [{ required: ["a"] }, [{ a: 1 }, 1], [[{}, /^\.a: Missing key$/]]],
  [{ dependentRequired: { a: ["b"] } }, [{}, { a: 1, b: 1 }], [[{ a: 1 }, /^\.b: Missing key/]]],
  [{ dependentSchemas: { a: { required: ["b"] } } }, [{}, { a: 1, b: 1 }], [[{ a: 1 }, /^\.b: /]]],
  [
    {
      properties: { a: { type: "string" } },
      patternProperties: { "^x-": { type: "number" } },
      additionalProperties: false
    },
    [{ a: "b", "x-c": 1 }],
    [
      [{ "x-c": "d" }, /^\.x-c: Expected number/],
      [{ y: 1 }, /^\.y: Unexpected key/]
    ]
  ],
  [{ additionalProperties: { type: "null" } }, [{ a: null }], [[{ a: 1 }, /^\.a: Expected null/]]],
  [{ propertyNames: { pattern: "^a" } }, [{ ab: 1 }], [[{ b: 1 }, /^\.b: .*propertyNames/]]],
  [
    { allOf: [{ minimum: 1 }, { maximum: 2 }] },
    [1],
    [
      [0, /at least/],
      [3, /at most/]
    ]
  ],
  [{ anyOf: [{ type: "string" }, { minimum: 1 }] }, ["a", 1], [[0, /one of 2 alternatives/]]],
  [{ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, [0, 3], [[1, /exactly one of 2 alternatives; 2 do/]]],
  [
    { oneOf: [{ pattern: "^a" }, { pattern: "b$" }] },
    ["a", "b"],
    [
      ["ab", /; 2 do/],
      ["c", /exactly one/]
    ]
  ],
  [
    { anyOf: [{ type: "null" }, { properties: { a: { type: "integer" } } }] },
    [null, { a: 1 }],
    [[{ a: "x" }, /^\.a: Expected integer/]]
  ],
  [{ not: { type: "string" } }, [1], [["a", /not/]]],
  [
    // As text, since an object with a `then` looks like a promise.
    JSON.parse('{ "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 5 } }'),
    ["ab", 5],
    [
      ["a", /at least 2/],
      [4, /at least 5/]
    ]
  ],
  [
    { $ref: "#/$defs/a~1b%25", $defs: { "a/b%": { type: "object", properties: { next: { $ref: "#" } } } } },
    [{ next: { next: {} } }],
    [[{ next: { next: 1 } }, /^\.next\.next: Expected object/]]
  ],
  [{ format: "date-time", title: "t", "x-own": 1 }, ["no date", 1], []]
]

/** Schemas that cannot be applied in full, with what is said of them. */
const refused: ReadonlyArray<readonly [Json, RegExp]> = [
  [{ properties: { a: { pattern: "(?=a)" } } }, /^\.properties\.a\.pattern: expected a pattern without lookaround/],
  [{ pattern: "(a)\\1" }, /^\.pattern: expected a pattern without .*back references/],
  [{ pattern: "(" }, /^\.pattern: expected an ECMAScript pattern/],
  [{ pattern: "\\Qa\\E" }, /^\.pattern: expected an ECMAScript pattern/],
  [{ pattern: "(?:(?:a{99}){99}){99}" }, /^\.pattern: expected/],
  [{ pattern: "a".repeat(1001) }, /^\.pattern: expected a pattern of at most 1000/],
  [{ allOf: Array.from({ length: 30 }, () => ({ pattern: "a{500}" })) }, /^\.allOf\.\d+\.pattern: expected patterns/],
  [{ patternProperties: { "(": true } }, /^\.patternProperties\.\(: expected/],
  [{ unevaluatedProperties: false }, /^\.unevaluatedProperties: expected additionalProperties/],
  [{ items: { $dynamicRef: "#a" } }, /^\.items\.\$dynamicRef: expected \$ref/],
  [{ $ref: "https://example.com/schema" }, /^\.\$ref: expected a schema in the same document/],
  [{ $ref: "#/$defs/None" }, /^\.\$ref: expected/],
  [{ $ref: "#/%E0%A4%A" }, /^\.\$ref: expected/],
  [{ items: { $id: "a" } }, /^\.items\.\$id: expected/],
  [{ items: [{}] }, /^\.items: expected .*prefixItems/],
  [{ dependencies: {} }, /^\.dependencies: expected dependentRequired/],
  [{ type: "strnig" }, /^\.type: expected one or more of null/],
  [{ minLength: -1 }, /^\.minLength: expected/],
  [{ properties: { a: 1 } }, /^\.properties\.a: expected a schema/],
  [{ required: "a" }, /^\.required: expected a list of names/],
  [{ anyOf: [] }, /^\.anyOf: expected a list/]
]

/** Schemas and JSON with which a check that tries everything takes longer than anyone waits. */
const nested = (depth: number): Json => (depth === 0 ? { y: 1, z: 1 } : { x: nested(depth - 1), y: "a", z: "a" })
const branch = (name: string) => ({ properties: { x: { $ref: "#" }, [name]: { type: "string" } }, required: [name] })
const doubling = Object.fromEntries(
  Array.from({ length: 64 }, (_, n) => [
    `d${n}`,
    { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }
  ])
)
const endless: ReadonlyArray<readonly [what: string, schema: Json, value: Json]> = [
  ["alternatives that nest", { anyOf: [branch("z"), branch("y")] }, nested(200)],
  ["definitions that double", { $ref: "#/$defs/d0", $defs: { ...doubling, d64: {} } }, 1],
  ["a definition that is itself", { $ref: "#" }, 1],
  ["large patterns for large texts", { pattern: "^(?:[a-z]+ ?){0,200}$" }, "a b".repeat(300_000)]
]

/** Runs of the compiler of patterns, and the instructions of the largest program that it made. */
const built = (run: () => void) => {
  const spy = vi.spyOn(RE2JS, "compile")
  run()
  const sizes = spy.mock.results.map(({ type, value }) => (type === "return" ? value.programSize() : 0))
  spy.mockRestore()
  return { count: sizes.length, all: sizes.reduce((sum, size) => sum + size, 0) }
}

const nestedRepetitions = (n: number) => `${"(?:ab{50}){50}".repeat(60)}${n}`
const chain = (length: number): Json => ({
  $ref: "#/$defs/d0",
  $defs: Object.fromEntries(
    Array.from({ length }, (_, n) => [`d${n}`, n === length - 1 ? { type: "number" } : { $ref: `#/$defs/d${n + 1}` }])
  )
})

describe("a JSON Schema", () => {
  it("has no pattern built that would be too large, nor more of them than the bound", () => {
    const patterns = Array.from({ length: 300 }, (_, n) => nestedRepetitions(n))
    const asValues = { allOf: patterns.map((pattern) => ({ pattern })) }
    const asNames = {
      additionalProperties: false,
      patternProperties: Object.fromEntries(patterns.map((pattern) => [pattern, true]))
    }
    for (const schema of [asValues, asNames]) {
      const { count } = built(() => assert.match(compile(schema).problem ?? "", /a pattern with smaller repetitions/))
      assert.strictEqual(count, 0)
    }
    // Each below what is counted before it is built, and too large when it is; alone, and below one another.
    const almost = Array.from({ length: 200 }, (_, n) => `(?:a?b?){900}${n}`)
    const below = almost.reduce<Json>(
      (inner, pattern) => ({ additionalProperties: inner, patternProperties: { [pattern]: true } }),
      true
    )
    for (const schema of [{ allOf: almost.map((pattern) => ({ pattern })) }, below]) {
      assert.isAtMost(built(() => assert.isNotNull(compile(schema).problem)).all, 12_000)
    }
  })

  it("has patterns whose size is known before they are built", () => {
    for (const [source, size] of [
      ["^[A-Z]{3}-\\d{4}$", 10],
      ["(?:a|b|c|d){500}", 500],
      ["(?:ab|cd){10}", 40],
      ["\\p{L}{20,40}x*", 41],
      ["(?:(?:a{9}){9}){9}", 729],
      ["[(|{9}]{3,}", 4],
      ["a{0}", 0]
    ] as const) {
      assert.strictEqual(expectedSize(source), size, source)
    }
  })

  it("may lead through 500 references, and a longer chain is refused", () => {
    const { check, problem } = compile(chain(500))
    assert.isNull(problem)
    assert.isNull(check(1))
    assert.match(check("a")?.message ?? "fits", /Expected number/)
    for (const length of [502, 8000]) {
      assert.match(compile(chain(length)).problem ?? "applied", /^\.\$defs\.d499\.\$ref: expected .* at most 500 other/)
    }
  })

  it("is applied to all payloads of a request in a bounded number of steps", () => {
    const { check } = compile({ type: "array", items: { type: "integer" } })
    const most = budget()
    const payload = Array.from({ length: 300_000 }, () => 1)
    const answers = Array.from({ length: 30 }, () => check(payload, most))
    assert.isNull(answers[0])
    assert.match(answers.at(-1)?.message ?? "fits", /fewer steps/)
    assert.isNull(check(payload))
  })

  it("is applied keyword by keyword", () => {
    for (const [schema, fits, wrong] of keywords) {
      assert.isNull(compile(schema).problem, JSON.stringify(schema))
      for (const value of fits) assert.isNull(problemOf(schema, value), JSON.stringify([schema, value]))
      for (const [value, message] of wrong) assert.match(problemOf(schema, value) ?? "fits", message)
    }
  })

  it("says where it cannot be applied, and is applied without that part", () => {
    for (const [schema, message] of refused) {
      const { check, problem } = compile(schema)
      assert.match(problem ?? `${JSON.stringify(schema)} is applied`, message)
      assert.isNull(check({}))
    }
  })

  it("is applied in a bounded number of steps, whatever it says", () => {
    for (const [what, schema, value] of endless) {
      assert.isNull(compile(schema).problem, what)
      assert.match(problemOf(schema, value) ?? "fits", /^: Expected a payload that can be checked in fewer steps/, what)
    }
  })

  it("has patterns that backtracking cannot make slow", () => {
    assert.match(problemOf({ pattern: "^(a+)+$" }, `${"a".repeat(100_000)}b`) ?? "fits", /Expected text/)
    assert.match(problemOf({ pattern: "(x+x+)+y" }, "x".repeat(100_000)) ?? "fits", /Expected text/)
  })
})
