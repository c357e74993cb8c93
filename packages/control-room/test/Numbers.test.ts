/**
 * Numbers that JavaScript does not have keep their text, from the request to the robot and back.
 */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import { Page } from "@signalbox/api/contract/Common"
import { ProcessId, ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { assertError, bodyAs } from "./support/Http.ts"
import { layer, linkWorker, Service } from "./support/Service.ts"

const kept = [
  "12345678901234567890",
  "-9007199254740993",
  "0.12345678901234567890123",
  "-1E-400",
  "1000000000000000000000",
  `1${"0".repeat(2000)}1`
]
const exact = [
  "0",
  "-0.5",
  "9007199254740991",
  "1e+21",
  "1e+308",
  "5e-324",
  "0.30000000000000004",
  "123456789012345680000"
]

const objects = `{"a":[${kept.join()},{"12345678901234567890":${kept.join(',"\\\\":')}}],"b":"12345678901234567890, 1e-400","\\"":1e-400}`

describe("JSON with exact numbers", () => {
  it("is written as it was read", () => {
    for (const text of [...kept, ...exact, `[${[...kept, ...exact].join()}]`]) {
      assert.strictEqual(JSON.stringify(ExactJson.parse(text)), text)
    }
    assert.strictEqual(JSON.stringify(ExactJson.parse(objects)), JSON.stringify(ExactJson.parse(` ${objects} `)))
    assert.include(JSON.stringify(ExactJson.parse(objects)), `"a":[${kept.join()},`)
    for (const number of exact) assert.strictEqual(ExactJson.parse(number), Number(number))
    // Equal to what is written shorter.
    assert.strictEqual(JSON.stringify(ExactJson.parse("[1.0, 100e-2, 0.50000000000000000000]")), "[1,1,0.5]")
  })

  it("has strings and keys as JSON.parse has them", () => {
    for (const text of ['"\\\\"', '"a\\"1e-400\\\\\\""', '{"a\\\\":" 12345678901234567890","\\u0031e-400":[]}']) {
      const all = `[1e-400,${text}]`
      assert.deepStrictEqual(ExactJson.parse(all), [ExactJson.parse("1e-400"), JSON.parse(text)])
    }
  })

  it("is refused where JSON.parse refuses it", () => {
    const wrong = [
      "{12345678901234567890:1}",
      "[012345678901234567890]",
      "[12345678901234567890.]",
      "[1e-400e]",
      "[-.12345678901234567890]",
      "[+12345678901234567890]",
      '"12345678901234567890',
      "[1e-400",
      "1e-400 1e-400"
    ]
    for (const text of wrong) assert.throws(() => ExactJson.parse(text), SyntaxError, undefined, text)
  })

  it("knows numbers that most languages read as infinity; one of many digits is none", () => {
    for (const text of ["1e400", "[-1.5E+309]", '{"a":[12345678901234567890,9e9999]}']) {
      assert.isFalse(ExactJson.isFinite(ExactJson.parse(text)))
    }
    assert.isTrue(ExactJson.isFinite(ExactJson.parse(objects)))
  })
})

const big = '{"id":12345678901234567890,"list":[1e-400,-9007199254740993]}'

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })(
  "a number that JavaScript does not have",
  (it) => {
    const headers = { "content-type": "application/json" }
    const post = Effect.fnUntraced(function* (path: string, body: string, more: Readonly<Record<string, string>> = {}) {
      const { raw } = yield* Service
      const answer = yield* raw("POST", path, { body, headers: { ...headers, ...more } })
      assert.isBelow(answer.status, 300, `${path}: ${answer.text}`)
      return answer
    })
    const Made = Schema.Struct({ id: Schema.String })
    const made = (path: string, body: string) => Effect.map(post(path, body), (answer) => bodyAs(Made, answer).id)
    const processOf = (task: string, more = "") =>
      Effect.map(
        made(
          "processes",
          `{"name":"p ${crypto.randomUUID()}","steps":[{"name":"s","task":{"name":"${task}"}}]${more === "" ? "" : `,${more}`}}`
        ),
        ProcessId.make
      )

    it.effect("comes back from an item and from a list of items", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const process = yield* processOf("t")
        const item = yield* made("work-items", `{"process":{"id":"${process}"},"payload":${big}}`)
        assert.include((yield* raw("GET", `work-items/${item}`)).text, `"payload":${big}`)
        yield* post(`work-items/${item}/payload`, `{"payload":[${big}]}`)
        assert.include((yield* raw("GET", `work-items/${item}`)).text, `"payload":[${big}]`)
        const bulk = `{"process":{"id":"${process}"},"payloads":[${big},1]}`
        const id = (yield* post("work-items/bulk", bulk)).text.match(/"id":"([^"]+)"/)?.[1]
        assert.include((yield* raw("GET", `work-items/${id}`)).text, `"payload":${big}`)
      })
    )

    it.effect("is kept by a client that asks for it, and compared by its text", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const process = yield* processOf("t")
        const item = WorkItemId.make(yield* made("work-items", `{"process":{"id":"${process}"},"payload":${big}}`))
        const { payload } = yield* WorkItems.getExact(item)
        assert.strictEqual(JSON.stringify(payload), big)
        const rounded = yield* WorkItems.get(item)
        const conflict = yield* Effect.flip(WorkItems.updatePayload(item, 1, { previous: rounded.payload }))
        assert.strictEqual(conflict._tag, "Conflict")
        assert.match(conflict.message, /^previous_payload: the payload has changed since it was read/)
        yield* WorkItems.updatePayload(item, [payload], { previous: payload })
        assert.include((yield* raw("GET", `work-items/${item}`)).text, `"payload":[${big}]`)
      })
    )

    it.effect("reaches a robot, and what the robot writes and creates reaches the output", () =>
      Effect.gen(function* () {
        const { raw, workspaceId } = yield* Service
        const task = `robot ${crypto.randomUUID()}`
        const process = yield* processOf(task)
        const worker = yield* linkWorker([task])
        const run = yield* made(`processes/${process}/process-runs`, `{"type":"with_payloads","payloads":[${big}]}`)
        const { lease, session } = yield* worker.take
        const as = { key: null, headers: { ...headers, authorization: `Bearer ${lease.run_token}` } }
        const data = `/json-v1/workspaces/${workspaceId}/workitems/${lease.work_item_id}/data`
        assert.strictEqual((yield* raw("GET", data, as)).text, big)
        assert.strictEqual((yield* raw("PUT", data, { ...as, body: `[${big}]` })).status, 200)
        assert.strictEqual((yield* raw("GET", data, as)).text, `[${big}]`)
        const output = yield* session.createOutput(lease.work_item_id, 1)
        const outputData = data.replace(lease.work_item_id, output)
        assert.strictEqual((yield* raw("PUT", outputData, { ...as, body: big })).status, 200)
        yield* worker.protocol.finish(lease, null)
        assert.include((yield* raw("GET", `outputs?process_run_id=${run}`)).text, `"payload":${big}`)
      })
    )

    it.effect("is known by its path to the workers of tasks in TypeScript, which read the nearest one", () =>
      Effect.gen(function* () {
        const { origin } = yield* Service
        const task = `rounds ${crypto.randomUUID()}`
        const process = yield* processOf(task)
        const worker = yield* linkWorker([task])
        const payload = `{"id":12345678901234567890,"list":[1e-400,1.0,5e-324,"1e-400, -9007199254740993",{"a,1e-400":-9007199254740993}]}`
        const run = ProcessRunId.make(
          yield* made(`processes/${process}/process-runs`, `{"type":"with_payloads","payloads":[${payload}]}`)
        )
        const { lease, session } = yield* worker.take
        const rounded = [["id"], ["list", "0"], ["list", "4", "a,1e-400"]]
        const read = yield* session.readPayload(lease.work_item_id)
        assert.sameDeepMembers([...read.rounded], rounded)
        assert.deepStrictEqual(read.payload, JSON.parse(payload))
        const { nextItems } = yield* WorkerProtocol.makeItems(origin, worker.identity)
        const [reserved] = yield* nextItems(run, [{ lease, settled: null, reserve: true }])
        assert.sameDeepMembers([...(reserved?.item?.rounded ?? [])], rounded)
        assert.deepStrictEqual(reserved?.item?.payload, JSON.parse(payload))
      })
    )

    it.effect("comes in by a trigger, from a form, a default and a schedule", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const process = yield* processOf("t", `"default_work_item":{"payload":${big}}`)
        assert.include((yield* raw("GET", `processes/${process}/definition`)).text, `"payload":${big}`)
        const first = yield* made(`processes/${process}/process-runs`, "")
        const listed = yield* raw("GET", `work-items?process_run_id=${first}`)
        const [started] = bodyAs(Page(Made), listed).data
        assert.include((yield* raw("GET", `work-items/${started?.id}`)).text, `"payload":${big}`)

        const trigger = yield* post(
          "triggers",
          `{"name":"t ${process}","process":{"id":"${process}"},"webhook":{"payload":{"all":"","id":"/id"},"event_id":{"pointer":"/id"}}}`
        )
        const { url } = bodyAs(Schema.Struct({ url: Schema.String }), trigger)
        const accepted = yield* raw("POST", new URL(url).pathname, { key: null, headers, body: big })
        const { work_item } = bodyAs(Schema.Struct({ work_item: Schema.Struct({ id: WorkItemId }) }), accepted)
        assert.include(
          (yield* raw("GET", `work-items/${work_item.id}`)).text,
          `"payload":{"all":${big},"id":12345678901234567890}`
        )
        const infinite = yield* raw("POST", new URL(url).pathname, { key: null, headers, body: '{"id":1,"x":1e400}' })
        assertError(infinite, 400, "INVALID_REQUEST", /^the body: has a number beyond .* send it as a text$/)
        // The next number is another event.
        const next = big.replace("890,", "891,")
        const other = yield* raw("POST", new URL(url).pathname, { key: null, headers, body: next })
        assert.notInclude(other.text, work_item.id)

        const form = { "content-type": "application/x-www-form-urlencoded" }
        const body = `process[id]=${process}&payload=${encodeURIComponent(big)}`
        const item = bodyAs(Made, yield* raw("POST", "work-items", { body, headers: form }))
        assert.include((yield* raw("GET", `work-items/${item.id}`)).text, `"payload":${big}`)

        const schedule = yield* made(
          "schedules",
          `{"name":"s ${process}","process":{"id":"${process}"},"cron":"0 6 * * *","inputs":{"type":"with_payloads","payloads":[${big}]}}`
        )
        for (const payload of ["1e400", "[1e400]"]) {
          const wrong = yield* raw("POST", "work-items", {
            body: `process[id]=${process}&payload=${payload}`,
            headers: form
          })
          assertError(wrong, 400, "INVALID_REQUEST", /^payload: Expected JSON/)
          const direct = yield* raw("POST", "work-items", {
            body: `{"process":{"id":"${process}"},"payload":${payload}}`,
            headers
          })
          assertError(direct, 400, "INVALID_REQUEST", /^payload/)
        }
        assert.include((yield* raw("GET", `schedules/${schedule}`)).text, `"payloads":[${big}]`)
      })
    )

    it.effect("is a number to input_schema, and to the key of a repeated request", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const schema = `{"properties":{"id":{"type":"integer","minimum":12345678901234567000,"enum":[12345678901234567890]}}}`
        const process = yield* processOf("t", `"check_payloads":true,"input_schema":${schema}`)
        assert.include((yield* raw("GET", `processes/${process}/definition`)).text, `"input_schema":${schema}`)
        const item = (id: string) => `{"process":{"id":"${process}"},"payload":{"id":${id}}}`
        const key = { "idempotency-key": crypto.randomUUID() }
        yield* post("work-items", item("12345678901234567890"), key)
        const refused = yield* raw("POST", "work-items", { body: item("12345678901234567891"), headers })
        assertError(refused, 400, "INVALID_REQUEST", /^payload\.id: /)
        const reused = yield* raw("POST", "work-items", {
          body: item("12345678901234567891"),
          headers: { ...headers, ...key }
        })
        assert.isAtLeast(reused.status, 400, reused.text)
      })
    )
  }
)
