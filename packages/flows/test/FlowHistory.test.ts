/** Exported histories. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowHistory from "../src/FlowHistory.ts"

const echo = Flow.step("echo", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: Effect.succeed
})
const price = Flow.signal("price", Schema.Finite)
const flow = Flow.make("exported", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: (text) => text,
  signals: [price],
  run: Effect.fnUntraced(function* (text) {
    yield* Flow.compensate(echo(text), () => echo("undone"))
    yield* price.receive()
    yield* Flow.sleep("for ever", "Infinity")
    return text
  })
})

const exported = Effect.gen(function* () {
  const id = yield* Flow.submit(flow, "one")
  yield* TestClock.adjust("1 second")
  yield* FlowExecutions.signal(id, "price", 1)
  yield* TestClock.adjust("1 second")
  yield* FlowExecutions.cancel(id)
  yield* TestClock.adjust("1 second")
  yield* FlowExecutions.retry(id, { from: "echo" })
  yield* TestClock.adjust("1 second")
  return yield* FlowExecutions.history(id)
}).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), Layer.fresh(FlowEngine.layerMemory))))

const text = Effect.map(Effect.flatMap(exported, FlowHistory.encode), (json) => JSON.stringify(json))

it.effect("survives JSON unchanged, with discarded entries", () =>
  Effect.gen(function* () {
    const history = yield* exported
    assert.isAbove(history.aside.length, 0)
    assert.strictEqual(history.redos.get("echo"), 1)
    assert.strictEqual(history.messages[0]?.name, "price")
    const file = JSON.stringify(yield* FlowHistory.encode(history))
    assert.deepStrictEqual(yield* FlowHistory.decode(JSON.parse(file)), history)
  })
)

it.effect("of another format, or without a field, is refused by its name", () =>
  Effect.gen(function* () {
    const file = JSON.parse(yield* text)
    const messageOf = (json: unknown) => Effect.map(Effect.flip(FlowHistory.decode(json)), ({ message }) => message)
    assert.match(yield* messageOf({ ...file, format: 2 }), /^not a history .* format 1: [^]*\["format"\]/)
    const { undos: _, ...rest } = file
    assert.match(yield* messageOf(rest), /\["undos"\]/)
    const { execution } = file
    const late = { ...file, execution: { ...execution, started_at: "yesterday" } }
    assert.match(yield* messageOf(late), /Expected a time in ISO 8601[^]*\["started_at"\]/)
  })
)
