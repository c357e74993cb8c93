/** Steps whose next attempt is due when their execution is suspended. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { inProcess } from "./support/Engines.ts"
import { flowOf, Refused } from "./support/Flows.ts"
import { restarting, stateOf } from "./support/Running.ts"
import { advance } from "./support/Time.ts"

it.effect(
  "a suspend lets no attempt begin that is due, and none counts as cut off when it is resumed a week later",
  () =>
    Effect.gen(function* () {
      let calls = 0
      const pay = Flow.step("pay", {
        input: Schema.Void,
        success: Schema.Number,
        error: Refused,
        retry: { attempts: 5, delay: "1 minute" },
        run: () =>
          Effect.suspend(() => (++calls === 1 ? Effect.fail(new Refused({ why: "busy" })) : Effect.succeed(calls)))
      })
      const flow = flowOf(Schema.Number, () => pay(undefined))
      const id = yield* inProcess(
        Flow.layer(flow),
        Effect.tap(Flow.submit(flow, undefined), () => advance("1 second"))
      )
      yield* inProcess(Layer.empty, FlowExecutions.suspend(id))
      yield* advance("2 minutes")
      yield* inProcess(
        Flow.layer(flow),
        Effect.gen(function* () {
          yield* advance("1 second")
          assert.strictEqual(yield* stateOf(id), "suspended")
          const steps = yield* FlowExecutions.steps(id)
          assert.deepStrictEqual(
            steps.map(({ attempt, state }) => [attempt, state]),
            [[1, "retrying"]]
          )
          yield* advance("200 hours")
          yield* FlowExecutions.resume(id)
          yield* advance("1 second")
          assert.strictEqual(yield* stateOf(id), "completed")
        })
      )
      assert.strictEqual(calls, 2)
    }).pipe(Effect.provide(restarting))
)
