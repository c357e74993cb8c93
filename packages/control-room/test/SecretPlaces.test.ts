/** Secret fields of payloads: where they are by the schema and the pointers of a process, what is masked, and what stays when it is sent back. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { valueAt } from "../src/internal/engine/JsonPointer.ts"
import { compile, more } from "../src/internal/runs/schemas/SecretPlaces.ts"

type Json = Schema.Json

const secret = { "x-secret": true }
const masked = (schema: Json, payload: Json, sensitive: ReadonlyArray<string> = []) =>
  compile(schema, sensitive).mask(payload)

/** For each way in which a schema says it: a payload, and the pointers to what is secret in it. */
const ways: ReadonlyArray<readonly [name: string, schema: Json, payload: Json, pointers: ReadonlyArray<string>]> = [
  ["x-secret", { properties: { a: secret } }, { a: 1, b: 2 }, ["/a"]],
  ["writeOnly", { properties: { a: { writeOnly: true } } }, { a: { x: 1 } }, ["/a"]],
  ["the whole payload", secret, "text", [""]],
  ["not false", { properties: { a: { "x-secret": false, writeOnly: "yes" } } }, { a: 1 }, []],
  ["not a field of that name", { properties: { writeOnly: { type: "string" } } }, { writeOnly: true }, []],
  ["a key with a slash", { properties: { "a/b~": secret } }, { "a/b~": 1 }, ["/a~1b~0"]],
  [
    "__proto__",
    { properties: JSON.parse('{"__proto__": {"x-secret": true}}') },
    JSON.parse('{"__proto__": 1}'),
    ["/__proto__"]
  ],
  ["items", { items: { properties: { a: secret } } }, [{ a: 1 }, { b: 2 }, { a: null }], ["/0/a", "/2/a"]],
  ["prefixItems", { prefixItems: [{}, secret], items: {} }, [1, 2, 3], ["/1"]],
  ["items after prefixItems", { prefixItems: [{}], items: secret }, [1, 2, 3], ["/1", "/2"]],
  ["a list in items", { items: [{}, secret], additionalItems: secret }, [1, 2, 3], ["/1", "/2"]],
  ["contains", { prefixItems: [{}], contains: secret }, [1, 2], ["/0", "/1"]],
  ["patternProperties", { patternProperties: { "^s_": secret } }, { s_a: 1, a: 2 }, ["/s_a"]],
  ["a pattern that cannot be applied", { patternProperties: { "(?=a)": secret } }, { a: 1 }, ["/a"]],
  [
    "additionalProperties",
    { properties: { a: {} }, patternProperties: { "^p": {} }, additionalProperties: secret },
    { a: 1, p: 2, c: 3 },
    ["/c"]
  ],
  [
    "additional to a pattern that cannot be applied",
    { patternProperties: { "(?=a)": {} }, additionalProperties: secret },
    { a: 1 },
    ["/a"]
  ],
  ["allOf", { allOf: [{}, { properties: { a: secret } }] }, { a: 1 }, ["/a"]],
  [
    "one branch of anyOf",
    { anyOf: [{ properties: { a: { type: "string" } } }, { properties: { a: secret } }] },
    { a: 1 },
    ["/a"]
  ],
  ["oneOf", { properties: { a: { oneOf: [{ type: "string" }, { type: "null", ...secret }] } } }, { a: "x" }, ["/a"]],
  [
    "if, then, else",
    JSON.parse(
      `{${["if", "then", "else"].map((name, n) => `"${name}": {"properties": {"${"abc"[n]}": {"x-secret": true}}}`)}}`
    ),
    { a: 1, b: 2, c: 3 },
    ["/a", "/b", "/c"]
  ],
  ["not", { not: { properties: { a: secret } } }, { a: 1 }, ["/a"]],
  ["dependentSchemas", { dependentSchemas: { b: { properties: { a: secret } } } }, { a: 1 }, ["/a"]],
  ["$ref", { $defs: { s: secret }, properties: { a: { $ref: "#/$defs/s" } } }, { a: 1 }, ["/a"]],
  [
    "$ref beside others",
    { $defs: { s: secret }, properties: { a: { $ref: "#/$defs/s", type: "string" } } },
    { a: 1 },
    ["/a"]
  ],
  [
    "$ref with escapes",
    { $defs: { "a b/c": secret }, properties: { a: { $ref: "#/$defs/a%20b~1c" } } },
    { a: 1 },
    ["/a"]
  ],
  [
    "$ref to an anchor",
    { $defs: { s: { $anchor: "s", ...secret } }, properties: { a: { $ref: "#s" } } },
    { a: 1 },
    ["/a"]
  ],
  [
    "$ref by the $id of the document",
    { $id: "https://x.example/s", $defs: { s: secret }, properties: { a: { $ref: "https://x.example/s#/$defs/s" } } },
    { a: 1 },
    ["/a"]
  ],
  [
    "$ref to itself",
    { properties: { a: secret, next: { $ref: "#" } } },
    { next: { next: { a: 1 } }, a: 2 },
    ["/next/next/a", "/a"]
  ],
  [
    "$ref in a circle",
    { $defs: { x: { $ref: "#/$defs/y" }, y: { $ref: "#/$defs/x" } }, $ref: "#/$defs/x", properties: { a: secret } },
    { a: 1 },
    ["/a"]
  ],
  ["JSON in a text", { properties: { a: { contentSchema: { properties: { b: secret } } } } }, { a: '{"b":1}' }, ["/a"]],
  [
    "no $ref that leads nowhere",
    { properties: { a: { $ref: "#/nowhere" }, b: { $ref: "https://elsewhere.example" } } },
    { a: 1, b: 2 },
    []
  ]
]

