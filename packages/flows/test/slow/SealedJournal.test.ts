import { assert, describe, it } from "@effect/vitest"
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { digestOf } from "../../src/internal/journal/Common.ts"
import { Database } from "../../src/internal/journal/Database.ts"
import { Journal } from "../../src/internal/journal/Journal.ts"
import * as Sealed from "../../src/internal/journal/Sealed.ts"
import * as Sql from "../../src/internal/journal/Sql.ts"
import { isSealed } from "../../src/internal/model/Envelope.ts"
import { noMark } from "../../src/internal/model/Said.ts"
import { temporaryFile } from "../support/Engines.ts"
import { journalSuite } from "../support/JournalSuite.ts"
import {
  boom,
  create,
  found,
  historyOf,
  order,
  owned,
  signal,
  succeeded,
  undo,
  write
} from "../support/journal/Bench.ts"
import { ring, tenants } from "../support/Keys.ts"

const inFile = Effect.flatMap(temporaryFile, (filename) =>
  Effect.orDie(
    Layer.build(
      Layer.fresh(Sql.layer.pipe(Layer.provide(Database.layer), Layer.provideMerge(SqliteClient.layer({ filename }))))
    )
  )
)

journalSuite({
  name: "on SQLite, encrypted",
  make: Effect.map(inFile, (context) => ({
    open: Effect.succeed(Sealed.make(Context.get(context, Journal), ring("a")))
  }))
})

/** The journal, its encrypted form, and the client of the file. */
const both = Effect.map(inFile, (context) => {
  const plain = Context.get(context, Journal)
  return {
    plain,
    sql: Context.get(context, SqlClient.SqlClient),
    sealedBy: (...ids: ReadonlyArray<string>) => Sealed.make(plain, ring(...ids))
  }
})

