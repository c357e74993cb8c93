import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios } = S

const word = Flow.signal("word", Schema.String)

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
        const id = yield* S.waiting(holds)
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