/** JSON of a few keys, so that the pointers of a test meet something. */
const key = Schema.Literals(["a", "b", "0", "x/y"])
const leaf = Schema.Union([Schema.Null, Schema.Boolean, Schema.Int, Schema.Literals(["", "text", "\u0000"])])
const one = Schema.Union([leaf, Schema.Record(key, leaf), Schema.Array(leaf).check(Schema.isMaxLength(3))])
const two = Schema.Union([one, Schema.Record(key, one), Schema.Array(one).check(Schema.isMaxLength(3))])
const json = Schema.Union([Schema.Record(key, two), Schema.Array(two).check(Schema.isMaxLength(3)), two])
const token = Schema.Literals(["a", "b", "0", "1", "x~1y", "*"])
const pointers = Schema.Array(Schema.Array(token).check(Schema.isMaxLength(3))).check(Schema.isMaxLength(3))
const texts = (given: typeof pointers.Type) => given.map((tokens) => tokens.map((token) => `/${token}`).join(""))

/** What `sensitive` says, by another way: whether a pointer fits one of its own. */
const isNamed = (pointer: string, sensitive: ReadonlyArray<string>) =>
  sensitive.some((pattern) => {
    const [wanted, given] = [pattern.split("/"), pointer.split("/")]
    return wanted.length <= given.length && wanted.every((token, index) => token === "*" || token === given[index])
  })
const allPointers = (value: Json, at = ""): ReadonlyArray<string> => [
  at,
  ...(typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, member]) =>
        allPointers(member, `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`)
      )
    : [])
]

