/** What is sent to durable executions. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { engineOf } from "../src/internal/engine/EngineOf.ts"
import { Diary, flowOf, note, work } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { memory, restarting } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

const number = Flow.signal("number", Schema.Finite)
const box = Flow.inbox("box", Schema.String)

const result = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flatten(throughTime(effect))

describe("a signal", () => {
  const after = (name: string) =>
    flowOf(Schema.Finite, () => Effect.andThen(Flow.sleep(name, "1 hour"), number.receive()), [number])

  it.effect("may come before it is awaited", () =>
    Effect.gen(function* () {
      const flow = after("nap")
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* FlowExecutions.signal(id, "number", 7)
        assert.strictEqual(yield* result(Flow.execute(flow, undefined)), 7)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("sent again with an equal value is accepted, with another one it is a conflict", () =>
    Effect.gen(function* () {
      const flow = after("nap")
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* FlowExecutions.signal(id, "number", 7)
        yield* FlowExecutions.signal(id, "number", 7)
        const conflict = yield* Effect.flip(FlowExecutions.signal(id, "number", 8))
        assert.strictEqual(conflict._tag, "SignalConflict")
        assert.strictEqual(yield* result(Flow.execute(flow, undefined)), 7)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("is returned by each call that awaits it", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Array(Schema.Finite),
        () =>
          Flow.all("both", [number.receive(), Effect.andThen(Flow.sleep("nap", "1 hour"), number.receive())], {
            concurrency: 2
          }),
        [number]
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* FlowExecutions.signal(id, "number", 7)
        assert.deepStrictEqual(yield* result(Flow.execute(flow, undefined)), [7, 7])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("is one for each key", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Array(Schema.Finite),
        () =>
          Flow.forEach("order", ["a", "b/c"], { key: (key) => key, concurrency: 2 }, (key) => number.receive({ key })),
        [number]
      )
      yield* Effect.gen(function* () {
        yield* Flow.submit(flow, undefined)
        yield* advance("1 hour")
        const handle = yield* Flow.handle(flow, "one")
        yield* handle.signal(number, 2, { key: "b/c" })
        yield* advance("1 hour")
        yield* handle.signal(number, 1, { key: "a" })
        assert.deepStrictEqual(yield* result(handle.result), [1, 2])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("reaches an execution in which other steps run, and repeats none of them", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Struct({ number: Schema.Finite, worked: Schema.String }),
        () =>
          Flow.all(
            "both",
            { number: number.receive(), worked: work({ name: "long", seconds: 60 }) },
            { concurrency: 2 }
          ),
        [number]
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("10 seconds")
        yield* FlowExecutions.signal(id, "number", 7)
        assert.deepStrictEqual(yield* result(Flow.execute(flow, undefined)), { number: 7, worked: "long" })
        assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("is shown as awaited until it has come", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () => Effect.tap(number.receive(), () => Flow.sleep("nap", "1 hour")), [
        number
      ])
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        const waits = Effect.map(FlowExecutions.inspect(id), ({ now }) =>
          now.map(({ kind, path }) => `${kind} ${path}`)
        )
        assert.deepStrictEqual(yield* waits, ["signal number"])
        yield* FlowExecutions.signal(id, "number", 7)
        yield* advance("1 second")
        assert.deepStrictEqual(yield* waits, ["sleep nap"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  const beside = Flow.make("beside", { ...after("nap"), run: () => Effect.succeed(0) })
  /** Arrives while no process runs the flow. */
  const send = (id: string) =>
    Effect.flatMap(engineOf, ({ engine }) =>
      engine.journal.send(id, { kind: "signal", name: "number", id: "", value: 7 })
    )

  it.effect("that came before the end of a timer wins the race after downtime", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Finite,
        () => Flow.race("race", { signal: number.receive(), late: Effect.as(Flow.sleep("late", "2 hours"), -1) }),
        [number]
      )
      const layer = Flow.layer(flow)
      const id = yield* inProcess(
        layer,
        Effect.tap(Flow.submit(flow, undefined), () => advance("1 second"))
      )
      yield* TestClock.adjust("1 hour")
      yield* inProcess(Flow.layer(beside), send(id))
      yield* TestClock.adjust("5 hours")
      assert.strictEqual(yield* inProcess(layer, result(Flow.execute(flow, undefined))), 7)
    }).pipe(Effect.provide(restarting))
  )

  it.effect("that came after the end of a timer loses the race after downtime", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Finite,
        () => Flow.race("race", { signal: number.receive(), late: Effect.as(Flow.sleep("late", "2 hours"), -1) }),
        [number]
      )
      const id = yield* inProcess(
        Flow.layer(flow),
        Effect.tap(Flow.submit(flow, undefined), () => advance("1 second"))
      )
      yield* TestClock.adjust("5 hours")
      yield* inProcess(Flow.layer(beside), send(id))
      assert.strictEqual(yield* inProcess(Flow.layer(flow), result(Flow.execute(flow, undefined))), -1)
    }).pipe(Effect.provide(restarting))
  )

  it.effect("of no known name is refused, and the message lists those there are", () =>
    Effect.gen(function* () {
      const flow = after("nap")
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        const error = yield* Effect.flip(FlowExecutions.signal(id, "nubmer", 7))
        assert.strictEqual(error._tag, "InvalidSignal")
        assert.match(error.message, /nubmer does not exist; expected one of number/)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("that does not fit its schema is refused, and another one is taken", () =>
    Effect.gen(function* () {
      const flow = after("nap")
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        const error = yield* Effect.flip(FlowExecutions.signal(id, "number", "seven"))
        assert.strictEqual(error._tag, "InvalidSignal")
        assert.match(error.message, /value: does not fit the signal number/)
        yield* FlowExecutions.signal(id, "number", 7)
        assert.strictEqual(yield* result(Flow.execute(flow, undefined)), 7)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("larger than 1 MB is refused, and the message says how large it may be", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () => box.receive(), [box])
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        const error = yield* Effect.flip(FlowExecutions.signal(id, "box", "x".repeat(1_000_000)))
        assert.strictEqual(error._tag, "InvalidSignal")
        assert.match(error.message, /1000002 bytes of JSON, more than 1000000/)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("to what has ended, or is not there, is refused", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () => note("done"), [number])
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* result(Flow.execute(flow, undefined))
        const ended = yield* Effect.flip(FlowExecutions.signal(id, "number", 7))
        assert.strictEqual(ended._tag, "ExecutionConflict")
        assert.match(ended.message, /has ended and accepts no signals/)
        assert.strictEqual((yield* Effect.flip(FlowExecutions.signal("nobody", "number", 7)))._tag, "ExecutionNotFound")
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("signalWithStart", () => {
  const flow = flowOf(Schema.Finite, () => number.receive(), [number])

  it.effect("starts the execution with the signal, or joins the one that is there", () =>
    Effect.gen(function* () {
      const id = yield* Flow.signalWithStart(flow, undefined, number, 7)
      assert.strictEqual(yield* Flow.signalWithStart(flow, undefined, number, 7), id)
      assert.strictEqual(yield* result(Flow.execute(flow, undefined)), 7)
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), memory)))
  )

  it.effect("starts nothing when the flow does not list the signal", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Flow.signalWithStart(flow, undefined, box, "a"))
      assert.strictEqual(error._tag, "InvalidSignal")
      assert.deepStrictEqual((yield* FlowExecutions.list()).executions, [])
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), memory)))
  )
})

