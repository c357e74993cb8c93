import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds, shared } = S

const word = Flow.signal("word", Schema.String)
const submitted = <F extends ReturnType<typeof S.flow>>(flow: F, text = "x") =>
  Effect.tap(Flow.submit(flow, text), (id) => S.reaches(id, "waiting"))

/** Notes the key of its first request. */
const post = Flow.step("post", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: (text) =>
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      yield* Diary.write(yield* keys.next)
      return text
    })
})

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
      const id = yield* program(Flow.layer(three), submitted(three))
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
            yield* Flow.sleep("nap", seconds(3))
            return first
          }),
        { signals: [word] }
      )
      const id = yield* program(Flow.layer(races), submitted(races))
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
          yield* Flow.sleep("nap", seconds(2))
          return drawn
        })
      )
      yield* program(Flow.layer(draws), submitted(draws))
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
        const id = yield* submitted(waits)
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

scenarios("exactly once", () => {
  scenario(
    "dbos: workflow-oaoo",
    Effect.gen(function* () {
      const once = S.flow("once", (text) => say(text))
      const twice = Effect.gen(function* () {
        return [yield* resultOf(once, "x"), yield* resultOf(once, "x")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(once), twice), ["x", "x"])
      assert.deepStrictEqual(yield* Diary.read, ["x"])
    })
  )

  scenario(
    "dbos: step-oaoo",
    Effect.gen(function* () {
      const fails = S.flow("fails", (text) => Effect.andThen(post(text), S.flaky(2)))
      const retries = Effect.gen(function* () {
        yield* S.errorOf(fails, "x")
        const { retry } = yield* Flow.handle(fails, "x")
        yield* retry()
        return yield* resultOf(fails, "x")
      })
      yield* program(Flow.layer(fails), retries)
      // The request has left once.
      assert.strictEqual((yield* Diary.read).filter((line) => line !== "attempt").length, 1)
    })
  )

  scenario(
    "dbos: duplicate-step",
    Effect.gen(function* () {
      const once = S.flow("once", (text) => S.take({ name: text, seconds: 1 }))
      const callers = Effect.all([Flow.execute(once, "x"), Flow.execute(once, "x"), Flow.execute(once, "x")], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* program(Flow.layer(once), Effect.flatten(S.through(callers))), ["x", "x", "x"])
      assert.deepStrictEqual(yield* Diary.read, ["x begins", "x ends"])
    })
  )

  scenario(
    "restate: IngressTest idempotentInvokeService",
    Effect.gen(function* () {
      const greets = S.flow("greets", (name) => Effect.map(say(name), (said) => `Hello ${said}`))
      const twice = Effect.gen(function* () {
        const first = yield* resultOf(greets, "Ada")
        return first === (yield* resultOf(greets, "Ada"))
      })
      assert.isTrue(yield* program(Flow.layer(greets), twice))
      assert.deepStrictEqual(yield* Diary.read, ["Ada"])
    })
  )

  scenario(
    "restate: IngressTest idempotentInvokeSend",
    Effect.gen(function* () {
      const adds = S.flow("adds", (text) => say(text))
      const sends = Effect.gen(function* () {
        const ids = [yield* Flow.submit(adds, "x"), yield* Flow.submit(adds, "y", { key: "x" })]
        yield* S.reaches(ids[0] ?? "", "completed")
        return ids[0] === ids[1]
      })
      assert.isTrue(yield* program(Flow.layer(adds), sends))
      assert.deepStrictEqual(yield* Diary.read, ["x"])
    })
  )

  scenario(
    "restate: IngressTest idempotentSendThenAttachWIthIdempotencyKey",
    Effect.gen(function* () {
      const holds = S.flow("holds", () => word.receive(), { signals: [word] })
      const attaches = Effect.gen(function* () {
        const id = yield* submitted(holds)
        const { result } = yield* Flow.handle(holds, "x")
        const before = (yield* FlowExecutions.get(id)).result
        yield* FlowExecutions.signal(id, "word", "solved")
        return [before, yield* Effect.flatten(S.through(result)), (yield* FlowExecutions.get(id)).result]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(holds), attaches), [null, "solved", "solved"])
    })
  )

  scenario(
    "restate: ScopeIsolationTest sameIdempotencyKeyAcrossScopesIsolates",
    Effect.gen(function* () {
      const [one, other] = [
        S.flow("one", (text) => say(`${text} of one`)),
        S.flow("other", (text) => say(`${text} of other`))
      ]
      const both = Effect.gen(function* () {
        return [yield* resultOf(one, "key"), yield* resultOf(other, "key")]
      })
      const results = yield* program([Flow.layer(one), Flow.layer(other)], both)
      assert.deepStrictEqual(results, ["key of one", "key of other"])
    })
  )

  scenario(
    "dbos: DBOSClient-enqueue-idempotent",
    Effect.gen(function* () {
      const once = S.flow("once", (text) => say(text))
      const ids = yield* program(
        Flow.layer(once),
        Effect.forEach(["a", "a", "a"], (text) => Flow.submit(once, text), { concurrency: "unbounded" })
      )
      assert.strictEqual(new Set(ids).size, 1)
      yield* program(Flow.layer(once), resultOf(once, "a"))
      assert.deepStrictEqual(yield* Diary.read, ["a"])
    })
  )
})
