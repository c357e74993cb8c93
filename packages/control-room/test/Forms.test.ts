/** Form bodies on every POST, decoded by the payload's own schema; and the checks of every request with a key. */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Forms from "../src/internal/edge/Forms.ts"
import { bodyAs, errorOf } from "./support/Http.ts"
import { layer, layerIn, linkWorker, Service, temporaryFolder } from "./support/Service.ts"

const parsed = (form: string): unknown => {
  const result = Forms.parse(form)
  // Without the null prototypes, which deep equality would compare.
  return Result.isSuccess(result) ? JSON.parse(JSON.stringify(result.success)) : result.failure
}

describe("a form", () => {
  const good: ReadonlyArray<readonly [string, unknown]> = [
    ["", {}],
    ["a=1&b=two+words&c=%C3%BC", { a: "1", b: "two words", c: "ü" }],
    ["process[id]=p1", { process: { id: "p1" } }],
    ["e[]=a&e[]=b", { e: ["a", "b"] }],
    ["s[0][n]=a&s[0][t][n]=x&s[1][n]=b", { s: [{ n: "a", t: { n: "x" } }, { n: "b" }] }],
    ["a=", { a: "" }],
    ["a", { a: "" }],
    ["a=b=c", { a: "b=c" }],
    ["__proto__=x&a[__proto__][b]=y", { ["__proto__"]: "x", a: { ["__proto__"]: { b: "y" } } }]
  ]
  for (const [form, tree] of good) {
    it(`${form === "" ? "that is empty" : form} is read`, () => {
      assert.deepStrictEqual(JSON.stringify(parsed(form)), JSON.stringify(tree))
    })
  }

  const bad: ReadonlyArray<readonly [string, RegExp]> = [
    ["a=1&a=2", /a: given twice/],
    ["a=1&a[b]=2", /a\[b\]: given twice, or both as a value and with brackets/],
    ["a[b]=1&a=2", /given twice/],
    ["a[]=1&a[b]=2", /given twice/],
    ["a[=1", /brackets do not match/],
    ["[a]=1", /brackets do not match/],
    ["a=%", /percent-encoded/],
    ["a=%ff", /percent-encoded/],
    [Array.from({ length: 1001 }, (_, n) => `a${n}=1`).join("&"), /1001 parameters; the limit is 1000/],
    [`a${"[b]".repeat(300)}=1`, /nests deeper/]
  ]
  for (const [form, message] of bad) {
    it(`${form.slice(0, 20)} is refused`, () => assert.match(String(parsed(form)), message))
  }
})

