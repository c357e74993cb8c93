import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { awaited, awakeable, Outcome } from "../support/Awakeables.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds } = S

/** Two named waits, and what they are combined to. */
const both = <A extends Schema.Json, C extends Flow.FlowContext<unknown>>(
  body: Effect.Effect<A, typeof S.Failure.Type, C>
) => S.flow("combines", () => body, { signals: [awakeable] })
const send = (id: string, key: string, outcome: typeof Outcome.Type) =>
  FlowExecutions.signal(id, `awakeable[${key}]`, outcome)
/** The outcome of a branch, as a value. */
const settled = <E extends { readonly _tag: string }, C extends Flow.FlowContext<unknown>>(
  effect: Effect.Effect<string, E, C>
) =>
  Effect.match(effect, {
    onSuccess: (value) => `ok:${value}`,
    onFailure: (error) => `err:${error instanceof S.Refused ? error.why : error._tag}`
  })

scenarios("combinators", () => {
  scenario(
    "restate: Combinators awakeableOrTimeoutUsingAwaitAny",
    Effect.gen(function* () {
      const first = both(
        Flow.race("any", { it: awaited("one"), over: Effect.as(Flow.sleep("over", seconds(1)), "timeout") })
      )
      assert.strictEqual(yield* program(Flow.layer(first), resultOf(first, "x")), "timeout")
    })
  )

  scenario(
    "restate: Combinators awakeableOrTimeoutUsingAwakeableTimeoutCommand",
    Effect.gen(function* () {
      const limited = both(Flow.timeout("limit", seconds(1), awaited("one")))
      assert.instanceOf(yield* program(Flow.layer(limited), S.errorOf(limited, "x")), Flow.FlowTimeout)
    })
  )

  scenario(
    "restate: Combinators signalFirstCompleted",
    Effect.gen(function* () {
      const first = both(Flow.race("first", { one: awaited("one"), two: awaited("two"), three: awaited("three") }))
      const sends = Effect.gen(function* () {
        const id = yield* S.waiting(first)
        yield* send(id, "two", { resolved: "first" })
        return yield* resultOf(first, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(first), sends), "first")
    })
  )

  scenario(
    "restate: Combinators signalAllSuccessfulOrFirstFailed",
    Effect.gen(function* () {
      const every = both(Flow.all("all", [awaited("one"), awaited("two")], { concurrency: 2 }))
      const sends = Effect.gen(function* () {
        const well = yield* S.waiting(every, "well")
        yield* send(well, "two", { resolved: "2" })
        yield* send(well, "one", { resolved: "1" })
        const bad = yield* S.waiting(every, "bad")
        yield* send(bad, "two", { rejected: "no" })
        return [yield* resultOf(every, "well"), yield* S.errorOf(every, "bad")]
      })
      const expected = [["1", "2"], new S.Refused({ why: "no" })]
      assert.deepStrictEqual(yield* program(Flow.layer(every), sends), expected)
    })
  )

  scenario(
    "restate: Combinators signalAllCompleted",
    Effect.gen(function* () {
      const keys = ["one", "two", "three"]
      const options = { key: (key: string) => key, concurrency: 3 }
      const every = both(Flow.forEach("all", keys, options, (key) => settled(awaited(key))))
      const sends = Effect.gen(function* () {
        const id = yield* S.waiting(every)
        yield* send(id, "one", { resolved: "val0" })
        yield* send(id, "two", { rejected: "err1" })
        yield* send(id, "three", { resolved: "val2" })
        return yield* resultOf(every, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(every), sends), ["ok:val0", "err:err1", "ok:val2"])
    })
  )

  scenario(
    "restate: Combinators mixedRunWinsRaceAgainstSignal",
    Effect.gen(function* () {
      const first = both(Flow.race("first", { run: say("ran"), signal: awaited("one") }))
      assert.strictEqual(yield* program(Flow.layer(first), resultOf(first, "x")), "ran")
    })
  )

  scenario(
    "restate: Combinators mixedAllSucceededRunAndSignal",
    Effect.gen(function* () {
      const every = both(Flow.all("all", { run: say("runval"), signal: awaited("one") }, { concurrency: 2 }))
      const sends = Effect.gen(function* () {
        const id = yield* S.waiting(every)
        yield* send(id, "one", { resolved: "sigval" })
        return yield* resultOf(every, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(every), sends), { run: "runval", signal: "sigval" })
    })
  )

  scenario(
    "restate: Combinators mixedAllCompletedRunSignalAndFailedRun",
    Effect.gen(function* () {
      const members = [settled(say("runval")), settled(awaited("one")), settled(S.refuse("fail"))] as const
      const every = both(Effect.map(Flow.all("all", members, { concurrency: 3 }), (all) => all.join("|")))
      const sends = Effect.gen(function* () {
        const id = yield* Flow.submit(every, "x")
        yield* send(id, "one", { resolved: "sigval" })
        return yield* resultOf(every, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(every), sends), "ok:runval|ok:sigval|err:fail")
    })
  )

  scenario(
    "dbos: promise-all-settled-manysteps",
    Effect.gen(function* () {
      const many = Array.from({ length: 20 }, (_, n) => `${n}`)
      const every = S.flow("every", () =>
        Flow.forEach("each", many, { key: (text) => text, concurrency: "unbounded" }, (text) =>
          settled(
            Effect.gen(function* () {
              return Number(text) % 2 === 0 ? yield* say(text) : yield* S.refuse(text)
            })
          )
        )
      )
      const results = yield* program(Flow.layer(every), resultOf(every, "x"))
      assert.deepStrictEqual(
        results,
        many.map((text) => (Number(text) % 2 === 0 ? `ok:${text}` : `err:${text}`))
      )
      assert.strictEqual((yield* Diary.read).length, 20)
    })
  )
})