describe("the journal, encrypted", () => {
  it.live("stores no digest by which the input of a request can be guessed, and reads those of before", () =>
    Effect.gen(function* () {
      const { plain, sealedBy, sql } = yield* both
      const answers = [{ name: "pin", id: "1", input: 1234, state: "answered", value: true } as const]
      const said = { number: 0, mark: noMark, states: [], items: [], trims: [], answers }
      for (const [key, journal] of [
        ["a", plain],
        ["b", sealedBy("a")]
      ] as const) {
        const fence = yield* owned(journal, key)
        yield* journal.write(fence, write({ said }))
      }
      const rows = yield* sql<{ readonly asked: string }>`SELECT asked FROM flow_answer ORDER BY execution`
      assert.deepStrictEqual(
        rows.map(({ asked }) => [asked === digestOf(1234), isSealed(asked)]),
        [
          [true, false],
          [false, true]
        ]
      )
      // Also after a rotation.
      for (const id of ["id-a", "id-b"]) {
        const answer = yield* sealedBy("b", "a").answer(id, "pin", "1")
        assert.deepInclude(answer, { asked: digestOf(1234), state: "answered", value: true })
      }
    }).pipe(Effect.scoped)
  )

  it.live("stores no value that can be read, and no message of a failure", () =>
    Effect.gen(function* () {
      const { plain, sealedBy } = yield* both
      const journal = sealedBy("a")
      const fence = yield* owned(journal, "a", { messages: [signal("go", { value: "secret" })] })
      const failure = { ...boom, stack: "at secret" }
      const entries = [succeeded("s", 1, { failure })]
      yield* journal.write(
        fence,
        write({ execution: { error: "secret", failure }, entries, undos: [undo("s", { failure })] })
      )
      const stored = yield* historyOf(plain, "id-a")
      const [entry, message, undone] = [stored.entries[0], stored.messages[0], stored.undos[0]]
      for (const value of [
        stored.execution.input,
        stored.execution.error,
        stored.execution.failure?.message ?? null,
        entry?.input ?? null,
        entry?.value ?? null,
        entry?.failure?.message ?? null,
        message?.value ?? null,
        undone?.failure?.message ?? null
      ]) {
        assert.isTrue(isSealed(value))
      }
      assert.notInclude(JSON.stringify(stored), "secret")
      const read = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual(read.execution.failure, failure)
      assert.deepStrictEqual(read.entries, entries)
    }).pipe(Effect.scoped)
  )

  it.live("reads what was stored before it was encrypted, and encrypts what is new", () =>
    Effect.gen(function* () {
      const { plain, sealedBy } = yield* both
      const fence = yield* owned(plain, "a")
      const journal = sealedBy("a")
      assert.deepStrictEqual((yield* found(journal, "id-a")).input, { order: "a" })
      yield* journal.write(fence, write({ entries: [succeeded("s", 1)] }))
      assert.isTrue(isSealed((yield* historyOf(plain, "id-a")).entries[0]?.value ?? null))
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).entries, [succeeded("s", 1)])
    }).pipe(Effect.scoped)
  )

  it.live("of two processes, one with a newer first key, each reads what the other writes", () =>
    Effect.gen(function* () {
      const { sealedBy } = yield* both
      const [before, after] = [sealedBy("old", "new"), sealedBy("new", "old")]
      const fence = yield* owned(before, "a")
      yield* after.write(fence, write({ entries: [succeeded("s", 1)] }))
      yield* before.send("id-a", signal("go", { value: 1 }))
      assert.strictEqual((yield* after.send("id-a", signal("go", { value: 1 }))).outcome, "repeated")
      assert.strictEqual((yield* after.send("id-a", signal("go", { value: 2 }))).outcome, "conflict")
      for (const journal of [before, after]) {
        const { entries, execution, messages } = yield* historyOf(journal, "id-a")
        assert.deepStrictEqual([execution.input, entries[0]?.value, messages[0]?.value], [{ order: "a" }, "s", 1])
      }
    }).pipe(Effect.scoped)
  )

  it.live("a value that was copied to another execution, step or message does not decrypt there", () =>
    Effect.gen(function* () {
      const { sealedBy, sql } = yield* both
      const journal = sealedBy("a")
      const fence = yield* owned(journal, "a")
      yield* create(journal, order("b"))
      yield* journal.write(fence, write({ entries: [succeeded("s", 1), succeeded("t", 3)] }))
      yield* sql`UPDATE flow_run SET input = (SELECT input FROM flow_run WHERE id = 'id-a') WHERE id = 'id-b'`
      yield* sql`UPDATE flow_entry SET value = (SELECT value FROM flow_entry WHERE path = 's') WHERE path = 't'`
      assert.isTrue(isSealed((yield* found(journal, "id-b")).input))
      const [one, other] = (yield* historyOf(journal, "id-a")).entries
      assert.deepStrictEqual([one?.value, isSealed(other?.value ?? null)], ["s", true])
    }).pipe(Effect.scoped)
  )

  it.live("a value whose key is not there stays as it is, also when its row is written again", () =>
    Effect.gen(function* () {
      const { sealedBy } = yield* both
      const fence = yield* owned(sealedBy("a"), "a")
      const failing = undo("s", { state: "failed", failure: boom })
      yield* sealedBy("a").write(fence, write({ undos: [failing] }))
      const other = sealedBy("b")
      const [unread] = (yield* historyOf(other, "id-a")).undos
      assert(unread !== undefined)
      assert.isTrue(isSealed((yield* found(other, "id-a")).input))
      assert.isTrue(isSealed(unread.failure?.message ?? null))
      yield* other.write(fence, write({ undos: [{ ...unread, state: "pending" }] }))
      assert.deepStrictEqual((yield* historyOf(sealedBy("a"), "id-a")).undos, [{ ...failing, state: "pending" }])
    }).pipe(Effect.scoped)
  )

  it.live("an execution keeps the ring of its input, also in its next chapters", () =>
    Effect.gen(function* () {
      const { plain } = yield* both
      const values = tenants(new Set())
      const fence = yield* owned(Sealed.make(plain, values), "a", { input: { tenant: "acme" } })
      const input = { tenant: "another" }
      yield* Sealed.make(plain, values).write(fence, write({ execution: { input, chapter: 1 }, newChapter: true }))
      const stored = (yield* found(plain, "id-a")).input
      assert(isSealed(stored))
      assert.include(stored, ":acme:k:")
      assert.deepStrictEqual((yield* found(Sealed.make(plain, values), "id-a")).input, input)
    }).pipe(Effect.scoped)
  )

  it.live("with an erased ring, an execution is joined, none is created, and what is written is gone", () =>
    Effect.gen(function* () {
      const { plain } = yield* both
      const erased = new Set<string>()
      const journal = Sealed.make(plain, tenants(erased))
      const input = { tenant: "acme" }
      const fence = yield* owned(journal, "a", { input })
      erased.add("acme")
      const joined = yield* journal.create(order("a", { input }))
      assert.strictEqual(joined._tag === "Existing" ? joined.execution.id : joined._tag, "id-a")
      const refusals = [
        yield* Effect.exit(journal.create(order("b", { input }))),
        yield* Effect.exit(journal.send("id-a", signal("go")))
      ]
      for (const exit of refusals) assert.include(String(exit), 'the keys "acme" of `values` were erased')
      yield* journal.write(fence, write({ entries: [succeeded("s", 1)] }))
      erased.clear()
      assert.isTrue(isSealed((yield* historyOf(journal, "id-a")).entries[0]?.value ?? null))
    }).pipe(Effect.scoped)
  )
})
