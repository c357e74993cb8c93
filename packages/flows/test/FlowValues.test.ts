import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as FlowValues from "../src/FlowValues.ts"
import { keyOf, ring } from "./support/Keys.ts"

const encrypted = (values: FlowValues.FlowValues, text = "hello", place = "here", name = "default") => {
  const found = values.encrypt(name, text, place)
  assert(found !== null)
  return found
}

const refused = (options: FlowValues.AesOptions): string => {
  try {
    FlowValues.aes(options).encrypt("default", "", "")
    return "accepted"
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe("values that are encrypted", () => {
  it("are decrypted by their key, NULs, long texts and lone surrogates as JSON included", () => {
    const values = ring("a")
    for (const text of ["", JSON.stringify("a\0b\ud800"), "é😀".repeat(200_000)]) {
      assert.strictEqual(values.decrypt("default", encrypted(values, text), "here"), text)
    }
  })

  it("differ each time", () => {
    const values = ring("a")
    assert.notStrictEqual(encrypted(values).data, encrypted(values).data)
  })

  it("are read by programs with the keys in another order, while the first key of each encrypts", () => {
    const [before, after] = [ring("old", "new"), ring("new", "old")]
    const [one, other] = [encrypted(before), encrypted(after)]
    assert.deepStrictEqual([one.key, other.key], ["old", "new"])
    assert.strictEqual(after.decrypt("default", one, "here"), "hello")
    assert.strictEqual(before.decrypt("default", other, "here"), "hello")
  })

  it("do not decrypt at another place, with another key of that id, without it, or when a byte was changed", () => {
    const one = encrypted(ring("a"))
    const bytes = Buffer.from(one.data, "base64")
    bytes[14] = (bytes[14] ?? 0) ^ 1
    assert.isNull(ring("a").decrypt("default", one, "there"))
    assert.isNull(FlowValues.aes({ keys: [keyOf("a", 1)] }).decrypt("default", one, "here"))
    assert.isNull(ring("b").decrypt("default", one, "here"))
    assert.isNull(ring("a").decrypt("default", { key: "a", data: bytes.toString("base64") }, "here"))
    assert.isNull(ring("a").decrypt("default", { key: "a", data: "" }, "here"))
  })

  it("of a ring that was erased cannot be read, and nothing is encrypted with it", () => {
    const all = new Map([["acme", [keyOf("k")]]])
    const values = FlowValues.aes({ keys: (name) => all.get(name) ?? null })
    const one = encrypted(values, "hello", "here", "acme")
    all.delete("acme")
    assert.isNull(values.decrypt("acme", one, "here"))
    assert.isNull(values.encrypt("acme", "hello", "here"))
  })

  it("have the ring of their flow or of their input", () => {
    const { ringOf } = FlowValues.aes({ keys: [keyOf("a")], keyOf: ({ flow }) => `of ${flow}` })
    assert.strictEqual(ringOf({ flow: "orders", input: null }), "of orders")
    assert.strictEqual(ring("a").ringOf({ flow: "orders", input: null }), "default")
  })
})

describe("keys", () => {
  it("are 32 bytes, or these in base64, in a Redacted or not", () => {
    const bytes = new Uint8Array(32).fill(7)
    const text = Buffer.from(bytes).toString("base64")
    const all = [bytes, text, Redacted.make(bytes), Redacted.make(text)].map((key) =>
      FlowValues.aes({ keys: [{ id: "a", key }] })
    )
    for (const one of all) {
      for (const other of all) assert.strictEqual(other.decrypt("default", encrypted(one), "here"), "hello")
    }
  })

  it("are refused at once with the reason, and without themselves", () => {
    const short = Redacted.make("c2VjcmV0")
    assert.strictEqual(refused({ keys: [] }), "FlowValues.aes: keys: expected at least one key")
    assert.strictEqual(
      refused({ keys: [keyOf("a"), { id: "b", key: short }] }),
      "FlowValues.aes: keys.1.key: expected 32 bytes, or these in base64"
    )
    assert.strictEqual(
      refused({ keys: [{ id: "b", key: "not base64!" }] }),
      "FlowValues.aes: keys.0.key: expected 32 bytes, or these in base64"
    )
    assert.strictEqual(
      refused({ keys: [keyOf("a"), keyOf("a")] }),
      'FlowValues.aes: keys.1.id: expected each id once, and "a" is there twice'
    )
    assert.strictEqual(
      refused({ keys: [{ id: "", key: short }] }),
      "FlowValues.aes: keys.0.id: expected a text that is not empty"
    )
    assert.strictEqual(
      refused({ keys: () => [{ id: "b", key: short }] }),
      'FlowValues.aes: keys("default").0.key: expected 32 bytes, or these in base64'
    )
  })
})
