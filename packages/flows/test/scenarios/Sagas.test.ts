import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
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
            yield* Flow.sleep("nap", seconds(3))
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
          first: take({ name: "first", seconds: 2 }),
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

const word = Flow.signal("word", Schema.String)
const box = Flow.inbox("box", Schema.String)

scenarios("continue as new", () => {
  scenario(
    "temporal: continue_as_new/continue_as_same",
    Effect.gen(function* () {
      const again: { readonly name: string; readonly input: typeof Schema.String } = {
        name: "counts",
        input: Schema.String
      }
      const counts = S.flow(
        "counts",
        (text) => (text === "xxx" ? say("over") : Effect.andThen(say(text), Flow.continueAs(again, `${text}x`))),
        { tags: () => ["memo"], key: () => "one" }
      )
      const continues = Effect.gen(function* () {
        const id = yield* Flow.submit(counts, "x")
        yield* S.reaches(id, "completed")
        const { execution, steps } = yield* FlowExecutions.inspect(id)
        return { execution, paths: steps.map(({ value }) => value) }
      })
      const { execution, paths } = yield* program(Flow.layer(counts), continues)
      assert.deepInclude(execution, { key: "one", input: "xxx", tags: ["memo"], chapter: 2, result: "over" })
      // The record is that of the last chapter.
      assert.deepStrictEqual(paths, ["over"])
      assert.deepStrictEqual(yield* Diary.read, ["x", "xx", "over"])
    })
  )

  scenario(
    "temporal: continue_as_new/signals_block_continue_as_new",
    Effect.gen(function* () {
      const again = { name: "reads", input: Schema.String }
      const reads = S.flow(
        "reads",
        (text) =>
          Effect.gen(function* () {
            const message = yield* box.receive()
            yield* say(message)
            return message === "end" ? text : yield* Flow.continueAs(again, `${text}${message}`)
          }),
        { signals: [box], key: () => "one" }
      )
      const sends = Effect.gen(function* () {
        const id = yield* Flow.submit(reads, "")
        for (const text of ["a", "b", "c", "end"]) yield* FlowExecutions.signal(id, "box", text)
        return yield* resultOf(reads, "")
      })
      // What comes while a chapter ends is for the next one.
      assert.strictEqual(yield* program(Flow.layer(reads), sends), "abc")
    })
  )

  scenario(
    "temporal: continue_as_new, a signal that no chapter has read stays",
    Effect.gen(function* () {
      const again = { name: "later", input: Schema.String }
      const later = S.flow("later", (text) => (text === "first" ? Flow.continueAs(again, "second") : word.receive()), {
        signals: [word],
        key: () => "one"
      })
      const starts = Flow.signalWithStart(later, "first", word, "kept")
      const both = Effect.andThen(starts, resultOf(later, "first"))
      assert.strictEqual(yield* program(Flow.layer(later), both), "kept")
    })
  )

  scenario(
    "temporal: continue_as_new, over a restart",
    Effect.gen(function* () {
      const again = { name: "naps", input: Schema.String }
      const naps = S.flow(
        "naps",
        (text) =>
          Effect.gen(function* () {
            yield* say(text)
            yield* Flow.sleep("nap", seconds(3))
            return text === "2" ? "over" : yield* Flow.continueAs(again, `${Number(text) + 1}`)
          }),
        { key: () => "one" }
      )
      yield* program(Flow.layer(naps), Effect.andThen(Flow.submit(naps, "0"), S.says("1")))
      assert.strictEqual(yield* program(Flow.layer(naps), resultOf(naps, "0")), "over")
      assert.deepStrictEqual(yield* Diary.read, ["0", "1", "2"])
    })
  )

  scenario(
    "temporal: continue_as_new, the history has a line for each chapter",
    Effect.gen(function* () {
      const again = { name: "counts", input: Schema.String }
      const counts = S.flow(
        "counts",
        (text) => (text === "3" ? say(text) : Effect.andThen(say(text), Flow.continueAs(again, `${Number(text) + 1}`))),
        { key: () => "one" }
      )
      const lists = Effect.gen(function* () {
        yield* resultOf(counts, "0")
        const { id } = yield* Flow.handle(counts, "one")
        return (yield* FlowExecutions.history(id)).chapters.length
      })
      assert.strictEqual(yield* program(Flow.layer(counts), lists), 3)
    })
  )
})