describe("an inbox", () => {
  const three = flowOf(Schema.Array(Schema.String), () => Effect.all([box.receive(), box.receive(), box.receive()]), [
    box
  ])

  it.effect("hands out its messages in the order of their arrival", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(three, undefined)
      for (const text of ["a", "b", "c"]) {
        yield* FlowExecutions.signal(id, "box", text)
        if (text === "a") yield* advance("1 second")
      }
      assert.deepStrictEqual(yield* result(Flow.execute(three, undefined)), ["a", "b", "c"])
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(three), memory)))
  )

  it.effect("takes a message that is sent twice with one id once", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(three, undefined)
      yield* FlowExecutions.signal(id, "box", "a", { id: "1" })
      yield* advance("1 second")
      yield* FlowExecutions.signal(id, "box", "a", { id: "1" })
      yield* FlowExecutions.signal(id, "box", "a", { id: "2" })
      assert.strictEqual(
        (yield* Effect.flip(FlowExecutions.signal(id, "box", "z", { id: "2" })))._tag,
        "SignalConflict"
      )
      yield* FlowExecutions.signal(id, "box", "b", { id: "3" })
      assert.deepStrictEqual(yield* result(Flow.execute(three, undefined)), ["a", "a", "b"])
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(three), memory)))
  )

  it.effect("hands out no message twice after a restart", () =>
    Effect.gen(function* () {
      const layer = Flow.layer(three)
      const id = yield* inProcess(
        layer,
        Effect.tap(Flow.submit(three, undefined), () => advance("1 second"))
      )
      for (const text of ["a", "b", "c"]) {
        yield* inProcess(layer, Effect.andThen(FlowExecutions.signal(id, "box", text), advance("1 second")))
      }
      const all = yield* inProcess(layer, result(Flow.execute(three, undefined)))
      assert.deepStrictEqual(all, ["a", "b", "c"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("keeps what arrives after a receive lost its race for the next one", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Array(Schema.String),
        () =>
          Effect.gen(function* () {
            const first = yield* Flow.race("race", [box.receive(), Effect.as(Flow.sleep("late", "1 second"), "late")])
            yield* Flow.sleep("nap", "1 second")
            return [first, yield* box.receive()]
          }),
        [box]
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1500 millis")
        yield* FlowExecutions.signal(id, "box", "a")
        yield* advance("1 second")
        assert.strictEqual((yield* FlowExecutions.get(id)).state, "completed")
        assert.deepStrictEqual(yield* Flow.execute(flow, undefined), ["late", "a"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("hands a message to one of the branches that await it, and the next to another", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Array(Schema.String),
        () => Flow.forEach("item", ["1", "2", "3"], { key: String, concurrency: 3 }, () => box.receive()),
        [box]
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        for (const text of ["a", "b", "c"]) {
          yield* advance("1 second")
          yield* FlowExecutions.signal(id, "box", text)
        }
        assert.deepStrictEqual(yield* result(Flow.execute(flow, undefined)), ["a", "b", "c"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})
