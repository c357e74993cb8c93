import { assert, describe, it } from "@effect/vitest"
import { Conflict } from "@signalbox/api/ControlRoomError"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { type Order, runStepRun } from "../src/internal/agent/StepRun.ts"
import * as SessionSource from "../src/internal/items/SessionSource.ts"
import * as TaskRun from "../src/internal/tasks/TaskRun.ts"
import * as Task from "../src/Task.ts"
import * as MemorySession from "./support/MemorySession.ts"
import * as Protocol from "./support/Protocol.ts"

const json = { input: Schema.Json, output: Schema.Json }

/** Starts a step run of one task and returns what the test needs to observe and command it. */
const begin = Effect.fnUntraced(function* <R>(
  task: Task.Task<Task.PayloadSchema, Task.PayloadSchema, R>,
  options: {
    readonly lease?: Parameters<typeof Protocol.lease>[2]
    readonly memory?: ReturnType<typeof MemorySession.make>
    readonly prepare?: (script: Protocol.Script) => void
    readonly close?: Effect.Effect<void>
  } = {}
) {
  const { protocol, script } = yield* Protocol.make
  options.prepare?.(script)
  const memory = options.memory ?? MemorySession.make({ one: { payload: "secret payload" }, two: { payload: 2 } })
  const order = yield* Deferred.make<Order>()
  let running = false
  const lease = Protocol.lease("s1", task.name, options.lease)
  const fiber = yield* Effect.forkChild(
    runStepRun({
      lease,
      execute: (reports) =>
        Effect.succeed(
          TaskRun.execution({
            lease,
            task,
            session: memory.session,
            items: { ...SessionSource.make(memory.session, lease.work_item_id), close: options.close ?? Effect.void },
            reports,
            mayReserve: Effect.succeed(true)
          })
        ),
      protocol,
      order,
      onStarted: Effect.sync(() => {
        running = true
      })
    })
  )
  yield* TestClock.adjust(0)
  return { script, order, fiber, actions: memory.actions, isRunning: () => running }
})

/** A task that never ends, and whether it was interrupted. */
const endless = () => {
  const seen = { interrupted: false }
  const task = Task.make("endless", {
    ...json,
    run: () =>
      Effect.onInterrupt(Effect.never, () =>
        Effect.sync(() => {
          seen.interrupted = true
        })
      )
  })
  return { task, seen }
}

const echo = Task.make("echo", { ...json, run: (item) => Effect.succeed(item.payload) })

