/** Commands that were accepted and cannot be carried out yet. */
import { assert, describe, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngineError } from "../../src/FlowErrors.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import type { Codec } from "../../src/internal/model/Values.ts"
import { Store } from "./Engines.ts"
import { until } from "./Polling.ts"
import { stateOf } from "./Running.ts"

interface Suite {
  readonly name: string
  readonly store: Layer.Layer<Store, FlowEngineError>
}

/** A flow whose payment takes until `gate` is open, and what it did. */
const makeFlow = (gate = Latch.makeUnsafe(), fails = false) => {
  const did: Array<string> = []
  const does = (name: string) =>
    Flow.step(name, {
      input: Schema.Void,
      success: Schema.String,
      error: Schema.Never,
      run: () =>
        Effect.sync(() => {
          did.push(name)
          return name
        })
    })(undefined)
  const pay = Flow.step("pay", {
    input: Schema.Void,
    success: Schema.String,
    error: Schema.Never,
    run: Effect.fnUntraced(function* () {
      did.push("pay")
      yield* gate.await
      if (fails) return yield* Effect.die(new Error("a bug"))
      return "paid"
    })
  })
  const flow = Flow.make("payments", {
    version: 1,
    input: Schema.String,
    success: Schema.String,
    error: Schema.Never,
    idempotencyKey: (key) => key,
    run: Effect.fnUntraced(function* () {
      yield* Flow.compensate(does("reserve"), () => does("release"))
      yield* pay(undefined)
      return yield* does("send")
    })
  })
  return { did, flow, gate }
}
type Made = ReturnType<typeof makeFlow>

/** A process that runs the flow. Returns its services, and what ends it as a deployment does. */
const begin = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec>({
  flow
}: {
  readonly flow: Flow.Flow<I, S, E, never>
}) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const { process } = yield* Store
  const layer = Layer.fresh(Layer.provideMerge(Flow.layer(flow), process()))
  const context = yield* Layer.buildWithScope(layer, scope)
  return { context, stop: Scope.close(scope, Exit.void) }
})

const stands = (id: string, state: FlowExecutions.State) => until(Effect.map(stateOf(id), (there) => there === state))

/** A process in which a payment is being made. */
const paying = (made: Made, key = "one") =>
  Effect.gen(function* () {
    const { context, stop } = yield* begin(made)
    const before = made.did.length
    const id = yield* Effect.provideContext(Flow.submit(made.flow, key), context)
    yield* until(Effect.sync(() => made.did.slice(before).includes("pay")))
    return { context, id, stop }
  })

const testOn = (store: Suite["store"]) => (title: string, body: Effect.Effect<void, unknown, Scope.Scope | Store>) =>
  it.live(title, () => body.pipe(Effect.scoped, Effect.provide(Layer.fresh(store))))

