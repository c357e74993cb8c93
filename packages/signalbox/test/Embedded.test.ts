/**
 * A control room in the process, and the ready steps of flows over it.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Processes from "@signalbox/api/Processes"
import * as Workspaces from "@signalbox/api/Workspaces"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { type FlowEvent, FlowEvents } from "@signalbox/flows/FlowEvents"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Embedded from "../src/Embedded.ts"

/** Creates as many outputs as the item says, each with so many characters. */
const make = Task.make("make", {
  input: Schema.Struct({ outputs: Schema.Int, size: Schema.Int }),
  output: Schema.Struct({ n: Schema.Int, text: Schema.String }),
  run: ({ payload }) => Stream.map(Stream.range(1, payload.outputs), (n) => ({ n, text: "x".repeat(payload.size) }))
})

/** Passes numbers on; fails the first time for 2, and always for 4. */
const tried = new Set<number>()
const pass = Task.make("pass", {
  input: Schema.Struct({ n: Schema.Int, text: Schema.String }),
  output: Schema.Struct({ n: Schema.Int }),
  run: Effect.fnUntraced(function* ({ payload: { n } }) {
    if (n === 4) return yield* new Task.BusinessFailure({ code: "FOUR", message: "no fours" })
    if (n === 2 && !tried.has(n)) {
      tried.add(n)
      return yield* new Task.ApplicationFailure({ code: "FIRST", message: "not at first" })
    }
    return { n }
  })
})

const layer = Layer.unwrap(
  Effect.gen(function* () {
    const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    return Embedded.layer({ data, port: 0, tasks: [make, pass], workers: 2 })
  })
).pipe(Layer.provideMerge(NodeServices.layer), Layer.provide(Logger.layer([])))

const processes = Effect.gen(function* () {
  const two = yield* Processes.put({
    name: "two",
    steps: [
      { name: "make", task: { name: "make" } },
      { name: "pass", task: { name: "pass" }, max_parallel: 2 }
    ]
  })
  const one = yield* Processes.put({ name: "one", steps: [{ name: "make", task: { name: "make" } }] })
  return { one: one.id, two: two.id }
})

const settle = Flow.make("settle", {
  version: 1,
  input: Schema.Struct({ process: ProcessId }),
  success: Schema.Struct({
    state: Schema.String,
    codes: Schema.Array(Schema.String),
    numbers: Schema.Array(Schema.Json)
  }),
  error: Schema.Union([...Steps.createWorkItem.error.members, ...Steps.startRun.error.members]),
  idempotencyKey: ({ process }) => process,
  run: Effect.fnUntraced(function* ({ process }) {
    const item = yield* Steps.createWorkItem({ process, payload: { outputs: 5, size: 1 } })
    const run = yield* Steps.startRun({ process, workItems: [item] })
    yield* Steps.awaitCompletion({ run })
    const failed = yield* Steps.failedItems({ run })
    const again = failed.filter(({ exception }) => exception?.type === "application").map(({ id }) => id)
    yield* Steps.retryFailed({ workItems: again })
    yield* Steps.awaitCompletion({ run }, { key: "after the retry" })
    const left = yield* Steps.failedItems({ run }, { key: "after the retry" })
    yield* Steps.markDone({ workItems: left.map(({ id }) => id) })
    const { state } = yield* Steps.awaitCompletion({ run }, { key: "after marking done" })
    const outputs = yield* Steps.collectOutputs({ run })
    return {
      state,
      codes: failed.map(({ exception }) => exception?.code ?? "").toSorted(),
      numbers: outputs.map(({ payload }) => payload)
    }
  })
})

const flood = Flow.make("flood", {
  version: 1,
  input: Schema.Struct({ process: ProcessId }),
  success: Schema.Int,
  error: Schema.Union([...Steps.createWorkItem.error.members, ...Steps.startRun.error.members]),
  idempotencyKey: ({ process }) => process,
  run: Effect.fnUntraced(function* ({ process }) {
    const item = yield* Steps.createWorkItem({ process, payload: { outputs: 30, size: 40_000 } })
    const run = yield* Steps.startRun({ process, workItems: [item] })
    yield* Steps.awaitCompletion({ run })
    return (yield* Steps.collectOutputs({ run })).length
  })
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("an embedded control room", (it) => {
  it.effect("is there, with a workspace and a connection", () =>
    Effect.gen(function* () {
      const { credentials, origin } = yield* Embedded.Embedded
      assert.strictEqual((yield* Workspaces.get).id, credentials.workspace_id)
      assert.match(origin, /^http:\/\/127\.0\.0\.1:\d+$/)
    })
  )

  it.effect("runs a flow that retries what may succeed and settles what cannot, and reports its progress", () =>
    Effect.gen(function* () {
      const { two } = yield* processes
      const events: Array<FlowEvent> = []
      const result = yield* Flow.run(settle, { process: two }).pipe(
        Effect.provideService(FlowEvents, { publish: (event) => Effect.sync(() => void events.push(event)) })
      )
      assert.strictEqual(result.state, "completed")
      assert.deepStrictEqual(result.codes, ["FIRST", "FOUR"])
      const numbers = result.numbers.map((payload) => JSON.stringify(payload)).toSorted()
      assert.deepStrictEqual(
        numbers,
        [1, 2, 3, 5].map((n) => `{"n":${n}}`)
      )
      const counts = events.flatMap((event) =>
        event._tag === "StepProgress" && event.path === "awaitCompletion"
          ? [[event.done, event.total, event.message]]
          : []
      )
      assert.deepStrictEqual(counts.at(-1), [6, 6, "unresolved"])
    })
  )

  it.effect("has more outputs than a flow can hold: that is a defect which says what to do", () =>
    Effect.gen(function* () {
      const { one } = yield* processes
      const exit = yield* Effect.exit(Flow.run(flood, { process: one }))
      assert.match(String(exit), /outputs of the run .* more than 1000000 bytes.* stream them with Outputs\.stream/)
    })
  )
})
