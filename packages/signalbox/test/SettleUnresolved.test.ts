/** Settling failed items, over the real service. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import { settleUnresolved } from "@signalbox/flows/SettleUnresolved"
import { sized } from "@signalbox/testkit/Soak"
import * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Testing from "../src/Testing.ts"

/** Fails until so many minutes after the start of time, or always because the data is invalid. */
const order = Task.make("order", {
  input: Schema.Struct({ opens: Schema.optionalKey(Schema.Finite), bad: Schema.optionalKey(Schema.Boolean) }),
  output: Schema.Struct({ at: Schema.Finite }),
  run: Effect.fnUntraced(function* ({ payload: { bad, opens = 0 } }) {
    if (bad === true) return yield* new Task.BusinessFailure({ code: "BAD", message: "no such article" })
    const at = yield* Clock.currentTimeMillis
    if (at < opens * 60_000) return yield* new Task.ApplicationFailure({ code: "CLOSED", message: "come back later" })
    return { at }
  })
})

const program = Flow.layer(settleUnresolved).pipe(
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory)),
  Layer.provideMerge(Layer.fresh(Testing.layer({ tasks: [order] })))
)

/** A run over items with these payloads that has ended unresolved. */
const unresolved = Effect.fnUntraced(function* (
  payloads: ReadonlyArray<{ readonly opens?: number; readonly bad?: boolean }>
) {
  const { id } = yield* Processes.put({ name: "orders", steps: [{ name: "order", task: { name: "order" } }] })
  const run = yield* ProcessRuns.start(id, { payloads })
  if (!run.started) return yield* Effect.die("not started")
  yield* Testing.settle
  assert.strictEqual((yield* ProcessRuns.get(run.id)).state, "unresolved")
  return run.id
})

const test = <E>(title: string, body: Effect.Effect<void, E, Layer.Success<typeof program>>) =>
  it.effect(title, () => Effect.provide(body, program))

describe("settling an unresolved run", () => {
  test(
    "tries application failures again, later and later, until all is well",
    Effect.gen(function* () {
      const run = yield* unresolved([{}, { opens: 2 }, { opens: 6 }])
      const result = yield* Testing.elapse(Flow.execute(settleUnresolved, { run }))
      // After 1 minute, 2 more and 4 more.
      assert.deepStrictEqual(result, { state: "completed", retried: 2 + 2 + 1, markedDone: 0, left: 0 })
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
    })
  )

  test(
    "gives up after as many attempts as it is told, and leaves what it is told to leave",
    Effect.gen(function* () {
      const run = yield* unresolved([{ opens: 10_000 }])
      const before = yield* Clock.currentTimeMillis
      const delay = sized(3, 10)
      const input = { run, attempts: 2, delayMillis: delay * 60_000, backoff: 1, rest: "leave" as const }
      const result = yield* Testing.elapse(Flow.execute(settleUnresolved, input))
      assert.deepStrictEqual(result, { state: "unresolved", retried: 2, markedDone: 0, left: 1 })
      const minutes = ((yield* Clock.currentTimeMillis) - before) / 60_000
      assert.isTrue(minutes >= 2 * delay && minutes < 2.5 * delay, `${minutes} minutes`)
    })
  )

  test(
    "marks business failures as done at once, without a retry",
    Effect.gen(function* () {
      const run = yield* unresolved([{}, { bad: true }, { bad: true }])
      const before = yield* Clock.currentTimeMillis
      const result = yield* Testing.elapse(Flow.execute(settleUnresolved, { run, rest: "markBusinessDone" }))
      assert.deepStrictEqual(result, { state: "completed", retried: 0, markedDone: 2, left: 0 })
      assert.isBelow((yield* Clock.currentTimeMillis) - before, 60_000)
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
    })
  )

  test(
    "marks only business failures as done when others are left",
    Effect.gen(function* () {
      const run = yield* unresolved([{ opens: 10_000 }, { bad: true }])
      const input = { run, attempts: 1, rest: "markBusinessDone" as const }
      const result = yield* Testing.elapse(Flow.execute(settleUnresolved, input))
      assert.deepStrictEqual(result, { state: "unresolved", retried: 1, markedDone: 1, left: 1 })
      const [left, ...more] = yield* Stream.runCollect(WorkItems.stream({ processRun: run, state: "failed" }))
      assert.strictEqual(left?.exception?.code, "CLOSED")
      assert.deepStrictEqual(more, [])
    })
  )

  for (const approved of [true, false]) {
    test(
      `asks a person about what is left, who ${approved ? "approves" : "refuses"}`,
      Effect.gen(function* () {
        const run = yield* unresolved([{}, { bad: true }, { opens: 10_000 }])
        const id = yield* Flow.submit(settleUnresolved, { run, attempts: 1 })
        yield* Testing.advance(`${sized(3, 10)} minutes`)
        const { now } = yield* FlowExecutions.inspect(id)
        assert.deepStrictEqual(
          now.map(({ kind, path }) => `${kind} ${path}`),
          ["signal escalation"]
        )
        yield* Testing.advance(`${sized(4, 20)} minutes`)
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "unresolved")
        yield* FlowExecutions.signal(id, "escalation", { approved, by: "ann", comment: null })
        const result = yield* Testing.elapse(Flow.execute(settleUnresolved, { run }))
        assert.deepStrictEqual(
          result,
          approved
            ? { state: "completed", retried: 1, markedDone: 2, left: 0 }
            : { state: "unresolved", retried: 1, markedDone: 0, left: 2 }
        )
        assert.strictEqual((yield* ProcessRuns.get(run)).state, result.state)
      })
    )
  }

  test(
    "does nothing about a run without failures",
    Effect.gen(function* () {
      const run = yield* unresolved([{ bad: true }])
      const failed = yield* Stream.runCollect(WorkItems.stream({ processRun: run, state: "failed" }))
      yield* WorkItems.markAsDone(failed.map(({ id }) => id))
      const result = yield* Testing.elapse(Flow.execute(settleUnresolved, { run }))
      assert.deepStrictEqual(result, { state: "completed", retried: 0, markedDone: 0, left: 0 })
    })
  )

  test(
    "runs plainly too",
    Effect.gen(function* () {
      const run = yield* unresolved([{ opens: 2 }])
      const running = yield* Effect.forkChild(Flow.run(settleUnresolved, { run }))
      const result = yield* Testing.elapse(Fiber.join(running))
      assert.deepStrictEqual(result, { state: "completed", retried: 2, markedDone: 0, left: 0 })
    })
  )
})