describe("a step run", () => {
  it.effect("starts, takes every item and finishes well", () =>
    Effect.gen(function* () {
      const { actions, fiber, isRunning, script } = yield* begin(echo)
      yield* Fiber.join(fiber)
      assert.isTrue(isRunning())
      assert.deepStrictEqual(script.started, ["s1"])
      assert.deepStrictEqual([...script.finished], [["s1", null]])
      assert.strictEqual(actions.filter((action) => action.did === "release").length, 2)
    })
  )

  it.effect("is finished as TERMINATED by an order; its item is left to the service", () =>
    Effect.gen(function* () {
      const { seen, task } = endless()
      const { actions, fiber, order, script } = yield* begin(task)
      yield* Deferred.succeed(order, "terminate")
      yield* Fiber.join(fiber)
      assert.isTrue(seen.interrupted)
      assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
      assert.deepStrictEqual(actions, [])
    })
  )

  it.effect("is finished after the results that were still to be sent", () =>
    Effect.gen(function* () {
      const open = yield* Latch.make(false)
      const { fiber, order, script } = yield* begin(endless().task, { close: open.await })
      yield* Deferred.succeed(order, "terminate")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(script.finished.size, 0)
      yield* open.open
      yield* Fiber.join(fiber)
      assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
    })
  )

  it.effect("is dropped without a word when it is lost", () =>
    Effect.gen(function* () {
      const { seen, task } = endless()
      const { fiber, order, script } = yield* begin(task)
      yield* Deferred.succeed(order, "lost")
      yield* Fiber.join(fiber)
      assert.isTrue(seen.interrupted)
      assert.strictEqual(script.finished.size, 0)
    })
  )

  it.effect("is dropped when a call says that the lease is lost", () =>
    Effect.gen(function* () {
      const memory = MemorySession.make({ one: { payload: 1 }, two: { payload: 2 } }, (call) =>
        call === "release" ? MemorySession.leaseLost : undefined
      )
      const { fiber, script } = yield* begin(echo, { memory })
      yield* Fiber.join(fiber)
      assert.strictEqual(script.finished.size, 0)
      assert.deepStrictEqual(memory.actions, [{ did: "output", of: "one", payload: 1 }])
    })
  )

  it.effect("is dropped when it can no longer be started", () =>
    Effect.gen(function* () {
      const { actions, fiber, isRunning, script } = yield* begin(echo, {
        prepare: (script) => {
          script.startError = MemorySession.leaseLost
        }
      })
      yield* Fiber.join(fiber)
      assert.isFalse(isRunning())
      assert.deepStrictEqual(actions, [])
      assert.strictEqual(script.finished.size, 0)
    })
  )

  it.effect("is finished as TIMEOUT after its time, counted from the start", () =>
    Effect.gen(function* () {
      const { seen, task } = endless()
      const { fiber, script } = yield* begin(task, { lease: { timeout_seconds: 60 } })
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(script.finished.size, 0)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.isTrue(seen.interrupted)
      assert.deepStrictEqual(script.finished.get("s1"), {
        code: "TIMEOUT",
        message: "the step run exceeded its time limit of 60 s"
      })
    })
  )

  it.effect("is finished as ROBOT_FAILURE when an item cannot be released", () =>
    Effect.gen(function* () {
      const refused = new Conflict({ ...MemorySession.leaseLost, code: "CONFLICT", message: "already released" })
      const memory = MemorySession.make({ one: { payload: 1 } }, (call) => (call === "release" ? refused : undefined))
      const { fiber, script } = yield* begin(echo, { memory })
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(script.finished.get("s1"), { code: "ROBOT_FAILURE", message: "already released" })
    })
  )

  it.effect("is finished as TERMINATED when the task interrupts itself", () =>
    Effect.gen(function* () {
      const task = Task.make("self", { ...json, run: () => Effect.interrupt })
      const { actions, fiber, script } = yield* begin(task)
      yield* Fiber.join(fiber)
      assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
      assert.deepStrictEqual(actions, [])
    })
  )

  it.effect("reports its end once the service is available again, however long that takes", () =>
    Effect.gen(function* () {
      const { fiber, script } = yield* begin(echo, {
        prepare: (script) => {
          script.finishError = MemorySession.unreachable
        }
      })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(script.finished.size, 0)
      script.finishError = undefined
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual([...script.finished], [["s1", null]])
    })
  )

  it.effect("gives the task the environment of the step, before that of the process", () =>
    Effect.gen(function* () {
      const task = Task.make("env", {
        ...json,
        run: () => Stream.fromEffect(Effect.all([Config.String("REGION"), Config.String("HOME_TOWN")]))
      })
      const { actions, fiber } = yield* begin(task, { lease: { env: { REGION: "north" } } }).pipe(
        Effect.provideService(
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromEnvRecord({ REGION: "south", HOME_TOWN: "Bern" })
        )
      )
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(actions[0], { did: "output", of: "one", payload: ["north", "Bern"] })
    })
  )

  it.effect("logs its id and task, and neither payloads nor tokens", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => {
        lines.push(line)
      })
      const task = Task.make("leaky", {
        ...json,
        run: (item) => Effect.die(new Error(`cannot work on\n    at ${JSON.stringify(item.payload)}:1:1`))
      })
      const { fiber } = yield* begin(task).pipe(Effect.provide(Logger.layer([logger])))
      yield* Fiber.join(fiber)
      const failed = lines.find((line) => line.includes("work item failed")) ?? ""
      assert.include(failed, '"step_run_id":"s1"')
      assert.include(failed, '"task":"leaky"')
      assert.include(failed, "StepRun.test.ts")
      for (const hidden of ["secret payload", "lease of", "run token of"]) {
        assert.notInclude(lines.join("\n"), hidden)
      }
    })
  )
})