describe("secret places", () => {
  for (const [name, schema, payload, pointers] of ways) {
    it(`of a schema: ${name}`, () => {
      const { json, masked: found } = masked(schema, payload)
      assert.deepStrictEqual(found, pointers)
      for (const pointer of pointers) assert.isNull(valueAt(json, pointer))
    })
  }

  it.prop(
    "are those that the pointers name, and what is in them; nothing else is changed",
    { json, pointers },
    ({ json: payload, pointers }) => {
      const sensitive = texts(pointers)
      const { json: shown, masked: found } = masked(null, payload, sensitive)
      const named = allPointers(payload).filter((pointer) => isNamed(pointer, sensitive))
      const top = named.filter(
        (pointer) => !named.some((other) => other !== pointer && pointer.startsWith(`${other}/`))
      )
      assert.deepStrictEqual([...found].sort(), [...(named.includes("") ? [""] : top)].sort())
      for (const pointer of found) assert.isNull(valueAt(shown, pointer))
      const hidden = (pointer: string) => isNamed(pointer, sensitive)
      assert.sameMembers(
        allPointers(shown).filter((pointer) => !hidden(pointer)),
        allPointers(payload).filter((pointer) => !hidden(pointer))
      )
      for (const pointer of named) assert.isTrue(compile(null, sensitive).covers(pointer), pointer)
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "stay as they are when what was shown is sent back",
    { json, pointers },
    ({ json: payload, pointers }) => {
      const places = compile(null, texts(pointers))
      assert.deepStrictEqual(places.keep(places.mask(payload).json, payload), { json: payload })
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "of a list of alternatives are those of each of them",
    { json, one: pointers, other: pointers },
    ({ json: payload, one, other }) => {
      const schema = (at: string): Json =>
        at === ""
          ? secret
          : at
              .split("/")
              .slice(1)
              .reduceRight<Json>(
                (inner, token) =>
                  token === "*"
                    ? { additionalProperties: inner, items: inner }
                    : {
                        properties: { [token.replace("~1", "/")]: inner },
                        ...(/^\d$/.test(token)
                          ? { prefixItems: [...Array.from({ length: Number(token) }, () => ({})), inner] }
                          : {})
                      },
                secret
              )
      const [first, second] = [texts(one), texts(other)]
      const all = { anyOf: [{}, ...first.map(schema)], else: { allOf: second.map(schema) } }
      assert.deepStrictEqual(masked(all, payload), masked(null, payload, [...first, ...second]))
    },
    { arbitrary: { runs: 300 } }
  )

  it("stay where null or nothing is sent, and give way to what is sent", () => {
    const places = compile(
      { properties: { a: { properties: { s: secret } }, list: { items: { properties: { s: secret } } } } },
      ["/t"]
    )
    const stored = { a: { s: 1, x: 2 }, t: [3], list: [{ s: 4 }, { s: 5 }], y: 6 }
    const cases: ReadonlyArray<readonly [sent: Json, kept: Json]> = [
      [
        { a: { s: 7 }, t: 8, list: [{ s: 9 }, { s: null }] },
        { a: { s: 7 }, t: 8, list: [{ s: 9 }, { s: 5 }] }
      ],
      [{}, { a: { s: 1 }, t: [3], list: [{ s: 4 }, { s: 5 }] }],
      [null, { a: { s: 1 }, t: [3], list: [{ s: 4 }, { s: 5 }] }],
      [
        { a: null, list: null },
        { a: { s: 1 }, t: [3], list: [{ s: 4 }, { s: 5 }] }
      ],
      [
        { a: "text", list: "text" },
        { a: "text", list: "text", t: [3] }
      ],
      [{ a: { x: null } }, { a: { x: null, s: 1 }, t: [3], list: [{ s: 4 }, { s: 5 }] }]
    ]
    for (const [sent, json] of cases) assert.deepStrictEqual(places.keep(sent, stored), { json }, JSON.stringify(sent))
  })

  it("in a list of another length are refused: a secret must not become that of another entry", () => {
    const places = compile({ properties: { list: { items: { properties: { s: secret } } } } }, [])
    const stored = {
      list: [
        { n: 1, s: "one" },
        { n: 2, s: "two" }
      ]
    }
    assert.deepStrictEqual(places.keep({ list: [{ n: 2, s: null }] }, stored), { unclear: "/list" })
    assert.deepStrictEqual(places.keep({ list: [1, 2, 3] }, { list: [1] }), { json: { list: [1, 2, 3] } })
  })

  it("are found as texts in whatever is in them", () => {
    const { textsOf } = compile(null, ["/a", "/b"])
    assert.sameMembers(
      [...textsOf({ a: { x: "one", y: [12345] }, b: "two", c: "three" })],
      ['{"x":"one","y":[12345]}', "one", "[12345]", "12345", "two"]
    )
  })

  it("are listed for people, and that there are more where a schema is inside itself", () => {
    const schema = { properties: { a: secret, next: { $ref: "#" } }, additionalProperties: { items: secret } }
    assert.deepStrictEqual(compile(schema, ["/t/*"]).patterns, ["/*/*", "/a", "/t/*", more])
    assert.deepStrictEqual(compile({ properties: { a: {} } }, []).patterns, [])
    assert.isTrue(compile({ properties: { a: {} } }, []).isEmpty)
  })

  it("of a payload that takes too long are the whole payload", () => {
    // Each entry is described by all of these.
    const parts = Array.from({ length: 2000 }, (_, n) => ({ properties: { [`p${n}`]: secret } }))
    const { keep, mask } = compile({ items: { allOf: parts } }, [])
    const payload = Array.from({ length: 5000 }, () => ({ p1: "secret" }))
    assert.deepStrictEqual(mask(payload), { json: null, masked: [""] })
    assert.deepStrictEqual(keep(null, payload), { json: payload })
  })
})
