/** Payloads that are written as any interface has them, and read by the schema of the caller. */
import { assert, describe, it } from "@effect/vitest"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as Stream from "effect/Stream"
import { ProcessId, ProcessRunId, WorkItemId } from "../src/contract/Ids.ts"
import * as Outputs from "../src/Outputs.ts"
import type { Jsonable } from "../src/Payload.ts"
import * as ProcessRuns from "../src/ProcessRuns.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { answer, type FaultServer } from "./support/FaultServer.ts"
import { withServer, workItem } from "./support/Retries.ts"

const process = ProcessId.make("p")
const item = WorkItemId.make("item")
const run = ProcessRunId.make("run")

const bodies = (server: FaultServer) => server.received().map(({ body }): unknown => JSON.parse(body))

const started = answer(200, { started: true, id: "run" })

const cyclic: { self?: object } = {}
cyclic.self = { again: cyclic }
class Point {
  readonly x = 1
}

/** What JSON cannot say, where, and what the refusal says of it. */
const unfit: ReadonlyArray<readonly [payload: object, message: RegExp]> = [
  [{ a: { b: [1, () => 1] } }, /^payload\.a\.b\.1: a function/],
  [{ id: 10n }, /^payload\.id: a bigint.*give it as a text/],
  [{ total: Number.NaN }, /^payload\.total: NaN/],
  [{ total: Infinity }, /^payload\.total: Infinity/],
  [{ at: Symbol("s") }, /^payload\.at: a symbol/],
  [cyclic, /^payload\.self\.again: is within itself/],
  [{ lines: new Map([[1, 2]]) }, /^payload\.lines: an instance of Map/],
  [{ lines: new Set() }, /^payload\.lines: an instance of Set/],
  [{ at: new Point() }, /^payload\.at: an instance of Point, which has no toJSON/],
  [{ later: Promise.resolve() }, /^payload\.later: an instance of Promise/],
  [{ bytes: new Uint8Array() }, /^payload\.bytes: an instance of Uint8Array/],
  [{ key: Redacted.make("secret") }, /^payload\.key: a redacted value/],
  [{ at: new Date(NaN), toJSON: () => ({ deep: 1n }) }, /^payload\.deep: a bigint/],
  [{ toJSON: () => undefined }, /^payload: undefined/]
]

