/**
 * Ready steps over a whole control room: a run of payloads in one request, and outputs by a schema.
 */
import { assert, describe, it } from "@effect/vitest"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Process from "@signalbox/api/Process"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as ProcessSteps from "@signalbox/flows/ProcessSteps"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import * as Testing from "../src/Testing.ts"

const Day = Schema.Struct({ day: Schema.Date })

const echo = Task.make("echo", {
  input: Schema.Json,
  output: Schema.Json,
  run: ({ payload }) => Effect.succeed(payload)
})

/** What is deployed under this name, by whoever has no code for it, with the types of its outputs. */
const echoed = Process.make("echo", { steps: [{ name: "echo", input: Schema.Json, output: Day }] })

const days = Flow.make("days", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, payloads: Schema.Array(Schema.Json) }),
  success: Schema.Array(Schema.Finite),
  error: ProcessSteps.error,
  idempotencyKey: ({ payloads }) => JSON.stringify(payloads),
  run: Effect.fnUntraced(function* ({ payloads, process }) {
    const run = yield* Steps.startRun({ process, payloads })
    yield* Steps.awaitCompletion({ run })
    const outputs = yield* ProcessSteps.collectOutputs(echoed, { run })
    return outputs.map(({ payload }) => payload.day.getUTCDate())
  })
})

const many = Flow.make("many", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, payloads: Schema.Array(Schema.Json) }),
  success: Steps.createWorkItems.success,
  error: Steps.createWorkItems.error,
  idempotencyKey: () => "many",
  run: (input) => Steps.createWorkItems(input)
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
      assert.strictEqual(failed._tag, "InvalidOutput")
      assert.match(failed.message, /^the output \S+: day: /)
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
      const [first] = yield* Stream.runCollect(Stream.take(Process.outputs(echoed, { run: run.id }), 1))
      assert.strictEqual(first?.payload.day.getUTCFullYear(), 2026)
      const error = yield* Effect.flip(Stream.runDrain(Process.outputs(echoed, { run: run.id })))
      assert.strictEqual(error._tag, "InvalidOutput")
    }).pipe(Effect.provide(layer))
  )

  it.effect("make many work items with one request for each 1,000, in the order of their payloads", () =>
    Effect.gen(function* () {
      const process = yield* put
      const { httpClient, origin, workspaceId } = yield* Testing.Testing
      const { apiKey } = yield* Testing.Testing
      let requests = 0
      const counting = HttpClient.mapRequest(httpClient, (request) => {
        if (request.url.includes("/work-items/bulk")) requests++
        return request
      })
      const counted = ControlRoom.layerHttpClient({ baseUrl: origin, workspaceId, apiKey }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, counting))
      )
      const payloads = Array.from({ length: 2_001 }, (_, n) => n)
      const ids = yield* Effect.provide(Flow.run(many, { process, payloads }), counted)
      assert.strictEqual(requests, 3)
      assert.lengthOf(new Set(ids), 2_001)
      const [first, last] = [ids[0], ids[2_000]]
      if (first === undefined || last === undefined) return assert.fail("none was made")
      assert.strictEqual((yield* WorkItems.get(first)).payload, 0)
      assert.strictEqual((yield* WorkItems.get(last)).payload, 2_000)
    }).pipe(Effect.provide(layer))
  )

  it.effect("make all work items of a request or none", () =>
    Effect.gen(function* () {
      const process = yield* put
      const tooLarge = "x".repeat(1_100_000)
      const error = yield* Effect.flip(WorkItems.createMany({ process, payloads: [1, tooLarge] }))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.match(error.message, /payloads\.1/)
      assert.deepStrictEqual(yield* Stream.runCollect(WorkItems.stream({ process })), [])
    }).pipe(Effect.provide(layer))
  )
})
