/** Values of programs as JSON, and where they have none. */
import { assert, describe, it } from "@effect/vitest"
import { jsonOf, Unfit } from "../src/JsonValue.ts"

const problemOf = (value: unknown, path = "") => {
  const made = jsonOf(value, path)
  return made instanceof Unfit ? made.message : assert.fail("it has JSON")
}

describe("a value", () => {
  it("is what JSON.stringify makes of it", () => {
    const value = { at: new Date(0), left: undefined, list: [1, undefined, null], nested: { text: "a" } }
    assert.deepStrictEqual(jsonOf(value, ""), JSON.parse(JSON.stringify(value)))
  })

  it("without JSON is named by its path, from the input or from a name for it", () => {
    assert.strictEqual(problemOf({ a: [{ b: Number.NaN }] }), "a.0.b: NaN, which JSON does not have")
    assert.strictEqual(
      problemOf({ a: 1n }, "fields"),
      "fields.a: a bigint, which JSON does not have; give it as a text"
    )
    assert.strictEqual(
      problemOf(() => 1),
      "a function, which JSON does not have"
    )
    assert.strictEqual(
      problemOf(new Map(), "fields"),
      "fields: an instance of Map, which has no toJSON; give a plain object"
    )
  })

  it("that is within itself, or whose toJSON throws, does not end in an endless loop or an exception", () => {
    const circle: { inner?: unknown } = {}
    circle.inner = [circle]
    assert.strictEqual(problemOf(circle), "inner.0: is within itself, which JSON cannot say")
    const throwing = {
      toJSON: () => {
        throw new Error("no")
      }
    }
    assert.strictEqual(problemOf({ throwing }), "throwing: its toJSON throws")
  })
})
