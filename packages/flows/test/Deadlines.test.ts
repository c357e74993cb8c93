/** Executions with a deadline. */
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { engineOf } from "../src/internal/engine/EngineOf.ts"
import { Diary } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { errorOf, memory, restarting, stateOf } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

const hour = 3_600_000
const pass = TestClock.adjust

const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (text) {
    yield* Diary.write(`${text} ${DateTime.toEpochMillis(yield* DateTime.now)}`)
    return text
  })
})
const go = Flow.signal("go", Schema.String)

const flowOf = (limit: ReadonlyArray<Flow.FlowLimit<string>> = []) =>
  Flow.make("late", {
    version: 1,
    input: Schema.String,
    success: Schema.String,
    error: Schema.Never,
    idempotencyKey: (text) => text,
    signals: [go],
    limit,
    run: Effect.fnUntraced(function* (text) {
      yield* Flow.compensate(note(text), () =>
        Effect.andThen(Flow.sleep("calm", "10 minutes"), note(`undo ${text}`, { key: "undo" }))
      )
      return yield* go.receive()
    })
  })
const late = flowOf()

const on = <A, E, R>(flow: typeof late, effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, Layer.provideMerge(Flow.layer(flow), memory))

const done = { kind: "signal", name: "go", id: "", value: "done" } as const
const minutes = (n: number) => n * 60_000

