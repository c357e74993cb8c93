/** Large JSON is read and written as small JSON is, in slices between which the event loop has its turn. */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as LargeJson from "../src/internal/edge/LargeJson.ts"
import * as Slices from "../src/internal/background/Slices.ts"
import { largeBody } from "../src/internal/edge/Incoming.ts"
import { trusting } from "../src/internal/edge/TrustedJson.ts"
import { chooser } from "./support/Fuzz.ts"
import { assertError, bodyAs } from "./support/Http.ts"
import { quiet } from "./support/Seed.ts"
import { Service } from "./support/Service.ts"

type Json = Schema.Json

/** The result, and how often others had their turn before. */
const read = (text: string, keys: ReadonlyArray<string> = []) => {
  const slices = LargeJson.read(text, keys)
  for (let turns = 0; ; turns++) {
    const { done, value } = slices.next()
    if (done === true) return { found: value, turns }
  }
}

const canonical = (json: Json) => [...LargeJson.canonical(json)]

/** What both readers say, as text, since numbers that keep their text are objects. */
const byBoth = (text: string) => {
  const { found } = read(text)
  const known = Result.try(() => JSON.stringify(ExactJson.parse(text)))
  return [found === null ? null : JSON.stringify(found.json), Result.getOrElse(known, () => null)]
}

const characters = ["", ...'[]{},:"\\ \n-+.0129eEtruefalsn\u0000\u00a0é'] as const
const leaves = [null, true, false, 0, -1, 1.5e-9, 1e300, "", "a", '"\\', "é\n\u2028", "10", "9", "__proto__"] as const

const anyJson = (choose: ReturnType<typeof chooser>, depth: number): Json => {
  const kind = depth === 0 ? 2 : choose.below(3)
  const inner = () => anyJson(choose, depth - 1)
  const members = Array.from({ length: choose.below(4) }, () => String(choose.oneOf(leaves)))
  if (kind === 0) return members.map(inner)
  return kind === 1 ? Object.fromEntries(members.map((name) => [name, inner()])) : choose.oneOf(leaves)
}

const texts = [
  ...'|{|[1,]|[,1]|{"a":1,}|{"a"}|{"a" 1}|{1:2}|[1 2]|1 2|[}|{"a":]|]|[1]]|{,}|"|"a|"\\"|"\\|"\\x"|"\u0001"|"\n"'.split(
    "|"
  ),
  ...'tru|truee|nul|01|1.|.5|-|+1|1e|NaN|-Infinity|\'a\'|[1]\u00a0|\ufeff1|{"a":1 "b":2}|["a":1]|"\\u12"'.split("|"),
  ...' [ 1 , 2 ] |\t{\r\n}|[]|""|-0|1E+2|1e400|[-1e400]|12345678901234567890|1.50|0.1e-7|{"":{"":[[[{}]]]}}'.split("|"),
  '"\\ud83d\\u00e9\\n\\/"',
  '"\ud800"',
  '"é😀\u007f\u2028"',
  '{"a":1,"a":{"b":2},"2":0,"1":0}',
  '{"__proto__":[1],"constructor":2}'
]

