import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds, shared } = S

const word = Flow.signal("word", Schema.String)

scenarios("recovery", () => {
  scenario(
    "dbos: local-recovery",
    Effect.gen(function* () {
      const three = S.flow(
        "three",
        () =>
          Effect.gen(function* () {
            yield* say("one")
            yield* word.receive()
            yield* say("two")
            yield* Flow.sleep("nap", seconds(2))
            return yield* say("three")
          }),
        { signals: [word] }
      )
      const id = yield* program(Flow.layer(three), S.waiting(three))
      yield* program(Flow.layer(three), Effect.andThen(FlowExecutions.signal(id, "word", "go"), S.says("two")))
      assert.strictEqual(yield* program(Flow.layer(three), resultOf(three, "x")), "three")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "three"])
    })
  )

  scenario(
    "restate: StopRuntime startAndStopRuntimeRetainsTheState",
    Effect.gen(function* () {
      const counter = S.flow("counter", (text) => Effect.map(say(text), (said) => said.length))
      const before = yield* program(Flow.layer(counter), resultOf(counter, "xxx"))
      const after = yield* program(Flow.layer(counter), resultOf(counter, "xxx"))
      assert.deepStrictEqual([before, after], [3, 3])
      assert.deepStrictEqual(yield* Diary.read, ["xxx"])
    })
  )

  scenario(
    "dbos: many workflows, recovered together",
    Effect.gen(function* () {
      const texts = Array.from({ length: 30 }, (_, n) => `${n}`)
      const naps = S.flow("naps", (text) => Effect.andThen(Flow.sleep("nap", seconds(3)), say(text)))
      yield* program(
        Flow.layer(naps),
        Effect.forEach(texts, (text) => Flow.submit(naps, text))
      )
      const all = Effect.forEach(texts, (text) => Flow.execute(naps, text), { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* program(Flow.layer(naps), Effect.flatten(S.through(all))), texts)
      assert.sameMembers([...(yield* Diary.read)], texts)
    })
  )

  scenario(
    "dbos: a race keeps its winner after a restart",
    Effect.gen(function* () {
      const races = S.flow(
        "races",
        () =>
          Effect.gen(function* () {
            const first = yield* Flow.race("first", { word: word.receive(), step: say("step") })
            yield* Flow.sleep("nap", seconds(20))
            return first
          }),
        { signals: [word] }
      )
      const id = yield* program(Flow.layer(races), S.waiting(races))
      // The signal comes after the step has won.
      const late = Effect.andThen(FlowExecutions.signal(id, "word", "late"), resultOf(races, "x"))
      assert.strictEqual(yield* program(Flow.layer(races), late), "step")
    })
  )

  scenario(
    "restate: a random value is that of the first attempt",
    Effect.gen(function* () {
      const draw = Flow.step("draw", {
        input: Schema.Void,
        success: Schema.Finite,
        error: Schema.Never,
        run: () => Effect.map(Diary.read, (lines) => lines.length)
      })
      const draws = S.flow("draws", () =>
        Effect.gen(function* () {
          const drawn = yield* draw(undefined)
          yield* say("one more")
          yield* Flow.sleep("nap", seconds(20))
          return drawn
        })
      )
      yield* program(Flow.layer(draws), S.waiting(draws))
      assert.strictEqual(yield* program(Flow.layer(draws), resultOf(draws, "x")), 0)
    })
  )

  shared(
    "dbos: duplicate-recovery-does-not-rerun-running-workflow",
    Effect.gen(function* () {
      const naps = S.flow("naps", (text) => Effect.andThen(S.take({ name: text, seconds: 8 }), say("after")))
      const other = program(Flow.layer(naps), resultOf(naps, "x"))
      const both = Effect.gen(function* () {
        yield* Flow.submit(naps, "x")
        yield* S.says("x begins")
        return yield* other
      })
      assert.strictEqual(yield* program(Flow.layer(naps), both), "after")
      assert.deepStrictEqual(yield* Diary.read, ["x begins", "x ends", "after"])
    })
  )

  shared(
    "dbos: recovery-reenqueue-is-ownership-conditional",
    Effect.gen(function* () {
      const waits = S.flow("waits", () => Effect.flatMap(word.receive(), (said) => say(said)), { signals: [word] })
      const both = Effect.gen(function* () {
        const id = yield* S.waiting(waits)
        // Another process sends, and either of them continues it.
        yield* program(Flow.layer(waits), FlowExecutions.signal(id, "word", "once"))
        return yield* resultOf(waits, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(waits), both), "once")
      assert.deepStrictEqual(yield* Diary.read, ["once"])
    })
  )

  shared(
    "dbos: test_global_and_local_concurrency",
    Effect.gen(function* () {
      const texts = ["a", "b", "c", "d", "e", "f"]
      const queue = S.flow("queue", (text) => S.take({ name: text, seconds: 2 }), { limit: [{ concurrency: 2 }] })
      const all = Effect.forEach(texts, (text) => Flow.execute(queue, text), { concurrency: "unbounded" })
      // Three processes share the limit.
      const nested = program(Flow.layer(queue), program(Flow.layer(queue), all))
      assert.deepStrictEqual(yield* program(Flow.layer(queue), nested), texts)
      let running = 0
      for (const line of yield* Diary.read) {
        running += line.endsWith("begins") ? 1 : -1
        assert.isAtMost(running, 2)
      }
    })
  )
})
