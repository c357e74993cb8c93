/** Bodies that no endpoint accepts, at every endpoint with a body: a clear 4xx, and nothing is changed. */
import { assert, layer as withLayer } from "@effect/vitest"
import { soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { checkPayload } from "../src/internal/edge/PayloadSize.ts"
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

/** Every POST accepts forms. */
const badForms: ReadonlyArray<Bad> = [
  ["a name given twice", form, "name=a&name=b", 400, /name: given twice/],
  ["a name with and without brackets", form, "name=a&name[b]=c", 400, /given twice, or both/],
  ["brackets that do not match", form, "name[=a", 400, /brackets/],
  ["a bad escape", form, "name=%zz", 400, /percent-encoded/],
  ["half an escape", form, "name=%", 400, /percent-encoded/],
  ["invalid UTF-8 in escapes", form, "name=%ff%fe", 400, /percent-encoded/],
  ["invalid UTF-8", form, Buffer.from([0x61, 0x3d, 0xff]), 400, /UTF-8/],
  ["5,000 parameters", form, Array.from({ length: 5000 }, (_, n) => `p${n}=1`).join("&"), 400, /the limit is 1000/],
  ["300 levels", form, `a${"[b]".repeat(300)}=1`, 400, /256 levels/],
  ["free JSON that is none", form, "payload=%7B", 400, /payload: Expected JSON/],
  ["more than 1 MB", form, `name=${"x".repeat(1024 * 1024)}`, 413, /(form|body) .*is larger/]
]

const withBodies = endpoints.filter(({ declared }) => declared.payload.has(json))

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("a body that is not taken", (it) => {
  it.effect("is a clear 4xx at every endpoint, and changes nothing", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const of = yield* seed
      yield* raw("DELETE", `webhooks/${of.ids["webhook_id"]}`)
      const heartbeat = raw("POST", "/worker-v1/heartbeat", {
        key: null,
        headers: headersOf("worker", of.tokens.worker),
        json: { step_run_ids: [of.ids["step_run_id"]] }
      })
      const assistant = raw("POST", `assistant-runs/${of.ids["assistant_run_id"]}/heartbeat`)
      yield* Effect.forkChild(Effect.repeat(Effect.andThen(heartbeat, assistant), Schedule.spaced("1 second")))
      assert.isAtLeast(withBodies.length, 35)
      const before = yield* rows
      for (const [place, endpoint] of withBodies.entries()) {
        const ids = endpoint.door === "run" ? of.robotIds : of.ids
        const query = endpoint.door === "keyInQuery" ? `?token=${of.tokens.keyInQuery}` : ""
        const path = fill(endpoint.path, (name) => ids[name] ?? "") + query
        const forms = endpoint.method === "POST" ? badForms : []
        // Where the body is any JSON, no form field is parsed as JSON.
        const anyJson = endpoint.identifier === "startProcessRunFromIntegration"
        // Large bodies take time: some are enough.
        const large = [
          "createWorkItem",
          "createSecret",
          "startProcessRunFromIntegration",
          "putWorkItemData",
          "linkWorker"
        ]
        // Every body for every endpoint in the long form; in the short one a third of them, and the next third for the next.
        const sent = [...bad, ...forms].filter(
          ([, , , status], index) => soak || status === 413 || index % 3 === place % 3
        )
        for (const [name, type, body, status, says, chunked = false] of sent) {
          if (anyJson && name === "free JSON that is none") continue
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

  it.effect("with a variant that is not known is refused, and never taken for another", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const of = yield* seed
      yield* raw("DELETE", `webhooks/${of.ids["webhook_id"]}`)
      const start = `processes/${of.ids["process_id"]}/process-runs`
      const configure = `task-packages/${of.ids["task_package_id"]}`
      const attached = { mode: "attached", branch: "main", automatic_deployment: true }
      const callback = { url: "http://127.0.0.1:9/", secret: "s", callback_events: ["started"] }
      const cases: ReadonlyArray<readonly [path: string, json: unknown]> = [
        [start, { type: "with_everything" }],
        [start, { type: "WITH_INPUTS" }],
        [start, { type: "" }],
        [start, { type: null }],
        [start, { type: 5 }],
        [start, { type: ["with_inputs"] }],
        [start, { type: "__proto__" }],
        [start, { type: "with_payloads" }],
        [start, { type: "with_payloads", work_item_ids: [of.ids["work_item_id"]] }],
        [start, { type: "with_work_item_ids", payloads: [1] }],
        [start, { callback: {} }],
        [start, { callback: { ...callback, url: undefined } }],
        [start, { callback: { ...callback, secret: undefined } }],
        [start, { callback: { ...callback, callback_events: undefined } }],
        [start, { callback: { ...callback, callback_events: ["process_run.started"] } }],
        [start, { type: "with_inputs", callback: null }],
        [configure, { type: "zip", configuration: attached }],
        [configure, { type: "bitbucket", configuration: attached }],
        [configure, { type: "github", configuration: { ...attached, mode: "floating" } }],
        [configure, { type: "github", configuration: { ...attached, mode: "detached" } }],
        [configure, { type: "github", configuration: attached.mode }],
        ["task-packages", { name: "variant", type: "github" }],
        ["webhooks", { endpoint: "http://127.0.0.1:9/", enabled_events: ["process_run.paused"] }],
        ["work-items/batch", { batch_operation: "archive", work_item_ids: [of.ids["work_item_id"]] }],
        ["api-keys", { name: "variant", permissions: ["Vault.read_everything"] }],
        ["processes", { name: "variant", steps: [{ name: "s", task: { name: "t" }, start_after: "lunch" }] }]
      ]
      const before = yield* rows
      for (const [path, json] of cases) {
        const answer = yield* raw("POST", path, { json })
        assert.strictEqual(answer.status, 400, `${path} ${JSON.stringify(json)}: ${answer.text}`)
        assertError(answer, 400, "INVALID_REQUEST", /./)
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect(
    "that starts a run with unknown members only is refused with the right name, not started with an empty item",
    () =>
      Effect.gen(function* () {
        const { raw, rows } = yield* Service
        const of = yield* seed
        yield* raw("DELETE", `webhooks/${of.ids["webhook_id"]}`)
        const start = `processes/${of.ids["process_id"]}/process-runs`
        const before = yield* rows
        const cases = [
          ['{"workItems":[]}', json, /^workItems: unknown key; write work_item_ids with "type": "with_work_item_ids"$/],
          ['{"payloads":[1]}', json, /^payloads: unknown key; write payloads with "type": "with_payloads", or /],
          ['{"colour":"red"}', json, /^colour: unknown key; write .*, or leave it out$/],
          ["workItems[]=1", form, /^workItems: unknown key/],
          ['{"workItems":[]}', form, /^content-type: the body is JSON, not a form/]
        ] as const
        for (const [body, type, says] of cases) {
          const answer = yield* raw("POST", start, { body, headers: { "content-type": type } })
          assertError(answer, 400, "INVALID_REQUEST", says)
        }
        assert.deepStrictEqual(yield* rows, before)
        // Beside a member that is known it is ignored, as in every body of v1.
        for (const body of ['{"type":"with_inputs","workItems":[]}', "{}", "null", ""]) {
          const answer = yield* raw("POST", start, { body, headers: { "content-type": json } })
          assert.strictEqual(answer.status, 200, answer.text)
        }
      })
  )

  it.effect("is measured payload by payload, between which the event loop has its turn", () =>
    Effect.gen(function* () {
      const payloads = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(20_000))
      let turns = 0
      let running = setImmediate(function count() {
        turns++
        running = setImmediate(count)
      })
      yield* Effect.forEach(payloads, (payload, index) => checkPayload(payload, `payloads.${index}`))
      clearImmediate(running)
      assert.isAtLeast(turns, payloads.length - 1)
    })
  )

  it.effect("is read by the type that it declares, by any of the names that JSON has", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      const create = (type: string, body: string) =>
        raw("POST", "work-items", { body, headers: { "content-type": type } })
      const item = JSON.stringify({ process: { id: of.ids["process_id"] }, payload: 1 })
      for (const type of [
        "Application/JSON",
        "application/json;charset=utf-8",
        "text/json",
        "application/vnd.a.b+json"
      ]) {
        const answer = yield* create(type, item)
        assert.strictEqual(answer.status, 200, `${type}: ${answer.text}`)
      }
      for (const type of ["applicaton/json", "application/jsonx", "application/x-www-form-urlencodedx", "json"]) {
        assertError(yield* create(type, item), 415, "UNSUPPORTED_MEDIA_TYPE", /send application\/json$/)
      }
    })
  )
})
