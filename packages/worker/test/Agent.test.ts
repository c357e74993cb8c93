import { assert, describe, it } from "@effect/vitest"
import { StepRunId } from "@signalbox/api/contract/Ids"
import { ControlRoomError, Forbidden } from "@signalbox/api/ControlRoomError"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { serve } from "../src/internal/agent/Agent.ts"
import * as SessionSource from "../src/internal/items/SessionSource.ts"
import * as TaskRun from "../src/internal/tasks/TaskRun.ts"
import * as Task from "../src/Task.ts"
import * as MemorySession from "./support/MemorySession.ts"
import * as Protocol from "./support/Protocol.ts"

const settle = TestClock.adjust(0)
const s1 = StepRunId.make("s1")

/**
 * A worker with one task that works until `gate` opens. Virtual time does not advance at the end of a test, so it does
 * not drain.
 */
const begin = Effect.fnUntraced(function* (
  options: {
    readonly capacity?: number
    readonly items?: number
    readonly drain?: Duration.Input
    readonly once?: boolean
    readonly hurry?: Effect.Effect<void>
  } = {}
) {
  const { protocol, script } = yield* Protocol.make
  const gate = yield* Deferred.make<void>()
  const sessions = new Map<string, ReturnType<typeof MemorySession.make>>()
  const wait = Task.make("wait", {
    input: Schema.Json,
    output: Schema.Json,
    run: (item) => Effect.as(Deferred.await(gate), item.payload)
  })
  const items = Object.fromEntries(
    ["one", "two", "three"].slice(0, options.items ?? 1).map((id) => [id, { payload: id }])
  )
  const fiber = yield* Effect.forkChild(
    Effect.scoped(
      serve({
        protocol,
        tasks: [wait.name],
        packages: false,
        labels: ["gpu"],
        execute: (lease, reports, mayReserve) =>
          Effect.sync(() => {
            const memory = MemorySession.make(items)
            sessions.set(lease.step_run_id, memory)
            return TaskRun.execution({
              lease,
              task: wait,
              session: memory.session,
              items: { ...SessionSource.make(memory.session, lease.work_item_id), close: Effect.void },
              reports,
              mayReserve
            })
          }),
        capacity: options.capacity ?? 1,
        heartbeat: "3 seconds",
        drain: options.drain ?? 0,
        once: options.once ?? false,
        hurry: options.hurry ?? Effect.never
      })
    )
  )
  const offer = (...ids: ReadonlyArray<string>) =>
    Effect.andThen(
      Queue.offerAll(
        script.leases,
        ids.map((id) => Protocol.lease(id, "wait"))
      ),
      settle
    )
  yield* settle
  return { script, gate, fiber, offer, sessions }
})

describe("the agent", () => {
  it.effect("never has more step runs than its capacity, and asks for what is free", () =>
    Effect.gen(function* () {
      const { gate, offer, script } = yield* begin({ capacity: 2 })
      yield* offer("s1", "s2", "s3")
      assert.deepStrictEqual(script.started, ["s1", "s2"])
      assert.deepStrictEqual(script.asked, [2, 1])
      yield* Deferred.succeed(gate, undefined)
      yield* settle
      assert.deepStrictEqual(script.started, ["s1", "s2", "s3"])
      assert.deepStrictEqual([...script.finished.keys()], ["s1", "s2", "s3"])
      assert.strictEqual(script.asked.at(-1), 2)
    })
  )

  it.effect("asks again when nothing came", () =>
    Effect.gen(function* () {
      const { script } = yield* begin()
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(script.asked.length, 4)
    })
  )

  it.effect("beats with the step runs that are under way", () =>
    Effect.gen(function* () {
      const { gate, offer, script } = yield* begin()
      assert.deepStrictEqual(script.beats, [[]])
      yield* offer("s1")
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(script.beats.at(-1), ["s1"])
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(script.beats, [[], ["s1"], []])
    })
  )

  it.effect("stops what a heartbeat says to stop, and continues", () =>
    Effect.gen(function* () {
      const { offer, script } = yield* begin()
      yield* offer("s1")
      script.stop = [s1]
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
      yield* offer("s2")
      assert.deepStrictEqual(script.started, ["s1", "s2"])
    })
  )

  it.effect("drops what a heartbeat says is lost, and continues", () =>
    Effect.gen(function* () {
      const { offer, script } = yield* begin()
      yield* offer("s1")
      script.lost = [s1]
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(script.finished.size, 0)
      yield* offer("s2")
      assert.deepStrictEqual(script.started, ["s1", "s2"])
    })
  )

  it.effect("survives an unavailable service", () =>
    Effect.gen(function* () {
      const { fiber, offer, script } = yield* begin()
      script.leaseError = MemorySession.unreachable
      yield* TestClock.adjust("1 hour")
      const asked = script.asked.length
      // Pauses grow to 5 s, each between 80 and 120 %.
      assert.isAbove(asked, 3600 / 6)
      assert.isBelow(asked, 3600 / 4 + 10)
      assert.isUndefined(fiber.pollUnsafe())
      script.leaseError = undefined
      yield* TestClock.adjust("6 seconds")
      yield* offer("s1")
      assert.deepStrictEqual(script.started, ["s1"])
    })
  )

  it.effect("fails when the service refuses the worker itself", () =>
    Effect.gen(function* () {
      const { fiber, script } = yield* begin()
      script.leaseError = new ControlRoomError({
        reason: new Forbidden({ code: "FORBIDDEN", message: "this worker was removed" }),
        request: MemorySession.leaseLost.request
      })
      yield* TestClock.adjust("21 seconds")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error, script.leaseError)
    })
  )
})

