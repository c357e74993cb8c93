/** Executions that start later, in an order, and until a deadline. */
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { OptionError } from "@signalbox/transport/OptionError"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { Diary } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { errorOf, memory, restarting, stateOf } from "./support/Running.ts"

const hour = 3_600_000
const pass = TestClock.adjust

const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.Void,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (text) {
    yield* Diary.write(`${text} ${DateTime.toEpochMillis(yield* DateTime.now)}`)
  })
})
const go = Flow.signal("go", Schema.String)

const flowOf = (limit: ReadonlyArray<Flow.FlowLimit<string>> = []) =>
  Flow.make("later", {
    version: 1,
    input: Schema.String,
    success: Schema.String,
    error: Schema.Never,
    idempotencyKey: (text) => text,
    signals: [go],
    limit,
    run: Effect.fnUntraced(function* (text) {
      yield* note(text)
      yield* Flow.sleep("hour", "1 hour")
      return text
    })
  })
const later = flowOf()
const oneByOne = flowOf([{ concurrency: 1 }])

const on = <A, E, R>(flow: typeof later, effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, Layer.provideMerge(Flow.layer(flow), memory))

const optionOf = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(call), (exit) => {
    const error = errorOf(exit)
    return error instanceof OptionError ? error.option : error
  })

