/** Secret fields of a process as code: a source that would lose the mark of one is not written. */
import { assert, describe, it } from "@effect/vitest"
import { sensitiveSource, sourceOf } from "../src/internal/files/SchemaSource.ts"

const stored = (ssn: object) => ({
  type: "object",
  properties: { ssn: { type: "string", ...ssn } },
  required: ["ssn"],
  additionalProperties: true
})

describe("the source of a schema", () => {
  it("marks secret fields, in whatever way they are stored", () => {
    for (const mark of [{ writeOnly: true }, { "x-secret": true }]) {
      assert.match(sourceOf(stored(mark)) ?? "", /"writeOnly": true/)
    }
    assert.notInclude(sourceOf(stored({})) ?? assert.fail("no source"), "writeOnly")
  })

  it("makes the whole payload secret where it cannot say which field is", () => {
    const input_schema = stored({ "x-secret": true })
    assert.match(sensitiveSource({ input_schema }, false).join(), /sensitive: \[""\]/)
    assert.deepStrictEqual(sensitiveSource({ input_schema, sensitive: ["/a"] }, true), ['  sensitive: ["/a"]'])
    assert.deepStrictEqual(sensitiveSource({ input_schema: stored({}) }, false), [])
  })
})
