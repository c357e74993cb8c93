/** What bodies may do, how changed ones are noticed, and what halts them. */
import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowHalted } from "../src/FlowErrors.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { engineOf } from "../src/internal/engine/EngineOf.ts"
import { Diary, flowOf, note, Refused, work } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { errorOf, memory, post, restarting, stateOf } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

const haltOf = <A, E>(exit: Exit.Exit<A, E>): FlowHalted => {
  const error = errorOf(exit)
  assert.instanceOf(error, FlowHalted)
  return error
}

describe("a body", () => {
  type Steps = Effect.Effect<unknown, Refused | Cause.TimeoutError, Flow.FlowContext<Diary>>
  const beside: Readonly<Record<string, Steps>> = {
    "Effect.all": Effect.all([note("a"), note("b")], { concurrency: 2 }),
    "Effect.race": Effect.race(work({ name: "a", seconds: 1 }), work({ name: "b", seconds: 1 })),
    "Effect.timeout": Effect.timeout(work({ name: "a", seconds: 9 }), "1 second"),
    "Effect.forkChild": Effect.andThen(
      Effect.forkChild(note("a")),
      Effect.andThen(Flow.sleep("nap", "1 second"), note("b"))
    )
  }
  for (const [name, steps] of Object.entries(beside)) {
    it.effect(`that calls steps under ${name} halts, and the message names Flow`, () =>
      Effect.gen(function* () {
        const flow = flowOf(Schema.Void, () => Effect.asVoid(Effect.orDie(steps)))
        const exit = yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
        assert.match(haltOf(exit).message, /use Flow\.all, Flow\.forEach/)
      }).pipe(Effect.provide(memory))
    )
  }

  it.effect("may await a promise between steps, while other branches continue", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Array(Schema.Finite), () =>
        Flow.all(
          "both",
          [
            Effect.andThen(
              note("a"),
              Effect.andThen(
                Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 20))),
                note("bc")
              )
            ),
            Effect.andThen(note("def"), note("ghij"))
          ],
          { concurrency: 2 }
        )
      )
      const exit = yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.deepStrictEqual(exit, Exit.succeed([2, 4]))
    }).pipe(Effect.provide(memory))
  )

  it.effect("runs ten thousand branches", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.map(
          Flow.forEach(
            "n",
            Array.from({ length: 10_000 }, (_, n) => n),
            { key: String, concurrency: "unbounded" },
            () => Flow.sleep("nap", "1 hour")
          ),
          (all) => all.length
        )
      )
      const exit = yield* throughTime(Flow.execute(flow, undefined)).pipe(Effect.provide(Flow.layer(flow)))
      assert.deepStrictEqual(exit, Exit.succeed(10_000))
    }).pipe(Effect.provide(memory))
  )
})