describe("an execution that starts later", () => {
  it.effect("begins at its time, also some milliseconds after another one", () =>
    on(
      later,
      Effect.gen(function* () {
        for (const [text, after] of [
          ["one", 1_000],
          ["other", 1_010]
        ] as const)
          yield* Flow.submit(later, text, { after })
        yield* pass(hour)
        assert.deepStrictEqual(yield* Diary.read, ["one 1000", "other 1010"])
      })
    )
  )

  it.effect("is a row until its time, and then runs", () =>
    on(
      later,
      Effect.gen(function* () {
        const id = yield* Flow.submit(later, "a", { after: "2 hours" })
        const { execution, remedy, summary } = yield* FlowExecutions.inspect(id)
        const waits = { state: "queued", startsAt: 2 * hour, queuedAt: null, owner: null, wakeAt: 2 * hour } as const
        assert.deepInclude(execution, waits)
        assert.strictEqual(summary, "queued: starts at 1970-01-01T02:00:00.000Z")
        assert.isNull(remedy)
        yield* pass(2 * hour - 1)
        assert.strictEqual(yield* stateOf(id), "queued")
        yield* pass(1)
        assert.deepStrictEqual(yield* Diary.read, [`a ${2 * hour}`])
        assert.deepInclude(yield* FlowExecutions.get(id), { state: "waiting", startsAt: null })
        yield* pass("1 hour")
        assert.strictEqual(yield* stateOf(id), "completed")
      })
    )
  )

  it.effect("starts at a time, which may be a Date, and immediately when that has passed", () =>
    on(
      later,
      Effect.gen(function* () {
        yield* pass(hour)
        yield* Flow.submit(later, "a", { at: new Date(2 * hour) })
        yield* Flow.submit(later, "b", { at: DateTime.makeUnsafe(3 * hour) })
        yield* Flow.submit(later, "c", { at: new Date(1) })
        yield* pass("5 hours")
        assert.deepStrictEqual(yield* Diary.read, [`c ${hour}`, `a ${2 * hour}`, `b ${3 * hour}`])
      })
    )
  )

  it.effect("is awaited by those who execute it, and joined", () =>
    on(
      later,
      Effect.gen(function* () {
        const first = yield* Effect.forkChild(Flow.execute(later, "a", { after: "1 hour" }))
        const second = yield* Effect.forkChild(Flow.execute(later, "a"))
        yield* pass("2 hours")
        assert.deepStrictEqual([yield* Fiber.join(first), yield* Fiber.join(second)], ["a", "a"])
        assert.deepStrictEqual(yield* Diary.read, [`a ${hour}`])
      })
    )
  )

  it.effect("is cancelled and terminated without its body", () =>
    on(
      later,
      Effect.gen(function* () {
        const cancelled = yield* Flow.submit(later, "a", { after: "1 hour" })
        const terminated = yield* Flow.submit(later, "b", { after: "1 hour" })
        yield* FlowExecutions.cancel(cancelled)
        yield* FlowExecutions.terminate(terminated)
        const { failure, state } = yield* FlowExecutions.get(cancelled)
        assert.deepStrictEqual([state, failure?.message], ["cancelled", "cancelled before its start: it had not begun"])
        assert.strictEqual(yield* stateOf(terminated), "cancelled")
        yield* pass("3 hours")
        assert.deepStrictEqual(yield* Diary.read, [])
      })
    )
  )

  it.effect("keeps its time while it is suspended", () =>
    on(
      later,
      Effect.gen(function* () {
        const [early, late] = [
          yield* Flow.submit(later, "a", { after: "3 hours" }),
          yield* Flow.submit(later, "b", { after: "1 hour" })
        ]
        yield* FlowExecutions.suspend(early)
        yield* FlowExecutions.suspend(late)
        yield* pass("2 hours")
        assert.deepStrictEqual([yield* stateOf(early), yield* stateOf(late)], ["suspended", "suspended"])
        yield* FlowExecutions.resume(early)
        yield* FlowExecutions.resume(late)
        yield* pass("2 hours")
        assert.deepStrictEqual(yield* Diary.read, [`b ${2 * hour}`, `a ${3 * hour}`])
      })
    )
  )

  it.effect("is not started by a signal, and cannot be retried", () =>
    on(
      later,
      Effect.gen(function* () {
        const id = yield* Flow.submit(later, "a", { after: "2 hours" })
        yield* FlowExecutions.signal(id, "go", "now")
        yield* pass("1 hour")
        assert.deepInclude(yield* FlowExecutions.get(id), { state: "queued", wakeAt: 2 * hour, mail: 1 })
        const refused = errorOf(yield* Effect.exit(FlowExecutions.retry(id)))
        assert.instanceOf(refused, Flow.ExecutionConflict)
        yield* pass("1 hour")
        assert.deepStrictEqual(yield* Diary.read, [`a ${2 * hour}`])
      })
    )
  )

  it.effect("is started by the process of its time", () =>
    Effect.gen(function* () {
      const flows = Flow.layer(later)
      yield* inProcess(flows, Flow.submit(later, "a", { after: "1 hour" }))
      yield* inProcess(
        flows,
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* Diary.read, [])
          yield* pass("1 hour")
          const [line] = yield* Diary.read
          assert.match(line ?? "", /^a /)
        })
      )
    }).pipe(Effect.provide(restarting))
  )

  it.effect("enters the queue of its limits at its time", () =>
    on(
      oneByOne,
      Effect.gen(function* () {
        const first = yield* Flow.submit(oneByOne, "a", { after: "2 hours" })
        yield* Flow.submit(oneByOne, "b", { after: "90 minutes" })
        yield* pass("1 hour")
        yield* Flow.submit(oneByOne, "c")
        assert.deepInclude(yield* FlowExecutions.get(first), { queuedAt: null })
        yield* pass("1 hour")
        const { execution, summary } = yield* FlowExecutions.inspect(first)
        assert.deepInclude(execution, { state: "queued", queuedAt: 2 * hour, startsAt: null, owner: null })
        assert.match(summary, /^queued: number 1 in the queue, at limit 1 of its flow, held by /)
        yield* pass("5 hours")
        assert.deepStrictEqual(yield* Diary.read, [`c ${hour}`, `b ${2 * hour}`, `a ${3 * hour}`])
      })
    )
  )
})

describe("options", () => {
  it.effect("that cannot be are defects that name them", () =>
    on(
      later,
      Effect.gen(function* () {
        const both = { at: new Date(0), after: "1 hour" }
        // @ts-expect-error one of both
        assert.strictEqual(yield* optionOf(Flow.submit(later, "a", both)), "after")
        assert.strictEqual(yield* optionOf(Flow.submit(later, "a", { priority: 1_001 })), "priority")
        assert.strictEqual(yield* optionOf(Flow.submit(later, "a", { priority: 0.5 })), "priority")
        assert.strictEqual(yield* optionOf(Flow.submit(later, "a", { deadline: 0 })), "deadline")
        assert.strictEqual(yield* optionOf(Flow.execute(later, "a", { after: -1 })), "after")
        assert.strictEqual(yield* optionOf(Flow.submit(later, "a", { at: new Date(NaN) })), "at")
        assert.deepStrictEqual((yield* FlowExecutions.list()).executions, [])
      })
    )
  )
})

