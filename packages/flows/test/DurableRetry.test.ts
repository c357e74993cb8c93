/** Ready steps of durable executions wait for an unavailable control room. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Steps from "../src/ControlRoomSteps.ts"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { makeStep } from "../src/Step.ts"
import { Diary, flowOf, Refused } from "./support/Flows.ts"
import { errorOf, memory } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

/** A control room that is unavailable at first. */
const room = Effect.gen(function* () {
  const state = { status: 503, keys: new Array<string | undefined>() }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer((request, response) => {
        state.keys.push(request.headers["idempotency-key"]?.toString())
        request.resume()
        response.writeHead(state.status, { "content-type": "application/json" }).end(JSON.stringify({ accepted: true }))
      })
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (server) => Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const layer = ControlRoom.layer({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: Redacted.make("key"),
    workspaceId: WorkspaceId.make("workspace")
  })
  return { state, layer }
})

/** Lets requests be answered, and time go by. */
const pass = (seconds: number) =>
  Effect.forEach(
    Array.from({ length: seconds }, (_, second) => second),
    () => advance("1 second"),
    { discard: true }
  )

describe("a ready step of a durable execution", () => {
  const flow = Flow.make("stopping", {
    version: 1,
    input: Schema.Void,
    success: Schema.Void,
    error: Steps.stopRun.error,
    idempotencyKey: () => "one",
    run: () => Effect.asVoid(Steps.stopRun({ run: ProcessRunId.make("run") }))
  })

  it.effect(
    "is retried visibly with the same key while the control room is unavailable for minutes, and then completes",
    () =>
      Effect.gen(function* () {
        const { layer, state } = yield* room
        yield* Effect.gen(function* () {
          const id = yield* Flow.submit(flow, undefined)
          yield* pass(180)
          const { now, summary } = yield* FlowExecutions.inspect(id)
          assert.strictEqual(now[0]?.path, "stopRun")
          assert.isAbove(now[0]?.attempt ?? 0, 2)
          assert.match(summary, /stopRun/)
          state.status = 202
          const exit = yield* throughTime(Flow.execute(flow, undefined))
          assert.isTrue(Exit.isSuccess(exit), `${errorOf(exit)}`)
          const attempts = (yield* FlowExecutions.steps(id)).length
          // The client sends at most once per attempt: under virtual time one may be over before it was sent.
          assert.isAtMost(state.keys.length, attempts)
          assert.strictEqual(new Set(state.keys).size, 1)
        }).pipe(
          Effect.provide(
            Layer.provideMerge(Layer.provide(Flow.layer(flow), layer), Layer.fresh(FlowEngine.layerMemory))
          )
        )
      })
  )

  it.effect("is given up after a day, with the error of its last attempt", () =>
    Effect.gen(function* () {
      const away = makeStep(
        "away",
        {
          input: Schema.Void,
          success: Schema.Void,
          error: Refused,
          run: () => Effect.andThen(Diary.write("tried"), Effect.fail(new Refused({ why: "away" })))
        },
        { transient: () => ({ retryAfterMillis: 1_000 }) }
      )
      const flow = flowOf(Schema.Void, () => away(undefined))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("23 hours")
        assert.strictEqual((yield* FlowExecutions.get(id)).state, "waiting")
        yield* advance("2 hours")
        assert.strictEqual((yield* FlowExecutions.get(id)).state, "failed")
        assert.isAbove((yield* Diary.read).length, (24 * 60) / 6)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("is given up after a day, also when pauses are so short that it never leaves the memory", () =>
    Effect.gen(function* () {
      const away = makeStep(
        "away",
        {
          input: Schema.Void,
          success: Schema.Void,
          error: Refused,
          run: () => Effect.fail(new Refused({ why: "away" }))
        },
        { transient: () => ({ retryAfterMillis: 600_000 }) }
      )
      const busy = Flow.step("busy", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.sleep("40 hours")
      })
      const flow = flowOf(Schema.Void, () =>
        Effect.asVoid(Flow.all("both", [away(undefined), busy(undefined)], { concurrency: 2 }))
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("26 hours")
        assert.strictEqual((yield* FlowExecutions.get(id)).state, "failed")
        yield* advance("20 hours")
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})
