import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Entry } from "../../../src/internal/model/Execution.ts"
import {
  create,
  entry,
  found,
  historyOf,
  idsOf,
  order,
  owned,
  part,
  register,
  signal,
  succeeded,
  undo,
  write
} from "./Bench.ts"

const values: Readonly<Record<string, Schema.Json>> = {
  "a text with a NUL": "before\0after",
  "the text of an escaped NUL": "\\u0000 \\\\u0000",
  "a lone surrogate": "a\ud800b\udc00",
  "a member named by a NUL": { "\0": "\0", "\ud800": 1 },
  "a member called __proto__": JSON.parse(`{"__proto__":{"a":1}}`),
  "texts that look like SQL or JSON": [`'; DROP TABLE flow_run; --`, `{"a":1}`, "null", "%_?$1:a::b"],
  "the largest and the smallest numbers": [Number.MAX_SAFE_INTEGER, -1.5e-300, 1e308, 0.1],
  "false, zero and the empty text": [false, 0, "", [], {}, null],
  "a plain text": "text",
  "a text that is a number": "12",
  "no value": null,
  "all planes": "é漢🎉\u{10ffff}\u{10fffe}\ufffe\u2028"
}

/** Texts that are neither values nor chosen by the flow's author alone. */
const texts: Readonly<Record<string, string>> = {
  "a NUL": "a\0b",
  "a lone surrogate": "a\ud800",
  "another lone surrogate": "a\ud801",
  "what hides them": "a\u{10fffe}0;",
  "quotes and backslashes": `'"\\/\n%_[]{}`,
  nothing: "",
  "4,000 characters": "x".repeat(4_000),
  "5,000 characters": Array.from({ length: 1_000 }, (_, n) => `${n}é`).join(),
  "5,000 other characters": `${Array.from({ length: 1_000 }, (_, n) => `${n}é`).join()}!`
}

