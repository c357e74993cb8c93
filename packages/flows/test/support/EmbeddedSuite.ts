/**
 * What the embedded engine does beyond what every engine does: what it keeps, for whom, and at what cost.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { FlowEngine, type FlowEngineError } from "../../src/FlowEngine.ts"
import { FlowPayload, StepInfo, workflowName } from "../../src/internal/FlowPayload.ts"
import { FlowStore } from "../../src/internal/FlowStore.ts"
import { nap } from "./EngineConformance.ts"
import { isComplete, isSuspended, until } from "./Polling.ts"
import { parts } from "./Engines.ts"

type Engine = Layer.Layer<FlowEngine, FlowEngineError>

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

const flow = { flow: "orders", version: 2 }

export const payload = (key: string, generation = 1, resumes: FlowPayload["resumes"] = null): FlowPayload => ({
  ...flow,
  key,
  generation,
  input: { order: key },
  resumes
})

/** A flow as the interpreter makes a workflow of it. */
export const Orders = Workflow.make(workflowName(flow), {
  payload: FlowPayload,
  success: Schema.Json,
  error: Refused,
  idempotencyKey: ({ generation, key }) => `${key}/${generation}`
})

const idOf = (payload: FlowPayload) => Orders.executionId(payload)

const execute = (payload: FlowPayload) => Orders.execute(payload)

export const poll = (id: string) => Orders.poll(id)

const step = (name: string, execute: Effect.Effect<string, Refused>) =>
  Activity.make({
    name: `part/${name}`,
    success: Schema.String,
    error: Refused,
    execute,
    annotations: Context.make(StepInfo, { name, kind: "step", input: { of: name } })
  })

/** One life of an engine, with what is registered in it. */
export const life = <A, E1, E2>(
  engine: Engine,
  workflows: Layer.Layer<never, E1, WorkflowEngine>,
  body: Effect.Effect<A, E2, WorkflowEngine | FlowStore>
) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.provideMerge(workflows, parts(engine))), (context) =>
      Effect.provideContext(body, context)
    )
  )

