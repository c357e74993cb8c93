/**
 * The control room for tests: the whole of it in memory, in virtual time, and nothing of it outside.
 */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { readdirSync } from "node:fs"
import { Server, Socket } from "node:net"
import { tmpdir } from "node:os"
import { afterEach, expect, vi } from "vitest"
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
    }).pipe(Effect.provide(Testing.layer({ tasks: [double, picky(refused)] })), Effect.provide(silent))
  })

  it.effect("passes the hour before a retry by TestClock alone", () => {
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
      const run = yield* start([{ task: "shaky", retry: { max_attempts: 2, delay_seconds: 3600 } }], [{ n: 1 }])
      yield* Testing.settle
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(attempts, 1)
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "in_progress")
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(attempts, 2)
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
    }).pipe(Effect.provide(Testing.layer({ tasks: [shaky] })), Effect.provide(silent))
  })
})
