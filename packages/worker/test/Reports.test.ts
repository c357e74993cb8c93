import { assert, describe, it } from "@effect/vitest"
import { Conflict } from "@signalbox/api/ControlRoomError"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Reports from "../src/internal/agent/Reports.ts"
import { reported } from "../src/internal/tasks/TaskOutput.ts"
import { defineTask } from "../src/Promises.ts"
import * as Task from "../src/Task.ts"
import { runOne } from "./support/RunOne.ts"
import * as MemorySession from "./support/MemorySession.ts"
import * as Protocol from "./support/Protocol.ts"

const settle = TestClock.adjust(0)

const begin = Effect.gen(function* () {
  const { protocol, script } = yield* Protocol.make
  const lost = yield* Deferred.make<void>()
  const reports = yield* Reports.make(protocol, Protocol.lease("s1", "task"), Deferred.succeed(lost, undefined))
  return { script, reports, lost }
})

describe("the console of a step run", () => {
  it.effect("is sent in order, at the latest after half a second, and whole before the end", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      yield* reports.write(["one"])
      yield* settle
      assert.deepStrictEqual(script.console, ["one"])
      yield* reports.write(["two"])
      yield* reports.write(["three"])
      assert.deepStrictEqual(script.console, ["one"])
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(script.console, ["one", "two", "three"])
      yield* reports.write(["four"])
      yield* reports.flush
      assert.deepStrictEqual(script.console.at(-1), "four")
    })
  )

  it.effect("cuts long lines without splitting a character, and has no NUL", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      const long = `${"x".repeat(65_535)}😀end`
      yield* reports.write([long, "a\0b"])
      yield* reports.flush
      assert.deepStrictEqual(
        script.console.map((message) => message.length),
        [65_535, 5, 3]
      )
      assert.strictEqual(script.console.slice(0, 2).join(""), long)
      assert.strictEqual(script.console[2], "a\uFFFDb")
    })
  )

  it.effect("applies backpressure to writers, and loses nothing", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      script.consoleError = MemorySession.unreachable
      const line = "x".repeat(60_000)
      const writing = yield* Effect.forkChild(reports.write(Array.from({ length: 100 }, (_, n) => `${n} ${line}`)))
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(writing.pollUnsafe())
      script.consoleError = undefined
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(writing)
      yield* reports.flush
      assert.deepStrictEqual(
        script.console.map((message) => Number.parseInt(message)),
        Array.from({ length: 100 }, (_, n) => n)
      )
    })
  )

  it.effect("makes writers of long lines wait for the service alone, and not for time to pass", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      const lines = Array.from({ length: 100 }, () => "x".repeat(60_000))
      const writing = yield* Effect.forkChild(reports.write(lines))
      yield* settle
      yield* Fiber.join(writing)
      // The last batch is not full.
      assert.isAtLeast(script.console.length, 80)
    })
  )

  it.effect("says how many lines were dropped of what cannot wait", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      const line = "x".repeat(50_000)
      for (let n = 0; n < 50; n++) reports.writeNow(line)
      yield* reports.flush
      assert.strictEqual(script.console.filter((message) => message === line).length, 40)
      assert.match(script.console.at(-1) ?? "", /^10 lines were dropped/)
    })
  )

  it.effect("ends when the lease is lost, and reports that", () =>
    Effect.gen(function* () {
      const { lost, reports, script } = yield* begin
      script.consoleError = MemorySession.leaseLost
      yield* reports.write(["one"])
      yield* reports.flush
      yield* Deferred.await(lost)
      assert.isTrue(reports.isLost())
      yield* reports.write(["two"])
      yield* reports.flush
      assert.deepStrictEqual(script.console, [])
    })
  )

  it.effect("is dropped, with everything else continuing, when the service refuses it", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      script.consoleError = new Conflict({ ...MemorySession.leaseLost, code: "CONFLICT", message: "offset: 7 …" })
      yield* reports.write(["one"])
      yield* reports.flush
      assert.isFalse(reports.isLost())
    })
  )

  it.effect("goes with the events of the worker", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      yield* reports.event("DOWNLOAD")
      yield* reports.event("SETUP")
      yield* reports.flush
      assert.deepStrictEqual(script.events, ["DOWNLOAD", "SETUP"])
    })
  )
})

describe("an artifact", () => {
  it.effect("is retried while the service is unavailable, for a while", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      script.artifactError = MemorySession.unreachable
      const saving = yield* Effect.forkChild(
        Effect.result(reports.saveArtifact({ name: "a.txt", size: 0, stream: Stream.empty }))
      )
      yield* TestClock.adjust("10 seconds")
      script.artifactError = undefined
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(saving))._tag, "Success")
      assert.deepStrictEqual(script.artifacts, ["a.txt"])
    })
  )
})

