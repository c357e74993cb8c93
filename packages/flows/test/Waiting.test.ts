import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { temporaryFile } from "./support/Engines.ts"

const many = sized(2000, 10_000)

const word = Flow.signal("word", Schema.String)

const flowOf = <S extends Schema.Codec<unknown>>(
  name: string,
  success: S,
  wait: Effect.Effect<S["Type"], never, Flow.FlowContext<never>>
) =>
  Flow.make(name, {
    version: 1,
    input: Schema.Finite,
    success,
    error: Schema.Never,
    idempotencyKey: String,
    signals: [word],
    run: () => wait
  })
const awaiting = flowOf("awaiting", Schema.String, word.receive())
const sleeping = flowOf("sleeping", Schema.Void, Flow.sleep("nap", "1 hour"))

const waiting = Effect.zipWith(
  Stream.runCount(FlowExecutions.stream({ state: "waiting" })),
  Stream.runCount(FlowExecutions.stream({ state: "running" })),
  (parked, running) => parked + running
)

it.live(`${many} waiting executions survive a restart, and each continues with its signal`, () =>
  Effect.gen(function* () {
    const file = yield* temporaryFile
    const program = <A, E>(effect: Effect.Effect<A, E, FlowEngine>) =>
      Effect.provide(
        effect,
        Layer.provideMerge(
          Layer.mergeAll(Flow.layer(awaiting), Flow.layer(sleeping)),
          Layer.fresh(FlowEngine.layerSqlite({ file }))
        )
      )
    const ids = yield* program(
      Effect.forEach(
        Array.from({ length: many }, (_, n) => n),
        (n) => (n % 2 === 0 ? Flow.submit(awaiting, n) : Flow.submit(sleeping, n)),
        { concurrency: 64 }
      )
    )
    yield* program(
      Effect.gen(function* () {
        assert.strictEqual(yield* waiting, many)
        const some = ids.filter((_, n) => n % 500 === 0)
        yield* Effect.forEach(some, (id) => FlowExecutions.signal(id, "word", `to ${id}`), { concurrency: 8 })
        // Joined by their keys, they return their signals.
        const told = yield* Effect.forEach(some, (_, index) => Flow.execute(awaiting, index * 500))
        assert.deepStrictEqual(
          told,
          some.map((id) => `to ${id}`)
        )
        assert.strictEqual(yield* waiting, many - some.length)
      })
    )
  }).pipe(Effect.scoped)
)
