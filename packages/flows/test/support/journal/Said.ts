import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Change } from "../../../src/internal/model/Execution.ts"
import { digestOf } from "../../../src/internal/journal/Common.ts"
import type { Answer, NewItem, Said, SaidWrite } from "../../../src/internal/model/Said.ts"
import { begin, end, order, owned, part, create, register, succeeded, write } from "./Bench.ts"

const state = (name: string, number: number, value: Said["value"] = name): Said => ({
  kind: "state",
  name,
  number,
  value,
  at: begin
})

const item = (name: string, item: number, number: number, at = begin): NewItem => ({
  kind: "feed",
  name,
  number,
  item,
  value: `${name} ${item}`,
  at
})

/** An item as it is read. */
const read = ({ item: _item, ...said }: NewItem): Said => said

const said = (number: number, more: Partial<SaidWrite> = {}): SaidWrite => ({
  number,
  mark: { position: 2, ordinal: number },
  states: [],
  items: [],
  trims: [],
  answers: [],
  ...more
})

const saying = (number: number, more: Partial<SaidWrite> = {}) => write({ said: said(number, more) })

const answer = (id: string, more: Partial<Answer> = {}): Answer => ({
  name: "review",
  id,
  input: { of: id },
  state: "answered",
  value: { yes: true },
  ...more
})

const trim = (name: string, item: number, before: number | null = null) => ({ name, item, before })

const nothing: Change = { execution: {}, aside: [], asideUndos: [], undos: [], taken: [] }