describe("a reschedule", () => {
  const refusal = <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.map(Effect.flip(call), String)

  it.effect("lets an execution start earlier, later or now", () =>
    on(
      later,
      Effect.gen(function* () {
        yield* Flow.submit(later, "earlier", { after: "4 hours" })
        yield* Flow.submit(later, "postponed", { at: new Date(2 * hour) })
        yield* Flow.submit(later, "now", { after: "9 hours" })
        yield* (yield* Flow.handle(later, "earlier")).reschedule({ after: "1 hour" })
        yield* (yield* Flow.handle(later, "postponed")).reschedule({ at: new Date(5 * hour) })
        yield* pass("30 minutes")
        yield* (yield* Flow.handle(later, "now")).reschedule({ at: new Date(0) })
        yield* pass("9 hours")
        assert.deepStrictEqual(yield* Diary.read, [`now ${hour / 2}`, `earlier ${hour}`, `postponed ${5 * hour}`])
      })
    )
  )

  it.effect("changes the order of a queue, and leaves it until a later start", () =>
    on(
      oneByOne,
      Effect.gen(function* () {
        for (const text of ["first", "a", "b", "c"]) {
          yield* Flow.submit(oneByOne, text)
          yield* pass(1)
        }
        yield* (yield* Flow.handle(oneByOne, "c")).reschedule({ priority: 1 })
        const a = yield* Flow.handle(oneByOne, "a")
        yield* a.reschedule({ after: "90 minutes" })
        assert.isNull((yield* a.describe).queue)
        yield* pass("9 hours")
        const order = (yield* Diary.read).map((line) => line.split(" ")[0])
        assert.deepStrictEqual(order, ["first", "c", "b", "a"])
      })
    )
  )

  it.effect("gives what waits in a queue a deadline, which counts from then on", () =>
    on(
      oneByOne,
      Effect.gen(function* () {
        yield* Flow.submit(oneByOne, "first")
        yield* pass(1)
        const id = yield* Flow.submit(oneByOne, "second", { deadline: "10 minutes" })
        yield* pass("5 minutes")
        yield* FlowExecutions.reschedule(id, { deadline: "20 minutes" })
        yield* pass("19 minutes")
        assert.strictEqual(yield* stateOf(id), "queued")
        yield* pass("1 minute")
        assert.deepInclude(yield* FlowExecutions.get(id), { state: "failed", deadlineAt: 1 + (hour / 60) * 25 })
      })
    )
  )

  it.effect("is recorded with who gave it, and once with its id", () =>
    on(
      later,
      Effect.gen(function* () {
        const id = yield* Flow.submit(later, "a", { after: "1 hour" })
        yield* FlowExecutions.reschedule(id, { after: "2 hours", id: "move", by: "ann" })
        yield* pass("1 minute")
        yield* FlowExecutions.reschedule(id, { after: "2 hours", id: "move", by: "ann" })
        const { commands, execution } = yield* FlowExecutions.inspect(id)
        assert.deepStrictEqual(
          commands.map(({ by, command, outcome }) => [by, command, outcome]),
          [["ann", "reschedule", "applied"]]
        )
        assert.deepInclude(execution, { startsAt: 2 * hour, state: "queued", failure: null })
      })
    )
  )

  it.effect("of a suspended one counts when it is resumed", () =>
    on(
      later,
      Effect.gen(function* () {
        const id = yield* Flow.submit(later, "a", { after: "1 hour" })
        yield* FlowExecutions.suspend(id)
        yield* FlowExecutions.reschedule(id, { after: "3 hours" })
        yield* pass("2 hours")
        yield* FlowExecutions.resume(id)
        yield* pass("9 hours")
        assert.deepStrictEqual(yield* Diary.read, [`a ${3 * hour}`])
      })
    )
  )

  it.effect("is refused when the execution has begun or has ended", () =>
    on(
      later,
      Effect.gen(function* () {
        const id = yield* Flow.submit(later, "a")
        yield* pass("1 minute")
        const moved = FlowExecutions.reschedule(id, { after: "1 hour" })
        assert.match(yield* refusal(moved), /ExecutionConflict: the execution \S+ has begun \(waiting\): it can be/)
        yield* pass("1 hour")
        assert.match(yield* refusal(moved), /has ended \(completed\)/)
        assert.deepStrictEqual((yield* FlowExecutions.inspect(id)).commands, [])
        assert.match(yield* refusal(FlowExecutions.reschedule("nobody", { priority: 1 })), /ExecutionNotFound/)
      })
    )
  )

  it.effect("of a retried one in its queue changes only its priority", () =>
    on(
      oneByOne,
      Effect.gen(function* () {
        const id = yield* Flow.submit(oneByOne, "again")
        yield* pass("1 hour")
        yield* Flow.submit(oneByOne, "other")
        yield* pass("1 minute")
        yield* FlowExecutions.retry(id, { from: "hour" })
        const refused = yield* refusal(FlowExecutions.reschedule(id, { after: "1 hour" }))
        assert.match(
          refused,
          /after: the execution \S+ has begun, and is queued again: only its priority can be changed/
        )
        yield* FlowExecutions.reschedule(id, { priority: 3 })
        assert.deepInclude(yield* FlowExecutions.get(id), { priority: 3, state: "queued" })
      })
    )
  )

  it.effect("of many moves those that have not begun", () =>
    on(
      later,
      Effect.gen(function* () {
        const id = yield* Flow.submit(later, "a", { after: "1 hour" })
        yield* Flow.submit(later, "b")
        yield* pass("1 minute")
        const carried = yield* FlowExecutions.each({ flow: "later" }, "reschedule", { at: new Date(2 * hour) })
        assert.deepStrictEqual(carried, { changed: 1, refused: 0 })
        assert.deepInclude(yield* FlowExecutions.get(id), { startsAt: 2 * hour })
      })
    )
  )

  it.effect("that cannot be is a defect that names the option", () =>
    on(
      later,
      Effect.gen(function* () {
        const id = yield* Flow.submit(later, "a", { after: "1 hour" })
        const both = { at: new Date(0), after: "1 hour" }
        // @ts-expect-error one of both
        assert.strictEqual(yield* optionOf(FlowExecutions.reschedule(id, both)), "after")
        assert.strictEqual(yield* optionOf(FlowExecutions.reschedule(id, {})), "at")
        assert.strictEqual(yield* optionOf(FlowExecutions.reschedule(id, { priority: 1_001 })), "priority")
        assert.deepInclude(yield* FlowExecutions.get(id), { startsAt: hour })
      })
    )
  )
})

