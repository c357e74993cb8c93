/** Builds that follow each other: what one has halted. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import type { FlowEngineError } from "../../src/FlowErrors.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { Store } from "./Engines.ts"
import { until } from "./Polling.ts"
import { stateOf } from "./Running.ts"

interface Suite {
  readonly name: string
  readonly store: Layer.Layer<Store, FlowEngineError>
}

const flowOf = (name: string, body: Effect.Effect<void, never, Flow.FlowContext<never>>) =>
  Flow.make(name, {
    version: 1,
    input: Schema.String,
    success: Schema.Void,
    error: Schema.Never,
    idempotencyKey: (key) => key,
    run: () => body
  })

/** A process that runs flows. Returns its services, and what ends it as a deployment does. */
export const begin = Effect.fnUntraced(function* (flows: Layer.Layer<never, never, FlowEngine>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const { process } = yield* Store
  const context = yield* Layer.buildWithScope(Layer.fresh(Layer.provideMerge(flows, process())), scope)
  const on = <A, E>(effect: Effect.Effect<A, E, FlowEngine>) => Effect.provideContext(effect, context)
  return { on, stop: Scope.close(scope, Exit.void) }
})

export const stands = (id: string, state: FlowExecutions.State) =>
  until(Effect.map(stateOf(id), (there) => there === state))

const idsOf = (executions: ReadonlyArray<{ readonly id: string }>) => executions.map(({ id }) => id).sort()

export const deployed = ({ name, store }: Suite) => {
  const test = (title: string, body: Effect.Effect<void, unknown, Scope.Scope | Store>) =>
    it.live(title, () => body.pipe(Effect.scoped, Effect.provide(Layer.fresh(store))))

  describe(`after a deployment that halts executions ${name}`, () => {
    test(
      "those are found by the code and the time of their halt, and continued with the next one",
      Effect.gen(function* () {
        const broken = Effect.die(new TypeError("lines is not a function"))
        const gone = flowOf("gone", broken)
        const bad = yield* begin(Layer.merge(Flow.layer(flowOf("orders", broken)), Flow.layer(gone)))
        const [one, two] = yield* bad.on(
          Effect.all([Flow.submit(flowOf("orders", broken), "one"), Flow.submit(flowOf("orders", broken), "two")])
        )
        const left = yield* bad.on(Flow.submit(gone, "one"))
        yield* bad.on(Effect.forEach([one, two, left], (id) => stands(id, "halted"), { discard: true }))
        yield* bad.stop

        const corrected = yield* begin(Flow.layer(flowOf("orders", Effect.void)))
        yield* corrected.on(
          Effect.gen(function* () {
            const halt = FlowExecutions.deploymentHalts
            const first = yield* FlowExecutions.list({ halt, limit: 2 })
            const rest = yield* FlowExecutions.list({ halt, before: first.next ?? "" })
            assert.deepStrictEqual(idsOf([...first.executions, ...rest.executions]), [one, two, left].sort())
            assert.isNull(rest.next)
            const none = [
              { halt: "UNDO_FAILED" },
              { halt, state: "failed" },
              { halt, flow: "absent" },
              { haltedFrom: Date.now() + 60_000 }
            ] as const
            for (const filter of none) assert.deepStrictEqual((yield* FlowExecutions.list(filter)).executions, [])
            assert.lengthOf((yield* FlowExecutions.list({ halt: "BODY_DEFECT", haltedFrom: 1 })).executions, 3)

            assert.deepStrictEqual(yield* FlowExecutions.each({ halt }, "resume"), { changed: 2, refused: 1 })
            yield* Effect.forEach([one, two], (id) => stands(id, "completed"), { discard: true })
            // No process would take it.
            assert.strictEqual(yield* stateOf(left), "halted")
          })
        )
      })
    )
  })
  describe(`a process that drains a version ${name}`, () => {
    const gate = Flow.signal("gate", Schema.String)
    const orders = Flow.make("orders", {
      version: 1,
      input: Schema.String,
      success: Schema.String,
      error: Schema.Never,
      idempotencyKey: (key) => key,
      signals: [gate],
      run: Effect.fnUntraced(function* (key) {
        const told = yield* gate.receive()
        const child = yield* Effect.orDie(Flow.start(letters, `${key} ${told}`))
        return yield* Effect.orDie(child.result)
      })
    })
    const letters = Flow.make("letters", {
      version: 1,
      input: Schema.String,
      success: Schema.String,
      error: Schema.Never,
      idempotencyKey: (key) => key,
      run: (key) => Effect.as(Flow.sleep("nap", "10 millis"), key)
    })
    const begun = Effect.gen(function* () {
      const { on, stop } = yield* begin(Layer.merge(Flow.layer(orders), Flow.layer(letters)))
      const id = yield* on(Flow.submit(orders, "one"))
      yield* on(until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.length === 1)))
      yield* stop
      return id
    })
    const draining = Layer.mergeAll(Flow.layer(orders, { drain: true }), Flow.layer(letters, { drain: true }))

    test(
      "continues what has begun, with the children of that, and is seen among the versions",
      Effect.gen(function* () {
        const id = yield* begun
        const { on } = yield* begin(draining)
        yield* on(
          Effect.gen(function* () {
            // The process before may still be leaving.
            const isDraining = Effect.map(
              FlowExecutions.versions("orders"),
              ([own]) => own?.processes.map(({ draining }) => draining).join() === "true"
            )
            yield* until(isDraining)
            const [before] = yield* FlowExecutions.versions("orders")
            assert.deepInclude(before, { flow: "orders", unended: 1, removable: false })
            yield* FlowExecutions.signal(id, "gate", "open")
            yield* stands(id, "completed")
            assert.strictEqual((yield* FlowExecutions.get(id)).result, "one open")
            const after = yield* FlowExecutions.versions()
            assert.deepStrictEqual(
              after.map(({ flow, removable }) => [flow, removable]),
              [
                ["letters", true],
                ["orders", true]
              ]
            )
          })
        )
      })
    )

    test(
      "refuses new executions, and joins those that exist",
      Effect.gen(function* () {
        const id = yield* begun
        const { on } = yield* begin(draining)
        yield* on(
          Effect.gen(function* () {
            assert.strictEqual(yield* Flow.submit(orders, "one"), id)
            const error = yield* Effect.flip(Flow.submit(orders, "two"))
            assert.deepInclude(error, { _tag: "FlowDraining", flow: "orders", version: 1 })
            assert.match(
              error.message,
              /^this process drains orders, version 1: it only continues executions that have begun/
            )
            const told = yield* Effect.flip(Flow.signalWithStart(orders, "three", gate, "open"))
            assert.strictEqual(told._tag, "FlowDraining")
            const refused = yield* Effect.flip(FlowExecutions.fork(id, { from: "gate" }))
            assert.strictEqual(refused._tag, "ExecutionConflict")
            assert.lengthOf((yield* FlowExecutions.list()).executions, 1)
          })
        )
      })
    )
  })
}
