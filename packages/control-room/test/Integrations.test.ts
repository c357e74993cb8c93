import { assert, layer as withLayer } from "@effect/vitest"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { assertError, bodyAs, errorOf, send } from "./support/Http.ts"
import { layer, Service } from "./support/Service.ts"

const unknownId = "01900000-0000-7000-8000-000000000000"

const Started = Schema.Struct({ started: Schema.Boolean, id: Schema.optionalKey(Schema.String) })

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the start from an integration", (it) => {
  const newProcess = Effect.gen(function* () {
    const name = `integrations ${crypto.randomUUID()}`
    return yield* Processes.create({ name, steps: [{ name: "only", task: { name } }] })
  })

  /** Starts with the key in the address and nothing else, as other products send them. */
  const startAs = Effect.fnUntraced(function* (
    process: string,
    token: string | null,
    body?: string,
    headers: Record<string, string> = {},
    more = ""
  ) {
    const { origin, workspaceId } = yield* Service
    const path = `/api/v1/workspaces/${workspaceId}/processes/${process}/process-runs-integrations`
    const query = token === null ? `?${more}` : `?token=${encodeURIComponent(token)}&${more}`
    return yield* send(origin, "POST", path + query, { headers, ...(body === undefined ? {} : { body }) })
  })

  it.effect("takes whatever JSON comes as the payload of the one work item", () =>
    Effect.gen(function* () {
      const { key } = yield* Service
      const json = { "content-type": "application/json" }
      const bodies: ReadonlyArray<readonly [string | undefined, Record<string, string>, unknown]> = [
        [
          '{"type":"with_inputs","callback":{"url":"nonsense"}}',
          json,
          { type: "with_inputs", callback: { url: "nonsense" } }
        ],
        ["[1,2,3]", json, [1, 2, 3]],
        ["[]", json, []],
        ['"text"', json, "text"],
        ["5", json, 5],
        ["false", json, false],
        ["null", json, null],
        [undefined, {}, null],
        ["", json, null],
        ['{"a":1}', {}, { a: 1 }],
        ['{"a":1}', { "content-type": "text/plain" }, { a: 1 }],
        // Values of a form are strings, whatever they look like.
        ["", { "content-type": "application/x-www-form-urlencoded" }, null],
        [
          "payload=hello&items=5&user[id]=7&user[active]=true&tags[]=a&tags[]=null",
          { "content-type": "application/x-www-form-urlencoded" },
          { payload: "hello", items: "5", user: { id: "7", active: "true" }, tags: ["a", "null"] }
        ]
      ]
      for (const [body, headers, payload] of bodies) {
        const { id: process } = yield* newProcess
        const answer = yield* startAs(process, key, body, headers)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.isTrue(bodyAs(Started, answer).started)
        const items = yield* Stream.runCollect(WorkItems.stream({ process, includeData: true }))
        assert.deepStrictEqual(
          items.map((item) => item.payload),
          [payload]
        )
        const [run] = yield* Stream.runCollect(ProcessRuns.stream({ process }))
        assert.strictEqual(run?.id, bodyAs(Started, answer).id)
      }
    })
  )

  it.effect("refuses JSON that says it is a form with the type to send, as every other start does", () =>
    Effect.gen(function* () {
      const { key, rows } = yield* Service
      const { id: process } = yield* newProcess
      const before = yield* rows
      for (const body of ['{"payload":"secret"}', " [1]"]) {
        const answer = yield* startAs(process, key, body, { "content-type": "application/x-www-form-urlencoded" })
        assertError(
          answer,
          400,
          "INVALID_REQUEST",
          /^content-type: .* JSON, not a form; send it with application\/json/
        )
        assert.notInclude(answer.text, "secret")
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("is what the client's address leads to", () =>
    Effect.gen(function* () {
      const { key, origin } = yield* Service
      const { id: process } = yield* newProcess
      const address = Redacted.value(yield* ProcessRuns.integrationUrl(process, { key }))
      const answer = yield* send(origin, "POST", address.slice(origin.length), { body: "{}" })
      assert.isTrue(bodyAs(Started, answer).started)
    })
  )

  it.effect("responds to the handshake of Asana with its secret, and starts nothing", () =>
    Effect.gen(function* () {
      const { key } = yield* Service
      const { id: process } = yield* newProcess
      const hook = { "x-hook-secret": "b537207f20cbfa02357cf448134da559e8bd39d61597dcd5631b8012eae53e81" }
      const shaken = yield* startAs(process, key, "{}", hook, "with_handshake=asana")
      assert.strictEqual(shaken.status, 200)
      assert.strictEqual(shaken.headers["x-hook-secret"], hook["x-hook-secret"])
      assert.strictEqual(shaken.text, '{"started":false}')
      assert.deepStrictEqual(yield* Stream.runCollect(ProcessRuns.stream({ process })), [])
      // Later requests have no such header; and without the handshake the header is ignored.
      const event = yield* startAs(process, key, '{"events":[]}', {}, "with_handshake=asana")
      assert.isTrue(bodyAs(Started, event).started)
      assert.isUndefined(event.headers["x-hook-secret"])
      const plain = yield* startAs(process, key, "{}", hook)
      assert.isTrue(bodyAs(Started, plain).started)
      assert.isUndefined(plain.headers["x-hook-secret"])
      assert.strictEqual((yield* startAs(process, key, "{}", hook, "with_handshake=other")).status, 400)
      // Without a key nothing is revealed.
      assert.strictEqual((yield* startAs(process, null, "{}", hook, "with_handshake=asana")).status, 401)
      assert.strictEqual((yield* startAs(unknownId, key, "{}", hook, "with_handshake=asana")).status, 404)
    })
  )

  it.effect("opens to keys that may start processes alone, in the address alone, and changes nothing else", () =>
    Effect.gen(function* () {
      const { key, makeKey, makeWorkspace, raw, rows } = yield* Service
      const { id: process } = yield* newProcess
      const only = yield* makeKey(["Processes.trigger_processes"])
      const others = yield* makeKey(Permission.literals.filter((name) => name !== "Processes.trigger_processes"))
      const foreign = yield* makeKey(Permission.literals, yield* makeWorkspace)
      const secret = key.slice(-43)
      const before = yield* rows
      const refused: ReadonlyArray<readonly [string, number, string | null, string?]> = [
        ["no key", 401, null],
        ["an empty key", 401, ""],
        ["a key with its scheme", 401, `RC-WSKEY ${key}`],
        ["a key cut short", 401, key.slice(0, -1)],
        ["two keys", 401, key, `token=${key}`],
        ["an unknown key", 403, `sbk_${unknownId}_${secret}`],
        ["a key of another workspace", 403, foreign],
        ["a key without the permission", 403, others]
      ]
      for (const [what, status, token, more] of refused) {
        const answer = yield* startAs(process, token, "{}", {}, more)
        assert.strictEqual(answer.status, status, `${what}: ${answer.text}`)
        assert.notInclude(answer.text, secret, what)
      }
      const path = `processes/${process}/process-runs-integrations`
      assert.strictEqual((yield* raw("POST", path, { json: {} })).status, 401)
      // The key in the address is accepted by this endpoint only.
      const elsewhere = yield* raw("POST", `processes/${process}/process-runs?token=${key}`, { key: null })
      assert.strictEqual(elsewhere.status, 401)
      assert.strictEqual((yield* startAs(unknownId, key, "{}")).status, 404)
      assert.strictEqual((yield* startAs(process, key, "{")).status, 400)
      const large = yield* startAs(process, key, `"${"x".repeat(1024 * 1024)}"`)
      assert.strictEqual(large.status, 413)
      assert.match(errorOf(large).message, /the body/)
      assert.deepStrictEqual(yield* rows, before)
      assert.strictEqual((yield* startAs(process, only, "{}")).status, 200)
    })
  )
})
