/** Forms out of JSON Schemas. */
import { assert, describe, it } from "vitest"
import { assemble, draftsOf, fits, formOf, type JsonObject } from "../../src/page/screens/process/schema.ts"

const schema: JsonObject = {
  type: "object",
  required: ["number", "address", "isPaid"],
  $defs: { place: { type: "object", required: ["city"], properties: { city: { type: "string", minLength: 2 } } } },
  properties: {
    number: { type: "integer", minimum: 1, maximum: 99 },
    customer: { type: ["string", "null"], default: "ACME", title: "Who pays" },
    kind: { enum: ["monthly", 12, null] },
    isPaid: { type: "boolean" },
    isDraft: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "number" } },
    due: { type: "string", format: "date-time" },
    address: { $ref: "#/$defs/place" },
    other: { $ref: "#/$defs/place" },
    more: { type: "array", items: { type: "object" } }
  }
}
const form = formOf(schema) ?? []

describe("a form", () => {
  it("has a field for each property, of its kind, by its title or its name in words", () => {
    assert.deepStrictEqual(
      form.map(({ kind, label }) => `${kind}: ${label}`),
      [
        "number: Number",
        "text: Who pays",
        "choice: Kind",
        "check: Is paid",
        "check: Is draft",
        "lines: Tags",
        "lines: Sizes",
        "text: Due",
        "group: Address",
        "group: Other",
        "json: More"
      ]
    )
  })

  it("is none where payloads are no objects, or are not described", () => {
    assert.isNull(formOf({ type: "array" }))
    assert.isNull(formOf(null))
  })

  it("begins with the defaults", () => {
    assert.deepStrictEqual(draftsOf(form), { customer: "ACME" })
  })

  it("leaves out what is optional and empty, and says what is needed", () => {
    const { errors, value } = assemble(form, { number: "7", customer: "" })
    assert.deepStrictEqual(value, { number: 7, isPaid: false, address: {} })
    assert.deepStrictEqual(errors, { "address.city": "Required" })
  })

  it("checks numbers, lengths and JSON where they are typed", () => {
    const wrong = { number: "99.5", "address.city": "X", sizes: "1\ntwo", more: "[" }
    assert.deepStrictEqual(assemble(form, wrong).errors, {
      number: "Enter a whole number",
      "address.city": "Enter at least 2 characters",
      sizes: "Enter a number",
      more: "Enter valid JSON"
    })
    assert.strictEqual(assemble(form, { number: "100" }).errors["number"], "Must be at most 99")
    assert.strictEqual(assemble(form, { number: "0" }).errors["number"], "Must be at least 1")
  })

  it("gives back a payload as it was", () => {
    const payload: JsonObject = {
      number: 3,
      kind: 12,
      isPaid: true,
      tags: ["a", "b"],
      sizes: [1.5, 2],
      due: "2026-11-20T08:15:00.000Z",
      address: { city: "Graz" },
      more: [{ a: 1 }]
    }
    assert.isTrue(fits(form, payload))
    assert.deepStrictEqual(assemble(form, draftsOf(form, payload)), { value: payload, errors: {} })
  })

  it("does not fit a payload of which it would lose a part", () => {
    assert.isFalse(fits(form, { number: 3, unknown: 1 }))
    assert.isFalse(fits(form, { address: { city: "Graz", zip: "8010" } }))
    assert.isFalse(fits(form, [1]))
  })
})
