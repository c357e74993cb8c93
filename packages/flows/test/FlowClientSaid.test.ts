/** What executions of another program say and answer, by their definitions. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../src/Flow.ts"
import { FlowClient } from "../src/FlowClient.ts"
import { connectFlows } from "../src/PromiseClient.ts"
import { address, layer, limitedToken, token } from "./support/Served.ts"

const balance = Flow.state("balance", Schema.Finite)
const lines = Flow.feed("lines", Schema.String)
const TooMuch = Schema.Struct({ most: Schema.Finite })
const add = Flow.request("add", { input: Schema.Finite, success: Schema.Finite, error: TooMuch })
const approval = Flow.approval("approval")

const definition = Flow.define("account", {
  version: 1,
  input: Schema.String,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: (owner) => owner,
  signals: [add, approval],
  states: [balance, lines]
})
/** Adds what it is asked to, until it gets a 0, and then waits for an approval. */
const account = Flow.implement(
  definition,
  Effect.fnUntraced(function* () {
    for (let sum = 0; ;) {
      yield* balance.set(sum, { key: "EUR" })
      const { answer, input, refuse } = yield* add.receive()
      if (input === 0) break
      if (input > 100) {
        yield* refuse({ most: 100 })
        continue
      }
      sum += input
      yield* lines.append(`added ${input}`)
      yield* answer(sum)
    }
    yield* approval.receive()
  })
)

const decision = { approved: true, by: "ann", comment: null }

const served = <A, E>(body: Effect.Effect<A, E, Layer.Success<typeof layer>>) =>
  Effect.provide(body, Layer.provideMerge(Flow.layer(account), Layer.fresh(layer)))

const connected = (secret: string) =>
  Layer.unwrap(
    Effect.map(address, (url) =>
      Layer.provide(Layer.fresh(FlowClient.layer({ url, token: Redacted.make(secret) })), NodeHttpClient.layerUndici)
    )
  )

describe("a client", () => {
  it.live("asks, reads and follows an execution of another program", () =>
    served(
      Effect.gen(function* () {
        const flows = yield* FlowClient
        yield* flows.submit(definition, "ann")
        const handle = yield* flows.handle(definition, "ann")
        assert.strictEqual(yield* handle.request(add, 2, { id: "a" }), 2)
        assert.strictEqual(yield* handle.request(add, 2, { id: "a" }), 2)
        assert.deepStrictEqual(yield* Effect.flip(handle.request(add, 101)), { most: 100 })
        assert.deepStrictEqual(yield* handle.state(balance, { key: "EUR" }), Option.some(2))
        assert.deepStrictEqual(yield* handle.state(balance), Option.none())
        assert.strictEqual((yield* handle.feed(lines))[0]?.value, "added 2")
        const late = yield* Effect.flip(handle.request(add, 0, { within: "20 millis" }))
        assert.propertyVal(late, "_tag", "RequestUnanswered")
        assert.deepStrictEqual(yield* handle.request(approval, decision), { counted: true, decision })
        const said = yield* Stream.runCollect(handle.watch())
        assert.deepStrictEqual(
          said.map(({ value }) => value),
          ["added 2", 2]
        )
        assert.propertyVal(yield* Effect.flip(handle.request(add, 3)), "code", "CONFLICT")
      }).pipe(Effect.provide(connected(token)))
    )
  )

  it.live("does so in promises", () =>
    served(
      Effect.flatMap(address, (url) =>
        Effect.promise(async () => {
          const flows = connectFlows({ url, token })
          await flows.submit(definition, "ann")
          const handle = await flows.handle(definition, "ann")
          assert.strictEqual(await handle.request(add, 2), 2)
          assert.strictEqual(await handle.state(balance, { key: "EUR" }), 2)
          assert.isUndefined(await handle.state(balance))
          assert.strictEqual((await handle.feed(lines, { after: 0 }))[0]?.value, "added 2")
          const got: Array<unknown> = []
          for await (const { value } of handle.watch()) {
            got.push(value)
            if (got.length === 2) break
          }
          assert.deepStrictEqual(got, ["added 2", 2])
        })
      )
    )
  )

  it.live("with a token of other flows is refused", () =>
    served(
      Effect.gen(function* () {
        const id = yield* Flow.submit(account, "ann")
        const base = yield* address
        const ask = (path: string, init: RequestInit = {}) =>
          Effect.promise(async () => {
            const headers = { authorization: `Bearer ${limitedToken}`, "content-type": "application/json" }
            return (await fetch(`${base}/flow-executions/${id}/${path}`, { headers, ...init })).status
          })
        for (const path of ["states", "feeds/lines", "watch"]) assert.strictEqual(yield* ask(path), 403, path)
        const body = JSON.stringify({ request: "add", input: 1 })
        assert.strictEqual(yield* ask("requests", { method: "POST", body }), 403)
      })
    )
  )
})