export const kept = part("values", (test) => {
  for (const [name, value] of Object.entries(values)) {
    test(`${name} is stored unchanged in every value`, ({ journal }) =>
      Effect.gen(function* () {
        const execution = yield* create(journal, order("a", { input: value, owner: "me" }))
        assert.deepStrictEqual(execution.input, value)
        yield* journal.write(
          execution,
          write({ execution: { result: value, error: value }, entries: [succeeded("s", 1, { input: value, value })] })
        )
        yield* journal.send("id-a", signal("x", { value }))
        const history = yield* historyOf(journal, "id-a")
        assert.deepInclude(history.execution, { input: value, result: value, error: value })
        assert.deepStrictEqual(history.entries, [succeeded("s", 1, { input: value, value })])
        assert.deepStrictEqual(history.messages[0]?.value, value)
        assert.strictEqual((yield* journal.send("id-a", signal("x", { value }))).outcome, "repeated")
        assert.isTrue(yield* journal.swap("v", null, value))
        assert.deepStrictEqual(yield* journal.read("v"), value)
        assert.isTrue(yield* journal.swap("v", value, "other"))
      }))
  }

  test("texts of every kind are stored unchanged, and distinguished", ({ journal }) =>
    Effect.gen(function* () {
      const all = Object.values(texts)
      for (const [n, key] of all.entries()) {
        const execution = yield* create(journal, order(key, { id: `id-${n}`, tags: [key], parent: key }))
        assert.deepInclude(execution, { key, tags: [key], parent: key })
      }
      for (const [n, key] of all.entries()) {
        assert.deepInclude(yield* found(journal, `id-${n}`), { key, tags: [key], parent: key })
        assert.strictEqual((yield* journal.findKey("orders", key))?.id, `id-${n}`)
        assert.strictEqual((yield* journal.create(order(key)))._tag, "Existing")
        assert.deepStrictEqual(idsOf(yield* journal.list({ tag: key, limit: 50 })), [`id-${n}`])
        assert.deepStrictEqual(idsOf(yield* journal.list({ key, limit: 50 })), [`id-${n}`])
      }
    }))

  test("texts of every kind are paths, names and ids", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const all = Object.values(texts)
      const entries = all.map((text, n) => entry(text, { begun: n + 1, kind: "run", name: text, host: text }))
      const undos = all.map((text, n) => undo(text, { position: n }))
      yield* journal.write(fence, write({ entries, undos }))
      yield* journal.write(fence, write({ entries, undos }))
      for (const text of all) {
        yield* journal.send("id-a", signal(text))
        yield* journal.send("id-a", signal("box", { kind: "inbox", id: text }))
        assert.strictEqual((yield* journal.send("id-a", signal(text))).outcome, "repeated")
      }
      const history = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual(history.entries, entries)
      assert.deepStrictEqual(history.undos, undos)
      assert.deepStrictEqual(
        history.messages.map(({ id, name }) => ({ id, name })),
        all.flatMap((text) => [
          { id: "", name: text },
          { id: text, name: "box" }
        ])
      )
      const aside = all.map((path) => ({ path, attempt: 1, redo: 1 }))
      yield* journal.change("id-a", () =>
        Effect.succeed({ execution: {}, aside, asideUndos: all, undos: [], taken: [] })
      )
      const after = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual([after.entries, after.undos], [[], []])
      assert.deepStrictEqual(new Set(after.redos.keys()), new Set(all))
      assert.deepStrictEqual(yield* journal.aside("id-a"), entries)
    }))

  test("processes and subjects are texts of every kind", ({ journal }) =>
    Effect.gen(function* () {
      const short = Object.values(texts).filter((text) => text.length < 1_000)
      for (const id of short) assert.isTrue(yield* register(journal, id))
      assert.deepStrictEqual(new Set(idsOf(yield* journal.processes)), new Set(short))
      const fence = yield* owned(journal, "a")
      const entries = short.map((text, n) => entry(`p${n}`, { subject: `${text}/end`, begun: n + 1 }))
      yield* journal.write(fence, write({ entries }))
      for (const [n, text] of short.entries()) {
        assert.deepStrictEqual(yield* journal.awaiting(`${text}/`), [
          { execution: "id-a", path: `p${n}`, subject: `${text}/end` }
        ])
        assert.isTrue(yield* journal.swap(text, null, n))
        assert.strictEqual(yield* journal.read(text), n)
      }
    }))

  test("values of a megabyte are stored", ({ journal }) =>
    Effect.gen(function* () {
      const large = "é\0🎉x".repeat(150_000)
      const execution = yield* create(journal, order("a", { input: { large }, owner: "me" }))
      yield* journal.write(
        execution,
        write({ execution: { result: large }, entries: [succeeded("s", 1, { input: large, value: { large } })] })
      )
      yield* journal.send("id-a", signal("x", { value: large }))
      const history = yield* historyOf(journal, "id-a")
      assert.isTrue(history.execution.result === large && history.messages[0]?.value === large)
      assert.deepStrictEqual(history.execution.input, { large })
      assert.deepStrictEqual(history.entries, [succeeded("s", 1, { input: large, value: { large } })])
    }))

  test("10,000 entries are written and read in their order", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const entries = Array.from({ length: 10_000 }, (_, n): Entry => succeeded(`file[${n}]/submit`, 2 * n + 1))
      yield* journal.write(fence, write({ entries: entries.slice(0, 9_000) }))
      yield* journal.write(fence, write({ entries: entries.slice(1_000) }))
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).entries, entries)
      const aside = entries.map(({ attempt, path }) => ({ path, attempt, redo: 1 }))
      yield* journal.change("id-a", () =>
        Effect.succeed({ execution: {}, aside, asideUndos: [], undos: [], taken: [] })
      )
      assert.lengthOf((yield* historyOf(journal, "id-a")).entries, 0)
      assert.lengthOf(yield* journal.aside("id-a"), 10_000)
    }))

  test("later mutations by the caller do not reach stored values", ({ journal }) =>
    Effect.gen(function* () {
      const input = { list: [1] }
      const tags = ["a"]
      const fence = yield* create(journal, order("a", { input, tags, owner: "me" }))
      const value = { inner: { n: 1 } }
      yield* journal.write(fence, write({ execution: { result: value }, entries: [succeeded("s", 1, { value })] }))
      yield* journal.send("id-a", signal("x", { value }))
      const before = yield* historyOf(journal, "id-a")
      input.list.push(2)
      tags.push("b")
      value.inner.n = 2
      const after = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual(after, before)
      assert.deepStrictEqual(after.execution.input, { list: [1] })
      assert.deepStrictEqual(after.entries[0]?.value, { inner: { n: 1 } })
      assert.notStrictEqual(after.entries[0]?.value, before.entries[0]?.value)
    }))
})
