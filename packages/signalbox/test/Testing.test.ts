/** The control room for tests: in memory as a whole, in virtual time, with no effect outside. */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Workers from "@signalbox/api/Workers"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { sized } from "@signalbox/testkit/Soak"
import * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { execFileSync, spawn } from "node:child_process"
import fs from "node:fs"
import { readFile } from "node:fs/promises"
import { Server as NetServer, Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, vi } from "vitest"
import * as Testing from "../src/Testing.ts"

const Number = Schema.Struct({ n: Schema.Int })

const double = Task.make("double", {
  input: Number,
  output: Number,
  run: ({ payload: { n } }) => Effect.succeed({ n: n * 2 })
})

/** Refuses what is in its set. */
const picky = (refused: ReadonlySet<number>) =>
  Task.make("picky", {
    input: Number,
    output: Number,
    run: ({ payload: { n } }) =>
      refused.has(n)
        ? Effect.fail(new Task.BusinessFailure({ code: "REFUSED", message: `no ${n}` }))
        : Effect.succeed({ n: n + 1 })
  })

const start = Effect.fnUntraced(function* (
  steps: ReadonlyArray<{ readonly task: string; readonly retry?: { max_attempts: number; delay_seconds: number } }>,
  payloads: ReadonlyArray<Schema.Json>,
  timeout?: number
) {
  const process = yield* Processes.put({
    name: "process",
    steps: steps.map(({ retry, task }) => ({
      name: task,
      task: { name: task },
      ...(retry === undefined ? {} : { retry }),
      ...(timeout === undefined ? {} : { timeout_seconds: timeout })
    }))
  })
  const run = yield* ProcessRuns.start(process.id, { payloads })
  return run.started ? run.id : yield* Effect.die("not started")
})

const silent = Logger.layer([])

