/** Requests over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { FlowManagementClient } from "../src/FlowManagementClient.ts"
import { until } from "./support/Polling.ts"
import { address, layer, orders, token } from "./support/Served.ts"

const add = Flow.request("add", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Struct({ most: Schema.Finite }),
  validate: (amount) => (amount < 0 ? "expected at least 0" : null)
})

/** Adds what it is asked to, until it gets a 0. */
const account = Flow.make("account", {
  version: 1,
  input: Schema.String,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: (owner) => owner,
  signals: [add],
  run: Effect.fnUntraced(function* () {
    let balance = 0
    while (true) {
      const { answer, input, refuse } = yield* add.receive()
      if (input === 0) return
      if (input > 100) yield* refuse({ most: 100 })
      else yield* answer((balance += input))
    }
  })
})

const client = Layer.unwrap(
  Effect.map(address, (url) => FlowManagementClient.layer({ url, token: Redacted.make(token) }))
).pipe(Layer.provide(NodeHttpClient.layerUndici))

const test = <E>(title: string, body: Effect.Effect<void, E, Layer.Success<typeof layer> | FlowManagementClient>) =>
  it.live(title, () =>
    Effect.provide(
      body,
      Layer.mergeAll(Flow.layer(account), Layer.fresh(client)).pipe(Layer.provideMerge(Layer.fresh(layer)))
    )
  )

const waits = (id: string, path: string) =>
  until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.some((activity) => activity.path === path)))

describe("over HTTP", () => {
  test(
    "a request is answered, refused, and repeated with its id",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = yield* Flow.submit(account, "ann")
      const first = yield* flows.request(id, "add", 2)
      assert.deepInclude(first, { state: "answered", value: 2 })
      assert.deepInclude(yield* flows.request(id, "add", 101), { state: "refused", value: { most: 100 } })
      assert.deepStrictEqual(yield* flows.request(id, "add", 3, { id: "a" }), { id: "a", state: "answered", value: 5 })
      assert.deepStrictEqual(yield* flows.request(id, "add", 2, { id: first.id }), first)
      assert.strictEqual((yield* Effect.flip(flows.request(id, "add", 4, { id: "a" }))).code, "CONFLICT")
    })
  )

  test(
    "a request that is not answered in time is pending, and abandoned with the end",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = yield* Flow.submit(account, "ann")
      yield* waits(id, "add")
      yield* flows.suspend(id)
      yield* until(Effect.map(FlowExecutions.get(id), ({ state }) => state === "suspended"))
      const pending = { id: "a", state: "pending", value: null } as const
      assert.deepStrictEqual(yield* flows.request(id, "add", 2, { id: "a", within: "20 millis" }), pending)
      yield* flows.terminate(id)
      assert.deepInclude(yield* flows.request(id, "add", 2, { id: "a" }), { state: "abandoned" })
      assert.strictEqual((yield* Effect.flip(flows.request(id, "add", 2, { id: "b" }))).code, "CONFLICT")
    })
  )

  test(
    "what the flow does not take is refused by its field",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = yield* Flow.submit(account, "ann")
      const messageOf = (name: string, input: Schema.Json) =>
        Effect.map(Effect.flip(flows.request(id, name, input)), ({ code, message }) => `${code} ${message}`)
      assert.strictEqual(yield* messageOf("add", -1), "INVALID_REQUEST input: expected at least 0")
      assert.include(yield* messageOf("add", "x"), "INVALID_REQUEST input: does not fit")
      assert.include(yield* messageOf("other", 1), "expected one of add")
      assert.strictEqual((yield* Effect.flip(flows.request("nobody", "add", 1))).code, "NOT_FOUND")
    })
  )

  test(
    "an approval says whether it counted, and the inspection that it is one",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = yield* Flow.submit(orders, "one")
      yield* waits(id, "approval")
      const [activity] = (yield* flows.inspect(id)).now
      assert.deepInclude(activity, { kind: "signal", subject: "approval", takes: "approval" })
      const decision = { approved: true, by: "ann", comment: null }
      const counted = { id: "", state: "answered", value: { counted: true, decision } } as const
      assert.deepStrictEqual(yield* flows.request(id, "approval", decision), counted)
      const late = yield* flows.request(id, "approval", { ...decision, by: "bob" })
      assert.deepStrictEqual(late, { ...counted, value: { counted: false, decision } })
      const other = yield* Flow.submit(account, "ann")
      yield* waits(other, "add")
      assert.strictEqual((yield* flows.inspect(other)).now[0]?.takes, "request")
    })
  )
})