export const pendingCommands = ({ name, store }: Suite) => {
  describe(`a command ${name}`, () => {
    const test = testOn(store)
    test(
      "to suspend is shown while a step is awaited, and lets nothing begin",
      Effect.gen(function* () {
        const made = makeFlow()
        const { context, id } = yield* paying(made)
        yield* Effect.gen(function* () {
          yield* FlowExecutions.suspend(id)
          const { pending, summary } = yield* FlowExecutions.inspect(id)
          assert.deepStrictEqual(
            pending.map(({ command, waitsFor }) => [command, waitsFor]),
            [["suspend", "pay (attempt 1) to end"]]
          )
          assert.match(
            summary,
            /^running, suspend requested at \S+, which waits for pay \(attempt 1\) to end: runs pay/
          )
          yield* made.gate.open
          yield* stands(id, "suspended")
          assert.deepStrictEqual((yield* FlowExecutions.inspect(id)).pending, [])
          assert.deepStrictEqual(made.did, ["reserve", "pay"])
        }).pipe(Effect.provideContext(context))
      })
    )

    test(
      "to cancel ends a suspend that waits for a step, and the undos run",
      Effect.gen(function* () {
        const made = makeFlow()
        const { context, id } = yield* paying(made)
        yield* Effect.gen(function* () {
          yield* FlowExecutions.suspend(id)
          yield* FlowExecutions.cancel(id)
          assert.strictEqual((yield* Effect.flip(FlowExecutions.suspend(id)))._tag, "ExecutionConflict")
          yield* made.gate.open
          yield* stands(id, "cancelled")
          assert.deepStrictEqual(made.did, ["reserve", "pay", "release"])
        }).pipe(Effect.provideContext(context))
      })
    )

    test(
      "to resume withdraws a suspend that waits for a step; the last one counts",
      Effect.gen(function* () {
        const made = makeFlow()
        const { context, id } = yield* paying(made)
        yield* Effect.gen(function* () {
          yield* FlowExecutions.suspend(id)
          yield* FlowExecutions.resume(id)
          yield* FlowExecutions.suspend(id)
          yield* FlowExecutions.resume(id)
          assert.deepStrictEqual((yield* FlowExecutions.inspect(id)).pending, [])
          yield* made.gate.open
          yield* stands(id, "completed")
          assert.deepStrictEqual(made.did, ["reserve", "pay", "send"])
        }).pipe(Effect.provideContext(context))
      })
    )

    test(
      "to suspend what is halted keeps it from the next deployment, and says why it halted",
      Effect.gen(function* () {
        const broken = makeFlow(Latch.makeUnsafe(true), true)
        const first = yield* begin(broken)
        const id = yield* Effect.provideContext(Flow.submit(broken.flow, "one"), first.context)
        yield* Effect.gen(function* () {
          yield* stands(id, "halted")
          yield* FlowExecutions.suspend(id)
        }).pipe(Effect.provideContext(first.context))
        yield* first.stop
        const mended = makeFlow(Latch.makeUnsafe(true))
        const next = yield* begin(mended)
        yield* Effect.gen(function* () {
          assert.strictEqual(yield* Flow.execute(mended.flow, "two"), "send")
          assert.strictEqual(yield* stateOf(id), "suspended")
          assert.match((yield* FlowExecutions.inspect(id)).summary, /a bug/)
          yield* FlowExecutions.resume(id)
          yield* stands(id, "completed")
        }).pipe(Effect.provideContext(next.context))
      })
    )

    test(
      "has an id by which a repeat is one, who gave it, and an outcome",
      Effect.gen(function* () {
        const made = makeFlow()
        const { context, id } = yield* paying(made)
        yield* Effect.gen(function* () {
          yield* FlowExecutions.suspend(id, { id: "one", by: "Ada" })
          const { pending, summary } = yield* FlowExecutions.inspect(id)
          assert.deepStrictEqual(
            pending.map(({ by }) => by),
            ["Ada"]
          )
          assert.match(summary, /suspend requested by Ada at /)
          yield* FlowExecutions.resume(id, { id: "two", by: "Grace" })
          yield* FlowExecutions.suspend(id, { id: "one", by: "Ada" })
          assert.strictEqual((yield* Effect.flip(FlowExecutions.retry(id, { id: "one" })))._tag, "ExecutionConflict")
          yield* FlowExecutions.cancel(id, { id: "three" })
          yield* FlowExecutions.cancel(id, { id: "four" })
          yield* made.gate.open
          yield* stands(id, "cancelled")
          yield* FlowExecutions.cancel(id, { id: "five" })
          assert.deepStrictEqual(made.did, ["reserve", "pay", "release"])
          const { commands } = yield* FlowExecutions.inspect(id)
          assert.deepStrictEqual(
            commands.map(({ by, command, id, outcome, round }) => [id, command, by, round, outcome]),
            [
              ["one", "suspend", "Ada", 0, "superseded"],
              ["two", "resume", "Grace", 0, "applied"],
              ["three", "cancel", null, 0, "applied"],
              ["four", "cancel", null, 0, "applied"],
              ["five", "cancel", null, 0, "too late"]
            ]
          )
        }).pipe(Effect.provideContext(context))
      })
    )

    test(
      "of an earlier round is void",
      Effect.gen(function* () {
        const made = makeFlow()
        const { context, id } = yield* paying(made)
        yield* Effect.gen(function* () {
          yield* FlowExecutions.suspend(id, { id: "one" })
          yield* FlowExecutions.terminate(id, { id: "two" })
          yield* made.gate.open
          yield* FlowExecutions.retry(id, { id: "three", from: "reserve" })
          yield* stands(id, "completed")
          const { commands } = yield* FlowExecutions.inspect(id)
          assert.deepStrictEqual(
            commands.map(({ id, outcome, round }) => [id, outcome, round]),
            [
              ["one", "superseded", 0],
              ["two", "applied", 0],
              ["three", "applied", 1]
            ]
          )
        }).pipe(Effect.provideContext(context))
      })
    )

    const many = sized(100, 400)

    test(
      `to cancel counts when it comes with a suspend, ${many} times`,
      Effect.gen(function* () {
        const waiting = Flow.make("waiting", {
          version: 1,
          input: Schema.String,
          success: Schema.Void,
          error: Schema.Never,
          idempotencyKey: (key) => key,
          run: () => Flow.sleep("a day", "1 day")
        })
        const { context } = yield* begin({ flow: waiting })
        const one = Effect.fnUntraced(function* (n: number) {
          const id = yield* Flow.submit(waiting, `${n}`)
          yield* stands(id, "waiting")
          const cancelled = Effect.andThen(Effect.sleep(n % 5), FlowExecutions.cancel(id))
          yield* Effect.all([Effect.ignore(FlowExecutions.suspend(id)), cancelled], { concurrency: "unbounded" })
          yield* stands(id, "cancelled")
        })
        const all = Array.from({ length: many }, (_, n) => n)
        yield* Effect.provideContext(Effect.forEach(all, one, { concurrency: 20, discard: true }), context)
      })
    )

    test(
      `to cancel counts when it comes as the execution halts, ${many} times`,
      Effect.gen(function* () {
        const broken = makeFlow(Latch.makeUnsafe(), true)
        const { context } = yield* begin(broken)
        const one = Effect.fnUntraced(function* (n: number) {
          const id = yield* Flow.submit(broken.flow, `${n}`)
          yield* broken.gate.await
          yield* Effect.sleep(n % 7)
          yield* FlowExecutions.cancel(id)
          yield* stands(id, "cancelled")
        })
        const all = Effect.forEach(
          Array.from({ length: many }, (_, n) => n),
          one,
          { concurrency: many, discard: true }
        )
        const begun = until(Effect.sync(() => broken.did.filter((name) => name === "pay").length === many))
        const opened = Effect.andThen(begun, broken.gate.open)
        yield* Effect.provideContext(Effect.all([all, opened], { concurrency: 2, discard: true }), context)
      })
    )
  })
}

/** The process waits for ten seconds until it leaves a step. */
export const restartedCommands = ({ name, store }: Suite) => {
  describe(`a command ${name}, over a restart`, () => {
    const test = testOn(store)

    test(
      "to suspend counts after the next start, when the process ended before the step did",
      Effect.gen(function* () {
        const made = makeFlow()
        const { context, id, stop } = yield* paying(made)
        yield* Effect.provideContext(FlowExecutions.suspend(id), context)
        yield* stop
        const next = yield* begin(made)
        yield* Effect.gen(function* () {
          yield* stands(id, "suspended")
          assert.deepStrictEqual(made.did, ["reserve", "pay"])
          yield* FlowExecutions.resume(id)
          yield* made.gate.open
          yield* stands(id, "completed")
          assert.deepStrictEqual(made.did, ["reserve", "pay", "pay", "send"])
        }).pipe(Effect.provideContext(next.context))
      })
    )
  })
}
