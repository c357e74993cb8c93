/** Durable flows over the real service: waiting for runs, callbacks, restarts. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as HttpClient from "effect/http/HttpClient"
import * as Stream from "effect/Stream"
import * as Schema from "effect/Schema"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as FlowCallbacks from "@signalbox/flows/FlowCallbacks"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as Task from "@signalbox/worker/Task"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Testing from "../src/Testing.ts"

/** Takes as many minutes as its input says. */
const slow = Task.make("slow", {
  input: Schema.Struct({ minutes: Schema.Finite }),
  output: Schema.Struct({ minutes: Schema.Finite }),
  run: ({ payload }) => Effect.as(Effect.sleep(payload.minutes * 60_000), payload)
})

const flow = Flow.make("slow", {
  version: 1,
  input: Schema.Struct({
    process: ProcessId,
    minutes: Schema.Array(Schema.Finite),
    timeoutMillis: Schema.optionalKey(Schema.Finite)
  }),
  success: Schema.Array(Schema.String),
  error: Schema.Union([Steps.createWorkItem.error, Steps.startRun.error, Steps.awaitCompletion.error]),
  idempotencyKey: ({ minutes }) => minutes.join(),
  run: ({ minutes, process, timeoutMillis }) =>
    Flow.forEach("run", minutes, { key: String, concurrency: "unbounded" }, (one) =>
      Effect.gen(function* () {
        const item = yield* Steps.createWorkItem({ process, payload: { minutes: one } })
        const run = yield* Steps.startRun({ process, workItems: [item] })
        const { state } = yield* Steps.awaitCompletion({
          run,
          ...(timeoutMillis === undefined ? {} : { timeoutMillis })
        })
        return state
      })
    )
})

const makeProcess = Effect.map(
  Processes.put({ name: "slow", steps: [{ name: "slow", task: { name: "slow" } }] }),
  ({ id }) => id
)

const service = Layer.fresh(Testing.layer({ tasks: [slow], workers: 6 }))
const engine = Layer.fresh(FlowEngine.layerMemory)

/** Programs that run one after the other on a file; each build is a new one. */
const restarting = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-durable-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => () =>
    Layer.fresh(Layer.provideMerge(Flow.layer(flow), FlowEngine.layerSqlite({ file: join(folder, "flows.db") })))
)

/** A client that counts its requests. */
const counting = () => {
  let requests = 0
  const layer = Layer.unwrap(
    Effect.map(Testing.Testing, ({ apiKey, httpClient, origin, workspaceId }) => {
      const counted = HttpClient.tapRequest(httpClient, () => Effect.sync(() => void requests++))
      return ControlRoom.layerHttpClient({ apiKey, baseUrl: origin, workspaceId }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, counted))
      )
    })
  )
  return { layer, requests: () => requests }
}

