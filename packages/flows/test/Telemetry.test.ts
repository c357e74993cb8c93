/** What is measured and traced of durable executions. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"

let failures = 0
const slow = Flow.step("slow", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.String,
  retry: { attempts: 2 },
  run: (text) =>
    Effect.delay(
      Effect.suspend(() => (failures-- > 0 ? Effect.fail("not yet") : Effect.succeed(text))),
      "2 seconds"
    )
})
const price = Flow.signal("price", Schema.Finite)
const flow = Flow.make("measured", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Schema.String,
  idempotencyKey: (text) => text,
  signals: [price],
  run: Effect.fnUntraced(function* (text) {
    yield* slow(text, { key: text })
    yield* Flow.sleep("nap", "1 hour")
    yield* price.receive()
    return yield* slow(text, { key: "again" })
  })
})

/** Runs one execution to its end, and leaves one waiting that is then terminated. */
const lived = Effect.gen(function* () {
  failures = 1
  const id = yield* Effect.withSpan(Flow.submit(flow, "one"), "caller")
  yield* TestClock.adjust("2 hours")
  yield* FlowExecutions.signal(id, "price", 1)
  yield* TestClock.adjust("1 minute")
  assert.strictEqual((yield* FlowExecutions.get(id)).state, "completed")
  const other = yield* Flow.submit(flow, "two")
  yield* TestClock.adjust("1 minute")
  yield* FlowExecutions.terminate(other)
  return id
}).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), Layer.fresh(FlowEngine.layerMemory))))

it.effect("counts executions by state, attempts and retries of steps, waits and claims", () =>
  Effect.gen(function* () {
    yield* lived
    const snapshot = yield* Metric.snapshot
    const found = (id: string, attributes: Record<string, string>) => {
      const metric = snapshot.find(
        (one) => one.id === id && Object.entries(attributes).every(([name, value]) => one.attributes?.[name] === value)
      )
      return metric?.type === "Counter" || metric?.type === "Histogram"
        ? Number(metric.state.count)
        : metric?.type === "Gauge"
          ? Number(metric.state.value)
          : undefined
    }
    const flow = "measured"
    const table: ReadonlyArray<readonly [string, Record<string, string>, number]> = [
      ["signalbox_flow_executions_total", { flow, state: "running" }, 4],
      ["signalbox_flow_executions_total", { flow, state: "completed" }, 1],
      ["signalbox_flow_executions_total", { flow, state: "cancelled" }, 1],
      ["signalbox_flow_step_seconds", { flow, step: "slow", outcome: "succeeded" }, 3],
      ["signalbox_flow_step_seconds", { flow, step: "slow", outcome: "retrying" }, 1],
      ["signalbox_flow_step_retries_total", { flow, step: "slow" }, 1],
      ["signalbox_flow_wait_seconds", { flow, kind: "sleep" }, 1],
      ["signalbox_flow_wait_seconds", { flow, kind: "signal" }, 1],
      ["signalbox_flow_claims_total", { flow }, 2],
      ["signalbox_flow_executions_in_memory", {}, 0]
    ]
    assert.deepStrictEqual(
      table.map(([id, attributes]) => [id, attributes, found(id, attributes)]),
      table.map((row) => [...row])
    )
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
)

it.effect("has a span for each activation and each attempt, all in the trace of the execution", () =>
  Effect.gen(function* () {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const id = yield* Effect.provideService(lived, Tracer.Tracer, tracer)
    const mine = spans.filter(({ attributes }) => attributes.get("flow.execution_id") === id)
    const activations = mine.filter(({ name }) => name === "flow measured")
    assert.strictEqual(activations.length, 3)
    assert.deepStrictEqual(
      mine.map(({ status, traceId }) => [status._tag, traceId]),
      mine.map(() => ["Ended", id.replaceAll("-", "")])
    )
    assert.deepStrictEqual(
      mine.filter(({ name }) => name === "step slow").map(({ attributes }) => attributes.get("flow.path")),
      ["slow[one]", "slow[one]", "slow[again]"]
    )
    assert.deepStrictEqual(
      activations.map(({ links }) => links.map(({ span }) => (span._tag === "Span" ? span.name : ""))),
      [["caller"], [], []]
    )
  })
)
