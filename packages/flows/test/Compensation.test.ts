/** What durable executions undo, and when. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { Diary, flowOf, note, Refused, work } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { errorOf, memory, post, restarting, stateOf } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

/** Takes a minute, and is undone. */
const booked = (name: string) => Flow.compensate(work({ name, seconds: 60 }, { key: name }), () => note(`undo ${name}`))

describe("a compensated step that is interrupted", () => {
  it.effect("by a race runs to its end and is undone when the race is decided, before the flow continues", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          const won = yield* Flow.race("race", {
            slow: booked("slow"),
            quick: Effect.as(Flow.sleep("quick", "1 second"), "quick")
          })
          yield* note("after")
          return won
        })
      )
      const exit = yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.deepStrictEqual(exit, Exit.succeed("quick"))
      assert.deepStrictEqual(yield* Diary.read, ["slow begins", "slow ends", "undo slow", "after"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("by a timeout is brought to its end and undone", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () => Flow.timeout("limit", "1 second", booked("slow")))
      const exit = yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.instanceOf(errorOf(exit), Flow.FlowTimeout)
      assert.deepStrictEqual(yield* Diary.read, ["slow begins", "slow ends", "undo slow"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("by a failure beside it is brought to its end and undone", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.asVoid(
          Flow.all("both", [booked("slow"), Effect.andThen(Flow.sleep("nap", "1 second"), note(""))], {
            concurrency: 2
          })
        )
      )
      const exit = yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.instanceOf(errorOf(exit), Refused)
      assert.deepStrictEqual(yield* Diary.read, ["slow begins", "slow ends", "undo slow"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("by the end of the process, after its race was decided, is brought to its end and undone", () =>
    Effect.gen(function* () {
      const keyed = Flow.step("keyed", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.andThen(Diary.write("keyed begins"), Effect.sleep("1 minute"))
      })
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          const won = yield* Flow.race("race", {
            slow: Effect.as(
              Flow.compensate(keyed(undefined), () => note("undo")),
              "slow"
            ),
            quick: Effect.as(Flow.sleep("quick", "1 second"), "quick")
          })
          yield* note("after")
          return won
        })
      )
      const layer = Flow.layer(flow)
      yield* inProcess(layer, Effect.andThen(Flow.submit(flow, undefined), advance("5 seconds")))
      const exit = yield* inProcess(layer, throughTime(Flow.execute(flow, undefined)))
      assert.deepStrictEqual(exit, Exit.succeed("quick"))
      assert.deepStrictEqual(yield* Diary.read, ["keyed begins", "keyed begins", "undo", "after"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("does not begin when it had not begun", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.asVoid(
          Flow.race("race", [
            Effect.andThen(Flow.sleep("nap", "1 hour"), booked("never")),
            Flow.sleep("quick", "1 second")
          ])
        )
      )
      const exit = yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(yield* Diary.read, [])
    }).pipe(Effect.provide(memory))
  )
})

describe("a call of several steps that is interrupted between them", () => {
  const go = Flow.signal("go", Schema.String)
  const pair = (name: string, between: Effect.Effect<unknown, never, Flow.FlowContext<Diary>>) =>
    Flow.compensate(
      Effect.gen(function* () {
        yield* note(`${name} one`, { key: `${name} one` })
        yield* between
        yield* note(`${name} two`, { key: `${name} two` })
        return name
      }),
      (value) => note(`undo ${value}`)
    )
  const done = (name: string) => [`${name} one`, `${name} two`, `undo ${name}`]

  it.effect("by a cancel continues after its sleep, and is undone", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () => pair("a", Flow.sleep("nap", "1 hour")))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("10 minutes")
        yield* FlowExecutions.cancel(id)
        yield* advance("10 minutes")
        assert.isTrue((yield* FlowExecutions.inspect(id)).cancelling)
        yield* throughTime(Flow.execute(flow, undefined))
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual(yield* Diary.read, done("a"))
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("by a cancel takes the signal that it awaits, in another process too", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () => Effect.andThen(pair("a", go.receive()), pair("b", Effect.void)), [go])
      const layer = Flow.layer(flow)
      const id = yield* inProcess(
        layer,
        Effect.gen(function* () {
          const id = yield* Flow.submit(flow, undefined)
          yield* advance("1 second")
          yield* FlowExecutions.cancel(id)
          yield* advance("1 minute")
          return id
        })
      )
      yield* inProcess(
        layer,
        Effect.gen(function* () {
          assert.strictEqual(yield* stateOf(id), "waiting")
          yield* FlowExecutions.signal(id, "go", "now")
          yield* throughTime(Flow.execute(flow, undefined))
          assert.strictEqual(yield* stateOf(id), "cancelled")
        })
      )
      assert.deepStrictEqual(yield* Diary.read, done("a"))
    }).pipe(Effect.provide(restarting))
  )

  it.effect("by a lost race and by a timeout runs to its end, and is undone before the flow continues", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.gen(function* () {
          yield* Flow.race("race", {
            slow: pair("raced", Flow.sleep("nap", "1 hour")),
            quick: Effect.as(Flow.sleep("quick", "1 minute"), "quick")
          })
          yield* Effect.ignore(Flow.timeout("limit", "1 minute", pair("timed", Flow.sleep("nap", "1 hour"))))
          return yield* note("after")
        })
      )
      yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.deepStrictEqual(yield* Diary.read, [...done("raced"), ...done("timed"), "after"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("by a cancel runs every member of the group that it is in", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Array(Schema.String), () =>
        Flow.compensate(
          Flow.forEach("item", ["a", "b", "c"], { key: (item) => item, concurrency: 1 }, (item) =>
            work({ name: item, seconds: 60 })
          ),
          (items) => note(`undo ${items.join()}`)
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("10 seconds")
        yield* FlowExecutions.cancel(id)
        yield* throughTime(Flow.execute(flow, undefined))
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.strictEqual((yield* Diary.read).at(-1), "undo a,b,c")
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("by a timeout inside it ends the wait, and the call continues", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.String,
        () => pair("a", Effect.ignore(Flow.timeout("limit", "1 hour", go.receive()))),
        [go]
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        yield* FlowExecutions.cancel(id)
        yield* throughTime(Flow.execute(flow, undefined))
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual(yield* Diary.read, done("a"))
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("before its first step is abandoned immediately", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () =>
        Flow.compensate(Effect.andThen(Flow.sleep("nap", "30 days"), work({ name: "a", seconds: 1 })), () =>
          note("undo a")
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        yield* FlowExecutions.cancel(id)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual(yield* Diary.read, [])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("a member of a race", () => {
  const flow = flowOf(Schema.String, () =>
    Effect.gen(function* () {
      yield* Flow.compensate(note("first", { key: "first" }), () => note("undo first"))
      const won = yield* Flow.race("race", {
        loser: Effect.andThen(
          Flow.compensate(note("lost", { key: "lost" }), () => note("undo lost")),
          Effect.as(Flow.sleep("long", "1 day"), "loser")
        ),
        winner: Effect.andThen(
          Flow.compensate(note("won", { key: "won" }), () => note("undo won")),
          Effect.as(Flow.sleep("short", "1 hour"), "winner")
        )
      })
      yield* note("after")
      yield* Flow.sleep("rest", "1 hour")
      yield* Effect.asVoid(note(""))
      return won
    })
  )

  it.effect("that lost is undone when the race is decided, the others when the flow fails", () =>
    Effect.gen(function* () {
      yield* throughTime(Flow.execute(flow, undefined))
      assert.deepStrictEqual(yield* Diary.read, [
        "first",
        "lost",
        "won",
        "undo lost",
        "after",
        "undo won",
        "undo first"
      ])
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), memory)))
  )

  it.effect("that lost is undone once, also after restarts", () =>
    Effect.gen(function* () {
      const layer = Flow.layer(flow)
      yield* inProcess(layer, Effect.andThen(Flow.submit(flow, undefined), advance("30 minutes")))
      yield* inProcess(layer, advance("40 minutes"))
      yield* inProcess(layer, advance("30 minutes"))
      yield* inProcess(layer, throughTime(Flow.execute(flow, undefined)))
      assert.deepStrictEqual(yield* Diary.read, [
        "first",
        "lost",
        "won",
        "undo lost",
        "after",
        "undo won",
        "undo first"
      ])
    }).pipe(Effect.provide(restarting))
  )
})

describe("an undo that fails", () => {
  let broken = true
  const undoing = Flow.step("undoing", {
    input: Schema.String,
    success: Schema.Void,
    error: Refused,
    run: Effect.fnUntraced(function* (text) {
      yield* Diary.write(`undoing ${text}`)
      if (broken) return yield* new Refused({ why: "out of order" })
    })
  })
  const flow = flowOf(Schema.Void, () =>
    Effect.gen(function* () {
      yield* Flow.compensate(post("one"), () => post("undo one"))
      yield* Flow.compensate(post("two"), () => Effect.andThen(post("undo two"), undoing("two")))
      yield* note("")
    })
  )
  const layer = Layer.provideMerge(Flow.layer(flow), memory)
  const halted = Effect.gen(function* () {
    broken = true
    const id = yield* Flow.submit(flow, undefined)
    yield* advance("1 second")
    return id
  })

  it.effect("does not keep the others from being undone, and halts the execution", () =>
    Effect.gen(function* () {
      const id = yield* halted
      assert.strictEqual(yield* stateOf(id), "halted")
      const { execution, undos } = yield* FlowExecutions.inspect(id)
      assert.strictEqual(execution.failure?.tag, "UndoFailed")
      assert.deepStrictEqual(
        undos.map(({ path, state }) => `${path} ${state}`),
        ["post done", "post#2 failed"]
      )
      assert.propertyVal(errorOf(yield* Effect.exit(Flow.execute(flow, undefined))), "_tag", "FlowHalted")
    }).pipe(Effect.provide(layer))
  )

  it.effect("is tried again by resume with the same idempotency keys, and the execution then fails as it had", () =>
    Effect.gen(function* () {
      const id = yield* halted
      broken = false
      yield* FlowExecutions.resume(id)
      yield* advance("1 second")
      assert.strictEqual(yield* stateOf(id), "failed")
      assert.instanceOf(errorOf(yield* Effect.exit(Flow.execute(flow, undefined))), Refused)
      const undone = (yield* Diary.read).slice(2)
      assert.deepStrictEqual(undone, [
        "undo two post#2/undo/post/1",
        "undoing two",
        "undo one post/undo/post/1",
        "undoing two"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("counts as done by hand when resume skips it", () =>
    Effect.gen(function* () {
      const id = yield* halted
      const before = (yield* Diary.read).length
      yield* FlowExecutions.resume(id, { skip: ["post#2"] })
      yield* advance("1 second")
      assert.strictEqual(yield* stateOf(id), "failed")
      assert.strictEqual((yield* Diary.read).length, before)
      assert.strictEqual((yield* FlowExecutions.inspect(id)).undos[1]?.state, "skipped")
    }).pipe(Effect.provide(layer))
  )

  it.effect("cannot be skipped when it has not failed, and the message names those that have", () =>
    Effect.gen(function* () {
      const id = yield* halted
      const error = yield* Effect.flip(FlowExecutions.resume(id, { skip: ["post"] }))
      assert.strictEqual(error._tag, "StepNotFound")
      assert.match(error.message, /failed undos are those of post#2/)
      assert.strictEqual(yield* stateOf(id), "halted")
    }).pipe(Effect.provide(layer))
  )
})

describe("while an execution undoes", () => {
  const flow = flowOf(Schema.Void, () =>
    Effect.gen(function* () {
      yield* Flow.compensate(note("one", { key: "1" }), () => note("undo one"))
      yield* Flow.compensate(note("two", { key: "2" }), () => work({ name: "undo two", seconds: 60 }))
      yield* note("")
    })
  )
  const undoing = Effect.gen(function* () {
    const id = yield* Flow.submit(flow, undefined)
    yield* advance("10 seconds")
    assert.strictEqual(yield* stateOf(id), "undoing")
    return id
  })
  const layer = Layer.provideMerge(Flow.layer(flow), memory)

  it.effect("a cancel changes nothing", () =>
    Effect.gen(function* () {
      const id = yield* undoing
      yield* FlowExecutions.cancel(id)
      yield* advance("2 minutes")
      assert.strictEqual(yield* stateOf(id), "failed")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "undo two begins", "undo two ends", "undo one"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("terminate ends it, and nothing more is undone", () =>
    Effect.gen(function* () {
      const id = yield* undoing
      yield* FlowExecutions.terminate(id)
      yield* advance("2 minutes")
      assert.strictEqual(yield* stateOf(id), "cancelled")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "undo two begins"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("suspend pauses it after the running undo, and resume continues", () =>
    Effect.gen(function* () {
      const id = yield* undoing
      yield* FlowExecutions.suspend(id)
      yield* advance("10 minutes")
      assert.strictEqual(yield* stateOf(id), "suspended")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "undo two begins", "undo two ends"])
      yield* FlowExecutions.resume(id)
      yield* advance("1 minute")
      assert.strictEqual(yield* stateOf(id), "failed")
      assert.deepStrictEqual((yield* Diary.read).slice(4), ["undo one"])
    }).pipe(Effect.provide(layer))
  )
})

describe("cancel", () => {
  it.effect("ends a wait immediately, undoes in reverse order, and fails the waits of callers", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* Flow.compensate(note("one", { key: "1" }), () => note("undo one"))
          yield* Flow.compensate(note("two", { key: "2" }), () =>
            Effect.andThen(Flow.sleep("pause", "5 seconds"), note("undo two"))
          )
          yield* Flow.sleep("long", "30 days")
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 day")
        yield* FlowExecutions.cancel(id)
        assert.propertyVal(errorOf(yield* throughTime(Flow.execute(flow, undefined))), "_tag", "FlowCancelled")
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual(yield* Diary.read, ["one", "two", "undo two", "undo one"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("lets the running step end, undoes it, and begins no other", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () => Effect.andThen(booked("a"), Effect.asVoid(booked("b"))))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("10 seconds")
        yield* FlowExecutions.cancel(id)
        assert.isTrue((yield* FlowExecutions.inspect(id)).cancelling)
        yield* throughTime(Flow.execute(flow, undefined))
        assert.deepStrictEqual(yield* Diary.read, ["a begins", "a ends", "undo a"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("that arrives in the last step undoes it, too", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () => booked("a"))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("10 seconds")
        yield* FlowExecutions.cancel(id)
        yield* throughTime(Flow.execute(flow, undefined))
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual(yield* Diary.read, ["a begins", "a ends", "undo a"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("outlives the process that had begun to undo", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* Flow.compensate(note("one", { key: "1" }), () => note("undo one"))
          yield* Flow.compensate(note("two", { key: "2" }), () => work({ name: "undo two", seconds: 60 }))
          yield* Flow.sleep("long", "30 days")
        })
      )
      const layer = Flow.layer(flow)
      const cancelled = Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        yield* FlowExecutions.cancel(id)
        yield* advance("1 second")
        return id
      })
      const id = yield* inProcess(layer, cancelled)
      yield* inProcess(layer, throughTime(Flow.execute(flow, undefined)))
      assert.strictEqual(yield* inProcess(layer, stateOf(id)), "cancelled")
      assert.deepStrictEqual((yield* Diary.read).at(-1), "undo one")
    }).pipe(Effect.provide(restarting))
  )

  it.effect("leaves what has ended as it is, and knows what is not there", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () => note("done"))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* throughTime(Flow.execute(flow, undefined))
        yield* FlowExecutions.cancel(id)
        assert.strictEqual(yield* Flow.execute(flow, undefined), 4)
        assert.strictEqual((yield* Effect.flip(FlowExecutions.cancel("nobody")))._tag, "ExecutionNotFound")
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("the end of the process", () => {
  it.effect("undoes nothing", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () =>
        Effect.andThen(
          Flow.compensate(note("done"), () => note("undone")),
          work({ name: "long", seconds: 60 })
        )
      )
      const layer = Flow.layer(flow)
      yield* inProcess(layer, Effect.andThen(Flow.submit(flow, undefined), advance("1 second")))
      const exit = yield* inProcess(layer, throughTime(Flow.execute(flow, undefined)))
      assert.deepStrictEqual(exit, Exit.succeed("long"))
      assert.notInclude(yield* Diary.read, "undone")
    }).pipe(Effect.provide(restarting))
  )
})
