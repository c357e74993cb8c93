/** Triggers: when they start runs, what comes to their addresses, and what is refused. */
import { assert, describe, it as plain, layer as withLayer } from "@effect/vitest"
import type { ProcessId } from "@signalbox/api/contract/Ids"
import type { TriggerDefinition } from "@signalbox/api/contract/Triggers"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Triggers from "@signalbox/api/Triggers"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createHmac } from "node:crypto"
import { valueAt } from "../../src/internal/engine/JsonPointer.ts"
import { eventIdOf, payloadOf, refusalOf } from "../../src/internal/edge/HookRequests.ts"
import { TriggerStarts } from "../../src/internal/runs/TriggerStarts.ts"
import { bodyAs, errorOf, send } from "../support/Http.ts"
import { layer, movedBy, Service } from "../support/Service.ts"

const steps = [{ name: "only", task: { name: "nobody" } }]
const secret = "It's a Secret to Everybody"

let names = 0
const newProcess = (definition: object = {}) => Processes.create({ name: `process ${names++}`, steps, ...definition })

/** A trigger with an address, and the path of that. */
const hook = Effect.fnUntraced(function* (process: ProcessId, definition: Partial<TriggerDefinition> = {}) {
  const made = yield* Triggers.create({
    name: `trigger ${names++}`,
    process: { id: process },
    webhook: {},
    ...definition
  })
  const url = made.url === null ? "" : Redacted.value(made.url)
  return { ...made, path: new URL(url).pathname }
})

const Accepted = Schema.Struct({ work_item: Schema.Struct({ id: Schema.String }) })

const post = Effect.fnUntraced(function* (path: string, body: string, headers: Readonly<Record<string, string>> = {}) {
  const { origin } = yield* Service
  return yield* send(origin, "POST", path, { headers: { "content-type": "application/json", ...headers }, body })
})

const itemsOf = (process: ProcessId) => Stream.runCollect(WorkItems.stream({ process, includeData: true }))
const runsOf = (process: ProcessId) => Stream.runCollect(ProcessRuns.stream({ process }))
/** The runs when there are so many; the service polls by itself. */
const runsAfter = (count: number, process: ProcessId) =>
  Effect.repeat(Effect.delay(runsOf(process), "20 millis"), { until: (all) => all.length >= count })

/** The rows that only requests change, but for the count of those that were refused; the service records other things meanwhile. */
const kept = (rows: Readonly<Record<string, ReadonlyArray<unknown>>>) => [
  rows["trigger"]?.map((row) => Object.entries(Object(row)).filter(([column]) => !column.startsWith("refused_"))),
  rows["trigger_event"]
]

const tickIn = Effect.fnUntraced(function* (millis: number) {
  const { tick } = yield* TriggerStarts
  yield* Effect.provideService(tick, Clock.Clock, movedBy(yield* Clock.Clock, millis))
})

const hex = (body: string, key = secret) => createHmac("sha256", key).update(body).digest("hex")

