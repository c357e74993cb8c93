/** Paths of steps. */
import { assert, describe, it } from "@effect/vitest"
import { addressOf, isBelow, partsOf } from "../src/internal/model/Path.ts"

describe("a path", () => {
  it("has the prefixes of its scopes; a slash within a key is none", () => {
    assert.deepStrictEqual(partsOf("a/file[x/y]/submit"), ["", "a/", "a/file[x/y]/"])
    assert.deepStrictEqual(partsOf("file[x\\]/y]/submit"), ["", "file[x\\]/y]/"])
  })

  it("is below its scopes and their keys, not below what begins with the same letters", () => {
    assert.isTrue(isBelow("file/submit", "file"))
    assert.isTrue(isBelow("file[x]", "file"))
    assert.isFalse(isBelow("files/submit", "file"))
    assert.isFalse(isBelow("file#2", "file"))
    assert.isFalse(isBelow("file", "file"))
  })

  it("ends in the address of its signal, without the number of a repeated call", () => {
    assert.strictEqual(addressOf("a/file[x/y]/approval#3"), "approval")
    assert.strictEqual(addressOf("approval"), "approval")
  })
})
