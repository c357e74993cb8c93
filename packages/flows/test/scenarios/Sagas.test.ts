import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, refuse, resultOf, say, scenario, scenarios, seconds, take } = S

/** Books one part of a journey, and cancels it when the rest cannot be had. */
const book = (part: string) => Flow.compensate(say(part), (booked) => say(`cancel ${booked}`))
const journey = S.flow("journey", (last) =>
  Effect.gen(function* () {
    yield* book("flight")
    yield* book("car")
    return last === "paid" ? yield* say("paid") : yield* refuse(last)
  })
)

scenarios("sagas", () => {
  scenario(
    "temporal samples: saga, compensates in reverse order",
    Effect.gen(function* () {
      const error = yield* program(Flow.layer(journey), S.errorOf(journey, "no money"))
      assert.deepStrictEqual(error, new S.Refused({ why: "no money" }))
      assert.deepStrictEqual(yield* Diary.read, ["flight", "car", "no money", "cancel car", "cancel flight"])
    })
  )

  scenario(
    "temporal samples: saga, compensates nothing when it completes",
    Effect.gen(function* () {
      assert.strictEqual(yield* program(Flow.layer(journey), resultOf(journey, "paid")), "paid")
      assert.deepStrictEqual(yield* Diary.read, ["flight", "car", "paid"])
    })
  )

  scenario(
    "restate guide: sagas, a failed step is not compensated",
    Effect.gen(function* () {
      const fails = S.flow("fails", (why) => Flow.compensate(refuse(why), () => say("never")))
      yield* program(Flow.layer(fails), S.errorOf(fails, "no seat"))
      assert.deepStrictEqual(yield* Diary.read, ["no seat"])
    })
  )

  scenario(
    "restate guide: sagas, on a cancellation",
    Effect.gen(function* () {
      const waits = S.flow("waits", () =>
        Effect.as(Effect.andThen(book("hotel"), Flow.sleep("day", seconds(36_000))), "")
      )
      const cancels = Effect.gen(function* () {
        const id = yield* Flow.submit(waits, "x")
        yield* S.reaches(id, "waiting")
        yield* FlowExecutions.cancel(id)
        yield* S.reaches(id, "cancelled")
        return (yield* FlowExecutions.inspect(id)).undos.map(({ path, state }) => [path, state])
      })
      assert.deepStrictEqual(yield* program(Flow.layer(waits), cancels), [["say", "done"]])
      assert.deepStrictEqual(yield* Diary.read, ["hotel", "cancel hotel"])
    })
  )

  scenario(
    "restate guide: sagas, compensations are retried until they succeed",
    Effect.gen(function* () {
      const stubborn = S.flow("stubborn", (why) =>
        Effect.andThen(
          Flow.compensate(say("booked"), () => S.flaky(3, { attempts: 5, delay: seconds(0.5) })),
          refuse(why)
        )
      )
      yield* program(Flow.layer(stubborn), S.errorOf(stubborn, "no"))
      assert.deepStrictEqual(yield* Diary.read, ["booked", "no", "attempt", "attempt", "attempt"])
    })
  )

  scenario(
    "restate guide: sagas, a compensation that fails for good waits for a person",
    Effect.gen(function* () {
      const broken = S.flow("broken", (why) =>
        Effect.gen(function* () {
          yield* book("flight")
          yield* Flow.compensate(say("car"), () => S.flaky(2))
          return yield* refuse(why)
        })
      )
      const mends = Effect.gen(function* () {
        assert.strictEqual((yield* S.haltOf(broken, "no")).tag, "UndoFailed")
        const { resume } = yield* Flow.handle(broken, "no")
        yield* resume()
        return yield* S.errorOf(broken, "no")
      })
      // The other one has run, and the error is that of the journey.
      const error = yield* program(Flow.layer(broken), mends)
      assert.deepStrictEqual(error, new S.Refused({ why: "no" }))
      assert.deepStrictEqual(yield* Diary.read, ["flight", "car", "no", "attempt", "cancel flight", "attempt"])
    })
  )

  scenario(
    "temporal samples: saga, compensations continue after a restart",
    Effect.gen(function* () {
      const slow = S.flow("slow", (why) =>
        Effect.gen(function* () {
          yield* book("flight")
          yield* Flow.compensate(say("car"), () =>
            Effect.andThen(Flow.sleep("wait for it", seconds(4)), say("cancel car"))
          )
          return yield* refuse(why)
        })
      )
      yield* program(Flow.layer(slow), Effect.andThen(Flow.submit(slow, "no"), S.says("no")))
      yield* program(Flow.layer(slow), S.errorOf(slow, "no"))
      assert.deepStrictEqual(yield* Diary.read, ["flight", "car", "no", "cancel car", "cancel flight"])
    })
  )

  scenario(
    "temporal samples: saga, of parts that run beside each other",
    Effect.gen(function* () {
      const parts = S.flow("parts", () =>
        Flow.forEach("part", ["a", "b", "bad"], { key: (part) => part, concurrency: 3 }, (part) =>
          Effect.gen(function* () {
            if (part !== "bad") return yield* book(part)
            yield* Flow.sleep("nap", seconds(10))
            return yield* refuse("bad")
          })
        )
      )
      yield* program(Flow.layer(parts), S.errorOf(parts, "x"))
      assert.sameMembers([...(yield* Diary.read)], ["a", "b", "bad", "cancel a", "cancel b"])
    })
  )

  scenario(
    "temporal samples: saga, what lost a race is compensated",
    Effect.gen(function* () {
      const races = S.flow("races", () =>
        Flow.race("hotel", {
          first: take({ name: "first", seconds: 10 }),
          second: Effect.andThen(book("second"), Effect.as(Flow.sleep("confirm", seconds(3_600)), "second"))
        })
      )
      assert.strictEqual(yield* program(Flow.layer(races), resultOf(races, "x")), "first")
      assert.sameMembers([...(yield* Diary.read)], ["first begins", "second", "first ends", "cancel second"])
    })
  )

  scenario(
    "temporal samples: saga, of a child",
    Effect.gen(function* () {
      const parent = S.flow("parent", () => Effect.flatMap(Flow.start(journey, "no"), ({ result }) => result))
      const error = yield* program([Flow.layer(parent), Flow.layer(journey)], S.errorOf(parent, "x"))
      assert.instanceOf(error, S.Refused)
      assert.deepStrictEqual((yield* Diary.read).slice(-2), ["cancel car", "cancel flight"])
    })
  )
})
