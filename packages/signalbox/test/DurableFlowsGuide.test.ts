/** The guide to durable flows: its code is compiled, and its flow is run. */
import { assert, describe, it } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Testing from "../src/Testing.ts"
import { charges, respond } from "./guide/charges.ts"
import { follow, imported, imports, problems, upload } from "./guide/imports.ts"
import { invoices } from "./guide/invoices.ts"
import { importing, unread } from "./guide/rows.ts"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

const write = Task.make("write invoice", {
  input: Schema.Struct({ orderId: Schema.String, amount: Schema.Finite }),
  output: Schema.Struct({ orderId: Schema.String }),
  run: ({ payload: { amount, orderId } }) =>
    amount > 1_000
      ? Effect.fail(new Task.BusinessFailure({ code: "LIMIT", message: "above the limit" }))
      : Effect.succeed({ orderId })
})

describe("the guide to durable flows", () => {
  it("has the code that is compiled here", () => {
    const guide = read("../../../docs/durable-flows.md")
    for (const name of ["invoices", "script", "program", "charges", "rows", "approved", "imports", "monthEnd"]) {
      assert.include(guide, `\`\`\`ts title="${name}.ts"\n${read(`./guide/${name}.ts`)}\`\`\`\n`, name)
    }
  })

  it("has servers that log no line for each request, as all documentation has", () => {
    const root = join(import.meta.dirname, "..", "..", "..")
    const files = globSync(["docs/**/*.md", "packages/*/README.md", "packages/*/src/*.ts"], { cwd: root })
    const servers = files.flatMap((file) => {
      const [, ...calls] = readFileSync(join(root, file), "utf8").split("HttpRouter.serve(")
      return calls.map((call) => [file, call.split(".pipe(")[0]] as const)
    })
    assert.includeMembers(
      servers.map(([file]) => file),
      ["docs/durable-flows.md", "packages/flows/src/FlowManagement.ts"]
    )
    for (const [file, call] of servers) assert.include(call, "disableLogger: true", file)
  })

  it.effect("has a flow that says what it does, and answers requests", () =>
    Effect.gen(function* () {
      yield* Flow.submit(imports, { day: "today" })
      const first = yield* upload("today", "1.csv", "a")
      assert.deepStrictEqual([first, yield* upload("today", "1.csv", "a")], [{ rows: 5 }, { rows: 5 }])
      assert.deepStrictEqual(yield* Effect.flip(upload("today", "far too large.csv", "b")), { why: "too large" })
      const refused = yield* Effect.flip(upload("today", "1.txt", "c"))
      assert.propertyVal(refused, "message", "input: expected the name of a .csv file")
      for (const id of ["d", "e"]) yield* upload("today", "1.csv", id)
      const { feed, state } = yield* Flow.handle(imports, "today")
      assert.deepStrictEqual(yield* state(imported), Option.some(2))
      assert.deepStrictEqual(
        (yield* feed(problems)).map(({ value }) => value),
        ["far too large.csv is too large"]
      )
      yield* follow("today")
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(imports), Layer.fresh(FlowEngine.layerMemory))))
  )

  it.effect("has a step that says which rows it could not read", () =>
    Effect.gen(function* () {
      const rows = ["a", "", "c"]
      assert.strictEqual(yield* Flow.execute(importing, { file: "a.csv", rows }), 3)
      const { feed } = yield* Flow.handle(importing, "a.csv")
      assert.deepStrictEqual(
        (yield* feed(unread)).map(({ value }) => value),
        ["row 2 is empty"]
      )
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(importing), Layer.fresh(FlowEngine.layerMemory))))
  )

  it.effect("has a flow with the same result, plain and durable", () =>
    Effect.gen(function* () {
      const { id: process } = yield* Processes.put({
        name: "invoices",
        steps: [{ name: "write", task: { name: "write invoice" } }]
      })
      const expected = { written: 1, state: "completed" }
      assert.deepStrictEqual(yield* Testing.elapse(Flow.run(invoices, { process, day: "2026-11-20" })), expected)
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(invoices, { process, day: "2026-11-21" })
        assert.deepStrictEqual(yield* Testing.elapse(Flow.execute(invoices, { process, day: "2026-11-21" })), expected)
        const paths = (yield* FlowExecutions.steps(id)).map(({ path }) => path)
        assert.includeMembers(paths, ["order[2026-11-21/1]/createWorkItem", "settleUnresolved/markDone"])
      }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(invoices), FlowEngine.layerMemory)))
    }).pipe(Effect.provide(Testing.layer({ tasks: [write] })))
  )

  it.effect("has a backend that returns the status of each failure", () =>
    Effect.gen(function* () {
      const answers = [
        new Response(null, { status: 429, headers: { "retry-after": "7200" } }),
        new Response("receipt 1"),
        new Response(null, { status: 402 })
      ]
      const sent: Array<string | undefined> = []
      const service = HttpClient.make((request) => {
        sent.push(request.headers["idempotency-key"])
        return Effect.succeed(HttpClientResponse.fromWeb(request, answers[sent.length - 1] ?? new Response()))
      })
      const engine = Layer.provideMerge(Flow.layer(charges), Layer.fresh(FlowEngine.layerMemory)).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, service))
      )
      yield* Effect.gen(function* () {
        const answered = Effect.fnUntraced(function* (input: { readonly id: string; readonly cents: number }) {
          const response = yield* Testing.elapse(respond(input))
          return [response.status, yield* Effect.promise(() => response.json())]
        })
        assert.deepStrictEqual(yield* answered({ id: "a", cents: 500 }), [201, { receipt: "receipt 1" }])
        const error = "the input of the flow charges: cents: Expected an integer"
        assert.deepStrictEqual(yield* answered({ id: "b", cents: 0.5 }), [400, { error }])
        assert.deepStrictEqual(yield* answered({ id: "c", cents: 500 }), [502, { error: "ChargeFailed" }])
        assert.deepStrictEqual(sent, ["a", "a", "c"])
      }).pipe(Effect.provide(engine))
    }).pipe(Effect.provide(Testing.layer({ tasks: [] })))
  )
})