describe("a payload that is written", () => {
  interface Invoice {
    readonly number: string
    readonly lines: ReadonlyArray<{ readonly total: number }>
    readonly note?: string | undefined
    readonly due?: Date
  }

  it.live("is an object of any interface, as JSON.stringify writes it", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const invoice: Invoice = { number: "1", lines: [{ total: 1 }], note: undefined, due: new Date(0) }
        const sent = { number: "1", lines: [{ total: 1 }], due: "1970-01-01T00:00:00.000Z" }
        server.script([answer(200, workItem)])
        yield* WorkItems.create({ process, payload: invoice })
        yield* WorkItems.updatePayload(item, invoice, { previous: invoice })
        yield* WorkItems.create({ process, payload: [undefined, Object.create(null), { a: [undefined] }] })
        assert.deepStrictEqual(bodies(server), [
          { process: { id: "p" }, payload: sent },
          { payload: sent, previous_payload: sent },
          { process: { id: "p" }, payload: [null, {}, { a: [null] }] }
        ])
        server.script([started])
        yield* ProcessRuns.start(process, { payloads: [invoice] })
        assert.deepStrictEqual(bodies(server), [{ type: "with_payloads", payloads: [sent] }])
        server.script([answer(200, { work_items: [{ id: "1" }] })])
        yield* WorkItems.createMany({ process, payloads: [invoice] })
        assert.deepStrictEqual(bodies(server), [{ process: { id: "p" }, payloads: [sent] }])
      })
    )
  )

  it.live("keeps numbers that JavaScript would round", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(200, workItem)])
        const payload: Jsonable = { id: ExactJson.parse("12345678901234567890") }
        yield* WorkItems.create({ process, payload })
        assert.include(server.received()[0]?.body, '"id":12345678901234567890')
      })
    )
  )

  for (const [payload, message] of unfit) {
    it.live(`is refused at its path before anything is sent: ${message.source}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          server.script([answer(500)])
          const error = yield* Effect.flip(WorkItems.create({ process, payload }))
          assert.strictEqual(error._tag, "InvalidRequest")
          assert.match(error.message, message)
          const many = yield* Effect.flip(WorkItems.createMany({ process, payloads: [1, payload] }))
          assert.include(many.message, "payloads.1")
          const start = yield* Effect.flip(ProcessRuns.start(process, { payloads: [1, payload] }))
          assert.include(start.message, "payloads.1")
          const update = yield* Effect.flip(WorkItems.updatePayload(item, 1, { previous: payload }))
          assert.match(update.message, /^previous/)
          assert.lengthOf(server.received(), 0)
        })
      )
    )
  }

  it.live("is encoded by a schema when a run starts", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([started])
        const schema = Schema.Struct({ due: Schema.Date, total: Schema.Finite })
        yield* ProcessRuns.start(process, { payloads: [{ due: new Date(0), total: 1 }], schema })
        assert.deepStrictEqual(bodies(server), [
          { type: "with_payloads", payloads: [{ due: "1970-01-01T00:00:00.000Z", total: 1 }] }
        ])
        const payloads = [
          { due: new Date(0), total: 1 },
          { due: new Date(0), total: NaN }
        ]
        const error = yield* Effect.flip(ProcessRuns.start(process, { payloads, schema }))
        assert.match(error.message, /^payloads\.1\.total: /)
        assert.lengthOf(server.received(), 1)
      })
    )
  )
})

describe("a payload that is read by a schema", () => {
  const schema = Schema.Struct({ due: Schema.Date })
  const of = { ...workItem, process_run: { id: "run" } }
  const fits = { ...of, id: "a", payload: { due: "2026-01-02T00:00:00.000Z" } }
  const wrong = { ...of, id: "b", payload: { due: 5 } }
  const page = (...data: ReadonlyArray<object>) => answer(200, { data, has_more: false, next: null })

  it.live("of one work item has its type", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(200, fits)])
        const { id, payload } = yield* WorkItems.get(item, { schema })
        assert.deepStrictEqual([id, payload.due.getTime()], ["a", Date.parse("2026-01-02")])
      })
    )
  )

  it.live("of lists and streams is asked for, and has its type", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([page(fits)])
        const { data } = yield* WorkItems.list({ state: "new", schema })
        assert.instanceOf(data[0]?.payload.due, Date)
        const all = yield* Stream.runCollect(WorkItems.stream({ schema }))
        assert.instanceOf(all[0]?.payload.due, Date)
        for (const { path } of server.received()) assert.include(path, "include_data=true")
        server.script([page(fits)])
        const outputs = yield* Outputs.list(run, { schema, limit: 5 })
        assert.instanceOf(outputs.data[0]?.payload.due, Date)
        const emitted = yield* Stream.runCollect(Outputs.stream(run, { schema }))
        assert.instanceOf(emitted[0]?.payload.due, Date)
      })
    )
  )

  it.live("fails with the item and the path when it does not fit", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([page(fits, wrong)])
        const errors = [
          yield* Effect.flip(WorkItems.list({ schema })),
          yield* Effect.flip(Stream.runDrain(WorkItems.stream({ schema }))),
          yield* Effect.flip(Outputs.list(run, { schema })),
          yield* Effect.flip(Stream.runDrain(Outputs.stream(run, { schema })))
        ]
        for (const error of errors) {
          if (error._tag !== "UnexpectedData") return assert.fail(error.message)
          assert.deepStrictEqual([error.id, error.path], ["b", "due"])
          assert.match(error.message, /^the payload of b does not fit the schema: due: /)
        }
      })
    )
  )

  it.live("is by a schema of another library too", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const standard: StandardSchemaV1<unknown, { readonly total: number }> = {
          "~standard": {
            version: 1,
            vendor: "ours",
            validate: (value) =>
              typeof value === "object" && value !== null && "total" in value && typeof value.total === "number"
                ? { value: { total: value.total } }
                : { issues: [{ message: "expected a number", path: ["total"] }] }
          }
        }
        server.script([answer(200, { ...workItem, payload: { total: 3 } }), answer(200, wrong)])
        assert.strictEqual((yield* WorkItems.get(item, { schema: standard })).payload.total, 3)
        const error = yield* Effect.flip(WorkItems.get(item, { schema: standard }))
        if (error._tag !== "UnexpectedData") return assert.fail(error.message)
        assert.deepStrictEqual([error.id, error.path, error.expected], ["b", "total", "expected a number"])
      })
    )
  )
})
