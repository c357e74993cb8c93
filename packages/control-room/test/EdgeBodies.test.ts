/**
 * Bodies that no endpoint takes, at every endpoint that takes a body: a clear 4xx, and nothing is changed.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { endpoints, fill } from "./support/Endpoints.ts"
import { assertError } from "./support/Http.ts"
import { headersOf, quiet, seed } from "./support/Seed.ts"
import { Service } from "./support/Service.ts"

const json = "application/json"
const form = "application/x-www-form-urlencoded"
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)

type Bad = readonly [
  name: string,
  type: string,
  body: string | Uint8Array,
  status: 400 | 413 | 415,
  says: RegExp,
  /** Sent without a length. */
  chunked?: boolean
]

const codes = { 400: "INVALID_REQUEST", 413: "PAYLOAD_TOO_LARGE", 415: "UNSUPPORTED_MEDIA_TYPE" } as const

const bad: ReadonlyArray<Bad> = [
  ["malformed JSON", json, "{process:1}", 400, /JSON/],
  ["truncated JSON", json, '{"a":[1,2', 400, /JSON/],
  ["two JSON values", json, "{}{}", 400, /JSON/],
  ["a comma too many", json, '{"a":1,}', 400, /JSON/],
  ["JSON of JavaScript", json, "{'a':undefined}", 400, /JSON/],
  ["a NUL", json, "\0", 400, /JSON/],
  ["NaN", json, "NaN", 400, /JSON/],
  ["malformed JSON as plain text", "text/plain", "{", 400, /JSON/],
  ["malformed JSON without a type", "", "{", 400, /JSON/],
  ["invalid UTF-8", json, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, /UTF-8/],
  ["half a character of UTF-8", json, Buffer.from([0x22, 0xc3, 0x28, 0x22]), 400, /UTF-8/],
  ["surrogates in UTF-8", json, Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 400, /UTF-8/],
  ["UTF-16", json, Buffer.from("{}", "utf16le"), 400, /./],
  ["10,000 arrays deep", json, nested(10_000, "[", "]"), 400, /256 levels/],
  ["10,000 objects deep", json, `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`, 400, /256 levels/],
  ["10,000 deep below __proto__", json, `{"__proto__":${nested(10_000, "[", "]")}}`, 400, /256 levels/],
  ["XML", "application/xml", "<a/>", 415, /application\/xml/],
  ["a type that nobody knows", "nonsense", "{}", 415, /nonsense/],
  ["a form of parts", "multipart/form-data; boundary=x", "--x--\r\n", 415, /multipart/],
  ["bytes", "application/octet-stream", "{}", 415, /octet-stream/],
  ["more than 8 MB", json, `"${"x".repeat(8 * 1024 * 1024)}"`, 413, /larger/],
  ["more than 8 MB in chunks", json, Buffer.alloc(9 * 1024 * 1024, 0x20), 413, /larger/, true]
]

/** Forms are for those who call with a key. */
const badForms: ReadonlyArray<Bad> = [
  ["a name given twice", form, "name=a&name=b", 400, /name: given twice/],
  ["a name with and without brackets", form, "name=a&name[b]=c", 400, /given twice, or both/],
  ["brackets that do not fit", form, "name[=a", 400, /brackets/],
  ["a bad escape", form, "name=%zz", 400, /percent-encoded/],
  ["half an escape", form, "name=%", 400, /percent-encoded/],
  ["invalid UTF-8 in escapes", form, "name=%ff%fe", 400, /percent-encoded/],
  ["invalid UTF-8", form, Buffer.from([0x61, 0x3d, 0xff]), 400, /UTF-8/],
  ["10,000 parameters", form, Array.from({ length: 10_000 }, (_, n) => `p${n}=1`).join("&"), 400, /1000 is the most/],
  ["300 levels", form, `a${"[b]".repeat(300)}=1`, 400, /256 levels/],
  ["free JSON that is none", form, "payload=%7B", 400, /payload: Expected JSON/],
  ["more than 1 MB", form, `name=${"x".repeat(1024 * 1024)}`, 413, /form is larger/]
]

const withBodies = endpoints.filter(({ declared }) => declared.payload.has(json))

withLayer(quiet, { excludeTestServices: true, timeout: "60 seconds" })("a body that is not taken", (it) => {
  it.effect("is a clear 4xx at every endpoint, and changes nothing", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const of = yield* seed
      yield* raw("DELETE", `webhooks/${of.ids["webhook_id"]}`)
      const heartbeat = raw("POST", "/worker-v1/heartbeat", {
        key: null,
        headers: headersOf("worker", of.tokens.worker),
        json: { step_run_ids: [] }
      })
      const assistant = raw("POST", `assistant-runs/${of.ids["assistant_run_id"]}/heartbeat`)
      yield* Effect.forkChild(Effect.repeat(Effect.andThen(heartbeat, assistant), Schedule.spaced("1 second")))
      assert.isAtLeast(withBodies.length, 35)
      const before = yield* rows
      for (const endpoint of withBodies) {
        const ids = endpoint.door === "run" ? of.robotIds : of.ids
        const query = endpoint.door === "keyInQuery" ? `?token=${of.tokens.keyInQuery}` : ""
        const path = fill(endpoint.path, (name) => ids[name] ?? "") + query
        const takesForms = endpoint.door === "key" && endpoint.method === "POST"
        // Large bodies take their time: enough to see them refused by some.
        const large = [
          "createWorkItem",
          "createSecret",
          "startProcessRunFromIntegration",
          "putWorkItemData",
          "linkWorker"
        ]
        for (const [name, type, body, status, says, chunked = false] of [...bad, ...(takesForms ? badForms : [])]) {
          if (status === 413 && !large.includes(endpoint.identifier)) continue
          const answer = yield* raw(endpoint.method, path, {
            key: null,
            body,
            headers: {
              ...headersOf(endpoint.door, of.tokens[endpoint.door]),
              ...(type === "" ? {} : { "content-type": type }),
              ...(chunked ? { "transfer-encoding": "chunked" } : {})
            }
          })
          assert.strictEqual(answer.status, status, `${name} to ${endpoint.identifier}: ${answer.text}`)
          assertError(answer, status, codes[status], says)
          assert.isDefined(answer.headers["x-request-id"])
        }
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )
})
