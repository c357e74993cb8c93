/** Items that were given ahead, in a room that is killed with its workers at any moment: each is done, with one output. */
import { assert, describe, it } from "@effect/vitest"
import * as Outputs from "@signalbox/api/Outputs"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { freePort } from "@signalbox/testkit/FreePort"
import { sized } from "@signalbox/testkit/Soak"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import { clientOf, succeed, temporaryFolder, up } from "../support/Cli.ts"

const tasks = join(import.meta.dirname, "..", "support", "quickTasks.ts")
const kills = sized(3, 20)
const perRun = 1000

describe("items ahead", () => {
  it.live(`are done once, however often the room is killed with its workers: ${kills} times`, () =>
    Effect.gen(function* () {
      const { folder, remove } = temporaryFolder("items-ahead")
      yield* Effect.addFinalizer(() => Effect.sync(remove))
      const port = yield* Effect.promise(() => freePort())
      const data = join(folder, "data")
      const start = Effect.promise(() => up(data, ["--port", `${port}`, "--tasks", tasks, "--workers", "2"]))
      let room = yield* start
      yield* Effect.addFinalizer(() => Effect.promise(() => room.end("SIGKILL")))
      yield* Effect.gen(function* () {
        const retry = { max_attempts: 100, delay_seconds: 0 }
        const { id: process } = yield* Processes.put({
          name: "quick",
          steps: [{ name: "quick", task: { name: "quick" }, max_parallel: 2, retry }]
        })
        const payloads = Arr.range(1, perRun).map((n) => ({ n }))
        const started: Array<ProcessRunId> = []
        for (let n = 0; n < kills; n++) {
          const run = yield* ProcessRuns.start(process, { payloads })
          if (!run.started) return yield* Effect.die("not started")
          started.push(run.id)
          const done = Stream.take(WorkItems.stream({ processRun: run.id, state: "done" }), 1)
          while ((yield* Stream.runCount(done)) === 0) yield* Effect.sleep("20 millis")
          yield* Effect.sleep(`${20 + 37 * (n % 7)} millis`)
          yield* Effect.promise(() => room.end("SIGKILL"))
          room = yield* start
        }
        for (const run of started) {
          assert.strictEqual((yield* ProcessRuns.awaitEnd(run)).state, "completed")
          const outputs = yield* Stream.runCollect(Outputs.stream(run))
          assert.deepStrictEqual(
            outputs.map(({ payload }) => JSON.stringify(payload)).sort(),
            payloads.map((payload) => JSON.stringify(payload)).sort()
          )
        }
      }).pipe(Effect.provide(clientOf(room.ready)))
      yield* Effect.promise(() => room.end("SIGTERM"))
      assert.include((yield* Effect.promise(() => succeed(["check", "--data", data]))).stdout, "ok")
    }).pipe(Effect.scoped)
  )
})
