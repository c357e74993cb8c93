import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios } = S

const go = Flow.signal("go", Schema.String)
const signals = [go]
type Body = Effect.Effect<Schema.Json, typeof S.Failure.Type, Flow.FlowContext<S.Diary>>
/** What was recorded, and what is reached instead. */
type Changes = ReadonlyArray<readonly [scenario: string, before: Body, after: Body]>
const build = (body: Body, version = 1) => S.flow("flow", () => body, { version, signals })
const shown = S.flow("shown", (text) => Effect.succeed(text))
const other = S.flow("other", (text) => Effect.succeed(text))

/** Runs a body until it waits. */
const started = (before: ReturnType<typeof build>) =>
  program(
    [Flow.layer(before), Flow.layer(shown), Flow.layer(other)],
    Effect.tap(Flow.submit(before, "x"), (id) => S.reaches(id, "waiting"))
  )
/** What an execution of one body halts with under another one. */
const haltsWith = (before: Body, after: Body) =>
  Effect.gen(function* () {
    yield* started(build(before))
    const now = build(after)
    return yield* program([Flow.layer(now), Flow.layer(shown), Flow.layer(other)], S.haltOf(now, "x"))
  })
const waits = go.receive()
const nap = (name: string) => Effect.as(Flow.sleep(name, 1), null)
const background = (flow: typeof shown) => Effect.as(Flow.start(flow, "x"), null)

scenarios("changed code", () => {
  scenario(
    "dbos: patch-last-step",
    Effect.gen(function* () {
      const before = build(Effect.andThen(say("one"), waits))
      const after = build(
        Effect.gen(function* () {
          yield* say("one")
          const word = yield* waits
          return (yield* Flow.patched("more")) ? yield* say(`patched ${word}`) : word
        })
      )
      const id = yield* started(before)
      const sends = Effect.andThen(FlowExecutions.signal(id, "go", "on"), resultOf(after, "x"))
      // It had not come to the end: the new step runs.
      assert.strictEqual(yield* program(Flow.layer(after), sends), "patched on")
    })
  )

  scenario(
    "dbos: patch-first-step",
    Effect.gen(function* () {
      const before = build(Effect.andThen(say("one"), waits))
      const after = build(
        Effect.gen(function* () {
          if (yield* Flow.patched("new first")) yield* say("zero")
          yield* say("one")
          return yield* waits
        })
      )
      const id = yield* started(before)
      const both = Effect.gen(function* () {
        yield* FlowExecutions.signal(id, "go", "on")
        yield* resultOf(after, "x")
        yield* Flow.signalWithStart(after, "new", go, "on")
        return yield* resultOf(after, "new")
      })
      assert.strictEqual(yield* program(Flow.layer(after), both), "on")
      // The old one was past that place, the new one is not.
      assert.deepStrictEqual(yield* Diary.read, ["one", "zero", "one"])
    })
  )

  const changedSteps: Changes = [
    ["non-deterministic-workflow-step", say("one", { key: "one" }), say("one", { key: "two" })],
    ["non-deterministic-workflow-tx", say("one"), nap("say")]
  ]
  for (const [name, before, after] of changedSteps) {
    scenario(
      `dbos: ${name}`,
      Effect.gen(function* () {
        const halt = yield* haltsWith(Effect.andThen(before, waits), Effect.andThen(after, waits))
        assert.strictEqual(halt.tag, "FlowChanged")
        assert.deepStrictEqual(yield* Diary.read, ["one"])
      })
    )
  }

  const changedCalls: Changes = [
    ["eitherSleepOrCall", nap("nap"), Flow.call(shown, "x")],
    ["callDifferentMethod", Flow.call(shown, "x"), Flow.call(other, "x")],
    ["backgroundInvokeWithDifferentTargets", background(shown), background(other)],
    ["setDifferentKey", say("one"), say("another")]
  ]
  for (const [name, before, after] of changedCalls) {
    scenario(
      `restate: NonDeterminismErrors ${name}`,
      Effect.gen(function* () {
        const halt = yield* haltsWith(
          Effect.andThen(before, waits),
          Effect.andThen(after, Effect.andThen(say("never"), waits))
        )
        assert.strictEqual(halt.tag, "FlowChanged")
        assert.notInclude(yield* Diary.read, "never")
      })
    )
  }

  scenario(
    "temporal: replay of a history, which every feature is checked with",
    Effect.gen(function* () {
      const before = build(Effect.andThen(say("one"), waits))
      const id = yield* started(before)
      const history = yield* program(Flow.layer(before), FlowExecutions.history(id))
      yield* Flow.check(before, history)
      const changed = build(Effect.andThen(say("two", { key: "two" }), waits))
      const error = yield* Effect.flip(Flow.check(changed, history))
      assert.strictEqual(error._tag, "FlowChanged")
      assert.deepStrictEqual(yield* Diary.read, ["one"])
    })
  )
})
