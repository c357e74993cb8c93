/** One execution for life: retried, resumed and continued under the same id, so that no POST is doubled. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { Diary, flowOf, note, Refused, work } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { errorOf, memory, post, restarting, stateOf } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

/** Notes its idempotency key, and fails as long as it is to. */
const makeFlaky = () => {
  const state = { fails: true }
  const flaky = Flow.step("flaky", {
    input: Schema.String,
    success: Schema.String,
    error: Refused,
    run: Effect.fnUntraced(function* (text) {
      const key = yield* Effect.flatMap(IdempotencyKeys, (keys) => keys.next)
      yield* Diary.write(`flaky ${key.replace(/^[^/]*\//, "")}`)
      return state.fails ? yield* new Refused({ why: text }) : text
    })
  })
  return { flaky, state }
}

describe("the numbers of calls", () => {
  it.effect("give each call of a step in one place separate keys", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () => Effect.andThen(post("a"), Effect.andThen(post("a"), post("b"))))
      yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.deepStrictEqual(yield* Diary.read, ["a post/1", "a post#2/1", "b post#3/1"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("keep the keys of the failed call that they repeat with an equal input", () =>
    Effect.gen(function* () {
      const { flaky } = makeFlaky()
      const flow = flowOf(Schema.String, () =>
        flaky("a").pipe(
          Effect.retry({ times: 2 }),
          Effect.catch(() => flaky("b"))
        )
      )
      yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.deepStrictEqual(yield* Diary.read, [
        "flaky flaky/1",
        "flaky flaky/1",
        "flaky flaky/1",
        // Another input is another request.
        "flaky flaky#4/1"
      ])
    }).pipe(Effect.provide(memory))
  )

  it.effect("are the same after a restart", () =>
    Effect.gen(function* () {
      const { flaky, state } = makeFlaky()
      const flow = flowOf(Schema.String, () =>
        Effect.catch(flaky("a"), () => Effect.andThen(Flow.sleep("nap", "1 hour"), flaky("a")))
      )
      yield* inProcess(Flow.layer(flow), Effect.andThen(Flow.submit(flow, undefined), advance("1 minute")))
      state.fails = false
      const exit = yield* inProcess(Flow.layer(flow), throughTime(Flow.execute(flow, undefined)))
      assert.deepStrictEqual(exit, Exit.succeed("a"))
      assert.deepStrictEqual(yield* Diary.read, ["flaky flaky/1", "flaky flaky/1"])
    }).pipe(Effect.provide(restarting))
  )
})

describe("retry", () => {
  it.effect("runs a failed execution again from the step that failed, under the same id and keys", () =>
    Effect.gen(function* () {
      const { flaky, state } = makeFlaky()
      const flow = flowOf(Schema.String, () => Effect.andThen(post("a"), flaky("b")))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "failed")
        state.fails = false
        yield* FlowExecutions.retry(id)
        assert.deepStrictEqual(yield* throughTime(Flow.execute(flow, undefined)), Exit.succeed("b"))
        assert.strictEqual(yield* Flow.submit(flow, undefined), id)
        assert.deepStrictEqual(yield* Diary.read, ["a post/1", "flaky flaky/1", "flaky flaky/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("from a step does what came after again, under new keys where it had succeeded", () =>
    Effect.gen(function* () {
      const { flaky, state } = makeFlaky()
      const flow = flowOf(Schema.String, () =>
        Effect.andThen(post("a"), Effect.andThen(post("b"), Effect.andThen(post("c"), flaky("d"))))
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        state.fails = false
        yield* FlowExecutions.retry(id, { from: "post#2" })
        yield* throughTime(Flow.execute(flow, undefined))
        assert.deepStrictEqual((yield* Diary.read).slice(4), ["b post#2~1/1", "c post#3~1/1", "flaky flaky/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("from a step that a lost race waited for does it again, and the race waits again", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.asVoid(
          Flow.race("outer", {
            left: Flow.race("inner", {
              held: Flow.compensate(Effect.asVoid(work({ name: "held", seconds: 60 })), () => note("undo")),
              fails: Effect.asVoid(note("", { key: "fails" }))
            }),
            right: Effect.gen(function* () {
              yield* Flow.sleep("nap", "1 second")
              yield* note("beside", { key: "beside" })
              yield* Flow.sleep("long", "1 day")
            })
          })
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("10 seconds")
        yield* advance("1 minute")
        assert.strictEqual(yield* stateOf(id), "failed")
        yield* FlowExecutions.retry(id, { from: "outer[left]/inner[held]/work" })
        yield* advance("10 seconds")
        assert.strictEqual(yield* stateOf(id), "running")
        yield* advance("1 minute")
        assert.strictEqual(yield* stateOf(id), "failed")
        const once = ["held ends", "undo"]
        assert.deepStrictEqual(yield* Diary.read, ["held begins", "beside", ...once, "held begins", ...once])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("does what was undone again under new keys, and undoes that under new keys, too", () =>
    Effect.gen(function* () {
      const { flaky } = makeFlaky()
      const flow = flowOf(Schema.String, () =>
        Effect.andThen(
          Flow.compensate(post("a"), () => post("undo a")),
          flaky("b")
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        yield* FlowExecutions.retry(id)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "failed")
        assert.deepStrictEqual(yield* Diary.read, [
          "a post/1",
          "flaky flaky/1",
          "undo a post/undo/post/1",
          "a post~1/1",
          "flaky flaky/1",
          "undo a post/undo/post~1/1"
        ])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("undoes under new keys even when the first undo had not succeeded", () =>
    Effect.gen(function* () {
      const { flaky } = makeFlaky()
      const undoing = Flow.step("undoing", {
        input: Schema.Void,
        success: Schema.Void,
        error: Refused,
        run: Effect.fnUntraced(function* () {
          const key = yield* Effect.flatMap(IdempotencyKeys, (keys) => keys.next)
          yield* Diary.write(`undoing ${key.replace(/^[^/]*\//, "")}`)
          if (!(yield* Diary.read).includes("a post~1/1")) return yield* new Refused({ why: "out of order" })
        })
      })
      const flow = flowOf(Schema.String, () =>
        Effect.andThen(
          Flow.compensate(post("a"), () => undoing(undefined)),
          flaky("b")
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "halted")
        yield* FlowExecutions.retry(id, { from: "post" })
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "failed")
        assert.deepStrictEqual(
          (yield* Diary.read).filter((line) => line.startsWith("undoing")),
          ["undoing post/undo/undoing/1", "undoing post/undo/undoing~1/1"]
        )
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("leaves what succeeded beside the failed step", () =>
    Effect.gen(function* () {
      const { flaky, state } = makeFlaky()
      const flow = flowOf(Schema.Array(Schema.String), () =>
        Flow.all("both", [post("a"), Effect.andThen(Flow.sleep("nap", "1 hour"), flaky("b"))], { concurrency: 2 })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* throughTime(Flow.execute(flow, undefined))
        state.fails = false
        yield* FlowExecutions.retry(id)
        assert.deepStrictEqual(yield* throughTime(Flow.execute(flow, undefined)), Exit.succeed(["a", "b"]))
        assert.strictEqual((yield* Diary.read).filter((line) => line.startsWith("a ")).length, 1)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("begins at the failure that ended the execution, not at one that the body caught", () =>
    Effect.gen(function* () {
      const { flaky, state } = makeFlaky()
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          yield* Effect.ignore(note(""))
          yield* post("a")
          return yield* flaky("b")
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        state.fails = false
        yield* FlowExecutions.retry(id)
        yield* throughTime(Flow.execute(flow, undefined))
        assert.deepStrictEqual(yield* Diary.read, ["a post/1", "flaky flaky/1", "flaky flaky/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("of a completed one needs a step to begin at", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () => Effect.andThen(post("a"), post("b")))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* throughTime(Flow.execute(flow, undefined))
        const conflict = yield* Effect.flip(FlowExecutions.retry(id))
        assert.strictEqual(conflict._tag, "ExecutionConflict")
        assert.match(conflict.message, /name the step to begin with, in from/)
        const absent = yield* Effect.flip(FlowExecutions.retry(id, { from: "nothing" }))
        assert.strictEqual(absent._tag, "StepNotFound")
        yield* FlowExecutions.retry(id, { from: "post#2" })
        assert.deepStrictEqual(yield* throughTime(Flow.execute(flow, undefined)), Exit.succeed("b"))
        assert.deepStrictEqual(yield* Diary.read, ["a post/1", "b post#2/1", "b post#2~1/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("continues a cancelled execution", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          yield* post("a")
          yield* Flow.sleep("nap", "1 hour")
          return yield* post("b")
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        yield* FlowExecutions.cancel(id)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "cancelled")
        yield* FlowExecutions.retry(id, { from: "nap" })
        assert.deepStrictEqual(yield* throughTime(Flow.execute(flow, undefined)), Exit.succeed("b"))
        assert.deepStrictEqual(yield* Diary.read, ["a post/1", "b post#2/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("is refused while the execution has not ended", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () => Flow.sleep("nap", "1 hour"))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        const error = yield* Effect.flip(FlowExecutions.retry(id))
        assert.match(error.message, /has not ended \(waiting\): cancel it first/)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("continueAs", () => {
  const number = Flow.signal("number", Schema.Finite)
  const box = Flow.inbox("box", Schema.String)
  const input = Schema.Struct({ year: Schema.Finite })
  const yearly = Flow.make("yearly", {
    version: 1,
    input,
    success: Schema.String,
    error: Refused,
    idempotencyKey: () => "one",
    signals: [number, box],
    run: Effect.fnUntraced(function* ({ year }) {
      yield* Flow.compensate(post(`year ${year}`), () => post(`undo ${year}`))
      const got = yield* number.receive()
      const message = yield* box.receive()
      yield* Flow.sleep("rest", "1 hour")
      if (got === 0) yield* note("")
      if (year < 2) return yield* Flow.continueAs({ name: "yearly", input }, { year: year + 1 })
      return `${year} ${got} ${message}`
    })
  })
  const layer = Layer.provideMerge(Flow.layer(yearly), memory)

  const chapters = Effect.gen(function* () {
    const id = yield* Flow.submit(yearly, { year: 1 })
    yield* FlowExecutions.signal(id, "number", 7)
    yield* FlowExecutions.signal(id, "box", "first", { id: "1" })
    yield* FlowExecutions.signal(id, "box", "second", { id: "2" })
    yield* advance("2 hours")
    return id
  })

  it.effect("begins a new chapter under the same id, with new keys", () =>
    Effect.gen(function* () {
      const id = yield* chapters
      const { chapter, input, state } = yield* FlowExecutions.get(id)
      assert.deepStrictEqual({ chapter, input, state }, { chapter: 1, input: { year: 2 }, state: "waiting" })
      const keys = yield* Diary.read
      assert.deepStrictEqual(keys, ["year 1 post/1", "year 2 post/1"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("waits for signals again, and loses no message that was not received", () =>
    Effect.gen(function* () {
      const id = yield* chapters
      assert.deepStrictEqual(
        (yield* FlowExecutions.inspect(id)).now.map(({ path }) => path),
        ["number"]
      )
      yield* FlowExecutions.signal(id, "number", 8)
      yield* advance("2 hours")
      assert.strictEqual(yield* Flow.execute(yearly, { year: 1 }), "2 8 second")
    }).pipe(Effect.provide(layer))
  )

  it.effect("undoes nothing of the chapters before", () =>
    Effect.gen(function* () {
      const id = yield* chapters
      yield* FlowExecutions.signal(id, "number", 0)
      yield* advance("2 hours")
      assert.strictEqual(yield* stateOf(id), "failed")
      assert.deepStrictEqual((yield* Diary.read).at(-1), "undo 2 post/undo/post/1")
      assert.strictEqual((yield* Diary.read).length, 3)
      assert.instanceOf(errorOf(yield* Effect.exit(Flow.execute(yearly, { year: 1 }))), Refused)
    }).pipe(Effect.provide(layer))
  )

  it.effect("has idempotency scopes that differ by the chapter", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      const keyed = Flow.step("keyed", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.flatMap(IdempotencyKeys, ({ next }) => Effect.map(next, (key) => void keys.push(key)))
      })
      const input = Schema.Finite
      const flow = Flow.make("twice", {
        version: 1,
        input,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: Effect.fnUntraced(function* (n: number) {
          yield* keyed(undefined)
          if (n === 0) return yield* Flow.continueAs({ name: "twice", input }, 1)
        })
      })
      yield* throughTime(Flow.execute(flow, 0)).pipe(Effect.provide(Flow.layer(flow)))
      assert.strictEqual(new Set(keys).size, 2)
    }).pipe(Effect.provide(memory))
  )
})

describe("suspend", () => {
  it.effect("lets the running step end, keeps timers and signals, and resume continues", () =>
    Effect.gen(function* () {
      const number = Flow.signal("number", Schema.Finite)
      const slow = Flow.step("slow", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.andThen(Effect.sleep("1 minute"), Diary.write("slow"))
      })
      const flow = flowOf(
        Schema.Finite,
        () => Effect.andThen(slow(undefined), Effect.andThen(post("after"), number.receive())),
        [number]
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        yield* FlowExecutions.suspend(id)
        yield* advance("1 hour")
        assert.strictEqual(yield* stateOf(id), "suspended")
        assert.deepStrictEqual(yield* Diary.read, ["slow"])
        yield* FlowExecutions.signal(id, "number", 7)
        yield* advance("1 hour")
        assert.strictEqual(yield* stateOf(id), "suspended")
        yield* FlowExecutions.resume(id)
        assert.deepStrictEqual(yield* throughTime(Flow.execute(flow, undefined)), Exit.succeed(7))
        assert.deepStrictEqual(yield* Diary.read, ["slow", "after post/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("does not keep from cancelling", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.andThen(
          Flow.compensate(post("a"), () => post("undo a")),
          Flow.sleep("nap", "1 hour")
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        yield* FlowExecutions.suspend(id)
        yield* advance("1 second")
        yield* FlowExecutions.cancel(id)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual((yield* Diary.read).length, 2)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})
