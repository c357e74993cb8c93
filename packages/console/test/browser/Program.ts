/** The durable flows of the program that serves the room: one stops at a bank that does not answer, one waits for a person. */
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"

const Key = Schema.Struct({ key: Schema.String })
const hands = ["mouse", "keyboard"] as const

const approval = Flow.approval("approval")
const day = Flow.signal("day", Schema.String)
const total = Flow.request("total", { input: Schema.Finite, success: Schema.Finite })
const stage = Flow.state("stage", Schema.String)
const log = Flow.feed("log", Schema.String)

const close = Flow.make("month end", {
  version: 1,
  input: Key,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: ({ key }) => key,
  signals: [day, total, approval],
  states: [stage, log],
  tags: () => ["accounts"],
  run: Effect.fnUntraced(function* () {
    yield* stage.set("collecting")
    yield* log.append(`day ${yield* day.receive()}`)
    const { answer, input } = yield* total.receive()
    yield* answer(input * 2)
    yield* stage.set("deciding")
    const { by } = yield* approval.receive()
    return `closed by ${by}`
  })
})

/** Each transfer fails the first time. */
const pay = Effect.map(Ref.make<ReadonlySet<string>>(new Set()), (tried) => {
  const transfer = Flow.step("transfer", {
    input: Schema.Struct({ key: Schema.String, supplier: Schema.String }),
    success: Schema.String,
    error: Schema.Never,
    run: Effect.fnUntraced(function* ({ key, supplier }) {
      const name = `${key} ${supplier}`
      const before = yield* Ref.getAndUpdate(tried, (names) => new Set([...names, name]))
      if (supplier === "Meyer" && !before.has(name)) return yield* Effect.die(new Error("the bank did not answer"))
      return supplier
    })
  })
  return Flow.make("pay suppliers", {
    version: 3,
    input: Key,
    success: Schema.Array(Schema.String),
    error: Schema.Never,
    idempotencyKey: ({ key }) => key,
    run: ({ key }) =>
      Flow.forEach("supplier", ["Adler", "Meyer"], { key: (name) => name, concurrency: 1 }, (supplier) =>
        transfer({ key, supplier })
      )
  })
})

/** Provides the engine, and an execution of each flow for each way of working with the page. */
export const layer = Layer.unwrap(
  Effect.map(pay, (pay) =>
    Layer.effectDiscard(
      Effect.forEach(hands, (by) =>
        Effect.andThen(Flow.submit(pay, { key: `by ${by}` }), Flow.submit(close, { key: `by ${by}` }))
      )
    ).pipe(Layer.provideMerge(Layer.merge(Flow.layer(pay), Flow.layer(close))))
  )
).pipe(Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory)), Layer.orDie)