describe("a deadline", () => {
  it.effect("interrupts the waits of an execution, undoes it, and fails it", () =>
    on(
      late,
      Effect.gen(function* () {
        const caller = yield* Effect.forkChild(Effect.exit(Flow.execute(late, "a", { deadline: "1 hour" })))
        yield* pass("59 minutes")
        const handle = yield* Flow.handle(late, "a")
        const before = yield* handle.describe
        assert.deepInclude(before.execution, { state: "waiting", deadlineAt: hour })
        assert.match(before.summary, /; deadline 1970-01-01T01:00:00.000Z$/)
        yield* pass("1 minute")
        const after = yield* handle.describe
        assert.strictEqual(after.execution.state, "undoing")
        assert.isFalse(after.cancelling)
        assert.match(after.summary, /; its deadline was 1970-01-01T01:00:00.000Z$/)
        yield* pass("10 minutes")
        assert.deepStrictEqual(yield* Diary.read, ["a 0", `undo a ${hour + minutes(10)}`])
        const error = errorOf(yield* Fiber.join(caller))
        assert.instanceOf(error, Flow.DeadlineExceeded)
        assert.deepInclude(error, { execution: handle.id, deadlineAt: hour })
        const { execution, summary } = yield* handle.describe
        assert.deepInclude(execution, { state: "failed", error: null, endedAt: hour + minutes(10) })
        assert.strictEqual(execution.failure?.tag, "DeadlineExceeded")
        assert.match(summary, /^failed: the execution .* had not ended at its deadline/)
        assert.instanceOf(errorOf(yield* Effect.exit(handle.result)), Flow.DeadlineExceeded)
      })
    )
  )

  it.effect("does nothing to what ends before it", () =>
    on(
      late,
      Effect.gen(function* () {
        const id = yield* Flow.submit(late, "a", { deadline: "1 hour" })
        yield* pass("30 minutes")
        yield* FlowExecutions.signal(id, "go", "done")
        yield* pass("2 hours")
        assert.deepInclude(yield* FlowExecutions.get(id), { state: "completed", result: "done" })
      })
    )
  )

  it.effect("counts from the submit, and ends what has not begun without its body", () =>
    on(
      late,
      Effect.gen(function* () {
        const id = yield* Flow.submit(late, "a", { after: "2 hours", deadline: "1 hour" })
        assert.match((yield* FlowExecutions.inspect(id)).summary, /: starts at .*; deadline 1970-01-01T01:00/)
        yield* pass("1 hour")
        assert.deepInclude(yield* FlowExecutions.get(id), { state: "failed", endedAt: hour, error: null })
        yield* pass("3 hours")
        assert.deepStrictEqual(yield* Diary.read, [])
      })
    )
  )

  it.effect("ends what is queued, which leaves its place", () => {
    const oneByOne = flowOf([{ concurrency: 1 }])
    return on(
      oneByOne,
      Effect.gen(function* () {
        const first = yield* Flow.submit(oneByOne, "a")
        yield* pass(1)
        const caller = yield* Effect.forkChild(Effect.exit(Flow.execute(oneByOne, "b", { deadline: "1 hour" })))
        yield* pass(1)
        const third = yield* Flow.submit(oneByOne, "c", { deadline: "9 hours" })
        assert.strictEqual((yield* FlowExecutions.inspect(third)).queue?.place, 2)
        yield* pass("1 hour")
        assert.instanceOf(errorOf(yield* Fiber.join(caller)), Flow.DeadlineExceeded)
        assert.strictEqual((yield* FlowExecutions.inspect(third)).queue?.place, 1)
        yield* FlowExecutions.signal(first, "go", "done")
        yield* pass(1)
        assert.strictEqual(yield* stateOf(third), "waiting")
        assert.deepStrictEqual(
          (yield* Diary.read).map((line) => line.split(" ")[0]),
          ["a", "c"]
        )
      })
    )
  })

  it.effect("comes to the same end when the process ends in the middle of the undos", () =>
    Effect.gen(function* () {
      const flows = Flow.layer(late)
      const id = yield* inProcess(
        flows,
        Effect.gen(function* () {
          const id = yield* Flow.submit(late, "a", { deadline: "1 hour" })
          yield* pass("1 hour")
          assert.strictEqual(yield* stateOf(id), "undoing")
          return id
        })
      )
      yield* inProcess(
        flows,
        Effect.gen(function* () {
          const handle = yield* Flow.handle(late, "a")
          const exit = yield* throughTime(handle.result)
          assert.instanceOf(errorOf(exit), Flow.DeadlineExceeded)
          assert.lengthOf(yield* Diary.read, 2)
          yield* Flow.check(late, yield* FlowExecutions.history(id))
        })
      )
    }).pipe(Effect.provide(restarting))
  )

  it.effect("that passed while no process ran comes after what had arrived before", () =>
    Effect.gen(function* () {
      const flows = Flow.layer(late)
      const [early, tardy] = yield* inProcess(
        flows,
        Effect.forEach(["a", "b"], (text) => Flow.submit(late, text, { deadline: "1 hour" }))
      )
      yield* inProcess(
        Layer.empty,
        Effect.gen(function* () {
          yield* pass("30 minutes")
          const { engine } = yield* engineOf
          yield* engine.journal.send(early ?? "", done)
          yield* pass("1 hour")
          yield* engine.journal.send(tardy ?? "", done)
        })
      )
      yield* inProcess(
        flows,
        Effect.gen(function* () {
          yield* pass("1 hour")
          assert.strictEqual(yield* stateOf(early ?? ""), "completed")
          assert.strictEqual(yield* stateOf(tardy ?? ""), "failed")
        })
      )
    }).pipe(Effect.provide(restarting))
  )

  it.effect("applies to what is suspended when that is resumed, and not after a retry", () =>
    on(
      late,
      Effect.gen(function* () {
        const id = yield* Flow.submit(late, "a", { deadline: "1 hour" })
        yield* pass("1 minute")
        yield* FlowExecutions.suspend(id)
        yield* pass("2 hours")
        assert.strictEqual(yield* stateOf(id), "suspended")
        yield* FlowExecutions.resume(id)
        yield* pass("10 minutes")
        assert.strictEqual(yield* stateOf(id), "failed")
        yield* FlowExecutions.retry(id, { from: "note" })
        yield* pass("9 hours")
        assert.deepInclude(yield* FlowExecutions.get(id), { state: "waiting", deadlineAt: null, failure: null })
        yield* FlowExecutions.signal(id, "go", "done")
        yield* pass(1)
        assert.strictEqual(yield* stateOf(id), "completed")
      })
    )
  )

  it.effect("is too late for what is being cancelled, and a cancel for what is late", () =>
    on(
      late,
      Effect.gen(function* () {
        const cancelled = yield* Flow.submit(late, "a", { deadline: "1 hour" })
        const tardy = yield* Flow.submit(late, "b", { deadline: "1 hour" })
        yield* pass("55 minutes")
        yield* FlowExecutions.cancel(cancelled)
        yield* pass("7 minutes")
        yield* FlowExecutions.cancel(tardy, { id: "late" })
        yield* pass("10 minutes")
        assert.strictEqual(yield* stateOf(cancelled), "cancelled")
        assert.strictEqual(yield* stateOf(tardy), "failed")
        assert.strictEqual((yield* FlowExecutions.inspect(tardy)).commands[0]?.outcome, "too late")
      })
    )
  )

  it.effect("stays over chapters", () => {
    const counting = Flow.make("counting", {
      version: 1,
      input: Schema.Finite,
      success: Schema.Never,
      error: Schema.Never,
      idempotencyKey: () => "one",
      run: Effect.fnUntraced(function* (n) {
        yield* Flow.sleep("pause", "25 minutes")
        return yield* Flow.continueAs(counting, n + 1)
      })
    }) as Flow.Flow<typeof Schema.Finite, typeof Schema.Never, typeof Schema.Never, never>
    return Effect.gen(function* () {
      const id = yield* Flow.submit(counting, 0, { deadline: "1 hour" })
      yield* pass("2 hours")
      assert.deepInclude(yield* FlowExecutions.get(id), { state: "failed", endedAt: hour, chapter: 2 })
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(counting), memory)))
  })

  it.effect("interrupts a body that waits outside of a step", () => {
    const stuck = Flow.make("stuck", {
      version: 1,
      input: Schema.String,
      success: Schema.Never,
      error: Schema.Never,
      idempotencyKey: (text) => text,
      run: () => Effect.never
    })
    return Effect.gen(function* () {
      const id = yield* Flow.submit(stuck, "a", { deadline: "1 hour" })
      yield* pass("2 hours")
      assert.deepInclude(yield* FlowExecutions.get(id), { state: "failed", endedAt: hour })
      yield* yield* throughTime(Flow.check(stuck, yield* FlowExecutions.history(id)))
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(stuck), memory)))
  })
})