// The blocks below keep state from one test to the next, which is what they show.
describe("in this order", { shuffle: false }, () => {
  describe("Testing in virtual time", () => {
    it.effect("runs two steps; a business failure leaves the run unresolved, and a retry completes it", () => {
      const refused = new Set([4])
      return Effect.gen(function* () {
        const run = yield* start([{ task: "double" }, { task: "picky" }], [{ n: 1 }, { n: 2 }])
        yield* Testing.settle
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "unresolved")
        const failed = yield* Stream.runCollect(WorkItems.stream({ processRun: run, state: "failed" }))
        assert.deepStrictEqual(
          failed.map(({ exception }) => [exception?.type, exception?.code]),
          [["business", "REFUSED"]]
        )
        refused.clear()
        yield* WorkItems.retry(failed.map(({ id }) => id))
        yield* Testing.settle
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
        const outputs = yield* Stream.runCollect(Outputs.stream(run))
        assert.deepStrictEqual(
          outputs.map(({ payload }) => payload),
          [{ n: 3 }, { n: 5 }]
        )
        assert.strictEqual(yield* Clock.currentTimeMillis, 0)
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [double, picky(refused)] }), silent)))
    })

    it.effect("passes the time before a retry by TestClock alone", () => {
      const minutes = sized(20, 60)
      let attempts = 0
      const shaky = Task.make("shaky", {
        input: Number,
        output: Number,
        run: ({ payload }) =>
          ++attempts < 2
            ? Effect.fail(new Task.ApplicationFailure({ code: "FIRST", message: "not at first" }))
            : Effect.succeed(payload)
      })
      return Effect.gen(function* () {
        const run = yield* start(
          [{ task: "shaky", retry: { max_attempts: 2, delay_seconds: minutes * 60 } }],
          [{ n: 1 }]
        )
        yield* Testing.settle
        yield* TestClock.adjust(`${minutes - 1} minutes`)
        assert.strictEqual(attempts, 1)
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "in_progress")
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(attempts, 2)
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [shaky] }), silent)))
    })

    it.effect("ends a task that never does when its time is over", () => {
      const endless = Task.make("endless", { input: Number, output: Number, run: () => Effect.never })
      return Effect.gen(function* () {
        const run = yield* start([{ task: "endless" }], [{ n: 1 }], 60)
        yield* Testing.advance("59 seconds")
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "in_progress")
        yield* Testing.advance("3 seconds")
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "unresolved")
        const [stepRun] = yield* Stream.runCollect(StepRuns.stream(run))
        assert.strictEqual(stepRun?.error?.code, "TIMEOUT")
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [endless] }), silent)))
    })

    it.effect("loses a worker that falls silent", () =>
      Effect.gen(function* () {
        const { httpClient, origin } = yield* Testing.Testing
        const { link_token } = yield* Workers.createLinkToken()
        const linked = Effect.gen(function* () {
          const linkToken = Redacted.make(link_token)
          const identity = yield* WorkerProtocol.link({ origin, linkToken, name: "mine", tasks: ["double"] })
          return yield* WorkerProtocol.make(origin, identity)
        })
        const worker = yield* Effect.provideService(linked, HttpClient.HttpClient, httpClient)
        const run = yield* start([{ task: "double" }], [{ n: 1 }])
        const [lease] = yield* worker.lease({ free: 1, tasks: ["double"], waitSeconds: 0 })
        if (lease === undefined) return assert.fail("no lease")
        yield* worker.start(lease)
        yield* Testing.advance("12 seconds")
        const [stepRun] = yield* Stream.runCollect(StepRuns.stream(run))
        assert.strictEqual(stepRun?.error?.code, "WORKER_LOST")
        assert.strictEqual((yield* Effect.flip(worker.finish(lease, null)))._tag, "Conflict")
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer(), silent)))
    )

    it.effect("lets time pass for what waits for it", () => {
      const minutes = sized(20, 90)
      const slow = Task.make("slow", {
        input: Number,
        output: Number,
        run: ({ payload }) => Effect.as(Effect.sleep(`${minutes} minutes`), payload)
      })
      return Effect.gen(function* () {
        const run = yield* start([{ task: "slow" }], [{ n: 1 }])
        const ended = yield* Testing.elapse(ProcessRuns.awaitEnd(run))
        assert.strictEqual(ended.state, "completed")
        assert.strictEqual(ended.duration, minutes * 60)
        const never = yield* Effect.exit(Testing.elapse(Effect.never, { limit: "5 seconds" }))
        assert.match(String(never), /no end within 5s of the test clock/)
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [slow] }), silent)))
    })

    it.effect("runs a flow of ready steps, with a file from a path", () => {
      const count = Task.make("count", {
        input: Schema.Json,
        output: Schema.Struct({ length: Schema.Int }),
        run: Effect.fnUntraced(function* (item) {
          const text = yield* item.readText("Testing.test.ts")
          return Task.output({ length: text.length }, { files: [{ name: "copy.txt", bytes: Buffer.from(text) }] })
        })
      })
      const flow = Flow.make("flow", {
        version: 1,
        input: Schema.Struct({ process: ProcessId }),
        success: Steps.collectOutputs.success,
        error: Schema.Union([...Steps.attachFiles.error.members, ...Steps.startRun.error.members]),
        idempotencyKey: ({ process }) => process,
        run: Effect.fnUntraced(function* ({ process }) {
          const item = yield* Steps.createWorkItem({ process, payload: null })
          yield* Steps.attachFiles({ workItem: item, files: [import.meta.filename] })
          const run = yield* Steps.startRun({ process, workItems: [item] })
          yield* Steps.awaitCompletion({ run })
          return yield* Steps.collectOutputs({ run })
        })
      })
      return Effect.gen(function* () {
        const process = yield* Processes.put({ name: "count", steps: [{ name: "count", task: { name: "count" } }] })
        const [output] = yield* Testing.elapse(Flow.run(flow, { process: process.id }))
        const [file] = output?.files ?? []
        if (file === undefined) return assert.fail("no file")
        const text = yield* Stream.mkString(Stream.decodeText(Files.download(file)))
        assert.deepStrictEqual(output?.payload, { length: text.length })
        assert.include(text, "runs a flow of ready steps")
        assert.match(file.download.url, /^http:\/\/signalbox\.test\/transfer/)
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [count] }), silent)))
    })

    it.effect("records what webhooks get, signed, and tries again what is not taken", () => {
      let answers = 0
      const answerWebhook = () => (++answers === 1 ? 503 : 200)
      return Effect.gen(function* () {
        const { secret } = yield* Webhooks.create({
          endpoint: "https://example.com/hook",
          events: ["process_run.completed"]
        })
        const run = yield* start([{ task: "double" }], [{ n: 1 }])
        yield* Testing.settle
        const [first, ...none] = yield* Testing.webhooks
        assert.deepStrictEqual(none, [])
        yield* Testing.advance("7 seconds")
        const [, second, ...more] = yield* Testing.webhooks
        if (first === undefined || second === undefined) return assert.fail("not delivered twice")
        assert.deepStrictEqual(more, [])
        assert.strictEqual(second.body, first.body)
        assert.strictEqual(second.endpoint, "https://example.com/hook")
        const event = yield* Webhooks.receive({ ...second, secret })
        assert.deepStrictEqual([event.action, event.payload.processRunId], ["completed", run])
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [double], answerWebhook }), silent)))
    })

    it.effect("provides the services of the program to tasks, its HTTP client too", () => {
      const fake = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ n: 42 })))
      )
      const asking = Task.make("asking", {
        input: Number,
        output: Number,
        run: () => Effect.flatMap(HttpClient.get("https://example.com/n"), HttpClientResponse.schemaBodyJson(Number))
      })
      const faked = Layer.provide(Testing.layer({ tasks: [asking] }), Layer.succeed(HttpClient.HttpClient, fake))
      return Effect.gen(function* () {
        const run = yield* start([{ task: "asking" }], [{ n: 1 }])
        yield* Testing.settle
        const [output] = yield* Stream.runCollect(Outputs.stream(run))
        assert.deepStrictEqual(output?.payload, { n: 42 })
      }).pipe(Effect.provide(Layer.provideMerge(faked, silent)))
    })

    it.effect("gives the key only the requested permissions", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Processes.put({ name: "p", steps: [] }))
        assert.strictEqual(error._tag === "ControlRoomError" && error.reason._tag, "Forbidden")
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ permissions: [] }), silent)))
    )

    it.effect("shares nothing with another one in the same program", () =>
      Effect.gen(function* () {
        const names = Effect.map(Stream.runCollect(Processes.stream()), (all) => all.map(({ name }) => name))
        const one = yield* Layer.build(Testing.layer())
        const other = yield* Layer.build(Testing.layer())
        yield* Effect.provideContext(Processes.put({ name: "here", steps: [{ name: "a", task: { name: "a" } }] }), one)
        assert.deepStrictEqual(yield* Effect.provideContext(names, one), ["here"])
        assert.deepStrictEqual(yield* Effect.provideContext(names, other), [])
        const inside = yield* Effect.provide(names, Testing.layer()).pipe(Effect.provideContext(one))
        assert.deepStrictEqual(inside, [])
      }).pipe(Effect.provide(silent))
    )
  })

  withLayer(Layer.provide(Testing.layer({ tasks: [double], workers: 2 }), silent))(
    "Testing as the layer of a block",
    (it) => {
      it.effect("is on the clock of its tests", () =>
        Effect.gen(function* () {
          const run = yield* start([{ task: "double" }], [{ n: 1 }, { n: 2 }, { n: 3 }])
          yield* Testing.settle
          assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
          yield* TestClock.adjust("1 minute")
          const lines = yield* Stream.runCollect(Workers.stream())
          assert.deepStrictEqual(
            lines.map(({ name, state }) => [name, state]),
            [
              ["local-2", "idle"],
              ["local-1", "idle"]
            ]
          )
        })
      )

      it.effect("keeps its state from one to the next", () =>
        Effect.gen(function* () {
          const [run] = yield* Stream.runCollect(ProcessRuns.stream())
          assert.strictEqual(run?.state, "completed")
        })
      )
    }
  )

  describe("Testing on the live clock", () => {
    it("needs nothing of Effect's in a test", async () => {
      const runtime = ManagedRuntime.make(Layer.provide(Testing.layer({ tasks: [double] }), silent))
      const state = await runtime.runPromise(
        Effect.flatMap(start([{ task: "double" }], [{ n: 1 }]), (run) => Testing.elapse(ProcessRuns.awaitEnd(run)))
      )
      assert.strictEqual(state.state, "completed")
      await runtime.dispose()
    })

    it.live("settles when tasks that read or compute are through", () => {
      const reading = Task.make("reading", {
        input: Number,
        output: Number,
        run: ({ payload }) =>
          Effect.as(
            Effect.promise(() => readFile(import.meta.filename)),
            payload
          )
      })
      return Effect.gen(function* () {
        const run = yield* start([{ task: "reading" }, { task: "double" }], [{ n: 1 }, { n: 2 }, { n: 3 }])
        yield* Testing.settle
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [reading, double] }), silent)))
    })
  })

  describe("Testing while a file is read", () => {
    it.live("settles when the read is through, however long it takes", () =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => fs.mkdtempSync(join(tmpdir(), "signalbox-testing-"))),
          (path) => Effect.sync(() => fs.rmSync(path, { recursive: true }))
        )
        const pipe = join(folder, "pipe")
        execFileSync("mkfifo", [pipe])
        const reading = Task.make("reading", {
          input: Number,
          output: Number,
          run: ({ payload }) =>
            Effect.as(
              Effect.promise(() => readFile(pipe)),
              payload
            )
        })
        yield* Effect.gen(function* () {
          const run = yield* start([{ task: "reading" }], [{ n: 1 }])
          // Longer than work is waited for that does nothing.
          spawn("sh", ["-c", 'sleep 0.5; echo > "$0"', pipe])
          yield* Testing.settle
          assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
        }).pipe(Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [reading] }), silent)))
      }).pipe(Effect.scoped)
    )
  })

  describe("Testing leaves nothing outside", () => {
    afterEach(() => void vi.restoreAllMocks())

    it.effect("opens no socket, writes no file, and ends immediately though a task is running", () => {
      const connect = vi.spyOn(Socket.prototype, "connect")
      const listen = vi.spyOn(NetServer.prototype, "listen")
      const opened = [vi.spyOn(fs, "open"), vi.spyOn(fs, "mkdir"), vi.spyOn(fs, "writeFile")]
      const endless = Task.make("endless", { input: Number, output: Number, run: () => Effect.never })
      const before = performance.now()
      return Effect.gen(function* () {
        console.log(`started in ${Math.round(performance.now() - before)} ms`)
        const process = yield* Processes.put({ name: "p", steps: [{ name: "a", task: { name: "endless" } }] })
        const item = yield* WorkItems.create({ process: process.id, payload: { n: 1 } })
        yield* WorkItems.attachFile(item.id, { name: "a.txt", bytes: Buffer.alloc(100_000, "a") })
        yield* Webhooks.create({ endpoint: "http://127.0.0.1:1/hook", events: ["process_run.started"] })
        yield* ProcessRuns.start(process.id, { workItems: [item.id] })
        yield* Testing.settle
        assert.lengthOf(yield* Testing.webhooks, 1)
        const { httpClient } = yield* Testing.Testing
        const elsewhere = yield* Effect.flip(httpClient.get("http://127.0.0.1:1/"))
        assert.strictEqual(elsewhere.reason._tag, "TransportError")
      }).pipe(
        Effect.provide(Layer.provideMerge(Testing.layer({ tasks: [endless] }), silent)),
        Effect.andThen(
          Effect.sync(() => {
            for (const spy of [connect, listen, ...opened]) assert.strictEqual(spy.mock.calls.length, 0)
            assert.notInclude(process.getActiveResourcesInfo(), "TCPServerWrap")
            console.log(`started, used and ended in ${Math.round(performance.now() - before)} ms`)
          })
        )
      )
    })
  })
})
