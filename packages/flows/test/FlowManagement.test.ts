/** The management of flows over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowManagement from "../src/FlowManagement.ts"
import { FlowManagementClient } from "../src/FlowManagementClient.ts"
import { Diary } from "./support/Conformance.ts"
import { freePort } from "./support/Engines.ts"
import { until } from "./support/Polling.ts"
import { address, layer, oldOrders, orders, token } from "./support/Served.ts"

const connected = (url: string, secret = token) =>
  Layer.fresh(FlowManagementClient.layer({ url, token: Redacted.make(secret) })).pipe(
    Layer.provide(NodeHttpClient.layerUndici)
  )

const client = Layer.unwrap(Effect.map(address, (url) => connected(url)))

const test = <E>(title: string, body: Effect.Effect<void, E, Layer.Success<typeof layer> | FlowManagementClient>) =>
  it.live(title, () => Effect.provide(body, Layer.provideMerge(client, Layer.fresh(layer))))

const waiting = (id: string) =>
  until(Effect.map(FlowExecutions.inspect(id), ({ waits }) => waits.some(({ kind }) => kind === "signal")))
const ended = (id: string) => until(Effect.map(FlowExecutions.get(id), ({ state }) => state !== "running"))

/** A raw request. */
const ask = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
  const base = yield* address
  return yield* Effect.promise(async () => {
    const response = await fetch(`${base}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers }
    })
    return { status: response.status, text: await response.text() }
  })
})

describe("the client", () => {
  test(
    "lists and inspects as the program itself does",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const old = yield* Flow.submit(oldOrders, "old").pipe(Effect.provide(Flow.layer(oldOrders)))
      const id = yield* Flow.submit(orders, "one")
      yield* waiting(id)
      assert.deepStrictEqual(yield* flows.list(), yield* FlowExecutions.list())
      assert.deepStrictEqual(yield* flows.inspect(id), yield* FlowExecutions.inspect(id))
      const listed = yield* Stream.runCollect(flows.stream({ version: 0 }))
      assert.deepStrictEqual(
        listed.map(({ id, registered }) => [id, registered]),
        [[old, false]]
      )
      const { executions, next } = yield* flows.list({ limit: 1, state: "running", flow: "orders" })
      assert.strictEqual(executions.length, 1)
      assert.isNotNull(next)
      const rest = yield* flows.list({ before: next ?? "" })
      assert.deepStrictEqual([executions[0]?.id, rest.executions[0]?.id].sort(), [id, old].sort())
      assert.isNull(rest.next)
    })
  )

  test(
    "signals, cancels, resumes and retries",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = yield* Flow.submit(orders, "one")
      yield* waiting(id)
      yield* flows.signal(id, "approval", { approved: true, by: "ann", comment: null })
      yield* ended(id)
      assert.strictEqual((yield* flows.inspect(id)).execution.result, "ann")

      const again = yield* flows.retry(id, { from: "approval" })
      yield* waiting(again)
      yield* flows.cancel(again)
      yield* ended(again)
      assert.strictEqual((yield* flows.inspect(again)).execution.state, "canceled")

      const resumed = yield* flows.resume(again)
      yield* waiting(resumed)
      assert.strictEqual((yield* flows.inspect(resumed)).execution.generation, 3)
      assert.deepStrictEqual(yield* Diary.read, ["one", "one undone", "one"])
    })
  )

  test(
    "says what was wrong, by the code of the program",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const old = yield* Flow.submit(oldOrders, "old").pipe(Effect.provide(Flow.layer(oldOrders)))
      const id = yield* Flow.submit(orders, "one")
      yield* waiting(id)
      const codes = yield* Effect.forEach(
        [
          flows.inspect("nobody"),
          flows.list({ before: "nobody" }),
          flows.signal(id, "typo", 1),
          flows.retry(id),
          flows.resume(old)
        ],
        (call) => Effect.map(Effect.flip(Effect.asVoid(call)), ({ code, message }) => `${code} ${message}`)
      )
      assert.deepStrictEqual(codes.slice(0, 4), [
        "NOT_FOUND there is no execution nobody",
        "NOT_FOUND there is no execution nobody",
        `NOT_FOUND path: the execution ${id} awaits no signal typo; it awaits approval`,
        `CONFLICT the execution ${id} is under way: cancel it first`
      ])
      assert.match(codes[4] ?? "", /^CONFLICT .* orders, version 0, which is not registered/)
    })
  )

  test(
    "tells a wrong token, no program, and a program of another kind apart",
    Effect.gen(function* () {
      const url = yield* address
      const codeOf = (layer: Layer.Layer<FlowManagementClient>) =>
        Effect.map(
          Effect.flip(Effect.flatMap(FlowManagementClient, (flows) => flows.inspect("x")).pipe(Effect.provide(layer))),
          ({ code, message }) => {
            assert.notInclude(message, "wrong-secret")
            return code
          }
        )
      assert.strictEqual(yield* codeOf(connected(url, "wrong-secret")), "UNAUTHENTICATED")
      assert.strictEqual(yield* codeOf(connected(`http://127.0.0.1:${yield* freePort}`)), "UNREACHABLE")
      assert.strictEqual(yield* codeOf(connected(`${url}/elsewhere/`)), "UNEXPECTED_ANSWER")
    })
  )
})

describe("the routes", () => {
  test(
    "answer in the envelope of the service, and leave the program's own alone",
    Effect.gen(function* () {
      const refusal = Effect.fnUntraced(function* (path: string, init?: RequestInit) {
        const { status, text } = yield* ask(path, init)
        const { error, message } = JSON.parse(text)
        assert.strictEqual(error.message, message)
        return `${status} ${error.code} ${message}`
      })
      const post = (value: unknown) => ({ method: "POST", body: JSON.stringify(value) })
      const noToken = yield* refusal("/flow-executions", { headers: { authorization: "" } })
      assert.match(noToken, /^401 UNAUTHENTICATED/)
      const noJson = yield* refusal("/flow-executions/x/retry", { method: "POST", body: "{" })
      assert.match(noJson, /^400 INVALID_REQUEST/)
      assert.match(yield* refusal("/flow-executions?state=odd"), /^400 INVALID_REQUEST state: Expected/)
      assert.match(yield* refusal("/flow-executions?limit=0"), /^400 INVALID_REQUEST limit: Expected/)
      assert.match(yield* refusal("/flow-executions/x/signals", post({ value: 1 })), /^400 INVALID_REQUEST path: /)
      const large = post({ path: "p", value: "x".repeat(1_100_000) })
      assert.match(yield* refusal("/flow-executions/x/signals", large), /^400 INVALID_REQUEST value: Expected at most/)
      assert.strictEqual((yield* ask("/")).text, "the program's own")
    })
  )

  test(
    "give times in ISO 8601 and names with underscores",
    Effect.gen(function* () {
      const id = yield* Flow.submit(orders, "one")
      yield* waiting(id)
      const { text } = yield* ask(`/flow-executions/${id}`)
      assert.match(text, /"started_at":"\d{4}-\d\d-\d\dT[\d:.]+Z"/)
      assert.notInclude(text, "startedAt")
    })
  )

  it.effect("need a token that is not guessed soon", () =>
    Effect.gen(function* () {
      const routes = FlowManagement.layerRoutes({ token: Redacted.make("short") })
      const error = yield* Layer.build(routes).pipe(
        Effect.provide([HttpServer.layerServices, HttpRouter.layer, FlowEngine.layerMemory]),
        Effect.scoped,
        Effect.flip
      )
      assert.match(error.message, /^token: Expected at least 16 characters/)
    })
  )
})
