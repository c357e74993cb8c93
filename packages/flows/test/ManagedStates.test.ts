/** What executions say of themselves, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../src/Flow.ts"
import { FlowManagementClient, type FlowManagementError } from "../src/FlowManagementClient.ts"
import * as FlowStates from "../src/FlowStates.ts"
import { until } from "./support/Polling.ts"
import { address, layer, token } from "./support/Served.ts"

const progress = Flow.state("progress", Schema.Finite)
const lines = Flow.feed("lines", Schema.String)
const go = Flow.inbox("go", Schema.Finite)

/** Says what it gets, until it gets a 0. */
const echo = Flow.make("echo", {
  version: 1,
  input: Schema.String,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: (key) => key,
  signals: [go],
  states: [progress, lines],
  run: Effect.fnUntraced(function* () {
    for (let n = yield* go.receive(); n > 0; n = yield* go.receive()) {
      yield* progress.set(n, { key: "a/b" })
      yield* lines.append(`line ${n}`)
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
      Layer.mergeAll(Flow.layer(echo), Layer.fresh(client)).pipe(Layer.provideMerge(Layer.fresh(layer)))
    )
  )

const begun = Effect.fnUntraced(function* (key: string) {
  yield* Flow.submit(echo, key)
  return yield* Flow.handle(echo, key)
})

const valuesOf = (items: ReadonlyArray<{ readonly value: unknown }>) => items.map(({ value }) => value)

describe("over HTTP", () => {
  test(
    "states and feeds are read as the program itself does",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const { id, signal } = yield* begun("one")
      for (const n of [1, 2, 3]) yield* signal(go, n)
      yield* until(Effect.map(FlowStates.feed(id, "lines"), (items) => items.length === 3))
      const states = yield* flows.states(id)
      assert.deepStrictEqual(states, yield* FlowStates.states(id))
      assert.deepInclude(states[0], { name: "progress[a/b]", kind: "state", value: 3 })
      const all = yield* flows.feed(id, "lines")
      assert.deepStrictEqual(all, yield* FlowStates.feed(id, "lines"))
      assert.deepStrictEqual(valuesOf(all), ["line 1", "line 2", "line 3"])
      const after = all[0]?.cursor
      assert.deepStrictEqual(valuesOf(yield* flows.feed(id, "lines", { after, limit: 1 })), ["line 2"])
      assert.deepStrictEqual(yield* flows.feed(id, "others"), [])
    })
  )

  test(
    "a watcher gets what is said when it is said, until the end",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const { id, signal } = yield* begun("one")
      const got: Array<unknown> = []
      const watching = flows.watch(id).pipe(
        Stream.runForEach(({ value }) => Effect.sync(() => got.push(value))),
        Effect.forkScoped
      )
      const fiber = yield* watching
      for (const n of [1, 2, 3]) {
        yield* signal(go, n)
        yield* until(Effect.sync(() => got.length === 2 * n))
      }
      yield* signal(go, 0)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(got, [1, "line 1", 2, "line 2", 3, "line 3"])
      const after = yield* Effect.map(flows.feed(id, "lines"), ([, second]) => second?.cursor)
      const last = yield* Stream.runCollect(flows.watch(id, { after }))
      assert.deepStrictEqual(valuesOf(last), [3, "line 3"])
    }).pipe(Effect.scoped)
  )

  test(
    "of an execution that does not exist is a 404, and a wait that is too long is refused by its name",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const missing: ReadonlyArray<Effect.Effect<unknown, FlowManagementError>> = [
        flows.states("nobody"),
        flows.feed("nobody", "lines"),
        Stream.runDrain(flows.watch("nobody"))
      ]
      for (const call of missing) assert.strictEqual((yield* Effect.flip(call)).code, "NOT_FOUND")
      const url = `${yield* address}/flow-executions/nobody/watch`
      const ask = (query: string) =>
        Effect.promise(async () => {
          const response = await fetch(`${url}?${query}`, { headers: { authorization: `Bearer ${token}` } })
          return { status: response.status, text: await response.text() }
        })
      for (const query of ["wait=26", "wait=-1", "after=-1", "after=x", "limit=0"]) {
        const { status, text } = yield* ask(query)
        assert.strictEqual(status, 400, query)
        assert.include(text, query.replace(/=.*/, ""))
      }
      assert.strictEqual((yield* ask("wait=0.5")).status, 404)
    })
  )
})