describe("a child with a deadline", () => {
  const parent = Flow.make("parent", {
    version: 1,
    input: Schema.String,
    success: Schema.String,
    error: Flow.InvalidInput,
    idempotencyKey: (text) => text,
    run: Effect.fnUntraced(function* (text) {
      const child = yield* Flow.start(late, text, { after: "30 minutes", deadline: "1 hour" })
      return yield* child.result.pipe(
        Effect.catchTag("DeadlineExceeded", ({ deadlineAt }) => Effect.succeed(`late ${deadlineAt}`)),
        Effect.catchTag("FlowCancelled", () => Effect.succeed("cancelled"))
      )
    })
  })
  const lines = ["a 1800000", `undo a ${hour + minutes(10)}`]

  it.effect("starts later and tells its parent", () =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(Flow.execute(parent, "a"))
      yield* pass("2 hours")
      assert.strictEqual(yield* Fiber.join(running), `late ${hour}`)
      assert.deepStrictEqual(yield* Diary.read, lines)
    }).pipe(Effect.provide(Layer.provideMerge(Layer.merge(Flow.layer(parent), Flow.layer(late)), memory)))
  )

  it.effect("does so in a plain run too", () =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(Flow.run(parent, "a"))
      yield* advance("2 hours")
      assert.strictEqual(yield* Fiber.join(running), `late ${hour}`)
      assert.deepStrictEqual(yield* Diary.read, lines)
    }).pipe(Effect.provide(memory))
  )
})
