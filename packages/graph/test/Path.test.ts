import { assert, describe, it } from "@effect/vitest"
import { below, literal, odataText, path, queryString, searchClause } from "../src/Path.ts"

describe("a name is one segment", () => {
  const table: ReadonlyArray<readonly [string, string]> = [
    ["plain", "plain"],
    ["a b", "a%20b"],
    ["a#b", "a%23b"],
    ["a?b", "a%3Fb"],
    ["100%", "100%25"],
    ["a%2Fb", "a%252Fb"],
    ["A/B #1", "A%2FB%20%231"],
    ["a+b&c=d", "a%2Bb%26c%3Dd"],
    ["a:b", "a%3Ab"],
    ["O'Brien", "O'Brien"],
    ["ann@contoso.example", "ann@contoso.example"],
    ["host,g1,g2", "host,g1,g2"],
    ["b!aaa", "b!aaa"],
    ["naïve", "na%C3%AFve"],
    ["日本", "%E6%97%A5%E6%9C%AC"],
    ["😀", "%F0%9F%98%80"],
    ["...", "..."]
  ]
  it.each(table)("%s is sent as %s", (name, encoded) => {
    const made = path`/x/${name}/y`
    assert.strictEqual(made.encoded, `/x/${encoded}/y`)
    assert.isNull(made.problem)
    // Read by the rules of URLs, it is again the one name.
    const [, , segment = "", last] = new URL(`https://h${made.encoded}`).pathname.split("/")
    assert.strictEqual(decodeURIComponent(segment), name)
    assert.strictEqual(last, "y")
  })
  it.each(["", ".", "..", "\ud800"])("%j is none", (name) => {
    assert.isNotNull(path`/x/${name}`.problem)
  })
})

it("names below one another are segments each, whatever slashes there are", () => {
  assert.strictEqual(below("/Docs//a b#1%.txt/").encoded, "/Docs/a%20b%231%25.txt")
  assert.strictEqual(below("Docs\\x").encoded, "/Docs/x")
  assert.strictEqual(below("/").encoded, "")
  assert.isNotNull(below("/Docs/../x").problem)
})

it("a literal doubles its quotes before it is encoded, and is not shown", () => {
  const made = path`/me/drive/search(q=${literal("O'Brien & co/x#")})`
  assert.strictEqual(made.encoded, "/me/drive/search(q='O''Brien%20%26%20co%2Fx%23')")
  assert.strictEqual(made.shown, "/me/drive/search(q='…')")
  assert.strictEqual(odataText("O'Brien"), "'O''Brien'")
})

it("a clause of a search escapes quotes and backslashes", () => {
  assert.strictEqual(searchClause("displayName", 'a "b" \\c'), '"displayName:a \\"b\\" \\\\c"')
})

it("a query encodes its values and leaves out what is not given", () => {
  assert.strictEqual(
    queryString({ $top: 5, $filter: "a eq 'b&c'", $select: undefined }),
    "?$top=5&$filter=a%20eq%20'b%26c'"
  )
  assert.strictEqual(queryString({ $top: undefined }), "")
})
