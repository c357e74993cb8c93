/** Texts in the form of encrypted values, which a caller may send. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowManagement from "../src/FlowManagement.ts"
import * as FlowValues from "../src/FlowValues.ts"
import { temporaryFile } from "./support/Engines.ts"

const hostile = "signalbox-encrypted:1:default:k:AAAA"
const name = Flow.signal("name", Schema.String)
const greets = Flow.make("greets", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: () => "one",
  signals: [name],
  run: () => name.receive()
})
const memory = Layer.provideMerge(Flow.layer(greets), Layer.fresh(FlowEngine.layerMemory))

it.effect("are refused as an input and as a signal, and the execution goes on", () =>
  Effect.gen(function* () {
    const input = yield* Effect.flip(Flow.submit(greets, hostile))
    assert.deepInclude(input, { _tag: "InvalidInput", path: "" })
    assert.match(input.message, /Expected no text that begins with signalbox-encrypted/)
    const id = yield* Flow.submit(greets, "hello")
    yield* TestClock.adjust("1 second")
    const typed = yield* Effect.flip(
      Effect.flatMap(Flow.handle(greets, "one"), (handle) => handle.signal(name, hostile))
    )
    const json = yield* Effect.flip(FlowExecutions.signal(id, "name", hostile))
    for (const refused of [typed, json]) {
      assert.deepInclude(refused, { _tag: "InvalidSignal", signal: "name" })
      assert.match(refused.message, /Expected no text that begins with signalbox-encrypted/)
    }
    yield* FlowExecutions.signal(id, "name", "ann")
    assert.strictEqual(yield* Flow.execute(greets, "hello"), "ann")
  }).pipe(Effect.provide(memory))
)

it.live("a signal whose keys were erased is a conflict over HTTP", () =>
  Effect.gen(function* () {
    let isErased = false
    const ring = [{ id: "k", key: new Uint8Array(32) }]
    const values = FlowValues.aes({ keys: () => (isErased ? null : ring) })
    const file = yield* temporaryFile
    yield* Effect.gen(function* () {
      const id = yield* Flow.submit(greets, "hello")
      isErased = true
      const token = "a token of some length"
      const manage = yield* FlowManagement.toWebHandler({ token: Redacted.make(token) })
      const response = yield* Effect.promise(() =>
        manage(
          new Request(`http://127.0.0.1/flow-executions/${id}/signals`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body: JSON.stringify({ signal: "name", value: "ann" })
          })
        )
      )
      const text = yield* Effect.promise(() => response.text())
      assert.strictEqual(response.status, 409, text)
      assert.include(text, "were erased")
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(greets), FlowEngine.layerSqlite({ file, values }))))
  }).pipe(Effect.scoped)
)
