/**
 * A process that checks payloads: what its `input_schema` does not take is refused wherever an item of the first step is created.
 */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { InputSchemas } from "../src/internal/runs/InputSchemas.ts"
import { assertError } from "./support/Http.ts"
import { layer, linkWorker, Service } from "./support/Service.ts"

const input_schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { order: { $ref: "#/$defs/Order" } },
  required: ["order"],
  $defs: {
    Order: {
      type: "object",
      properties: {
        lines: { type: "array", items: { type: "integer" } },
        code: { type: "string", pattern: "^[A-Z]+$" }
      },
      required: ["lines"]
    }
  }
}

const fits = { order: { lines: [1, 2] } }

const definition = (more: object = {}) => ({
  name: `process ${crypto.randomUUID()}`,
  steps: [{ name: "first", task: { name: "t" } }],
  input_schema,
  check_payloads: true,
  ...more
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("payloads of a process", (it) => {
  describe("that checks them", () => {
    it.effect("are taken when they fit", () =>
      Effect.gen(function* () {
        const process = yield* Processes.create(definition({ default_work_item: { payload: fits } }))
        assert.deepStrictEqual((yield* WorkItems.create({ process: process.id, payload: fits })).payload, fits)
        assert.isTrue((yield* ProcessRuns.start(process.id, { payloads: [fits, { ...fits, more: true }] })).started)
        assert.isTrue((yield* ProcessRuns.start(process.id)).started)
        assert.isTrue((yield* ProcessRuns.start(process.id, { inputs: true })).started)
      })
    )

    it.effect("are refused with the path, and nothing is created", () =>
      Effect.gen(function* () {
        const { key, raw, rows } = yield* Service
        const process = yield* Processes.create(definition())
        const item = yield* WorkItems.create({ process: process.id, payload: fits })
        const before = yield* rows
        const runs = `processes/${process.id}/process-runs`
        const refused = Effect.fnUntraced(function* (path: string, json: unknown, message: RegExp) {
          assertError(yield* raw("POST", path, { json }), 400, "INVALID_REQUEST", message)
        })
        const create = (payload: unknown) => ({ process: { id: process.id }, payload })
        yield* refused("work-items", create({ order: { lines: [1, "2"] } }), /^payload\.order\.lines\.1: Expected/)
        yield* refused("work-items", create({ order: {} }), /^payload\.order\.lines: Missing key/)
        yield* refused("work-items", create([]), /^payload: Expected object/)
        yield* refused("work-items", { process: { id: process.id } }, /^payload: Expected object/)
        yield* refused(`work-items/${item.id}/payload`, { payload: { order: 1 } }, /^payload\.order: Expected/)
        const many = { process: { id: process.id }, payloads: [fits, fits, { order: null }] }
        yield* refused("work-items/bulk", many, /^payloads\.2\.order: Expected/)
        const payloads = { type: "with_payloads", payloads: [fits, { order: { lines: null } }] }
        yield* refused(runs, payloads, /^payloads\.1\.order\.lines: Expected/)
        yield* refused(runs, {}, /^default_work_item\.payload: Expected object/)
        const integration = `${runs}-integrations?token=${encodeURIComponent(key)}`
        assertError(
          yield* raw("POST", integration, { key: null, json: { order: {} } }),
          400,
          "INVALID_REQUEST",
          /^the body\.order\.lines: Missing key/
        )
        assert.deepStrictEqual(yield* rows, before)
      })
    )

    it.effect("are refused when a failed item of the first step, or one that waits for a retry, is changed", () =>
      Effect.gen(function* () {
        const { raw, rows } = yield* Service
        const [task, next] = [`task ${crypto.randomUUID()}`, `next ${crypto.randomUUID()}`]
        const steps = [
          { name: "first", task: { name: task }, retry: { max_attempts: 2, delay_seconds: 3600 } },
          { name: "second", task: { name: next } }
        ]
        const process = yield* Processes.create(definition({ steps }))
        const worker = yield* linkWorker([task, next])
        yield* worker.stayAlive
        const take = Effect.fnUntraced(function* (type: "BUSINESS" | "APPLICATION" | null) {
          const { lease, session } = yield* worker.take
          // A robot's own item is free.
          yield* session.setPayload(lease.work_item_id, "a result")
          if (type === null) yield* session.createOutput(lease.work_item_id, "an output")
          yield* session.release(
            lease.work_item_id,
            type === null ? { state: "COMPLETED" } : { state: "FAILED", exception: { type, code: "NO", message: "no" } }
          )
          yield* worker.protocol.finish(lease, null)
          return lease.work_item_id
        })
        const refused = Effect.fnUntraced(function* (item: string) {
          const before = yield* rows
          const answer = yield* raw("POST", `work-items/${item}/payload`, { json: { payload: { order: 1 } } })
          assertError(answer, 400, "INVALID_REQUEST", /^payload\.order: Expected/)
          assert.deepStrictEqual(yield* rows, before)
        })
        yield* ProcessRuns.start(process.id, { payloads: [fits] })
        const failed = yield* take("BUSINESS")
        yield* refused(failed)
        yield* WorkItems.updatePayload(failed, fits)
        yield* ProcessRuns.start(process.id, { payloads: [fits] })
        const pending = yield* take("APPLICATION")
        assert.strictEqual((yield* WorkItems.get(pending)).state, "pending")
        yield* refused(pending)
        yield* WorkItems.updatePayload(pending, fits)

        // What the first step passes on is not described by the schema.
        yield* ProcessRuns.start(process.id, { payloads: [fits] })
        yield* take(null)
        const output = yield* take("BUSINESS")
        yield* WorkItems.updatePayload(output, "anything")
      })
    )

    it.effect("are checked between others: the event loop is not held by all of a request", () =>
      Effect.gen(function* () {
        const schemas = yield* InputSchemas
        const checked = { checkPayloads: true, inputSchema: JSON.stringify({ items: { type: "integer" } }) }
        const dear = Array.from({ length: 30_000 }, () => 1)
        let others = 0
        // It yields after each.
        const other = Effect.forever(Effect.sync(() => (others += 1)))
        yield* Effect.forkChild(other)
        // Two checks at most between two turns: one that is long may follow.
        const payloads = Array.from({ length: 10 }, () => dear)
        yield* Effect.forEach(payloads, (payload) => schemas.checkPayload(checked, payload, "p"))
        assert.isAtLeast(others, 5)
      }).pipe(Effect.provide(InputSchemas.layer))
    )

    it.effect("are refused without a word of what is in them", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const process = yield* Processes.create(definition())
        const json = { process: { id: process.id }, payload: { order: { lines: "secret" } } }
        assert.notInclude((yield* raw("POST", "work-items", { json })).text, "secret")
      })
    )

    it.effect("are held against patterns", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const process = yield* Processes.create(definition())
        const payload = { order: { lines: [], code: "UPPER" } }
        assert.deepStrictEqual((yield* WorkItems.create({ process: process.id, payload })).payload, payload)
        const json = { process: { id: process.id }, payload: { order: { lines: [], code: "lower" } } }
        const refused = yield* raw("POST", "work-items", { json })
        assertError(refused, 400, "INVALID_REQUEST", /^payload\.order\.code: Expected text that matches/)
      })
    )

    it.effect("of a schema from before are taken where it cannot be applied", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const process = yield* Processes.create(definition())
        const before = JSON.stringify({ type: "string", pattern: "(?=a)" })
        yield* sql`UPDATE process SET input_schema = ${before} WHERE id = ${process.id}`
        assert.strictEqual((yield* WorkItems.create({ process: process.id, payload: "b" })).payload, "b")
        const refused = yield* Effect.flip(WorkItems.create({ process: process.id, payload: 1 }))
        assert.match(refused.message, /^payload: Expected string/)
      })
    )

    it.effect("are held against a definition from its change on", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const first = definition({ check_payloads: false })
        const process = yield* Processes.create(first)
        const json = { process: { id: process.id }, payload: 1 }
        assert.strictEqual((yield* raw("POST", "work-items", { json })).status, 200)
        yield* Processes.update(process.id, { ...first, check_payloads: true })
        assertError(yield* raw("POST", "work-items", { json }), 400, "INVALID_REQUEST", /^payload: /)
      })
    )
  })

  describe("that does not check them", () => {
    it.effect("may be anything", () =>
      Effect.gen(function* () {
        const process = yield* Processes.create(definition({ check_payloads: false }))
        assert.strictEqual((yield* WorkItems.create({ process: process.id, payload: "any" })).payload, "any")
        assert.isTrue((yield* ProcessRuns.start(process.id)).started)
      })
    )

    it.effect("have a schema for who draws a form, whatever is in it", () =>
      Effect.gen(function* () {
        const shown = { type: "array", contains: { type: "string" } }
        const process = yield* Processes.create(definition({ check_payloads: false, input_schema: shown }))
        const read = yield* Processes.getDefinition(process.id)
        assert.deepStrictEqual(read.input_schema, shown)
        assert.notProperty(read, "check_payloads")
      })
    )
  })

  describe("in a definition", () => {
    it.effect("are checked when it is created and changed: its default work item too", () =>
      Effect.gen(function* () {
        const { raw, rows } = yield* Service
        const process = yield* Processes.create(definition())
        const before = yield* rows
        const wrong: ReadonlyArray<readonly [object, RegExp]> = [
          [{ default_work_item: { payload: { order: 1 } } }, /^default_work_item\.payload\.order: Expected/],
          [{ input_schema: null }, /^check_payloads: needs an input_schema/],
          [{ input_schema: { unevaluatedItems: false } }, /^input_schema\.unevaluatedItems: expected items/],
          [{ input_schema: { pattern: "(?=a)" } }, /^input_schema\.pattern: .*lookaround/],
          [{ input_schema: { $ref: "https://example.com/schema" } }, /^input_schema\.\$ref: /],
          [{ input_schema: true }, /^input_schema: Expected/]
        ]
        for (const [more, message] of wrong) {
          for (const path of ["processes", `processes/${process.id}`]) {
            assertError(yield* raw("POST", path, { json: definition(more) }), 400, "INVALID_REQUEST", message)
          }
        }
        const large = definition({ input_schema: { description: "x".repeat(256 * 1024) } })
        assertError(yield* raw("POST", "processes", { json: large }), 413, "PAYLOAD_TOO_LARGE", /^input_schema: /)
        assert.deepStrictEqual(yield* rows, before)
      })
    )
  })

  describe("the revision of a definition", () => {
    it.effect("guards a change: one of two that read the same wins", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const process = yield* Processes.create(definition())
        const read = yield* Processes.getDefinition(process.id)
        const path = `processes/${process.id}`
        const answers = yield* Effect.forEach(
          ["one", "two"],
          (description) => raw("POST", path, { json: { ...read, description } }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 409])
        const after = yield* Processes.getDefinition(process.id)
        assert.notStrictEqual(after.revision, read.revision)
        assertError(yield* raw("POST", path, { json: read }), 409, "CONFLICT", /^revision: the definition has changed/)
        yield* Processes.update(process.id, { ...read, revision: after.revision })
        assert.deepStrictEqual(yield* Processes.getDefinition(process.id), read)
      })
    )
  })
})