describe("a durable flow that awaits runs", () => {
  it.effect("gets their ends, of one or of many", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess
      yield* Effect.gen(function* () {
        const one = yield* Testing.elapse(Flow.execute(flow, { process, minutes: [2] }))
        assert.deepStrictEqual(one, ["completed"])
        const many = yield* Testing.elapse(Flow.execute(flow, { process, minutes: [0.5, 0.6, 0.7, 0.8, 0.9] }))
        assert.deepStrictEqual(
          many,
          Array.from({ length: 5 }, () => "completed")
        )
      }).pipe(Effect.provide(Flow.layer(flow)))
      assert.strictEqual((yield* Stream.runCollect(ProcessRuns.stream())).length, 6)
    }).pipe(Effect.provide(Layer.merge(engine, service)))
  )

  it.effect("fails as a plain one does when it takes too long", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess
      const input = { process, minutes: [2], timeoutMillis: 60_000 }
      const failureOf = <E, R>(run: Effect.Effect<unknown, E, R>) =>
        Effect.map(Testing.elapse(Effect.exit(run)), (exit) =>
          Exit.isFailure(exit) ? String(Cause.squash(exit.cause)).replace(/process-runs\/\S+/, "") : "no failure"
        )
      const plain = yield* failureOf(Flow.run(flow, input))
      const durable = yield* failureOf(Flow.execute(flow, input)).pipe(Effect.provide(Flow.layer(flow)))
      assert.match(plain, /Timeout: the run did not end within 60000 ms/)
      assert.strictEqual(durable, plain)
    }).pipe(Effect.provide(Layer.merge(engine, service)))
  )

  it.effect("is woken after a restart without a request", () =>
    Effect.gen(function* () {
      const program = yield* restarting
      const process = yield* makeProcess
      const id = yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, { process, minutes: [2] })
        yield* Testing.advance("1 minute")
        return id
      }).pipe(Effect.provide(program()))
      yield* Testing.advance("5 minutes")
      yield* Effect.gen(function* () {
        // Looking at an execution wakes none.
        const ended = Effect.repeat(FlowExecutions.get(id), {
          until: ({ state }) => state === "completed",
          schedule: Schedule.spaced("1 second")
        })
        yield* Testing.elapse(ended)
      }).pipe(Effect.provide(program()))
      assert.strictEqual((yield* Stream.runCollect(ProcessRuns.stream())).length, 1)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.effect("gets the end of a run at once, though the program before was still waiting for one when it ended", () =>
    Effect.gen(function* () {
      const program = yield* restarting
      const process = yield* makeProcess
      yield* Effect.andThen(Flow.submit(flow, { process, minutes: [30] }), Testing.advance("1 minute")).pipe(
        Effect.provide(program())
      )
      const seconds = yield* Effect.gen(function* () {
        const began = yield* Clock.currentTimeMillis
        yield* Testing.elapse(Flow.execute(flow, { process, minutes: [0.01] }))
        return ((yield* Clock.currentTimeMillis) - began) / 1_000
      }).pipe(Effect.provide(program()))
      assert.isBelow(seconds, 10)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.effect("polls all its runs in one request, and not often", () => {
    const { layer, requests } = counting()
    return Effect.gen(function* () {
      const process = yield* makeProcess
      const minutes = [3, 3.1, 3.2, 3.3, 3.4, 3.5]
      const before = requests()
      yield* Testing.elapse(Flow.execute(flow, { process, minutes })).pipe(Effect.provide(Flow.layer(flow)))
      // Each run alone would be polled about 45 times.
      assert.isBelow(requests() - before, 150)
    }).pipe(Effect.provide(Layer.merge(engine, Layer.provideMerge(layer, service))))
  })

  it.effect("fails when the run no longer exists", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess
      const exit = yield* Effect.gen(function* () {
        const waiting = yield* Effect.forkChild(Effect.exit(Flow.execute(flow, { process, minutes: [2] })))
        yield* Testing.advance("1 minute")
        const [run] = yield* Stream.runCollect(ProcessRuns.stream())
        assert.isDefined(run)
        yield* ProcessRuns.stop(run.id)
        yield* ProcessRuns.remove(run.id)
        return yield* Testing.elapse(Fiber.join(waiting))
      }).pipe(Effect.provide(Flow.layer(flow)))
      assert.propertyVal(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, "_tag", "NotFound")
    }).pipe(Effect.provide(Layer.merge(engine, Layer.fresh(Testing.layer()))))
  )
})

describe("callbacks", () => {
  const options = { url: "https://flows.example/callback", secret: Redacted.make("a secret of some length") }

  const requestOf = ({ body, headers }: Testing.ReceivedWebhook) =>
    new Request(options.url, { method: "POST", headers: { ...headers }, body })

  it.effect("wake an execution, and only genuine ones do", () => {
    const { layer, requests } = counting()
    return Effect.gen(function* () {
      const process = yield* makeProcess
      const id = yield* Flow.submit(flow, { process, minutes: [5] })
      yield* Testing.advance("4 minutes")
      const polls = requests()
      yield* Testing.advance("2 minutes")
      const [call, ...more] = yield* Testing.webhooks
      assert.isDefined(call)
      assert.deepStrictEqual(more, [])
      assert.isBelow(polls, 25)

      const forged = yield* FlowCallbacks.receive(
        requestOf({ ...call, body: call.body.replace("completed", "Completed") })
      )
      assert.strictEqual(forged.status, 401)
      assert.strictEqual((yield* FlowCallbacks.receive(new Request(options.url))).status, 405)
      assert.strictEqual((yield* FlowCallbacks.receive(requestOf(call))).status, 200)
      yield* Testing.settle
      assert.strictEqual((yield* FlowExecutions.get(id)).state, "completed")
      // The id of the run is lost, and a step may be called twice.
      assert.strictEqual((yield* FlowCallbacks.receive(requestOf(call))).status, 200)
    }).pipe(
      Effect.provide(
        Flow.layer(flow).pipe(
          Layer.provideMerge(FlowCallbacks.layer(options)),
          Layer.provideMerge(engine),
          Layer.provideMerge(layer),
          Layer.provideMerge(service)
        )
      )
    )
  })

  it.effect("need an address and a secret that are of use", () =>
    Effect.gen(function* () {
      const failing = (given: FlowCallbacks.FlowCallbacks) =>
        Effect.map(Effect.flip(Effect.provide(Effect.void, FlowCallbacks.layer(given))), ({ message }) => message)
      assert.match(yield* failing({ ...options, url: "flows.example" }), /^url: Expected/)
      assert.match(yield* failing({ ...options, secret: Redacted.make("short") }), /^secret: Expected at least 16/)
    })
  )
})
