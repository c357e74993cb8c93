/** `signalbox flows state`, `watch` and `request`, in separate processes, against a program with durable flows. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as FlowStates from "@signalbox/flows/FlowStates"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { createServer } from "node:http"
import { signalbox } from "./support/Cli.ts"

const token = "a token of some length"

const balance = Flow.state("balance", Schema.Finite)
const lines = Flow.feed("lines", Schema.String)
const add = Flow.request("add", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.String,
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
  states: [balance, lines],
  run: Effect.fnUntraced(function* () {
    for (let sum = 0; ;) {
      yield* balance.set(sum)
      const { answer, input, refuse } = yield* add.receive()
      if (input === 0) return
      if (input > 100) {
        yield* refuse("too much")
        continue
      }
      sum += input
      yield* lines.append(`added ${input}`)
      yield* answer(sum)
    }
  })
})

const program = HttpRouter.serve(FlowManagement.layerRoutes({ token: Redacted.make(token) }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(Flow.layer(account)),
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory))
)

const flows = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { address } = yield* HttpServer.HttpServer
  const env = { SIGNALBOX_FLOWS_URL: HttpServer.formatAddress(address), SIGNALBOX_FLOWS_TOKEN: token }
  return yield* Effect.promise(() => signalbox(["flows", ...args], { env }))
})

const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) =>
    holds ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(condition))
  )

const begun = Effect.tap(Flow.submit(account, "ann"), (id) =>
  until(Effect.map(FlowStates.states(id), (states) => states.length > 0))
)

describe("signalbox flows", () => {
  it.live("asks for an answer, and says in its exit code whether there was one", () =>
    Effect.gen(function* () {
      const id = yield* begun
      assert.deepInclude(yield* flows("request", id, "add", "--input", "2"), { status: 0, stdout: "2\n" })
      const again = yield* flows("request", id, "add", "--input", "3", "--id", "a", "--json")
      assert.strictEqual(again.stdout, '{"id":"a","state":"answered","value":5}\n')
      const refused = yield* flows("request", id, "add", "--input", "101")
      assert.strictEqual(refused.status, 1)
      assert.include(refused.stderr, `the request add to ${id} is refused: "too much"`)
      const abandoned = yield* flows("request", id, "add", "--input", "0")
      assert.include(abandoned.stderr, "abandoned: the execution has ended")
    }).pipe(Effect.provide(program))
  )

  it.live("says of a request what is wrong with it", () =>
    Effect.gen(function* () {
      const id = yield* begun
      const invalid = yield* flows("request", id, "add", "--input=-1")
      assert.strictEqual(invalid.status, 1)
      assert.include(invalid.stderr, "input: expected at least 0")
      const text = yield* flows("request", id, "add", "--input", "x")
      assert.strictEqual(text.status, 2)
      assert.include(text.stderr, "--input: expected JSON")
    }).pipe(Effect.provide(program))
  )

  it.live("shows states, and follows an execution to its end", () =>
    Effect.gen(function* () {
      const id = yield* begun
      for (const input of ["1", "2"]) yield* flows("request", id, "add", "--input", input)
      assert.match((yield* flows("state", id)).stdout, /^\d{4}-.*Z {2}balance {2}3\n$/)
      assert.strictEqual((yield* flows("state", id, "balance")).stdout, "3\n")
      const unset = yield* flows("state", id, "other")
      assert.strictEqual(unset.status, 2)
      assert.include(unset.stderr, "is not set; set are balance")
      yield* flows("request", id, "add", "--input", "0")
      const lines = (yield* flows("watch", id)).stdout.trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.map((line) => line.replace(/^\S+ {2}/, "")),
        ['lines  "added 1"', 'lines  "added 2"', "balance  3"]
      )
      const last = (yield* flows("watch", id, "--json", "--after", "4")).stdout
      assert.match(last, /^\{"cursor":5,"name":"balance","kind":"state","value":3,"at":"\d{4}-.*"\}\n$/)
      assert.match((yield* flows("watch", "nobody")).stderr, /the execution nobody does not exist/)
    }).pipe(Effect.provide(program))
  )
})
