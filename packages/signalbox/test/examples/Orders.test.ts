import { assert, it } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Testing from "signalbox/Testing"

/** The shop is closed for the first hour. */
const order = Task.make("order", {
  input: Schema.Struct({ article: Schema.String }),
  output: Schema.Struct({ ordered: Schema.String }),
  run: Effect.fnUntraced(function* ({ payload: { article } }) {
    const now = yield* Clock.currentTimeMillis
    if (now < 3_600_000)
      return yield* new Task.ApplicationFailure({
        code: "CLOSED",
        message: "come back later"
      })
    return { ordered: article }
  })
})

it.effect("orders once the shop has opened", () =>
  Effect.gen(function* () {
    const process = yield* Processes.put({
      name: "orders",
      steps: [
        {
          name: "order",
          task: { name: "order" },
          retry: { max_attempts: 2, delay_seconds: 3600 }
        }
      ]
    })
    const run = yield* ProcessRuns.start(process.id, {
      payloads: [{ article: "lamp" }]
    })
    if (!run.started) return assert.fail("not started")

    yield* Testing.settle
    assert.strictEqual((yield* ProcessRuns.get(run.id)).state, "in_progress")

    yield* Testing.advance("1 hour")
    assert.strictEqual((yield* ProcessRuns.get(run.id)).state, "completed")
  }).pipe(Effect.provide(Testing.layer({ tasks: [order] })))
)
