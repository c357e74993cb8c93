/** What is refused before anything is recorded. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"

const text = Flow.signal("text", Schema.String)
const mail = Flow.inbox("mail", Schema.String)
const unlisted = Flow.signal("unlisted", Schema.String)

const flow = Flow.make("receiving", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: (key) => key,
  signals: [text, mail],
  run: Effect.fnUntraced(function* () {
    return `${yield* text.receive({ key: "a/b" })} ${yield* mail.receive()}`
  })
})

const program = Layer.provideMerge(Flow.layer(flow), Layer.fresh(FlowEngine.layerMemory))

it.effect("signalWithStart that is refused starts nothing", () =>
  Effect.gen(function* () {
    const refused = yield* Effect.forEach(
      [
        Flow.signalWithStart(flow, "one", unlisted, "x"),
        Flow.signalWithStart(flow, "one", text, "x".repeat(1_000_000)),
        Flow.signalWithStart(flow, "one", text, "x", { id: "1" }),
        Flow.signalWithStart(flow, "one", mail, "x", { id: "" })
      ],
      (call) => Effect.map(Effect.flip(call), ({ message }) => message.slice(0, 30))
    )
    assert.deepStrictEqual(refused, [
      "signal: unlisted does not exis",
      "value: is 1000002 bytes of JSO",
      "id: expected none, because tex",
      "id: expected at least one char"
    ])
    assert.deepStrictEqual((yield* FlowExecutions.list()).executions, [])
  }).pipe(Effect.provide(program))
)

it.effect("signalWithStart starts once, and its message is one", () =>
  Effect.gen(function* () {
    const send = Flow.signalWithStart(flow, "one", mail, "hello", { id: "1" })
    const id = yield* send
    assert.strictEqual(yield* send, id)
    yield* TestClock.adjust("1 second")
    yield* Flow.signalWithStart(flow, "one", text, "well,", { key: "a/b" })
    yield* TestClock.adjust("1 second")
    const { execution, messages } = yield* FlowExecutions.history(id)
    assert.strictEqual(execution.result, "well, hello")
    assert.strictEqual(messages.filter(({ name }) => name === "mail").length, 1)
  }).pipe(Effect.provide(program))
)