describe("a priority", () => {
  it.effect("orders the queued executions of a flow, equal ones by their arrival", () =>
    on(
      oneByOne,
      Effect.gen(function* () {
        yield* Flow.submit(oneByOne, "first")
        for (const [text, priority] of [
          ["low", -5],
          ["a", 0],
          ["b", undefined],
          ["high", 7]
        ] as const) {
          yield* pass(1)
          yield* Flow.submit(oneByOne, text, { priority })
        }
        const low = yield* Flow.handle(oneByOne, "low")
        const high = yield* Flow.handle(oneByOne, "high")
        assert.strictEqual((yield* low.describe).queue?.place, 4)
        assert.strictEqual((yield* high.describe).queue?.place, 1)
        yield* pass("9 hours")
        const order = (yield* Diary.read).map((line) => line.split(" ")[0])
        assert.deepStrictEqual(order, ["first", "high", "a", "b", "low"])
      })
    )
  )

  it.effect("does not let a key overtake others", () => {
    const byLetter = flowOf([{ key: (text) => text.charAt(0), concurrency: 1 }, { concurrency: 1 }])
    return on(
      byLetter,
      Effect.gen(function* () {
        for (const text of ["x", "a1", "a2", "b1", "b2"]) {
          yield* pass(1)
          yield* Flow.submit(byLetter, text, { priority: text === "a2" ? 9 : 0 })
        }
        yield* pass("9 hours")
        const order = (yield* Diary.read).map((line) => line.split(" ")[0])
        assert.deepStrictEqual(order, ["x", "a2", "b1", "a1", "b2"])
      })
    )
  })
})
