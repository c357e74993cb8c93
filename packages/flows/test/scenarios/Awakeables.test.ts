import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { awaited, awakeable } from "../support/Awakeables.ts"
import * as S from "../support/Scenarios.ts"

const { program, resultOf, scenario, scenarios, seconds } = S

const holds = S.flow("holds", () => awaited("one"), { signals: [awakeable] })

scenarios("awakeables and durable promises", () => {
  scenario(
    "restate: Signals resolve",
    Effect.gen(function* () {
      const resolves = Effect.gen(function* () {
        const id = yield* S.waiting(holds)
        yield* FlowExecutions.signal(id, "awakeable[one]", { resolved: "hello" })
        return yield* resultOf(holds, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(holds), resolves), "hello")
    })
  )

  scenario(
    "restate: Signals reject",
    Effect.gen(function* () {
      const rejects = Effect.gen(function* () {
        const id = yield* S.waiting(holds)
        yield* FlowExecutions.signal(id, "awakeable[one]", { rejected: "boom" })
        return yield* S.errorOf(holds, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(holds), rejects), new S.Refused({ why: "boom" }))
    })
  )

  scenario(
    "restate: AwakeableIngressEndpointTest completeWithSuccess",
    Effect.gen(function* () {
      const completes = Effect.gen(function* () {
        const id = yield* S.waiting(holds)
        // Its name is read from what the execution waits for, as a page for people does it.
        const [wait] = (yield* FlowExecutions.inspect(id)).now
        yield* FlowExecutions.signal(id, wait?.path ?? "", { resolved: "solved!" })
        return yield* resultOf(holds, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(holds), completes), "solved!")
    })
  )

  scenario(
    "restate: AwakeableIngressEndpointTest completeWithFailure",
    Effect.gen(function* () {
      const completes = Effect.gen(function* () {
        const id = yield* S.waiting(holds)
        const wrong = yield* Effect.flip(FlowExecutions.signal(id, "awakeable[one]", { failed: "what" }))
        yield* FlowExecutions.signal(id, "awakeable[one]", { rejected: "my bad!" })
        return [wrong._tag, yield* S.errorOf(holds, "x")]
      })
      const expected = ["InvalidSignal", new S.Refused({ why: "my bad!" })]
      assert.deepStrictEqual(yield* program(Flow.layer(holds), completes), expected)
    })
  )

  scenario(
    "restate: WorkflowAPI setAndResolve",
    Effect.gen(function* () {
      const resolves = Effect.gen(function* () {
        const id = yield* S.waiting(holds)
        const { signal } = yield* Flow.handle(holds, "x")
        yield* signal(awakeable, { resolved: "Till" }, { key: "one" })
        const results = [yield* resultOf(holds, "x"), yield* resultOf(holds, "x")]
        // Submitted again it is the same one, with its result.
        assert.strictEqual(yield* Flow.submit(holds, "x"), id)
        return [...results, (yield* FlowExecutions.get(id)).result]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(holds), resolves), ["Till", "Till", "Till"])
    })
  )

  scenario(
    "restate: durable promise resolved before it is awaited",
    Effect.gen(function* () {
      const later = S.flow("later", () => Effect.andThen(Flow.sleep("nap", seconds(20)), awaited("one")), {
        signals: [awakeable]
      })
      const early = Effect.gen(function* () {
        const id = yield* S.waiting(later)
        yield* FlowExecutions.signal(id, "awakeable[one]", { resolved: "early" })
        const other = yield* Effect.flip(FlowExecutions.signal(id, "awakeable[one]", { resolved: "late" }))
        return [other._tag, yield* resultOf(later, "x")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(later), early), ["SignalConflict", "early"])
    })
  )
})