export const embedded = (name: string, place: Effect.Effect<Engine, never, Scope.Scope>): void => {
  const test = (title: string, body: (engine: Engine) => Effect.Effect<void, unknown>) =>
    it.live(title, () => Effect.scoped(Effect.flatMap(place, body)))

  describe(name, () => {
    test("an execution is claimed once for a flow and a key, whichever version asks", (engine) =>
      life(
        engine,
        Layer.empty,
        Effect.gen(function* () {
          const store = yield* FlowStore
          const first = yield* store.claim("id 1", payload("a"))
          assert.deepInclude(first, { id: "id 1", state: "running", ...payload("a"), result: null, endedAt: null })
          assert.deepStrictEqual(yield* store.claim("id 2", { ...payload("a"), version: 3 }), first)
          assert.deepStrictEqual(yield* store.find("id 1"), first)
          assert.isNull(yield* store.find("id 2"))
          const claims = yield* Effect.forEach(["x", "y", "z"], (id) => store.claim(id, payload("b")), {
            concurrency: "unbounded"
          })
          assert.strictEqual(new Set(claims.map(({ id }) => id)).size, 1)
        })
      ))

    test("the next generation of a key follows the one before, and is the one that is joined", (engine) =>
      life(
        engine,
        Layer.empty,
        Effect.gen(function* () {
          const store = yield* FlowStore
          yield* store.claim("id 1", payload("a"))
          const resumes = { execution: "id 1", before: "part/ship" }
          const next = yield* store.claim("id 2", payload("a", 2, resumes))
          assert.deepInclude(next, { id: "id 2", generation: 2, resumes })
          assert.strictEqual((yield* store.claim("id 3", payload("a"))).id, "id 2")
          const { id: oldest, startedAt } = yield* store.claim("id 4", payload("b"))
          const all = yield* store.list({ limit: 10 })
          assert.deepStrictEqual(all.map(({ id }) => id).sort(), ["id 1", "id 2", "id 4"])
          const [newest, ...others] = all
          assert(newest !== undefined)
          assert.deepStrictEqual(yield* store.list({ before: newest, limit: 10 }), others)
          assert.deepStrictEqual(yield* store.list({ before: { id: oldest, startedAt }, flow: "other", limit: 10 }), [])
        })
      ))

    test("each attempt of a step is a row: what it is, what it gave, why it failed, and when", (engine) =>
      life(
        engine,
        Orders.toLayer(
          Effect.fnUntraced(function* () {
            const flaky = step(
              "flaky",
              Effect.flatMap(Activity.CurrentAttempt, (attempt) =>
                attempt === 1 ? Effect.fail(new Refused({ message: "not yet" })) : Effect.succeed("well")
              )
            )
            return yield* Activity.retry(flaky, { times: 2 })
          })
        ),
        Effect.gen(function* () {
          const store = yield* FlowStore
          const id = yield* idOf(payload("a"))
          yield* store.claim(id, payload("a"))
          assert.strictEqual(yield* execute(payload("a")), "well")
          const steps = yield* store.steps(id)
          const row = { path: "part/flaky", name: "flaky", kind: "step" as const, input: { of: "flaky" } }
          assert.strictEqual(steps.length, 2)
          assert.deepInclude(steps[0], {
            ...row,
            attempt: 1,
            state: "failed",
            value: { _tag: "Refused", message: "not yet" },
            failure: { kind: "failed", tag: "Refused", message: "not yet" }
          })
          assert.deepInclude(steps[1], { ...row, attempt: 2, state: "succeeded", value: "well", failure: null })
          for (const { endedAt, startedAt } of steps) assert.isAtLeast(endedAt, startedAt)
          const execution = yield* store.find(id)
          assert.deepInclude(execution, {
            ...payload("a"),
            state: "completed",
            result: "well",
            error: null,
            failure: null
          })
          assert.isNumber(execution?.endedAt)
        })
      ))

    test("an execution that failed keeps its error, one that died its defect's name, a cancelled one that it was", (engine) =>
      life(
        engine,
        Orders.toLayer(
          Effect.fnUntraced(function* ({ key }) {
            if (key === "waits") yield* nap("nap", "1 hour")
            return yield* key === "fails"
              ? Effect.fail(new Refused({ message: "no" }))
              : Effect.die(new RangeError("with a secret"))
          })
        ),
        Effect.gen(function* () {
          const store = yield* FlowStore
          for (const key of ["fails", "dies"]) yield* Effect.exit(execute(payload(key)))
          const waits = yield* Orders.execute(payload("waits"), { discard: true })
          yield* until(Effect.map(poll(waits), isSuspended))
          yield* Orders.interrupt(waits)
          yield* until(Effect.map(poll(waits), isComplete))
          const ends = yield* Effect.forEach(["fails", "dies", "waits"], (key) =>
            Effect.flatMap(idOf(payload(key)), store.find)
          )
          assert.deepStrictEqual(
            ends.map((end) => [end?.state, end?.result, end?.error, end?.failure]),
            [
              ["failed", null, { _tag: "Refused", message: "no" }, { kind: "failed", tag: "Refused", message: "no" }],
              ["failed", null, null, { kind: "died", tag: "RangeError", message: "RangeError" }],
              ["canceled", null, null, { kind: "interrupted", tag: null, message: "interrupted" }]
            ]
          )
        })
      ))

    test("waits for things outside are found by what they wait for, until their execution ends", (engine) =>
      life(
        engine,
        Orders.toLayer(() => nap("nap", "1 hour").pipe(Effect.as(null))),
        Effect.gen(function* () {
          const store = yield* FlowStore
          const id = yield* Orders.execute(payload("a"), { discard: true })
          const wait = (path: string, subject: string) => ({ execution: id, path, kind: "run", subject })
          yield* store.recordWait(wait("one", "run 1"))
          yield* store.recordWait(wait("one", "run 1"))
          yield* store.recordWait(wait("two", "run 2"))
          yield* store.recordWait({ ...wait("three", "run 1"), kind: "other" })
          assert.deepEqual(yield* store.waits("run"), [wait("one", "run 1"), wait("two", "run 2")])
          assert.deepEqual(yield* store.waits("run", "run 2"), [wait("two", "run 2")])
          yield* store.endWait(id, "two")
          assert.deepEqual(yield* store.waits("run"), [wait("one", "run 1")])
          yield* Orders.interrupt(id)
          yield* until(Effect.map(poll(id), isComplete))
          assert.deepEqual(yield* store.waits("run"), [])
        })
      ))

    test("executions of a workflow that is not registered stay and are listed, and go on when it is", (engine) =>
      Effect.gen(function* () {
        let bodies = 0
        const orders = Orders.toLayer(() =>
          Effect.as(
            Effect.sync(() => bodies++),
            "done"
          )
        )
        const id = yield* idOf(payload("a"))
        yield* life(
          engine,
          Layer.empty,
          Effect.flatMap(FlowStore, (store) => store.claim(id, payload("a")))
        )
        yield* life(
          engine,
          Layer.empty,
          Effect.gen(function* () {
            const store = yield* FlowStore
            const [listed] = yield* store.list({ flow: flow.flow, state: "running", limit: 10 })
            assert.strictEqual(listed?.id, id)
            const exit = yield* Effect.exit(execute(payload("a")))
            assert.include(String(exit), "the workflow orders@2 is not registered")
            yield* Effect.scoped(Effect.andThen(Layer.build(orders), until(Effect.map(poll(id), isComplete))))
          })
        )
        assert.strictEqual(bodies, 1)
      }))

    test("a second process is refused and told why, and let in when the first has ended", (engine) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Layer.build(engine)
            const error = yield* Effect.flip(Effect.scoped(Layer.build(Layer.fresh(engine))))
            assert.match(error.message, /another process (uses|runs the flows of)/)
          })
        )
        yield* Effect.scoped(Layer.build(Layer.fresh(engine)))
      }))
  })
}