export const sayings = part("what executions say", (test) => {
  test("a state has the value that was set last", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* journal.write(fence, saying(2, { states: [state("x", 1), state("y[k/1]", 2, null)] }))
      yield* journal.write(fence, saying(3, { states: [state("x", 3, [1])] }))
      assert.deepStrictEqual(yield* journal.states("id-a"), [state("y[k/1]", 2, null), state("x", 3, [1])])
      assert.deepStrictEqual(yield* journal.state("id-a", "y[k/1]"), state("y[k/1]", 2, null))
      assert.isNull(yield* journal.state("id-a", "z"))
      assert.deepStrictEqual(yield* journal.states("id-b"), [])
    }))

  test("states with long keys that begin alike are different ones", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const [one, other] = ["1", "2"].map((last) => `x[${"k".repeat(3_000)}${last}]`)
      assert(one !== undefined && other !== undefined)
      yield* journal.write(fence, saying(2, { states: [state(one, 1, 1), state(other, 2, 2)] }))
      assert.deepStrictEqual(yield* journal.states("id-a"), [state(one, 1, 1), state(other, 2, 2)])
      assert.deepStrictEqual(yield* journal.state("id-a", other), state(other, 2, 2))
    }))

  test("items of a feed are read after a number, or the last ones, in their order", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const items = [item("x", 1, 1), item("y", 1, 2), item("x", 2, 3), item("x", 3, 4)]
      yield* journal.write(fence, saying(2, { items: items.slice(0, 2) }))
      yield* journal.write(fence, saying(4, { items: items.slice(2) }))
      const [first, second, third] = [item("x", 1, 1), item("x", 2, 3), item("x", 3, 4)].map(read)
      assert(first !== undefined && second !== undefined && third !== undefined)
      const feed = (after: number | null, limit = 10) => journal.feed("id-a", "x", { after, limit })
      assert.deepStrictEqual(yield* journal.feeds("id-a"), ["x", "y"])
      assert.deepStrictEqual(yield* feed(0), [first, second, third])
      assert.deepStrictEqual(yield* feed(1), [second, third])
      assert.deepStrictEqual(yield* feed(1, 1), [second])
      assert.deepStrictEqual(yield* feed(4), [])
      assert.deepStrictEqual(yield* feed(null), [first, second, third])
      assert.deepStrictEqual(yield* feed(null, 2), [second, third])
    }))

  test("what was said is read after a number, states and items together", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const items = [item("x", 1, 2), item("x", 2, 4)]
      yield* journal.write(fence, saying(4, { states: [state("s", 1), state("t", 3)], items }))
      const all = [state("s", 1), read(item("x", 1, 2)), state("t", 3), read(item("x", 2, 4))]
      assert.deepStrictEqual(yield* journal.said("id-a", 0, 10), all)
      assert.deepStrictEqual(yield* journal.said("id-a", 1, 2), all.slice(1, 3))
      assert.deepStrictEqual(yield* journal.said("id-a", 4, 10), [])
      yield* journal.write(fence, saying(5, { states: [state("s", 5, "again")] }))
      assert.deepStrictEqual(yield* journal.said("id-a", 0, 10), [...all.slice(1), state("s", 5, "again")])
    }))

  test("items are deleted up to one, and those before a time", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const all = [1, 2, 3, 4].map((n) => item("x", n, n, begin + n))
      yield* journal.write(fence, saying(5, { items: [...all, item("y", 1, 5)] }))
      const left = Effect.map(journal.feed("id-a", "x", { after: null, limit: 10 }), (items) =>
        items.map(({ number }) => number)
      )
      yield* journal.write(fence, saying(6, { trims: [trim("x", 2)], items: [item("x", 5, 6, begin + 5)] }))
      assert.deepStrictEqual(yield* left, [3, 4, 6])
      yield* journal.write(fence, saying(7, { trims: [trim("x", 3, begin + 5)], items: [item("x", 6, 7, begin + 6)] }))
      assert.deepStrictEqual(yield* left, [6, 7])
      assert.lengthOf(yield* journal.feed("id-a", "y", { after: null, limit: 10 }), 1)
    }))

  test("the next owner gets the last number, the last mark and the last item of each feed", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      assert.isNull(yield* journal.saidBefore("id-a"))
      yield* journal.write(fence, saying(3, { items: [item("x", 1, 1), item("x", 2, 2), item("y", 1, 3)] }))
      yield* journal.write(fence, saying(4, { mark: { position: 7, ordinal: 1 }, states: [state("s", 4)] }))
      const items = new Map([
        ["x", 2],
        ["y", 1]
      ])
      assert.deepStrictEqual(yield* journal.saidBefore("id-a"), {
        number: 4,
        mark: { position: 7, ordinal: 1 },
        items
      })
    }))

  test("a former owner says nothing", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const before = { ...fence, epoch: fence.epoch - 1 }
      const late = saying(1, { states: [state("s", 1)], items: [item("x", 1, 1)], answers: [answer("1")] })
      assert.strictEqual((yield* Effect.flip(journal.write(before, late)))._tag, "OwnershipLost")
      yield* journal.write(fence, saying(2, { items: [item("x", 1, 2)] }))
      yield* Effect.flip(journal.write(before, saying(3, { trims: [trim("x", 1)] })))
      assert.deepStrictEqual(yield* journal.said("id-a", 0, 10), [read(item("x", 1, 2))])
      assert.isNull(yield* journal.answer("id-a", "review", "1"))
    }))

  test("when entries are discarded, the mark moves back to the end of the record", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const entries = [succeeded("s", 1), succeeded("t", 3), succeeded("u", 5)]
      const mark = { position: 4, ordinal: 2 }
      yield* journal.write(fence, { ...saying(1, { mark, states: [state("s", 1)] }), entries })
      const discard = (path: string) =>
        journal.change("id-a", () => Effect.succeed({ ...nothing, aside: [{ path, attempt: 1, redo: 0 }] }))
      yield* discard("u")
      assert.deepStrictEqual((yield* journal.saidBefore("id-a"))?.mark, mark)
      yield* discard("t")
      assert.deepStrictEqual((yield* journal.saidBefore("id-a"))?.mark, {
        position: 2,
        ordinal: Number.MAX_SAFE_INTEGER
      })
      yield* discard("s")
      assert.strictEqual((yield* journal.saidBefore("id-a"))?.mark.position, 0)
    }))

  test("a new chapter keeps states, feeds and answers", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const all = { states: [state("s", 1)], items: [item("x", 1, 2)], answers: [answer("1")] }
      yield* journal.write(fence, {
        ...saying(2, { ...all, mark: { position: 0, ordinal: 0 } }),
        entries: [succeeded("t", 1)],
        execution: { chapter: 1, input: 2 },
        newChapter: true
      })
      assert.lengthOf(yield* journal.said("id-a", 0, 10), 2)
      assert.deepStrictEqual((yield* journal.saidBefore("id-a"))?.mark, { position: 0, ordinal: 0 })
      assert.strictEqual((yield* journal.answer("id-a", "review", "1"))?.state, "answered")
    }))

  test("the first answer to a request counts", ({ journal, time }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* journal.write(fence, saying(0, { answers: [answer("1"), answer("2", { state: "refused", value: null })] }))
      time.pass(5)
      yield* journal.write(fence, saying(0, { answers: [answer("1", { value: "another" })] }))
      const { input, ...first } = answer("1")
      const asked = digestOf(input)
      assert.deepStrictEqual(yield* journal.answer("id-a", "review", "1"), { ...first, asked, at: begin })
      assert.deepInclude(yield* journal.answer("id-a", "review", "2"), { state: "refused", value: null })
      assert.isNull(yield* journal.answer("id-a", "review", "3"))
      assert.isNull(yield* journal.answer("id-a", "review[k]", "1"))
    }))

  test("an expired execution says nothing any more", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const all = { states: [state("s", 1)], items: [item("x", 1, 2)], answers: [answer("1")] }
      yield* journal.write(fence, saying(2, all))
      yield* end(journal, fence, begin)
      yield* journal.expire(["completed"], begin + 1, 10)
      assert.deepStrictEqual(yield* journal.said("id-a", 0, 10), [])
      assert.isNull(yield* journal.saidBefore("id-a"))
      assert.isNull(yield* journal.answer("id-a", "review", "1"))
    }))

  test("an execution that is created says nothing", ({ journal }) =>
    Effect.gen(function* () {
      yield* register(journal, "me")
      yield* create(journal, order("a"))
      assert.deepStrictEqual(yield* journal.said("id-a", 0, 10), [])
      assert.isNull(yield* journal.saidBefore("id-a"))
    }))
})
