/** Who may see values that are encrypted, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import { createServer } from "node:http"
import * as Flow from "../src/Flow.ts"
import { FlowClient } from "../src/FlowClient.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowManagement from "../src/FlowManagement.ts"
import { FlowManagementClient } from "../src/FlowManagementClient.ts"
import type { FlowValues } from "../src/FlowValues.ts"
import { temporaryFile } from "./support/Engines.ts"
import { ring } from "./support/Keys.ts"
import { until } from "./support/Polling.ts"
import { stateOf } from "./support/Running.ts"
import { address } from "./support/Served.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {
  override get message() {
    return `refused because of ${this.why}`
  }
}

const echo = Flow.step("echo", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: (text) => Effect.succeed(text)
})
const orders = Flow.make("orders", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  idempotencyKey: (order) => order.slice(0, 1),
  run: Effect.fnUntraced(function* (order) {
    yield* echo(order)
    return order.includes("bad") ? yield* new Refused({ why: order }) : order
  })
})
const breaks = Flow.step("breaks", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (order) {
    const { record } = yield* Flow.details(Schema.String)
    yield* record(`${order} of the details`)
    return yield* Effect.die(new Error(`broken by ${order}`))
  })
})
const broken = Flow.make("broken", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: (order) => order.slice(0, 1),
  run: (order) => breaks(order)
})

const [main, seeing, blind] = ["the main token of all", "a token that sees values", "a token that sees none"].map(
  (token) => Redacted.make(token)
)

const served = (values: FlowValues | undefined) =>
  Layer.unwrap(
    Effect.map(temporaryFile, (file) => {
      const routes = FlowManagement.layerRoutes({
        token: main ?? Redacted.make(""),
        tokens: [
          { token: seeing ?? Redacted.make(""), verbs: ["start", "read", "values"] },
          { token: blind ?? Redacted.make(""), verbs: ["start", "read"] }
        ]
      })
      return HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
        Layer.provideMerge(Layer.merge(Flow.layer(orders), Flow.layer(broken))),
        Layer.provideMerge(FlowEngine.layerSqlite({ file, values }))
      )
    })
  )

/** What a token gets of executions that completed, failed and halted. */
const readBy = (token: Redacted.Redacted | undefined) =>
  Effect.gen(function* () {
    const done = yield* Flow.submit(orders, "a secret")
    const failed = yield* Flow.submit(orders, "b secret, bad")
    const halted = yield* Flow.submit(broken, "c secret")
    yield* until(Effect.map(stateOf(done), (state) => state === "completed"))
    yield* until(Effect.map(stateOf(failed), (state) => state === "failed"))
    yield* until(Effect.map(stateOf(halted), (state) => state === "halted"))
    const url = yield* address
    return yield* Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const ids = [done, failed, halted]
      const inspections = yield* Effect.forEach(ids, (id) => flows.inspect(id))
      const histories = yield* Effect.forEach(ids, (id) => flows.history(id))
      const results = yield* Effect.forEach(ids, (id) => flows.result(id))
      return { inspections, histories, results, list: yield* flows.list() }
    }).pipe(
      Effect.provide(
        Layer.provide(
          FlowManagementClient.layer({ url, token: token ?? Redacted.make("") }),
          NodeHttpClient.layerUndici
        )
      )
    )
  })

const countOf = (json: unknown, text: string): number => JSON.stringify(json).split(text).length - 1

describe("values that are encrypted, over HTTP", () => {
  it.live("are shown to the main token and to one for `values`", () =>
    Effect.gen(function* () {
      const all = yield* readBy(main)
      assert.deepStrictEqual(yield* readBy(seeing), all)
      assert.strictEqual(all.inspections[0]?.execution.result, "a secret")
      assert.isUndefined(all.inspections[0]?.withheld)
      const { now, steps, summary } = all.inspections[2] ?? assert.fail("it is missing")
      const details = "c secret of the details"
      assert.deepStrictEqual([now[0]?.details, steps[0]?.details], [details, details])
      assert.strictEqual(all.histories[2]?.entries[0]?.details, details)
      assert.notInclude(summary, details)
      assert.isAbove(countOf(all, "secret"), 10)
    }).pipe(Effect.provide(served(ring("a"))), Effect.scoped)
  )

  it.live("are withheld from a token for `read` alone, which sees names, keys, states and codes", () =>
    Effect.gen(function* () {
      const all = yield* readBy(blind)
      assert.strictEqual(countOf(all, "secret"), 0)
      const { histories, inspections, list, results } = all
      for (const one of [...histories, ...inspections, ...results]) assert.isTrue(one.withheld)
      const [done, failed, halted] = inspections
      assert.deepStrictEqual(
        [done?.execution.input, done?.execution.result, done?.steps[0]?.value, done?.steps[0]?.path],
        [null, null, null, "echo"]
      )
      assert.deepStrictEqual(failed?.execution.failure, { kind: "failed", tag: "Refused", message: "Refused" })
      assert.deepStrictEqual([failed?.summary, halted?.halt?.code], ["failed: Refused", "STEP_DEFECT"])
      assert.deepStrictEqual([halted?.now[0]?.details, halted?.steps[0]?.details], [undefined, null])
      assert.deepStrictEqual(list.executions.map(({ key }) => key).toSorted(), ["a", "b", "c"])
    }).pipe(Effect.provide(served(ring("a"))), Effect.scoped)
  )

  it.live("are not returned to a caller whose token is not for `values`: it says so", () =>
    Effect.gen(function* () {
      const url = yield* address
      const executed = (token: Redacted.Redacted | undefined) =>
        Effect.flatMap(FlowClient, (flows) => flows.execute(orders, "a secret")).pipe(
          Effect.provide(
            Layer.provide(FlowClient.layer({ url, token: token ?? Redacted.make("") }), NodeHttpClient.layerUndici)
          )
        )
      assert.strictEqual(yield* executed(seeing), "a secret")
      const error = yield* Effect.flip(executed(blind))
      assert(error._tag === "FlowManagementError")
      assert.match(error.message, /is completed, and its values are withheld: the token is not for `values`$/)
    }).pipe(Effect.provide(served(ring("a"))), Effect.scoped)
  )

  it.live("need a list of verbs of each token", () =>
    Effect.gen(function* () {
      const token = (text: string) => Redacted.make(`${text} of a good length`)
      const handler = FlowManagement.toWebHandler({ token: token("one"), tokens: [{ token: token("two") }] })
      const { message } = yield* Effect.flip(handler)
      assert.strictEqual(
        message,
        "tokens.0.verbs: Expected a list with or without `values`, because values are encrypted"
      )
    }).pipe(Effect.provide(served(ring("a"))), Effect.scoped)
  )
})

describe("values that are not encrypted, over HTTP", () => {
  it.live("are shown to every token for `read`", () =>
    Effect.gen(function* () {
      const all = yield* readBy(blind)
      assert.strictEqual(all.inspections[0]?.execution.result, "a secret")
      assert.deepStrictEqual(yield* FlowExecutions.list(), all.list)
    }).pipe(Effect.provide(served(undefined)), Effect.scoped)
  )
})
