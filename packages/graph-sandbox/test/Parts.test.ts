/**
 * The parts that can be looked at alone.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Address from "../src/internal/requests/Address.ts"
import * as Filter from "../src/internal/requests/Filter.ts"
import * as QuickXorHash from "../src/internal/world/QuickXorHash.ts"
import * as Search from "../src/internal/directory/Search.ts"
import { without } from "../src/internal/world/Transfers.ts"

describe("the hash of contents", () => {
  it("is that of the known vectors, whole or in parts that come in any order", () => {
    const many = Uint8Array.from({ length: 327_681 }, (_, i) => i % 251)
    const vectors: ReadonlyArray<readonly [Uint8Array, string]> = [
      [new Uint8Array(), "AAAAAAAAAAAAAAAAAAAAAAAAAAA="],
      [Buffer.from("a"), "YQAAAAAAAAAAAAAAAQAAAAAAAAA="],
      [Buffer.from("hello world"), "aCgDG9jwBhDc4Q1yawMZAAAAAAA="],
      [Buffer.from("A".repeat(20)), "YAADGMAABiAEIQhBHEIQghCEIAQ="],
      [Buffer.from("x".repeat(1000)), "RS960Yte9KIXvehFx3nR8573vOc="],
      [many, "CFxjLVlWbbPTEZb19KiSkx+BLpI="]
    ]
    for (const [contents, hash] of vectors) assert.strictEqual(QuickXorHash.of(contents), hash)
    const later = QuickXorHash.make()
    later.add(many.subarray(100_003), 100_003)
    const first = QuickXorHash.make()
    first.add(many.subarray(0, 100_003), 0)
    later.merge(first)
    assert.strictEqual(QuickXorHash.digest(later, many.length), "CFxjLVlWbbPTEZb19KiSkx+BLpI=")
  })
})

describe("an address", () => {
  const parse = (path: string) =>
    Result.getOrThrow(Address.parse(path)).map(({ args, path, text }) =>
      args !== null ? [text, args] : path !== null ? [text, path] : text
    )

  it("is cut at keys, functions and paths between colons", () => {
    assert.deepStrictEqual(parse("/me/drive/root:/A%20%23/b's.txt:/content"), [
      "me",
      "drive",
      ["root", ["A #", "b's.txt"]],
      "content"
    ])
    assert.deepStrictEqual(parse("/drives/b!x/items/1:/c.txt"), ["drives", "b!x", "items", ["1", ["c.txt"]]])
    assert.deepStrictEqual(parse("//sites/h.test:/sites/t:/drive"), ["sites", ["h.test", ["sites", "t"]], "drive"])
    assert.deepStrictEqual(parse("/sites/h.test%3A%2Fsites%2Ft%3A/lists/A%2FB"), [
      "sites",
      ["h.test", ["sites", "t"]],
      "lists",
      "A/B"
    ])
    assert.deepStrictEqual(parse("/root/search(q='it''s%20(a),b=c')"), ["root", ["search", { q: "it's (a),b=c" }]])
    assert.deepStrictEqual(parse("/root/microsoft.graph.delta()"), ["root", ["delta", {}]])
    assert.deepStrictEqual(parse("/drives('x''y')/root"), ["drives", "x'y", "root"])
    assert.deepStrictEqual(parse("/lists/Plan (2)/items"), ["lists", "Plan (2)", "items"])
  })

  it("that cannot be read is refused", () => {
    for (const path of ["/a/%zz", "/root/search(q='a'b')", "/root/search(q='a)"]) {
      assert.isTrue(Result.isFailure(Address.parse(path)), path)
    }
  })
})

describe("a filter", () => {
  const row = { name: "Ann's", age: 30, mail: null, fields: { Title: "One" } }

  it("tests text without regard to case, numbers, nothing and what is below", () => {
    for (const [filter, expected] of [
      ["name eq 'ANN''S'", true],
      ["startswith(name,'an') and age ge 30", true],
      ["(age lt 30 or mail eq null) and not endswith(name,'x')", true],
      ["age in (1, 30)", true],
      ["fields/Title eq 'one'", true],
      ["contains(fields/Title,'x')", false],
      ["age gt 30", false],
      ["missing eq 'x'", false]
    ] as const) {
      assert.strictEqual(Result.getOrThrow(Filter.parse(filter)).test(row), expected, filter)
    }
  })

  it("that makes no sense is refused", () => {
    for (const filter of [
      "",
      "name",
      "name eq",
      "name is 'x'",
      "(name eq 'x'",
      "name eq 'x' and",
      "startswith(name)"
    ]) {
      assert.isTrue(Result.isFailure(Filter.parse(filter)), filter)
    }
  })
})

describe("words of the directory", () => {
  it("begin at spaces, symbols, digits and upper case", () => {
    assert.deepStrictEqual(Search.words("OneVideo HTTPServer-42x Zoë"), [
      "one",
      "video",
      "http",
      "server",
      "42",
      "x",
      "zoë"
    ])
  })
})

describe("gaps of an upload", () => {
  it("are what is left when a range has come", () => {
    const all = [{ from: 0, to: 100 }]
    assert.deepStrictEqual(without(all, { from: 0, to: 10 }), [{ from: 10, to: 100 }])
    assert.deepStrictEqual(without(all, { from: 40, to: 60 }), [
      { from: 0, to: 40 },
      { from: 60, to: 100 }
    ])
    assert.deepStrictEqual(without(all, { from: 0, to: 100 }), [])
  })
})