describe("closing the agent", () => {
  it.effect("leases no more, keeps sending heartbeats, and lets each step run end with its reserved item", () =>
    Effect.gen(function* () {
      const { fiber, gate, offer, script, sessions } = yield* begin({ capacity: 2, items: 3, drain: "10 seconds" })
      yield* offer("s1")
      const closing = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* offer("s2")
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(script.started, ["s1"])
      assert.deepStrictEqual(script.beats.at(-1), ["s1"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(closing)
      assert.deepStrictEqual([...script.finished], [["s1", null]])
      assert.deepStrictEqual(
        sessions.get("s1")?.actions.map((action) => action.did),
        ["output", "release"]
      )
      const beats = script.beats.length
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(script.beats.length, beats)
    })
  )

  it.effect("terminates what has not ended after the drain time", () =>
    Effect.gen(function* () {
      const { fiber, offer, script } = yield* begin({ drain: "10 seconds" })
      yield* offer("s1")
      const closing = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(script.finished.size, 0)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
    })
  )

  it.effect("ends at once when told to hurry", () =>
    Effect.gen(function* () {
      const hurry = yield* Deferred.make<void>()
      const { fiber, offer, script } = yield* begin({ drain: "Infinity", hurry: Deferred.await(hurry) })
      yield* offer("s1")
      const closing = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(script.finished.size, 0)
      yield* Deferred.succeed(hurry, undefined)
      yield* Fiber.join(closing)
      assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
    })
  )

  it.effect("does not wait for an unavailable service", () =>
    Effect.gen(function* () {
      const { fiber, offer, script } = yield* begin({ drain: "10 seconds" })
      yield* offer("s1")
      script.finishError = MemorySession.unreachable
      const closing = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("15 seconds")
      yield* Fiber.join(closing)
      assert.strictEqual(script.finished.size, 0)
    })
  )
})

describe("an agent that is drained by the service", () => {
  it.effect("leases no more, lets its step runs end with their reserved item, and ends", () =>
    Effect.gen(function* () {
      const { fiber, gate, offer, script, sessions } = yield* begin({ capacity: 2, items: 3 })
      yield* offer("s1")
      script.drain = true
      yield* TestClock.adjust("3 seconds")
      yield* offer("s2")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(script.started, ["s1"])
      assert.deepStrictEqual(script.beats.at(-1), ["s1"])
      yield* Deferred.succeed(gate, undefined)
      assert.isNull(yield* Fiber.join(fiber))
      assert.deepStrictEqual([...script.finished], [["s1", null]])
      assert.deepStrictEqual(
        sessions.get("s1")?.actions.map((action) => action.did),
        ["output", "release"]
      )
    })
  )

  it.effect("ends at once when it has none", () =>
    Effect.gen(function* () {
      const { fiber, script } = yield* begin()
      script.drain = true
      yield* TestClock.adjust("3 seconds")
      assert.isNull(yield* Fiber.join(fiber))
    })
  )
})

describe("an agent for one step run", () => {
  it.effect("asks for one although its capacity is more, and ends with how it ended", () =>
    Effect.gen(function* () {
      const { fiber, gate, offer, script } = yield* begin({ capacity: 5, items: 3, once: true })
      yield* TestClock.adjust("1 hour")
      yield* offer("s1", "s2")
      assert.isUndefined(fiber.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Fiber.join(fiber), { id: s1, ending: null })
      assert.deepStrictEqual(script.started, ["s1"])
      assert.isTrue(script.asked.every((free) => free === 1))
    })
  )

  it.effect("says that the step run failed or was lost", () =>
    Effect.gen(function* () {
      const stopped = yield* begin({ once: true })
      yield* stopped.offer("s1")
      stopped.script.stop = [s1]
      yield* TestClock.adjust("3 seconds")
      const ended = yield* Fiber.join(stopped.fiber)
      assert.deepInclude(ended?.ending, { code: "TERMINATED" })

      const lost = yield* begin({ once: true })
      yield* lost.offer("s1")
      lost.script.lost = [s1]
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* Fiber.join(lost.fiber), { id: s1, ending: "lost" })
    })
  )

  it.effect("is drained before it has one", () =>
    Effect.gen(function* () {
      const { fiber, script } = yield* begin({ once: true })
      script.drain = true
      yield* TestClock.adjust("3 seconds")
      assert.isNull(yield* Fiber.join(fiber))
    })
  )
})
