import { assert, describe as suite, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe, parseOptions } from "../src/SchemaProblem.ts"

const Items = Schema.Struct({
  items: Schema.Array(Schema.Struct({ "the id": Schema.String.check(Schema.isMinLength(3)) })),
  kind: Schema.optionalKey(Schema.Literals(["a", "b"])),
  either: Schema.optionalKey(Schema.Union([Schema.Struct({ a: Schema.Finite }), Schema.Struct({ b: Schema.Finite })]))
})

const cases: ReadonlyArray<readonly [string, unknown, string]> = [
  ["what is missing", {}, "items: Missing key"],
  ["a place in a list", { items: [{ "the id": "abc" }, { "the id": 1 }] }, "items.1.the id: Expected string"],
  ["a value as a whole", "SECRET", "Expected object"],
  [
    "the first of several problems",
    { items: [{ "the id": "x" }], kind: "c" },
    "items.0.the id: Expected a value with a length of at least 3"
  ],
  ["a literal, without the value", { items: [], kind: "SECRET" }, 'kind: Expected "a" | "b"']
]

suite("a value that does not fit", () => {
  for (const [what, value, text] of cases) {
    it.effect(`is described by ${what}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Schema.decodeUnknownEffect(Items, parseOptions)(value))
        assert.strictEqual(describe(error), text)
      })
    )
  }

  it.effect("is described in one line where none of several shapes fits", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Schema.decodeUnknownEffect(Items, parseOptions)({ items: [], either: { a: "SECRET", b: "SECRET" } })
      )
      assert.match(describe(error), /^either(\.a)?: .+$/)
      assert.notInclude(describe(error), "SECRET")
    })
  )
})
