import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds } = S

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
