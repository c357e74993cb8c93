/** Executions whose keys are not there, over any database that outlives a process. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine, FlowEngineError } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowHistory from "../../src/FlowHistory.ts"
import type { FlowValues } from "../../src/FlowValues.ts"
import { engineOf } from "../../src/internal/engine/EngineOf.ts"
import { tenants } from "./Keys.ts"
import { until } from "./Polling.ts"
import { stateOf } from "./Running.ts"

const Input = Schema.Struct({ tenant: Schema.String, order: Schema.String })
const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: (text) => Effect.succeed(text)
})
const paid = Flow.signal("paid", Schema.Json)
const common = {
  version: 1,
  input: Input,
  success: Schema.Json,
  error: Schema.Never,
  idempotencyKey: ({ order }: typeof Input.Type) => order,
  signals: [paid]
} as const

/** Its schemas accept anything, as that of a value that cannot be read. */
const pays = Flow.make("pays", {
  ...common,
  run: Effect.fnUntraced(function* ({ order }) {
    yield* note(order)
    return yield* paid.receive()
  })
})
const undone = Flow.make("undone", {
  ...common,
  run: Effect.fnUntraced(function* ({ order }) {
    yield* Flow.compensate(note(order), () => note("undone"))
    return yield* paid.receive()
  })
})

export type Engine = (values: FlowValues | undefined) => Layer.Layer<FlowEngine, FlowEngineError>

const waits = (id: string) => until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now[0]?.kind === "signal"))
const is = (id: string, state: FlowExecutions.State) => until(Effect.map(stateOf(id), (now) => now === state))

export const erasedKeys = (name: string, place: Effect.Effect<Engine, unknown, Scope.Scope>) => {
  /** Each process ends before the next one begins. */
  const processes = Effect.map(
    place,
    (engine) =>
      <A, E>(values: FlowValues | undefined, effect: Effect.Effect<A, E, FlowEngine>) =>
        Effect.provide(
          effect,
          Layer.fresh(Layer.provideMerge(Layer.merge(Flow.layer(pays), Flow.layer(undone)), engine(values)))
        )
  )
  const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope>) =>
    it.live(title, () => Effect.scoped(Effect.provideService(body, References.MinimumLogLevel, "None")))

  describe(`keys that are not there, ${name}`, () => {
    test(
      "halt the executions of their tenant, which can be listed, inspected, cancelled, terminated and expired; others go on",
      Effect.gen(function* () {
        const within = yield* processes
        const erased = new Set<string>()
        const values = tenants(erased)
        const before = Effect.gen(function* () {
          const orders = ["done", "cancelled", "terminated"].map((order) => ({ tenant: "acme", order }))
          const ids = yield* Effect.forEach(orders, (input) => Flow.submit(pays, input))
          const open = yield* Flow.submit(undone, { tenant: "acme", order: "open" })
          const other = yield* Flow.submit(pays, { tenant: "other", order: "other" })
          for (const id of [...ids, open, other]) yield* waits(id)
          yield* FlowExecutions.signal(ids[0] ?? "", "paid", "by card")
          yield* is(ids[0] ?? "", "completed")
          return { ids, open, other }
        })
        const { ids, open, other } = yield* within(values, before)
        const [done = "", cancelled = "", terminated = ""] = ids
        erased.add("acme")
        yield* within(
          values,
          Effect.gen(function* () {
            // Its undo needs its body.
            yield* FlowExecutions.cancel(open)
            yield* is(open, "halted")
            // Nothing of it is left to undo.
            yield* FlowExecutions.cancel(cancelled)
            yield* is(cancelled, "cancelled")
            const { execution, halt, unreadable } = yield* FlowExecutions.inspect(open)
            assert.deepStrictEqual([halt?.code, unreadable], ["RECORD_UNREADABLE", "acme/k"])
            assert.strictEqual(
              halt?.message,
              "the input of the flow undone is encrypted with the key acme/k, which this program does not have, or which does not fit"
            )
            assert.include(halt?.remedy ?? "", "start a program whose `values` have the key acme/k")
            assert.strictEqual(execution.input, "signalbox-encrypted:1:acme:k:")
            for (const id of [terminated, open]) {
              yield* FlowExecutions.terminate(id)
              yield* is(id, "cancelled")
            }
            const ended = yield* FlowExecutions.inspect(done)
            assert.deepStrictEqual(
              [ended.execution.state, ended.execution.result, ended.unreadable],
              ["completed", "signalbox-encrypted:1:acme:k:", "acme/k"]
            )
            yield* FlowExecutions.signal(other, "paid", "by bill")
            yield* is(other, "completed")
            assert.strictEqual((yield* FlowExecutions.get(other)).result, "by bill")
            const { executions } = yield* FlowExecutions.list({ flow: "pays" })
            assert.deepStrictEqual(executions.map(({ key }) => key).toSorted(), [
              "cancelled",
              "done",
              "other",
              "terminated"
            ])
            const { engine } = yield* engineOf
            yield* engine.journal.expire(["completed", "cancelled"], Number.MAX_SAFE_INTEGER, 100)
            assert.deepStrictEqual(yield* FlowExecutions.list(), { executions: [], next: null })
          })
        )
      })
    )

    test(
      "halt an execution in a program without any, and it goes on in one that has them",
      Effect.gen(function* () {
        const within = yield* processes
        const values = tenants(new Set())
        const submitted = Effect.tap(Flow.submit(pays, { tenant: "acme", order: "a" }), waits)
        const id = yield* within(values, submitted)
        yield* within(
          undefined,
          Effect.gen(function* () {
            yield* FlowExecutions.signal(id, "paid", "by card")
            yield* is(id, "halted")
            const { failure } = yield* FlowExecutions.get(id)
            assert.include(failure?.message ?? "", "is encrypted with the key acme/k")
            const history = yield* FlowExecutions.history(id)
            const halted = yield* Effect.flip(Flow.check(pays, history))
            assert(halted._tag === "FlowHalted")
            assert.strictEqual(halted.code, "RECORD_UNREADABLE")
            assert.deepStrictEqual(yield* Effect.flatMap(FlowHistory.encode(history), FlowHistory.decode), history)
          })
        )
        yield* within(
          values,
          Effect.gen(function* () {
            yield* is(id, "completed")
            assert.strictEqual((yield* FlowExecutions.get(id)).result, "by card")
          })
        )
      })
    )
  })
}