const form = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" }
const Identified = Schema.Struct({ id: Schema.String })

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("over HTTP", (it) => {
  it.effect("texts get the types of the payload: numbers, booleans, lists, null", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const created = yield* raw("POST", "processes", {
        headers: form,
        body: "name=form&description=null&steps[0][name]=a&steps[0][task][name]=t&steps[0][max_parallel]=3"
      })
      assert.strictEqual(created.status, 200, created.text)
      const process = bodyAs(Identified, created).id as Processes.Process["id"]
      const definition = yield* Processes.getDefinition(process)
      assert.strictEqual(definition.steps[0]?.max_parallel, 3)
      const run = yield* ProcessRuns.start(process)
      if (!run.started) return assert.fail("not started")
      const stopped = yield* raw("POST", `process-runs/${run.id}/stop`, {
        headers: form,
        body: "set_remaining_work_items_as_done=true&terminate_ongoing_activity_runs=false"
      })
      assert.strictEqual(stopped.text, '{"accepted":true}')
    })
  )

  it.effect("free JSON is JSON when given as one value, and texts with brackets", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id } = yield* Processes.create({ name: "free", steps: [] })
      const payloadOf = Effect.fnUntraced(function* (given: string) {
        const answer = yield* raw("POST", "work-items", { headers: form, body: `process[id]=${id}&${given}` })
        assert.strictEqual(answer.status, 200, answer.text)
        return (yield* WorkItems.get(bodyAs(Identified, answer).id as WorkItems.WorkItem["id"])).payload
      })
      const json = encodeURIComponent('{"n":1,"list":[true,null]}')
      assert.deepStrictEqual(yield* payloadOf(`payload=${json}`), { n: 1, list: [true, null] })
      assert.deepStrictEqual(yield* payloadOf("payload[n]=1&payload[deep][b]=true"), { n: "1", deep: { b: "true" } })
      const refused = yield* raw("POST", "work-items", { headers: form, body: `process[id]=${id}&payload=hello` })
      assert.strictEqual(refused.status, 400)
      assert.match(errorOf(refused).message, /payload: Expected JSON/)
    })
  )

  it.effect("lists and free JSON arrive at every kind of endpoint", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id } = yield* Processes.create({ name: "kinds", steps: [{ name: "a", task: { name: "kinds" } }] })
      const webhook = yield* raw("POST", "webhooks", {
        headers: form,
        body: `endpoint=http://127.0.0.1:9/&process[id]=${id}&enabled_events[]=process_run.started&enabled_events[]=process_run.completed`
      })
      assert.include(webhook.text, '"enabled_events":["process_run.started","process_run.completed"]')
      const secret = yield* raw("POST", "secrets", {
        headers: form,
        body: `name=by_form&items=${encodeURIComponent('{"user":"a","tries":3}')}`
      })
      assert.strictEqual(secret.text, '{"name":"by_form","description":null,"hosts":[]}')
      const started = yield* raw("POST", `processes/${id}/process-runs`, {
        headers: form,
        body: `type=with_payloads&payloads[]=${encodeURIComponent("one")}&payloads[]=two`
      })
      assert.strictEqual(started.status, 200, started.text)
      const worker = yield* linkWorker(["kinds"])
      const asWorker = {
        key: null,
        headers: { ...form, authorization: `Bearer ${Redacted.value(worker.identity.token)}` }
      }
      const leased = yield* raw("POST", "/worker-v1/lease", {
        ...asWorker,
        body: "free=1&tasks[]=kinds&wait_seconds=0"
      })
      assert.match(leased.text, /"task":\{"name":"kinds"\}/)
    })
  )

  it.effect("what does not decode is a 400 that names the field; an empty form is an absent body", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id } = yield* Processes.create({ name: "bad", steps: [{ name: "a", task: { name: "nobody" } }] })
      const wrong = yield* raw("POST", "processes", {
        headers: form,
        body: "name=x&steps[0][name]=a&steps[0][task]=t"
      })
      assert.strictEqual(wrong.status, 400)
      assert.match(errorOf(wrong).message, /steps\.0\.task/)
      const large = yield* raw("POST", "processes", { headers: form, body: `name=${"x".repeat(1024 * 1024)}` })
      assert.strictEqual(large.status, 413)
      const empty = yield* raw("POST", `processes/${id}/process-runs`, { headers: form, body: "" })
      assert.strictEqual(empty.status, 200, empty.text)
    })
  )

  it.effect(
    "JSON with the content type of a form, as `curl --data` sends it, is refused with the right type, and not repeated",
    () =>
      Effect.gen(function* () {
        const { raw, rows } = yield* Service
        const { id } = yield* Processes.create({ name: "curl", steps: [{ name: "a", task: { name: "nobody" } }] })
        const before = yield* rows
        for (const [path, body] of [
          ["work-items", `{"process":{"id":"${id}"},"payload":"secret"}`],
          // Read as a form it would be an unknown field.
          [`processes/${id}/process-runs`, ' {"type":"with_inputs"}'],
          [`processes/${id}/process-runs`, '[{"secret":1}]']
        ] as const) {
          const answer = yield* raw("POST", path, { headers: form, body })
          assert.strictEqual(answer.status, 400)
          assert.match(errorOf(answer).message, /content-type: .* JSON, not a form; send it with application\/json/)
          assert.notMatch(answer.text, /secret/)
        }
        assert.deepStrictEqual(yield* rows, before)
      })
  )

  it.effect("the process answers for its health and its readiness, without a key", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      for (const path of ["/healthz", "/readyz"]) {
        const answer = yield* raw("GET", path, { key: null })
        assert.strictEqual(answer.text, '{"status":"ok"}')
      }
    })
  )
})

const limited = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: { perSecond: 10, burst: 5 } }))
)

// The first test looks at a budget that nobody has used.
describe("in this order", { shuffle: false }, () => {
  withLayer(limited, { excludeTestServices: true, timeout: "4 minutes" })("the rate limit", (it) => {
    it.effect("is told in every response, and what is more is a 429 with Retry-After", () =>
      Effect.gen(function* () {
        const { makeKey, raw } = yield* Service
        const answers = yield* Effect.all(
          Array.from({ length: 8 }, () => raw("GET", "processes")),
          { concurrency: 8 }
        )
        const refused = answers.filter((answer) => answer.status === 429)
        assert.isAtLeast(refused.length, 1)
        assert.isAtMost(refused.length, 3)
        assert.strictEqual(refused[0]?.headers["retry-after"], "1")
        assert.strictEqual(errorOf(refused[0] ?? assert.fail()).error.code, "RATE_LIMITED")
        for (const answer of answers) {
          assert.strictEqual(answer.headers["ratelimit-limit"], "5")
          assert.match(answer.headers["ratelimit-remaining"] ?? "", /^[0-5]$/)
          assert.strictEqual(answer.headers["ratelimit-reset"], "1")
        }
        // Another key has a separate bucket.
        const other = yield* makeKey(["Processes.read_processes"])
        assert.strictEqual((yield* raw("GET", "processes", { key: other })).status, 200)
      })
    )

    it.effect("is met by a client that waits, without a failure", () =>
      Effect.gen(function* () {
        const calls = Array.from({ length: 20 }, () => Processes.list())
        yield* Effect.all(calls, { concurrency: 5, discard: true })
      })
    )
  })
})