describe("what a task says", () => {
  it.effect("becomes lines of its step run: logs with annotations and causes, and its console", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const task = Task.make("talks", {
        input: Schema.Json,
        output: Schema.Json,
        run: Effect.fnUntraced(function* () {
          yield* Effect.annotateLogs(Effect.logInfo("two\nlines", { n: 1 }), { row: 7, step_run_id: "s1" })
          yield* Console.log("said %s", "aloud")
          yield* Effect.logError("went wrong", new Error("why"))
        })
      })
      const said: Array<unknown> = []
      const quiet: Console.Console = Object.assign(Object.create(console), {
        log: (...values: ReadonlyArray<unknown>) => said.push(...values)
      })
      const reports = { ...(yield* begin).reports, writeNow: (line: string) => void lines.push(line) }
      yield* runOne(reported(task, reports), { payload: null }).pipe(Effect.provideService(Console.Console, quiet))
      assert.deepStrictEqual(lines.slice(0, 3), ["INFO two", "lines { n: 1 } row=7", "said aloud"])
      assert.match(lines.slice(3).join("\n"), /^ERROR went wrong[^]*why/)
      assert.include(said, "said %s")
    })
  )

  it.effect("is whole however fast a task logs: the task waits for the service", () =>
    Effect.gen(function* () {
      const { protocol, script } = yield* Protocol.make
      const takes = yield* Latch.make(false)
      const slow = {
        ...protocol,
        sendConsole: (...call: Parameters<typeof protocol.sendConsole>) =>
          Effect.andThen(takes.await, protocol.sendConsole(...call))
      }
      const reports = yield* Reports.make(slow, Protocol.lease("s1", "task"), Effect.void)
      const line = "x".repeat(20_000)
      const task = Task.make("logs", {
        input: Schema.Json,
        output: Schema.Json,
        run: () =>
          Effect.forEach(Array.from({ length: 300 }), (_, n) => Effect.logInfo(`${n} ${line}`), { discard: true })
      })
      const work = yield* Effect.forkChild(
        runOne(reported(task, reports), { payload: null }).pipe(Effect.provideService(Logger.CurrentLoggers, new Set()))
      )
      yield* Effect.repeat(Effect.yieldNow, { until: reports.isCrowded })
      yield* settle
      assert.isUndefined(work.pollUnsafe())
      yield* takes.open
      yield* Fiber.join(work)
      yield* reports.flush
      assert.deepStrictEqual(
        script.console.map((message) => message.split(" ", 2).join(" ")),
        Array.from({ length: 300 }, (_, n) => `INFO ${n}`)
      )
    })
  )

  const manyLines = 200_000

  it.live("is whole when a task of promises logs in a loop that waits for one of its tools now and then", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      const task = defineTask({
        name: "logs",
        run: async ({ log, sleep }) => {
          for (let n = 0; n < manyLines; n++) {
            log(`${n} of a line of some length, as tasks write them`)
            if (n % 1000 === 999) await sleep(0)
          }
        }
      })
      yield* runOne(reported(task, reports), { payload: null }).pipe(
        Effect.provideService(Logger.CurrentLoggers, new Set())
      )
      yield* reports.flush
      assert.lengthOf(script.console, manyLines)
      assert.match(script.console.at(-1) ?? "", new RegExp(`^INFO ${manyLines - 1} of`))
      assert.deepStrictEqual(script.events, [])
    })
  )

  it.effect("is cut short by a loop that never waits, and the step run says by how much", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      const task = defineTask({
        name: "logs",
        run: ({ log }) => {
          for (let n = 0; n < manyLines; n++) log(`${n} of a line of some length, as tasks write them`)
        }
      })
      yield* runOne(reported(task, reports), { payload: null }).pipe(
        Effect.provideService(Logger.CurrentLoggers, new Set())
      )
      yield* reports.flush
      const stored = script.console.filter((line) => line.startsWith("INFO "))
      assert.isBelow(stored.length, manyLines)
      assert.deepStrictEqual(script.events, ["LOG_INCOMPLETE"])
      assert.deepStrictEqual(script.messages, [
        `${manyLines - stored.length} lines of the log were dropped: the task wrote them faster than the service received them`
      ])
      // Said once, however often it ends.
      yield* reports.flush
      assert.lengthOf(script.events, 1)
    })
  )

  it.effect("does not keep a task from being ended while it waits", () =>
    Effect.gen(function* () {
      const { reports, script } = yield* begin
      script.consoleError = MemorySession.unreachable
      const line = "x".repeat(50_000)
      const task = Task.make("logs", {
        input: Schema.Json,
        output: Schema.Json,
        run: () => Effect.forever(Effect.logInfo(line))
      })
      const work = yield* Effect.forkChild(
        runOne(reported(task, reports), { payload: null }).pipe(Effect.provideService(Logger.CurrentLoggers, new Set()))
      )
      yield* Effect.repeat(Effect.yieldNow, { until: reports.isCrowded })
      yield* reports.hurry
      yield* Fiber.interrupt(work)
      assert.isDefined(work.pollUnsafe())
    })
  )
})
