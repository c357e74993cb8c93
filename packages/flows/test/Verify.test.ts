import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import { FlowChanged } from "../src/FlowErrors.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { VerifyRuns } from "../src/VerifyRuns.ts"

let ran = 0
const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.String,
  run: (text) =>
    Effect.suspend(() => {
      ran++
      return text === "bad" ? Effect.fail(text) : Effect.succeed(text)
    })
})
const price = Flow.signal("price", Schema.Finite)
type Run = (text: string) => Effect.Effect<string, string, Flow.FlowContext<never>>
const flowOf = (run: Run) =>
  Flow.make("flow", {
    version: 1,
    input: Schema.String,
    success: Schema.String,
    error: Schema.String,
    idempotencyKey: (text) => text,
    signals: [price],
    run
  })

const pure = flowOf(
  Effect.fnUntraced(function* (text) {
    yield* Flow.compensate(note(text), () => note(`${text} undone`))
    const caught = yield* Effect.catch(note("bad"), Effect.succeed)
    const all = yield* Flow.forEach("each", ["a", "b"], { key: String, concurrency: 2 }, (item) => note(item))
    if (text === "fails") return yield* note("bad")
    return [text, caught, ...all].join(" ")
  })
)
let count = 0

describe("a verified run", () => {
  it.effect("of a body that can be replayed ends as it ran, and runs each step once", () =>
    Effect.gen(function* () {
      ran = 0
      assert.strictEqual(yield* Flow.run(pure, "x", { verify: true }), "x bad a b")
      assert.strictEqual(ran, 4)
      assert.deepStrictEqual(yield* Effect.exit(Flow.run(pure, "fails", { verify: true })), Exit.fail("bad"))
    })
  )

  for (const [what, run, message] of [
    [
      "calls other steps each time",
      () => note("n", { key: `${++count}` }),
      /reached note\[\d+\] before the recorded step note\[\d+\]/
    ],
    ["passes a step another input each time", () => note(`${++count}`), /reached note with a different input/],
    [
      "returns something else each time",
      () => Effect.as(note("n"), `${++count}`),
      /ended differently from the recorded one/
    ]
  ] satisfies ReadonlyArray<[string, Run, RegExp]>) {
    it.effect(`of a body that ${what} dies and says so`, () =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(Flow.run(flowOf(run), "x", { verify: true }))
        assert.match(String(exit), message)
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(Flow.run(flowOf(run), "x"))))
        const inTests = yield* Effect.exit(Effect.provideService(Flow.run(flowOf(run), "x"), VerifyRuns, true))
        assert.match(String(inTests), message)
      })
    )
  }
})

const recorded = Effect.fnUntraced(function* (run: Run, input = "x") {
  const flow = flowOf(run)
  return yield* Effect.gen(function* () {
    const id = yield* Flow.submit(flow, input)
    yield* TestClock.adjust("1 hour")
    return yield* FlowExecutions.history(id)
  }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(Flow.layer(flow), FlowEngine.layerMemory))))
})

describe("Flow.check", () => {
  it.effect("passes for the code that recorded it, completed, failed and waiting, without running a step", () =>
    Effect.gen(function* () {
      const waits: Run = (text) => Effect.flatMap(note(text), () => Effect.map(price.receive(), (value) => `${value}`))
      const completed = yield* recorded(pure.body as Run)
      const failed = yield* recorded(pure.body as Run, "fails")
      const waiting = yield* recorded(waits)
      assert.deepStrictEqual(
        [completed, failed, waiting].map(({ execution }) => execution.state),
        ["completed", "failed", "waiting"]
      )
      ran = 0
      yield* Flow.check(pure, completed)
      yield* Flow.check(pure, failed)
      yield* Flow.check(flowOf(waits), waiting)
      yield* Flow.check(
        flowOf((text) => Effect.andThen(waits(text), note("new"))),
        waiting
      )
      assert.strictEqual(ran, 0)
    })
  )

  it.effect("fails with what is recorded and what was reached", () =>
    Effect.gen(function* () {
      const waiting = yield* recorded((text) => Effect.andThen(note(text), Effect.as(Flow.sleep("nap", "1 day"), "")))
      const error = yield* Effect.flip(
        Flow.check(
          flowOf((text) => Effect.andThen(note(text, { key: "new" }), Effect.as(Flow.sleep("nap", "1 day"), ""))),
          waiting
        )
      )
      assert.instanceOf(error, FlowChanged)
      assert.deepInclude(error, { recorded: "note", reached: "note[new]" })
      const completed = yield* recorded((text) => note(text))
      const longer = yield* Effect.flip(
        Flow.check(
          flowOf((text) => Effect.andThen(note(text), note("two"))),
          completed
        )
      )
      assert.deepInclude(longer, { recorded: "#end", reached: "note#2" })
      assert.match(longer.message, /continues with note#2 after the recorded end/)
    })
  )

  it.effect("fails with FlowHalted when the body breaks", () =>
    Effect.gen(function* () {
      const completed = yield* recorded((text) => note(text))
      const error = yield* Effect.flip(
        Flow.check(
          flowOf((text) => Effect.andThen(note(text), Effect.die(new TypeError("a typo")))),
          completed
        )
      )
      assert.deepInclude(error, { _tag: "FlowHalted", tag: "TypeError", message: "a typo" })
    })
  )
})