describe("signatures of requests", () => {
  const github = { type: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=" } as const
  const standard = { type: "standard_webhooks" } as const
  const bytes = (text: string) => new TextEncoder().encode(text)

  plain("are GitHub's, by its published example", () => {
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    const check = (given: string, body = "Hello, World!") =>
      refusalOf(github, secret, { "x-hub-signature-256": given }, bytes(body), 0)
    assert.isNull(check(signature))
    assert.match(check(signature, "Hello, World?") ?? "", /does not match/)
    assert.match(check(signature.replace("sha256=", "sha1=")) ?? "", /^X-Hub-Signature-256: Expected sha256=/)
    assert.match(check(signature.slice(0, -1)) ?? "", /64 hexadecimal digits/)
    assert.match(refusalOf(github, secret, {}, bytes(""), 0) ?? "", /X-Hub-Signature-256 is missing/)
  })

  plain("are those of Standard Webhooks, by its published example, and recent", () => {
    const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    const at = 1614265330
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": String(at),
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    }
    const expected = headers["webhook-signature"].slice(3)
    const check = (change: object, now = at * 1000) =>
      refusalOf(standard, key, { ...headers, ...change }, bytes(`{"test": 2432232314}`), now)
    assert.isNull(check({}))
    assert.isNull(check({ "webhook-signature": `v1,AAAA v1,${expected}` }))
    assert.match(check({ "webhook-signature": `v2,${expected}` }) ?? "", /does not match/)
    assert.match(check({ "webhook-id": "msg_other", "webhook-signature": `v1,${expected}` }) ?? "", /does not match/)
    assert.match(check({ "webhook-timestamp": "soon" }) ?? "", /^webhook-timestamp: Expected/)
    for (const late of [-301, 301])
      assert.match(check({}, (at + late) * 1000) ?? "", /differs by more than 300 seconds/)
    assert.match(check({ "webhook-signature": undefined }) ?? "", /are needed/)
  })

  plain("are Slack's, by its published example, and recent", () => {
    const key = "8f742231b10e8888abcd99yyyzzz85a5"
    const at = 1531420618
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    const headers = {
      "x-slack-request-timestamp": String(at),
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    }
    const check = (change: object, now = at * 1000, of = body) =>
      refusalOf({ type: "slack" }, key, { ...headers, ...change }, bytes(of), now)
    assert.isNull(check({}))
    for (const near of [-300, 300]) assert.isNull(check({}, (at + near) * 1000))
    for (const late of [-301, 301]) {
      assert.match(
        check({}, (at + late) * 1000) ?? "",
        /^X-Slack-Request-Timestamp: .*differs by more than 300 seconds/
      )
    }
    // Replayed later with a new time, which is signed too.
    const again = { "x-slack-request-timestamp": String(at + 900) }
    assert.match(check(again, (at + 900) * 1000) ?? "", /does not match/)
    assert.match(check({}, at * 1000, `${body}&`) ?? "", /does not match/)
    const unversioned = headers["x-slack-signature"].slice(3)
    assert.match(check({ "x-slack-signature": `v1=${unversioned}` }) ?? "", /^X-Slack-Signature: Expected v0= and 64/)
    assert.match(check({ "x-slack-request-timestamp": "soon" }) ?? "", /^X-Slack-Request-Timestamp: Expected a time/)
    for (const name of Object.keys(headers)) assert.match(check({ [name]: undefined }) ?? "", /are needed/)
    assert.deepStrictEqual(eventIdOf(null, { type: "slack" }, {}, { event_id: "Ev1" }), Result.succeed("Ev1"))
  })

  plain("have pointers as RFC 6901 has them", () => {
    const body = { foo: ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, 'k"l': 6 }
    const cases = { "": body, "/foo": ["bar", "baz"], "/foo/0": "bar", "/": 0, "/a~1b": 1, "/m~0n": 8, '/k"l': 6 }
    for (const [pointer, value] of Object.entries(cases)) assert.deepStrictEqual(valueAt(body, pointer), value, pointer)
    for (const pointer of ["/foo/2", "/foo/-", "/foo/01", "/nope", "/__proto__", "/foo/length", "/a~1b/c"]) {
      assert.isUndefined(valueAt(body, pointer), pointer)
    }
    assert.deepStrictEqual(payloadOf(body, { first: "/foo/0", all: "" }), Result.succeed({ first: "bar", all: body }))
    assert.deepStrictEqual(
      payloadOf(body, { first: "/none" }),
      Result.fail("payload.first: the body has nothing at /none")
    )
    assert.deepStrictEqual(eventIdOf({ pointer: "/m~0n" }, null, {}, body), Result.succeed("8"))
    assert.isTrue(Result.isFailure(eventIdOf({ pointer: "/foo" }, null, {}, body)))
    assert.deepStrictEqual(eventIdOf(null, standard, { "webhook-id": "m1" }, body), Result.succeed("m1"))
  })
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("triggers", (it) => {
  it.effect("start a run when enough items wait, with all of them, and at most so many runs", () =>
    Effect.gen(function* () {
      const { id: process } = yield* newProcess()
      const trigger = yield* Triggers.create({
        name: "three",
        process: { id: process },
        start: { at_least: 3, max_runs: 1 }
      })
      assert.isNull(trigger.url)
      yield* WorkItems.createMany({ process, payloads: [1, 2] })
      yield* tickIn(0)
      assert.lengthOf(yield* runsOf(process), 0)
      yield* WorkItems.createMany({ process, payloads: [3, 4] })
      yield* tickIn(0)
      const [run] = yield* runsAfter(1, process)
      assert.deepStrictEqual(run?.started_by, { type: "api", details: null })
      assert.deepStrictEqual(run?.source, { type: "trigger", id: trigger.id, name: "three" })
      assert.deepStrictEqual((yield* Triggers.get(trigger.id)).running, run === undefined ? [] : [{ id: run.id }])
      yield* WorkItems.createMany({ process, payloads: [5, 6, 7] })
      yield* tickIn(0)
      assert.lengthOf(yield* runsOf(process), 1)
      if (run !== undefined) yield* ProcessRuns.stop(run.id, { remainingAsDone: true, terminate: true })
      yield* tickIn(0)
      yield* runsAfter(2, process)
      assert.isTrue((yield* itemsOf(process)).every(({ state }) => state !== "new"))
    })
  )

  it.effect("start a run when the oldest item has waited for so long", () =>
    Effect.gen(function* () {
      const { id: process } = yield* newProcess()
      yield* Triggers.create({ name: "old", process: { id: process }, start: { at_least: 100, oldest_seconds: 600 } })
      yield* WorkItems.create({ process, payload: 1 })
      yield* tickIn(590_000)
      assert.lengthOf(yield* runsOf(process), 0)
      yield* tickIn(601_000)
      yield* runsAfter(1, process)
    })
  )

  it.effect("say why no run can start, and start it when it can", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id: process, name } = yield* newProcess({ steps: [] })
      const { id } = yield* Triggers.create({ name: "stuck", process: { id: process }, start: { at_least: 1 } })
      yield* WorkItems.create({ process, payload: 1 })
      yield* tickIn(0)
      const { problem } = yield* Effect.repeat(Effect.delay(Triggers.get(id), "20 millis"), {
        until: (trigger) => trigger.problem !== null
      })
      assert.match(problem?.message ?? "", /has no steps/)
      assert.strictEqual((yield* raw("POST", `processes/${process}`, { json: { name, steps } })).status, 200)
      yield* tickIn(0)
      yield* runsAfter(1, process)
      assert.isNull((yield* Triggers.get(id)).problem)
    })
  )

  it.effect("take signed requests as items, each event once for a week", () =>
    Effect.gen(function* () {
      const { id: process } = yield* newProcess()
      const { path } = yield* hook(process, {
        webhook: {
          signature: { type: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=", secret: Redacted.make(secret) },
          event_id: { header: "X-GitHub-Delivery" },
          payload: { repository: "/repository/full_name", commit: "/after" }
        }
      })
      const body = JSON.stringify({ after: "c0ffee", repository: { full_name: "acme/robots" }, more: [1] })
      const headers = { "x-hub-signature-256": `sha256=${hex(body)}`, "x-github-delivery": "d1" }
      const first = yield* post(path, body, headers)
      assert.strictEqual(first.status, 202, first.text)
      const again = yield* post(path, body, headers)
      assert.deepStrictEqual([again.status, again.text], [202, first.text])
      const [item, ...others] = yield* itemsOf(process)
      assert.lengthOf(others, 0)
      assert.strictEqual(item?.id, bodyAs(Accepted, first).work_item.id)
      if (item === undefined) return assert.fail("there is one")
      assert.deepStrictEqual((yield* WorkItems.get(item.id)).payload, { repository: "acme/robots", commit: "c0ffee" })
      const { sweep } = yield* TriggerStarts
      const clock = yield* Clock.Clock
      yield* Effect.provideService(sweep, Clock.Clock, movedBy(clock, Duration.toMillis("6 days")))
      yield* post(path, body, headers)
      assert.lengthOf(yield* itemsOf(process), 1)
      yield* Effect.provideService(sweep, Clock.Clock, movedBy(clock, Duration.toMillis("8 days")))
      yield* post(path, body, headers)
      assert.lengthOf(yield* itemsOf(process), 2)
    })
  )

  it.effect("start a run for what comes, and refuse what is too much, and take it again later", () =>
    Effect.gen(function* () {
      const { id: process } = yield* newProcess()
      const { id, path } = yield* hook(process, { webhook: { max_waiting: 20, event_id: { pointer: "/n" } } })
      const flood = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => n),
        (n) => post(path, JSON.stringify({ n })),
        { concurrency: 8 }
      )
      const accepted = flood.filter(({ status }) => status === 202)
      assert.lengthOf(accepted, 20)
      const refused = flood.filter(({ status }) => status === 429)
      assert.lengthOf(refused, 40)
      assert.isDefined(refused[0]?.headers["retry-after"])
      assert.lengthOf(yield* itemsOf(process), 20)
      const { name } = yield* Triggers.get(id)
      yield* Triggers.update(id, {
        name,
        process: { id: process },
        start: { at_least: 20 },
        webhook: { max_waiting: 20 }
      })
      yield* tickIn(0)
      yield* runsAfter(1, process)
      assert.strictEqual((yield* post(path, `{"n":100}`)).status, 202)
    })
  )

  it.effect("refuse forged, late, malformed and large requests, and keep nothing of them", () =>
    Effect.gen(function* () {
      const { origin, rows } = yield* Service
      const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
      const { id: process } = yield* newProcess({ input_schema: schema, check_payloads: true })
      const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
      const signature = { type: "standard_webhooks", secret: Redacted.make(key) } as const
      const { path } = yield* hook(process, { webhook: { signature, payload: "/data" } })
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const signed = (body: string, at = now, id = "m1") => ({
        "webhook-id": id,
        "webhook-timestamp": String(at),
        "webhook-signature": `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64"))
          .update(`${id}.${at}.${body}`)
          .digest("base64")}`
      })
      const good = `{"data":{"a":"x"}}`
      const before = yield* rows
      const cases: ReadonlyArray<readonly [number, RegExp, string, Readonly<Record<string, string>>]> = [
        [401, /are needed/, good, {}],
        [401, /does not match/, good, signed(`${good} `)],
        [401, /differs by more than 300 seconds/, good, signed(good, now - 400)],
        [401, /differs by more than 300 seconds/, good, signed(good, now + 400)],
        [400, /Expected JSON/, "{", signed("{")],
        [400, /^payload: the body has nothing at \/data/, "[]", signed("[]")],
        [400, /^payload\.a: Expected string/, `{"data":{"a":1}}`, signed(`{"data":{"a":1}}`)],
        [400, /^event_id: .*webhook-id/, good, signed(good, now, "x".repeat(256))]
      ]
      for (const [status, says, body, headers] of cases) {
        const answer = yield* post(path, body, headers)
        assert.strictEqual(answer.status, status, answer.text)
        assert.match(errorOf(answer).message, says)
        assert.notInclude(answer.text, path.slice(-43))
      }
      const large = yield* post(path, JSON.stringify("x".repeat(2 ** 20)))
      assert.strictEqual(large.status, 413, large.text)
      const chunked = yield* post(path, "x".repeat(2 ** 20 + 1), { "transfer-encoding": "chunked" })
      assert.strictEqual(chunked.status, 413, chunked.text)
      const wrong = path.slice(0, -1) + (path.endsWith("A") ? "B" : "A")
      for (const [method, target, status] of [
        ["POST", wrong, 404],
        ["POST", "/hooks/nonsense", 404],
        ["POST", `${path}/more`, 404],
        ["GET", path, 405]
      ] as const) {
        const answer = yield* send(origin, method, target, {})
        assert.strictEqual(answer.status, status, answer.text)
        assert.notInclude(answer.text, target.slice(-20))
      }
      assert.deepStrictEqual(kept(yield* rows), kept(before))
      assert.lengthOf(yield* itemsOf(process), 0)
      assert.strictEqual((yield* post(path, good, signed(good))).status, 202)
    })
  )

  it.effect("shake hands with Asana, Slack and Microsoft Graph", () =>
    Effect.gen(function* () {
      const { id: process } = yield* newProcess()
      const asana = yield* hook(process, { webhook: { handshake: "asana" } })
      for (const empty of ["", " "]) {
        assert.strictEqual((yield* post(asana.path, "{}", { "x-hook-secret": empty })).status, 400)
      }
      const unsigned = yield* post(asana.path, `{"events":[]}`, { "x-hook-signature": hex(`{"events":[]}`, "") })
      assert.strictEqual(unsigned.status, 401)
      const body = `{"events":[]}`
      assert.strictEqual((yield* post(asana.path, body, { "x-hook-signature": hex(body, "s1") })).status, 401)
      const greeted = yield* post(asana.path, "{}", { "x-hook-secret": "s1" })
      assert.deepStrictEqual([greeted.status, greeted.headers["x-hook-secret"]], [200, "s1"])
      assert.strictEqual((yield* post(asana.path, "{}", { "x-hook-secret": "forged" })).status, 409)
      assert.strictEqual((yield* post(asana.path, body, { "x-hook-signature": hex(body, "s1") })).status, 202)
      assert.strictEqual((yield* post(asana.path, body, { "x-hook-signature": hex(body, "forged") })).status, 401)

      const slack = yield* hook(process, { webhook: { handshake: "slack" } })
      const challenge = yield* post(slack.path, `{"type":"url_verification","challenge":"c1","token":"t"}`)
      assert.deepStrictEqual([challenge.status, challenge.text], [200, `{"challenge":"c1"}`])
      assert.strictEqual((yield* post(slack.path, `{"type":"event_callback","event_id":"E1"}`)).status, 202)

      const graph = yield* hook(process, { webhook: { handshake: "microsoft-graph" } })
      const validated = yield* post(`${graph.path}?validationToken=Validation%3A%20%3Cb%3E`, "", {})
      assert.deepStrictEqual([validated.status, validated.text], [200, "Validation: <b>"])
      assert.match(String(validated.headers["content-type"]), /^text\/plain/)
      assert.strictEqual((yield* post(graph.path, `{"value":[]}`)).status, 202)
      assert.lengthOf(yield* itemsOf(process), 3)
    })
  )

  it.effect("count what is not genuine, and say why the last of it was refused", () =>
    Effect.gen(function* () {
      const { id: process } = yield* newProcess()
      const signature = { type: "hmac", header: "x-signature", secret: Redacted.make("hush") } as const
      const { id, path } = yield* hook(process, { webhook: { signature } })
      const signed = (key: string) => post(path, "{}", { "x-signature": hex("{}", key) })
      assert.strictEqual((yield* signed("hush")).status, 202)
      assert.isNull((yield* Triggers.get(id)).refused_requests)
      for (const key of ["wrong", "", "wrong"]) assert.strictEqual((yield* signed(key)).status, 401)
      const { refused_requests: refused } = yield* Triggers.get(id)
      assert.deepStrictEqual(
        { ...refused, last_at: "" },
        { count: 3, last_at: "", message: "the signature does not match this body and the secret of the trigger" }
      )
      yield* Triggers.rotateUrl(id)
      assert.isNull((yield* Triggers.get(id)).refused_requests)
    })
  )

  it.effect("take what Slack signed, each event once, and its challenge only when it is signed", () =>
    Effect.gen(function* () {
      const { id: process } = yield* newProcess()
      const signature = { type: "slack", secret: Redacted.make("hush") } as const
      const { path } = yield* hook(process, {
        webhook: { handshake: "slack", signature, payload: "/event" }
      })
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const signed = (body: string, at = now, key = "hush") => ({
        "x-slack-request-timestamp": String(at),
        "x-slack-signature": `v0=${hex(`v0:${at}:${body}`, key)}`
      })
      const challenge = `{"type":"url_verification","challenge":"c1","token":"t"}`
      const greeted = yield* post(path, challenge, signed(challenge))
      assert.deepStrictEqual([greeted.status, greeted.text], [200, `{"challenge":"c1"}`])
      const event = `{"type":"event_callback","event_id":"Ev1","event":{"type":"message"}}`
      const first = yield* post(path, event, signed(event))
      assert.strictEqual(first.status, 202, first.text)
      // Slack sends an event again, under a new time, until it is answered.
      const again = yield* post(path, event, signed(event, now - 60))
      assert.deepStrictEqual([again.status, again.text], [202, first.text])
      const nameless = `{"type":"event_callback","event":{}}`
      for (const [status, body, headers] of [
        [401, challenge, {}],
        [401, event, signed(event, now, "forged")],
        [401, event, signed(event, now - 400)],
        [401, event, { ...signed(event), "x-slack-request-timestamp": String(now - 1) }],
        [400, nameless, signed(nameless)]
      ] as const) {
        assert.strictEqual((yield* post(path, body, headers)).status, status)
      }
      assert.lengthOf(yield* itemsOf(process), 1)
    })
  )

  it.effect("store no token and no secret that can be read, and revoke an address", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const { id: process } = yield* newProcess()
      const signature = { type: "hmac", header: "X-Signature", secret: Redacted.make("hush hush") } as const
      const made = yield* hook(process, { webhook: { signature } })
      const stored = JSON.stringify(yield* rows)
      assert.notInclude(stored, made.path.slice(-43))
      assert.notInclude(stored, "hush hush")
      const read = [yield* raw("GET", `triggers/${made.id}`), yield* raw("GET", "triggers")]
      for (const { text } of read) assert.notMatch(text, /hush hush|sbh_/)
      const headers = { "x-signature": hex("1", "hush hush") }
      assert.strictEqual((yield* post(made.path, "1", headers)).status, 202)
      const definition = { name: made.name, process: { id: process } }
      const kept = { ...definition, webhook: { signature: { type: "hmac", header: "X-Signature" } } } as const
      assert.isNull((yield* Triggers.update(made.id, { ...kept, enabled: false })).url)
      assert.strictEqual((yield* post(made.path, "1", headers)).status, 409)
      yield* Triggers.update(made.id, kept)
      assert.strictEqual((yield* post(made.path, "1", headers)).status, 202)
      const { url } = yield* Triggers.rotateUrl(made.id)
      const next = new URL(url === null ? "" : Redacted.value(url)).pathname
      assert.strictEqual((yield* post(made.path, "1", headers)).status, 404)
      assert.strictEqual((yield* post(next, "1", headers)).status, 202)
      yield* Triggers.remove(made.id)
      assert.strictEqual((yield* post(next, "1", headers)).status, 404)
      assert.lengthOf(yield* itemsOf(process), 3)
    })
  )

  it.effect("are refused when they would do nothing or are malformed, by the name of the field", () =>
    Effect.gen(function* () {
      const { makeKey, raw, rows } = yield* Service
      const { id } = yield* newProcess()
      const process = { id }
      yield* Triggers.create({ name: "taken", process, start: { at_least: 1 } })
      const before = yield* rows
      const cases: ReadonlyArray<readonly [number, RegExp, object]> = [
        [400, /^start: Expected start, webhook/, {}],
        [400, /^start\.at_least: /, { start: {} }],
        [400, /^start\.at_least: /, { start: { at_least: 0 } }],
        [400, /^start\.max_runs: /, { start: { at_least: 1, max_runs: 0 } }],
        [400, /^webhook\.signature\.secret: /, { webhook: { signature: { type: "standard_webhooks" } } }],
        [
          400,
          /^webhook\.signature: /,
          { webhook: { handshake: "asana", signature: { type: "standard_webhooks", secret: "s" } } }
        ],
        [
          400,
          /^webhook\.signature\.secret: Expected base64/,
          { webhook: { signature: { type: "standard_webhooks", secret: "whsec_no base64" } } }
        ],
        [400, /^webhook\.signature\.type: Expected .*"hmac"/, { webhook: { signature: { type: "rsa", secret: "s" } } }],
        [
          400,
          /^webhook\.signature\.header: Expected the name of a header/,
          { webhook: { signature: { type: "hmac", header: "a b", secret: "s" } } }
        ],
        [400, /webhook\.payload/, { webhook: { payload: { a: "b" } } }],
        [400, /^webhook\.event_id\.pointer: Expected a JSON pointer/, { webhook: { event_id: { pointer: "/~2" } } }],
        [400, /webhook\.handshake/, { webhook: { handshake: "firm" } }],
        [404, /^process\.id: /, { start: { at_least: 1 }, process: { id: "none" } }],
        [409, /^name: a trigger "taken" already exists/, { start: { at_least: 1 }, name: "taken" }]
      ]
      for (const [status, says, fields] of cases) {
        const answer = yield* raw("POST", "triggers", { json: { name: "new", process, ...fields } })
        assert.strictEqual(answer.status, status, answer.text)
        assert.match(errorOf(answer).message, says)
      }
      const key = yield* makeKey(["Triggers.write_triggers"])
      const answer = yield* raw("POST", "triggers", { key, json: { name: "new", process, start: { at_least: 1 } } })
      assert.strictEqual(answer.status, 403)
      assert.match(errorOf(answer).message, /Processes\.trigger_processes/)
      assert.deepStrictEqual(kept(yield* rows), kept(before))
      const { id: made } = yield* Triggers.create({ name: "gone", process, webhook: {} })
      for (const { id: run } of yield* runsOf(id)) yield* ProcessRuns.stop(run, { terminate: true })
      yield* Processes.remove(id)
      assert.strictEqual((yield* raw("GET", `triggers/${made}`)).status, 404)
    })
  )
})
