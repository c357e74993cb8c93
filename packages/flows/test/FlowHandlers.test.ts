/** The management and the callbacks of flows on the port of a program that has a server. */
import { assert, describe, it } from "@effect/vitest"
import * as WebhookSignature from "@signalbox/api/WebhookSignature"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Flow from "../src/Flow.ts"
import * as FlowCallbacks from "../src/FlowCallbacks.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowManagement from "../src/FlowManagement.ts"
import { until } from "./support/Polling.ts"
import { Diary, orders, token } from "./support/Served.ts"

const options = { token: Redacted.make(token) }
const authorization = `Bearer ${token}`
const secret = Redacted.make("a secret of some length")

const layer = Flow.layer(orders).pipe(
  Layer.provideMerge(FlowCallbacks.layer({ url: "http://127.0.0.1:4800/callbacks", secret })),
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory)),
  Layer.provideMerge(Layer.fresh(Diary.layer))
)

/** Sends requests to a handler on a server of its own. */
const listening = Effect.fnUntraced(function* (handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handler)
  const port = yield* Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<number>((resolve) =>
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resolve(typeof address === "object" && address !== null ? address.port : 0)
          })
        )
    ),
    () => Effect.sync(() => server.close())
  )
  return (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init)
})

type Ask = (path: string, init?: RequestInit) => Promise<Response>

const asked = (handler: (request: Request) => Promise<Response>): Ask => {
  const ask: Ask = (path, init = {}) => handler(new Request(`http://127.0.0.1:4800${path}`, init))
  return ask
}

const management = {
  toNodeHandler: (options: FlowManagement.HandlerOptions) =>
    Effect.flatMap(FlowManagement.toNodeHandler(options), listening),
  toWebHandler: (options: FlowManagement.HandlerOptions) =>
    Effect.map(FlowManagement.toWebHandler(options), (handler) => asked(handler))
}
const callbacks = {
  toNodeHandler: Effect.flatMap(FlowCallbacks.toNodeHandler, listening),
  toWebHandler: Effect.map(FlowCallbacks.toWebHandler, (handler) => asked(handler))
}

for (const [name, made] of Object.entries(management)) {
  describe(`FlowManagement.${name}`, () => {
    it.live("serves the routes with the token, and bodies that are sent", () =>
      Effect.gen(function* () {
        const ask: Ask = yield* made(options)
        const id = yield* Flow.submit(orders, "one")
        yield* until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.some(({ kind }) => kind === "signal")))
        const listed = yield* Effect.promise(() => ask("/flow-executions", { headers: { authorization } }))
        assert.include(yield* Effect.promise(() => listed.text()), id)
        const body = JSON.stringify({ signal: "approval", value: { approved: true, by: "ann", comment: null } })
        const headers = { authorization, "content-type": "application/json" }
        const sent = yield* Effect.promise(() =>
          ask(`/flow-executions/${id}/signals`, { method: "POST", headers, body })
        )
        assert.isTrue(sent.ok, String(sent.status))
        yield* until(Effect.map(FlowExecutions.get(id), ({ state }) => state === "completed"))
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("refuses requests without the token, and knows no other path", () =>
      Effect.gen(function* () {
        const ask: Ask = yield* made(options)
        assert.strictEqual((yield* Effect.promise(() => ask("/flow-executions"))).status, 401)
        assert.strictEqual((yield* Effect.promise(() => ask("/other"))).status, 404)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("is mounted below a path, which a framework may have removed", () =>
      Effect.gen(function* () {
        const ask: Ask = yield* made({ ...options, prefix: "/flows" })
        for (const path of ["/flows/flow-schedules", "/flow-schedules"]) {
          const { status } = yield* Effect.promise(() => ask(path, { headers: { authorization } }))
          assert.strictEqual(status, 200, path)
        }
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("fails for a token that is too short", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(made({ token: Redacted.make("short") }))
        assert.strictEqual(error.message, "token: Expected at least 16 characters")
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}

for (const [name, made] of Object.entries(callbacks)) {
  describe(`FlowCallbacks.${name}`, () => {
    it.live("takes what is signed with the secret", () =>
      Effect.gen(function* () {
        const ask: Ask = yield* made
        const body = JSON.stringify({ other: true })
        const headers = yield* WebhookSignature.sign({ body, secret, id: "evt-1" })
        // The signature fits; that it is no event of a run is what the 400 says.
        const response = yield* Effect.promise(() => ask("/callbacks", { method: "POST", headers, body }))
        assert.strictEqual(response.status, 400)
        assert.include(yield* Effect.promise(() => response.text()), "not an event of a process run")
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("refuses what is not signed, and other methods", () =>
      Effect.gen(function* () {
        const ask: Ask = yield* made
        const post = (body: string) => Effect.promise(() => ask("/callbacks", { method: "POST", body }))
        assert.strictEqual((yield* post("{}")).status, 401)
        assert.strictEqual((yield* post("x".repeat(70_000))).status, 413)
        assert.strictEqual((yield* Effect.promise(() => ask("/callbacks"))).status, 405)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}

describe("FlowCallbacks.receive", () => {
  it.live("reads requests that have no `bytes`, as those of Hono on Node", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ other: true })
      const headers = yield* WebhookSignature.sign({ body, secret, id: "evt-1" })
      const request = new Request("http://127.0.0.1:4800/callbacks", { method: "POST", headers, body })
      Object.defineProperty(request, "bytes", { value: () => Promise.reject(new TypeError("a foreign request")) })
      const response = yield* FlowCallbacks.receive(request)
      assert.include(yield* Effect.promise(() => response.text()), "not an event of a process run")
    }).pipe(Effect.provide(layer))
  )
})
