/**
 * Ready steps over a whole control room: a run of payloads in one request, and outputs by a schema.
 */
import { assert, describe, it } from "@effect/vitest"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Testing from "../src/Testing.ts"

const Day = Schema.Struct({ day: Schema.Date })

const echo = Task.make("echo", {
  input: Schema.Json,
  output: Schema.Json,
  run: ({ payload }) => Effect.succeed(payload)
})

const collectDays = Steps.collectOutputsAs(Day)

const days = Flow.make("days", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, payloads: Schema.Array(Schema.Json) }),
  success: Schema.Array(Schema.Finite),
  error: Flow.errorsOf(Steps.startRun, Steps.awaitCompletion, collectDays),
  idempotencyKey: ({ payloads }) => JSON.stringify(payloads),
  run: Effect.fnUntraced(function* ({ payloads, process }) {
    const run = yield* Steps.startRun({ process, payloads })
    yield* Steps.awaitCompletion({ run })
    const outputs = yield* collectDays({ run })
    return outputs.map(({ payload }) => payload.day.getUTCDate())
  })
})

const put = Effect.map(
  Processes.put({ name: "echo", steps: [{ name: "echo", task: { name: "echo" } }] }),
  ({ id }) => id
)
const layer = Layer.provideMerge(Testing.layer({ tasks: [echo] }), Logger.layer([]))

describe("ready steps", () => {
  it.effect("start a run with payloads, and collect outputs by a schema", () =>
    Effect.gen(function* () {
      const process = yield* put
      const payloads = [{ day: "2026-11-20T00:00:00.000Z" }, { day: "2026-11-21T00:00:00.000Z" }]
      assert.deepStrictEqual(yield* Testing.elapse(Flow.run(days, { process, payloads })), [20, 21])
    }).pipe(Effect.provide(layer))
  )

  it.effect("say which output does not fit, and hold nothing of it", () =>
    Effect.gen(function* () {
      const process = yield* put
      const failed = yield* Effect.flip(Testing.elapse(Flow.run(days, { process, payloads: [{ day: "secret" }] })))
      assert.strictEqual(failed._tag, "UnexpectedPayload")
      assert.match(failed.message, /^the payload of the output \S+ is not what was expected: day: /)
      assert.notInclude(failed.message, "secret")
    }).pipe(Effect.provide(layer))
  )

  for (const [what, payloads] of [
    ["none", []],
    ["more than 1,000", Array.from({ length: 1001 }, () => 1)]
  ] as const) {
    it.effect(`refuse ${what} payloads before anything is sent`, () =>
      Effect.gen(function* () {
        const process = yield* put
        const exit = yield* Effect.exit(Flow.run(days, { process, payloads }))
        assert.match(String(exit), /payloads/)
        assert.deepStrictEqual(yield* Stream.runCollect(ProcessRuns.stream()), [])
      }).pipe(Effect.provide(layer))
    )
  }

  it.effect("stream outputs by a schema outside of a flow", () =>
    Effect.gen(function* () {
      const run = yield* ProcessRuns.start(yield* put, { payloads: [{ day: "2026-11-20T00:00:00.000Z" }, {}] })
      if (!run.started) return assert.fail("not started")
      yield* Testing.settle
      const [first] = yield* Stream.runCollect(Stream.take(Outputs.streamAs(Day, run.id), 1))
      assert.strictEqual(first?.payload.day.getUTCFullYear(), 2026)
      const error = yield* Effect.flip(Stream.runDrain(Outputs.streamAs(Day, run.id)))
      assert.strictEqual(error._tag, "UnexpectedPayload")
    }).pipe(Effect.provide(layer))
  )
})
