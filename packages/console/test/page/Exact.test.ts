/** Numbers that JavaScript does not have are shown, edited and saved with their digits. */
import { assert, describe, it } from "vitest"
import { keptAside, keptIn, parse, written } from "../../src/page/exact.ts"
import { assemble, draftsOf, fits, formOf, type Json } from "../../src/page/screens/process/schema.ts"

const big =
  '{"id":12345678901234567890,"rows":[{"n":-9007199254740993,"text":"1e-400, 12345678901234567890"}],"x":1e-400}'

describe("JSON of the console", () => {
  it("keeps the digits of numbers, in what is shown and in what is sent", () => {
    assert.strictEqual(JSON.stringify(parse(big)), big)
    assert.include(JSON.stringify(parse(big), null, 2), '"id": 12345678901234567890,')
    // As it is edited: shown, changed and sent.
    const edited = JSON.stringify(parse(big), null, 2).replace('"id": 1', '"id": 2')
    assert.strictEqual(written({ payload: parse(edited) }), `{"payload":${big.replace(":1", ":2")}}`)
  })

  it("has numbers, texts and keys as JSON.parse has them", () => {
    for (const text of ['[0.1,1.0,1e3,-5,"\\\\",9007199254740991]', '{"12345678901234567890":"\\"1e-400"}', "null"]) {
      assert.deepStrictEqual(parse(text), JSON.parse(text))
    }
    for (const text of ["{", "012345678901234567890", '{12345678901234567890:"a"}']) {
      assert.throws(() => parse(text), SyntaxError)
    }
  })

  it("is not sent by a browser that would round it, which names the path", () => {
    const kept = parse(big, keptAside)
    assert.strictEqual(keptIn({ payload: kept }), "payload.id")
    assert.throws(
      () => written({ payload: { rows: parse(big, keptAside) } }),
      /^payload\.rows\.id: this browser rounds/
    )
  })

  it("goes through the fields of a form", () => {
    const fields =
      formOf({
        type: "object",
        properties: { id: { type: "integer" }, all: { type: "array", items: { type: "number" } } }
      }) ?? []
    const text = '{"id":12345678901234567890,"all":[1,12345678901234567891]}'
    // It is JSON, in which a number is kept as its text.
    const value = parse(text) as Json
    assert.isTrue(fits(fields, value))
    if (!fits(fields, value)) return
    assert.strictEqual(JSON.stringify(assemble(fields, draftsOf(fields, value)).value), text)
  })
})