describe("large JSON", () => {
  it("is read as small JSON is, and refused where that is", () => {
    for (const text of texts) {
      const [large, small] = byBoth(text)
      assert.strictEqual(large, small, text)
    }
    const choose = chooser(38)
    for (let n = 0; n < 2000; n++) {
      const json = JSON.stringify(anyJson(choose, 4), null, choose.below(2))
      const at = choose.below(json.length + 1)
      const other = choose.oneOf(characters)
      for (const text of [json, json.slice(0, at) + other + json.slice(at + choose.below(2)), json.slice(0, at)]) {
        const [large, small] = byBoth(text)
        assert.strictEqual(large, small, text)
      }
    }
    assert.deepStrictEqual(Object.keys(read('{"__proto__":{"a":1}}').found?.json ?? {}), ["__proto__"])
  })

  it("says whether it has a number that is not finite, and one of the keys", () => {
    const of = (text: string) => {
      const { found } = read(text, ["priority", "source"])
      return [found?.isFinite, found?.hasKey]
    }
    assert.deepStrictEqual(of('{"a":[1e300,{"b":"priority"}]}'), [true, false])
    assert.deepStrictEqual(of('{"a":[-1e400,{"\\u0070riority":1}]}'), [false, true])
  })

  it("is written with sorted keys, as small JSON is", () => {
    const choose = chooser(4)
    const some = Array.from({ length: 1000 }, () => anyJson(choose, 4))
    const kept = ['{"b":1,"10":2,"9":3,"__proto__":4}', "[12345678901234567890,{}]", '"\\ud800"'].map(ExactJson.parse)
    for (const json of [...some, ...kept]) {
      assert.strictEqual(canonical(json).join(""), JSON.stringify(json, LargeJson.sorted))
    }
  })

  it("is read and written in slices, whatever it consists of", () => {
    const size = 1_000_000
    const units = ["1", "[]", '{"a":1}', '"text"', " 1", "12345678901234567890", "[[[[1]]]]"]
    const lists = units.map((unit) => `[${Array.from({ length: size / (unit.length + 1) }, () => unit).join(",")}]`)
    const keys = `{${Array.from({ length: size / 14 }, (_, n) => `"key${n}":12`).join(",")}}`
    for (const text of [...lists, keys]) {
      const { found, turns } = read(text)
      assert.isAtLeast(turns, 15, text.slice(0, 20))
      const parts = canonical(found?.json ?? null)
      assert.isAtLeast(parts.length, 8, text.slice(0, 20))
      for (const part of parts) assert.isAtMost(part.length, 60_000)
    }
  })

  it.effect("leaves each turn of the event loop after a slice", () =>
    Effect.gen(function* () {
      let turns = 0
      let running = setImmediate(function count() {
        turns++
        running = setImmediate(count)
      })
      yield* Slices.run(() => LargeJson.read(`[${"1,".repeat(500_000)}1]`, []))
      clearImmediate(running)
      assert.isAtLeast(turns, 15)
    })
  )

  it("is decoded without a look at every value, where it is any JSON", () => {
    const schema = Schema.Struct({
      type: Schema.Literal("a"),
      one: Schema.optionalKey(Schema.NullOr(Schema.Json)),
      all: Schema.Array(Schema.Json).check(Schema.isMaxLength(2))
    })
    const decode = Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(trusting(schema.ast)))
    const unread = new Proxy([], {
      get: () => assert.fail("looked at"),
      ownKeys: () => assert.fail("looked at")
    })
    for (const value of [
      { type: "a", one: unread, all: [unread] },
      { type: "a", all: [] }
    ]) {
      const decoded = Result.getOrNull(decode(value))
      assert.deepStrictEqual(Object.keys(Object(decoded)), Object.keys(value))
    }
    for (const value of [{ type: "b", all: [] }, { type: "a" }, { type: "a", all: [1, 2, 3] }, { type: "a", all: 1 }]) {
      assert.isTrue(Result.isFailure(decode(value)), JSON.stringify(value))
    }
  })
})

withLayer(quiet, { excludeTestServices: true, timeout: "2 minutes" })("a request with large JSON", (it) => {
  it.effect("is the same in any spelling, and none that says something else", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const steps = [{ name: "s", task: { name: "t" } }]
      const { id } = bodyAs(
        Schema.Struct({ id: Schema.String }),
        yield* raw("POST", "processes", { json: { name: "large", steps } })
      )
      const payloads = Array.from({ length: 4 }, () => Array.from({ length: 40_000 }, (_, n) => ({ a: n, b: [] })))
      const send = (body: string, headers: Record<string, string> = {}) =>
        raw("POST", `processes/${id}/process-runs`, {
          body,
          headers: { "content-type": "application/json", ...headers }
        })
      const headers = { "idempotency-key": "large" }
      const body = JSON.stringify({ type: "with_payloads", payloads })
      assert.isAbove(body.length, 10 * largeBody)
      const first = yield* send(body, headers)
      assert.strictEqual(first.status, 200, first.text)
      const spelled = JSON.stringify({ payloads, type: "with_payloads" }, null, 1)
      const second = yield* send(spelled, headers)
      assert.deepStrictEqual([second.text, second.headers["idempotent-replayed"]], [first.text, "true"])
      const other = yield* send(body.replace('"a":39999', '"a":40000'), headers)
      assertError(other, 409, "IDEMPOTENCY_KEY_REUSED", /another request/)
    })
  )

  it.effect("is refused as one with small JSON is", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const steps = [{ name: "s", task: { name: "t" } }]
      const space = " ".repeat(largeBody)
      const cases = [
        [`{"name":"n"${space}`, /Expected a valid JSON body/],
        [`{"name":1,"steps":[]${space}}`, /^name: Expected/],
        [JSON.stringify({ name: "n", steps, priority: space }), /^priority: unknown key/],
        [
          JSON.stringify({ name: "n", steps, default_work_item: { payload: 1 } }).replace("1}", `[1e400${space}]}`),
          /^default_work_item\.payload/
        ]
      ] as const
      for (const [text, says] of cases) {
        const answers = yield* Effect.forEach([text, text.replaceAll(space, "")], (body) =>
          raw("POST", "processes", { body, headers: { "content-type": "application/json" } })
        )
        for (const answer of answers) assertError(answer, 400, "INVALID_REQUEST", says)
      }
    })
  )
})
