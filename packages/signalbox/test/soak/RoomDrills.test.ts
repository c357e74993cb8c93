/**
 * Durable flows over a control room that is killed and unavailable, and over one that is busy: every execution
 * completes, and does nothing twice there.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import { FlowEvents } from "@signalbox/flows/FlowEvents"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import { freePort } from "@signalbox/testkit/FreePort"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import { clientOf, temporaryFolder, up } from "../support/Cli.ts"

const tasks = join(import.meta.dirname, "..", "support", "slowTasks.ts")

const Input = Schema.Struct({ process: ProcessId, n: Schema.Finite })

const submitted = Flow.make("submitted", {
  version: 1,
  input: Input,
  success: Schema.String,
  error: Steps.createWorkItem.error,
  idempotencyKey: ({ n }) => `${n}`,
  run: ({ n, process }) => Steps.createWorkItem({ process, payload: { n } })
})

const whole = Flow.make("whole", {
  version: 1,
  input: Input,
  success: Schema.Array(Schema.NullOr(Schema.Json)),
  error: Schema.Union([Steps.createWorkItem.error, Steps.startRun.error]),
  idempotencyKey: ({ n }) => `${n}`,
  run: Effect.fnUntraced(function* ({ n, process }) {
    const item = yield* Steps.createWorkItem({ process, payload: { n } })
    const run = yield* Steps.startRun({ process, workItems: [item] })
    yield* Steps.awaitCompletion({ run })
    const outputs = yield* Steps.collectOutputs({ run })
    return outputs.map(({ payload }) => payload)
  })
})

/** A control room on a fixed port, which can be killed and restarted. */
const roomOn = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const { folder } = yield* Effect.acquireRelease(
    Effect.sync(() => temporaryFolder("room-drills")),
    ({ remove }) => Effect.sync(remove)
  )
  const port = yield* Effect.promise(() => freePort())
  const begin = () => up(join(folder, "data"), ["--port", `${port}`, ...args])
  let room = yield* Effect.promise(begin)
  yield* Effect.addFinalizer(() => Effect.promise(() => room.end("SIGKILL")))
  return {
    folder,
    client: clientOf(room.ready),
    kill: Effect.promise(() => room.end("SIGKILL")),
    startAgain: Effect.promise(async () => {
      room = await begin()
    })
  }
})

/** Runs flows on SQLite beside that room, and counts the attempts of their steps. */
const counted = () => {
  const counts = { attempts: 0, retries: 0 }
  const events = Layer.succeed(FlowEvents, {
    publish: ({ _tag }) =>
      Effect.sync(() => {
        if (_tag === "StepStarted") counts.attempts++
        if (_tag === "StepRetrying") counts.retries++
      })
  })
  return { counts, events }
}

const allEnded = Effect.gen(function* () {
  for (;;) {
    const states: Record<string, number> = {}
    const all = yield* Stream.runCollect(FlowExecutions.stream({}))
    for (const { state } of all) states[state] = (states[state] ?? 0) + 1
    if (!("waiting" in states) && !("running" in states) && !("undoing" in states)) return states
    yield* Effect.sleep("200 millis")
  }
})

describe("durable flows", () => {
  const submissions = sized(300, 5_000)
  const limit = soak ? [] : ["--rate-limit", "25:10"]

  it.live(
    `${submissions} submissions at ${limit[1] ?? "the default rate limit"} all complete`,
    () =>
      Effect.gen(function* () {
        const { client, folder } = yield* roomOn(limit)
        const { counts, events } = counted()
        yield* Effect.gen(function* () {
          const { id: process } = yield* Processes.put({ name: "busy", steps: [{ name: "a", task: { name: "none" } }] })
          const since = Date.now()
          yield* Effect.forEach(
            Array.from({ length: submissions }, (_, n) => n),
            (n) => Flow.submit(submitted, { process, n }),
            { concurrency: 32, discard: true }
          )
          yield* Effect.logInfo("submitted after", (Date.now() - since) / 1_000)
          const states = yield* allEnded
          const seconds = (Date.now() - since) / 1_000
          assert.deepStrictEqual(states, { completed: submissions })
          yield* Effect.sleep("2 seconds")
          const items = yield* Stream.runCollect(WorkItems.stream({ process, includeData: true, limit: 500 }))
          assert.lengthOf(new Set(items.map(({ payload }) => JSON.stringify(payload))), submissions)
          assert.lengthOf(items, submissions)
          yield* Effect.logInfo("a busy control room", { submissions, seconds, ...counts })
        }).pipe(
          Effect.provide(
            Layer.provideMerge(Flow.layer(submitted), FlowEngine.layerSqlite({ file: join(folder, "flows.db") })).pipe(
              Layer.provideMerge(Layer.merge(client, events))
            )
          )
        )
      }).pipe(Effect.scoped),
    1_200_000
  )

  const kills = sized(2, 20)
  const awaySeconds = sized(3, 60)

  it.live(`over a control room that is killed ${kills} times and unavailable for ${awaySeconds} s all complete`, () =>
    Effect.gen(function* () {
      const { client, folder, kill, startAgain } = yield* roomOn(["--tasks", tasks, "--workers", "2"])
      const { counts, events } = counted()
      yield* Effect.gen(function* () {
        const { id: process } = yield* Processes.put({
          name: "away",
          steps: [{ name: "slow", task: { name: "slow" }, max_parallel: 4 }]
        })
        let total = 0
        for (let time = 0; time < kills; time++) {
          const first = total
          total += 12
          const submitting = yield* Effect.forkChild(
            Effect.forEach(
              Array.from({ length: 12 }, (_, index) => first + index),
              (n) => Effect.delay(Flow.submit(whole, { process, n }), `${(n % 6) * 60} millis`),
              { concurrency: "unbounded", discard: true }
            )
          )
          yield* Effect.sleep(`${150 + 170 * (time % 5)} millis`)
          yield* kill
          yield* Effect.sleep(time === 0 ? `${awaySeconds} seconds` : "1 second")
          yield* startAgain
          yield* Fiber.join(submitting)
        }
        const states = yield* allEnded
        assert.deepStrictEqual(states, { completed: total })
        const items = yield* Stream.runCollect(WorkItems.stream({ process, includeData: true, limit: 500 }))
        const runs = yield* Stream.runCollect(ProcessRuns.stream({ process }))
        // Each item has one run, and its output is an item too.
        const inputs = items.map(({ payload }) => JSON.stringify(payload)).sort()
        assert.lengthOf(new Set(inputs), total)
        assert.lengthOf(runs, total)
        // The workers of the control room are killed with it: a task that is interrupted too often fails its item.
        for (const { state } of runs) assert.include(["completed", "unresolved"], state)
        yield* Effect.logInfo("a control room that is away", { executions: total, items: items.length, ...counts })
      }).pipe(
        Effect.provide(
          Layer.provideMerge(Flow.layer(whole), FlowEngine.layerSqlite({ file: join(folder, "flows.db") })).pipe(
            Layer.provideMerge(Layer.merge(client, events))
          )
        )
      )
    }).pipe(Effect.scoped)
  )
})