describe("the input of a recorded step", () => {
  const Order = Schema.Struct({ a: Schema.Finite, b: Schema.Finite })
  const order = Flow.step("order", {
    input: Order,
    success: Schema.Finite,
    error: Schema.Never,
    run: ({ a, b }) => Effect.as(Diary.write("ordered"), a + b)
  })
  const flowWith = (input: typeof Order.Type) =>
    flowOf(Schema.Finite, () => Effect.tap(order(input), () => Flow.sleep("nap", "1 hour")))
  const changed = Effect.fnUntraced(function* (input: typeof Order.Type) {
    const before = flowWith({ a: 1, b: 2 })
    const after = flowWith(input)
    yield* inProcess(Flow.layer(before), Effect.andThen(Flow.submit(before, undefined), advance("1 minute")))
    return yield* inProcess(Flow.layer(after), throughTime(Flow.execute(after, undefined)))
  })

  it.effect("halts the execution when it is another one now, and shows both", () =>
    Effect.gen(function* () {
      const { message, tag } = haltOf(yield* changed({ a: 1, b: 3 }))
      assert.strictEqual(tag, "FlowChanged")
      assert.match(
        message,
        /reached order with a different input than the recorded one: \{"a":1,"b":3\} instead of \{"a":1,"b":2\}/
      )
      assert.deepStrictEqual(yield* Diary.read, ["ordered"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("may have its members in another order", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* changed({ b: 2, a: 1 }), Exit.succeed(3))
    }).pipe(Effect.provide(restarting))
  )
})

describe("a body that has changed", () => {
  const change = Effect.fnUntraced(function* <
    C1 extends Flow.FlowContext<unknown>,
    C2 extends Flow.FlowContext<unknown>
  >(one: () => Effect.Effect<void, Refused, C1>, other: () => Effect.Effect<void, Refused, C2>) {
    const before = flowOf(Schema.Void, one)
    const after = flowOf(Schema.Void, other)
    yield* inProcess(Flow.layer(before), Effect.andThen(Flow.submit(before, undefined), advance("1 minute")))
    return yield* inProcess(Flow.layer(after), throughTime(Flow.execute(after, undefined)))
  })
  const nap = Flow.sleep("nap", "1 hour")

  it.effect("is stopped when it leaves a recorded step out", () =>
    Effect.gen(function* () {
      const { message, tag } = haltOf(
        yield* change(
          () => Effect.andThen(note("a"), nap),
          () => nap
        )
      )
      assert.strictEqual(tag, "FlowChanged")
      assert.match(message, /reached nap before the recorded step note/)
    }).pipe(Effect.provide(restarting))
  )

  it.effect("is stopped when a new step comes before a recorded one, before that step runs", () =>
    Effect.gen(function* () {
      const halted = haltOf(
        yield* change(
          () => Effect.andThen(note("a"), nap),
          () => Effect.andThen(note("new", { key: "new" }), Effect.andThen(note("a"), nap))
        )
      )
      assert.match(halted.message, /reached note\[new\] before the recorded step note/)
      assert.deepStrictEqual(yield* Diary.read, ["a"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("is stopped when it ends before a recorded step, and undoes nothing", () =>
    Effect.gen(function* () {
      const first = Flow.compensate(note("a"), () => note("undone"))
      const halted = haltOf(
        yield* change(
          () => Effect.andThen(first, Effect.andThen(note("b", { key: "b" }), nap)),
          () => Effect.asVoid(first)
        )
      )
      assert.match(halted.message, /ended before the recorded step note\[b\]/)
      assert.deepStrictEqual(yield* Diary.read, ["a", "b"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("continues when only other branches have new steps", () =>
    Effect.gen(function* () {
      const items = (all: ReadonlyArray<string>) => () =>
        Effect.asVoid(
          Flow.all("both", [Flow.forEach("item", all, { key: String }, (key) => note(key, { key })), nap], {
            concurrency: 2
          })
        )
      assert.isTrue(Exit.isSuccess(yield* change(items(["a"]), items(["a", "b"]))))
      assert.deepStrictEqual(yield* Diary.read, ["a", "b"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("continues automatically when the right code is registered again", () =>
    Effect.gen(function* () {
      const before = flowOf(Schema.Void, () => Effect.andThen(note("a"), Effect.andThen(nap, Effect.asVoid(note("b")))))
      const after = flowOf(Schema.Void, () => nap)
      yield* inProcess(Flow.layer(before), Effect.andThen(Flow.submit(before, undefined), advance("1 minute")))
      haltOf(yield* inProcess(Flow.layer(after), throughTime(Flow.execute(after, undefined))))
      yield* inProcess(Flow.layer(before), advance("2 hours"))
      assert.deepStrictEqual(yield* Diary.read, ["a", "b"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("continues automatically when the schema of a recorded result is right again", () =>
    Effect.gen(function* () {
      const stepOf = <S extends Schema.Codec<unknown>>(success: S) =>
        Flow.step("read", {
          input: Schema.Void,
          success: success as unknown as typeof Schema.Unknown,
          error: Schema.Never,
          run: () => Effect.as(Diary.write("read"), "text" as unknown)
        })
      const flowWith = <S extends Schema.Codec<unknown>>(success: S) =>
        flowOf(Schema.Void, () => Effect.andThen(stepOf(success)(undefined), nap))
      const before = flowWith(Schema.String)
      const after = flowWith(Schema.Finite)
      yield* inProcess(Flow.layer(before), Effect.andThen(Flow.submit(before, undefined), advance("1 minute")))
      const halted = haltOf(yield* inProcess(Flow.layer(after), throughTime(Flow.execute(after, undefined))))
      assert.match(halted.message, /the recorded result of read does not fit its schema/)
      yield* inProcess(Flow.layer(before), advance("2 hours"))
      const exit = yield* inProcess(Flow.layer(before), Effect.exit(Flow.execute(before, undefined)))
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(yield* Diary.read, ["read"])
    }).pipe(Effect.provide(restarting))
  )
})

describe("Flow.patched", () => {
  const nap = Flow.sleep("nap", "1 hour")
  const rest = Flow.sleep("rest", "1 hour")
  const old = flowOf(Schema.Void, () => Effect.andThen(nap, Effect.andThen(note("old"), rest)))
  const patched = flowOf(Schema.Void, () =>
    Effect.gen(function* () {
      yield* nap
      if (yield* Flow.patched("better")) yield* note("new", { key: "new" })
      yield* note("old")
      yield* rest
    })
  )

  it.effect("is false in an execution that had come past it", () =>
    Effect.gen(function* () {
      yield* inProcess(Flow.layer(old), Effect.andThen(Flow.submit(old, undefined), advance("90 minutes")))
      const exit = yield* inProcess(Flow.layer(patched), throughTime(Flow.execute(patched, undefined)))
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(yield* Diary.read, ["old"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("is true in an execution that had not come to it, and stays so", () =>
    Effect.gen(function* () {
      yield* inProcess(Flow.layer(old), Effect.andThen(Flow.submit(old, undefined), advance("30 minutes")))
      yield* inProcess(Flow.layer(patched), advance("1 hour"))
      const exit = yield* inProcess(Flow.layer(patched), throughTime(Flow.execute(patched, undefined)))
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(yield* Diary.read, ["new", "old"])
    }).pipe(Effect.provide(restarting))
  )
})

describe("an execution halts", () => {
  it.effect("by a defect in its body, undoes nothing, and continues from there after the fix", () =>
    Effect.gen(function* () {
      let broken = true
      const flow = flowOf(Schema.String, () =>
        Effect.gen(function* () {
          yield* Flow.compensate(post("a"), () => post("undo"))
          if (broken) return yield* Effect.die(new TypeError("x is undefined"))
          return yield* post("b")
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        const halted = haltOf(yield* throughTime(Flow.execute(flow, undefined)))
        assert.strictEqual(halted.tag, "TypeError")
        assert.match(halted.message, /x is undefined/)
        broken = false
        yield* FlowExecutions.resume(id)
        assert.deepStrictEqual(yield* throughTime(Flow.execute(flow, undefined)), Exit.succeed("b"))
        assert.deepStrictEqual(yield* Diary.read, ["a post/1", "b post#2/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("by a defect in a step, which runs again with its keys after the fix", () =>
    Effect.gen(function* () {
      let broken = true
      const flow = flowOf(Schema.String, () => Effect.andThen(post("a"), failing(undefined)))
      const failing = Flow.step("failing", {
        input: Schema.Void,
        success: Schema.String,
        error: Schema.Never,
        run: () => Effect.suspend(() => (broken ? Effect.die(new TypeError("oops")) : Effect.succeed("well")))
      })
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        assert.match(haltOf(yield* throughTime(Flow.execute(flow, undefined))).message, /oops/)
        broken = false
        yield* FlowExecutions.resume(id)
        assert.deepStrictEqual(yield* throughTime(Flow.execute(flow, undefined)), Exit.succeed("well"))
        const attempts = (yield* FlowExecutions.steps(id)).filter(({ path }) => path === "failing")
        assert.deepStrictEqual(
          attempts.map(({ attempt }) => attempt),
          [1, 2]
        )
        assert.strictEqual((yield* Diary.read).length, 1)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("and a cancel then undoes what it did", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.andThen(
          Flow.compensate(post("a"), () => post("undo")),
          Effect.die(new TypeError("oops"))
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "halted")
        yield* FlowExecutions.cancel(id)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual(yield* Diary.read, ["a post/1", "undo post/undo/post/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("where a step that must not be repeated was interrupted, and retry runs it anyway", () =>
    Effect.gen(function* () {
      const once = Flow.step("once", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        repeat: "never",
        run: () => Effect.andThen(Diary.write("begins"), Effect.sleep("1 minute"))
      })
      const flow = flowOf(Schema.Void, () => once(undefined))
      const layer = Flow.layer(flow)
      const id = yield* inProcess(
        layer,
        Effect.tap(Flow.submit(flow, undefined), () => advance("1 second"))
      )
      yield* inProcess(
        layer,
        Effect.gen(function* () {
          const halted = haltOf(yield* throughTime(Flow.execute(flow, undefined)))
          assert.strictEqual(halted.tag, "StepCutOff")
          assert.deepStrictEqual(yield* Diary.read, ["begins"])
          yield* FlowExecutions.retry(id, { from: "once" })
          assert.isTrue(Exit.isSuccess(yield* throughTime(Flow.execute(flow, undefined))))
          assert.deepStrictEqual(yield* Diary.read, ["begins", "begins"])
        })
      )
    }).pipe(Effect.provide(restarting))
  )

  it.effect("where a step was interrupted so long ago that its keys may have expired", () =>
    Effect.gen(function* () {
      const slow = flowOf(Schema.String, () => work({ name: "slow", seconds: 60 }))
      const layer = Flow.layer(slow)
      yield* inProcess(layer, Effect.andThen(Flow.submit(slow, undefined), advance("1 second")))
      yield* advance("7 days")
      const exit = yield* inProcess(layer, throughTime(Flow.execute(slow, undefined)))
      assert.match(haltOf(exit).message, /was interrupted more than six days ago/)
      assert.deepStrictEqual(yield* Diary.read, ["slow begins"])
    }).pipe(Effect.provide(restarting))
  )
})

describe("values", () => {
  const large = "x".repeat(1_000_000)
  const echo = Flow.step("echo", {
    input: Schema.String,
    success: Schema.Finite,
    error: Schema.Never,
    run: (text) => Effect.succeed(text.length)
  })
  const fails = Flow.step("fails", {
    input: Schema.Void,
    success: Schema.Void,
    error: Refused,
    run: () => Effect.fail(new Refused({ why: large }))
  })
  const tooLarge = {
    "an input of a step": [flowOf(Schema.Finite, () => echo(large)), /the input of the step echo is 1000002 bytes/],
    "an error of a step": [flowOf(Schema.Void, () => fails(undefined)), /the error of the step fails is \d+ bytes/],
    "a result of a flow": [
      flowOf(Schema.String, () => Effect.as(Flow.sleep("nap", 0), large)),
      /the result of the flow test is 1000002 bytes/
    ]
  } as const
  for (const [what, [flow, message]] of Object.entries(tooLarge)) {
    it.effect(`of more than 1 MB are refused: ${what}`, () =>
      Effect.gen(function* () {
        const exit = yield* throughTime(
          Flow.execute(flow as (typeof tooLarge)["an input of a step"][0], undefined)
        ).pipe(Effect.provide(Flow.layer(flow as (typeof tooLarge)["an input of a step"][0])))
        assert.match(haltOf(exit).message, message)
      }).pipe(Effect.provide(memory))
    )
  }
})

describe("an execution that has nothing to do", () => {
  it.effect("leaves the memory after five seconds, and continues when it is due", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () => Effect.andThen(Flow.sleep("nap", "1 hour"), Effect.asVoid(post("after"))))
      yield* Effect.gen(function* () {
        const { engine } = yield* engineOf
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("3 seconds")
        assert.isTrue(engine.isLive(id))
        yield* advance("3 seconds")
        assert.isFalse(engine.isLive(id))
        assert.strictEqual(yield* stateOf(id), "waiting")
        yield* advance("1 hour")
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "completed")
        assert.deepStrictEqual(yield* Diary.read, ["after post/1"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("stays in memory while a step runs", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.String, () => work({ name: "long", seconds: 60 }))
      yield* Effect.gen(function* () {
        const { engine } = yield* engineOf
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("30 seconds")
        assert.isTrue(engine.isLive(id))
        yield* advance("30 seconds")
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("an execution that has ended", () => {
  it.effect("is gone after its retention, and its key stays used", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () => note("a"))
      const layer = Flow.layer(flow)
      const retain = { retain: { completed: "2 days" } } as const
      yield* inProcess(
        layer,
        Effect.gen(function* () {
          const id = yield* Flow.submit(flow, undefined)
          yield* advance("1 day")
          assert.strictEqual(yield* stateOf(id), "completed")
          yield* advance("2 days")
          assert.strictEqual((yield* Effect.flip(FlowExecutions.get(id)))._tag, "ExecutionNotFound")
          const expired = yield* Effect.flip(Flow.execute(flow, undefined))
          assert.strictEqual(expired._tag, "FlowExpired")
          assert.match(expired.message, /ended completed and is no longer retained/)
          assert.deepStrictEqual(yield* Diary.read, ["a"])
        }),
        retain
      )
    }).pipe(Effect.provide(restarting))
  )

  it.effect("can be run again under its key once that is forgotten, too", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () => note("a"))
      yield* inProcess(
        Flow.layer(flow),
        Effect.gen(function* () {
          yield* throughTime(Flow.execute(flow, undefined))
          yield* advance("10 days")
          assert.isTrue(Exit.isSuccess(yield* throughTime(Flow.execute(flow, undefined))))
          assert.deepStrictEqual(yield* Diary.read, ["a", "a"])
        }),
        { retain: { completed: "2 days", keys: "5 days" } }
      )
    }).pipe(Effect.provide(restarting))
  )
})
