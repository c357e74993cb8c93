import { assert, describe, it } from "@effect/vitest"
import { defined } from "../src/Defined.ts"

describe("defined", () => {
  it("leaves out keys of undefined members alone", () => {
    const members = defined({ a: undefined, b: null, c: 0, d: "", e: false })
    assert.deepStrictEqual(members, { b: null, c: 0, d: "", e: false })
    assert.isFalse("a" in members)
  })

  it("keeps a default that an undefined member would replace", () => {
    const limit = (given?: number): { readonly limit: number } => ({ limit: 10, ...defined({ limit: given }) })
    assert.deepStrictEqual(limit(), { limit: 10 })
    assert.deepStrictEqual(limit(2), { limit: 2 })
  })
})
