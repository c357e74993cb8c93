import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { hasEnded, type Page } from "../../../src/internal/model/Execution.ts"
import {
  begin,
  boom,
  create,
  created,
  end,
  entry,
  historyOf,
  hour,
  idsOf,
  message,
  order,
  owned,
  part,
  signal,
  type TheJournal,
  undo,
  write
} from "./Bench.ts"

/** Walks all pages of so many. */
const walk = Effect.fnUntraced(function* (journal: TheJournal, page: Omit<Page, "limit" | "before">, limit: number) {
  const ids: Array<string> = []
  let last = yield* journal.list({ ...page, limit })
  while (last.length > 0) {
    assert.isAtMost(last.length, limit)
    ids.push(...idsOf(last))
    const before = last[last.length - 1]
    assert(before !== undefined)
    last = yield* journal.list({ ...page, limit, before })
  }
  return ids
})

export const executions = part("executions", (test) => {
  test("an execution is created once for a flow and a key, whichever version asks", ({ journal, time }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* journal.create(order("a")), { _tag: "Created", execution: created("a") })
      time.pass(5)
      const again = yield* journal.create(order("a", { id: "other", version: 2, input: 7, owner: "me" }))
      assert.deepStrictEqual(again, { _tag: "Existing", execution: created("a") })
      assert.deepStrictEqual(yield* journal.find("id-a"), created("a"))
      assert.deepStrictEqual(yield* journal.findKey("orders", "a"), created("a"))
      assert.isNull(yield* journal.find("other"))
      assert.isNull(yield* journal.findKey("orders", "b"))
      const elsewhere = yield* create(journal, order("a", { id: "elsewhere", flow: "invoices" }))
      assert.strictEqual(elsewhere.startedAt, begin + 5)
    }))

  test("an execution that is created by its owner has its first claim", ({ journal }) =>
    Effect.gen(function* () {
      const execution = yield* create(
        journal,
        order("a", { owner: "me", tags: ["x", "y", "x"], parent: "p", version: 1.5 })
      )
      assert.deepStrictEqual(
        execution,
        created("a", { owner: "me", epoch: 1, tags: ["x", "y", "x"], parent: "p", version: 1.5 })
      )
      assert.deepStrictEqual(yield* journal.find("id-a"), execution)
      yield* journal.write(execution, write({ execution: { state: "waiting" } }))
    }))

  test("of processes that create one at the same time, one does", ({ journal, open }) =>
    Effect.gen(function* () {
      const journals = [journal, yield* open, yield* open]
      const answers = yield* Effect.forEach(
        Array.from({ length: 24 }, (_, n) => n),
        (n) => (journals[n % 3] ?? journal).create(order("a", { id: `id-${n % 4}`, owner: `process ${n}` })),
        { concurrency: "unbounded" }
      )
      const [made, ...others] = answers.filter(({ _tag }) => _tag === "Created")
      assert(made?._tag === "Created")
      assert.lengthOf(others, 0)
      for (const answer of answers) {
        assert(answer._tag !== "Expired")
        assert.deepStrictEqual(answer.execution, made.execution)
      }
    }))

  test("messages are stored with the execution that is created with them, each once", ({ journal }) =>
    Effect.gen(function* () {
      const messages = [signal("go"), signal("stop", { value: { why: 1 } }), signal("go", { value: "other" })]
      const execution = yield* create(journal, order("a", { messages }))
      assert.strictEqual(execution.mail, 2)
      const history = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual(history.messages, [
        message(1, signal("go")),
        message(2, signal("stop", { value: { why: 1 } }))
      ])
      // With an existing execution none are stored.
      yield* journal.create(order("a", { messages: [signal("late")] }))
      assert.lengthOf(yield* journal.messages("id-a", 0), 2)
    }))

  test("the id of another flow or key is refused", ({ journal }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a"))
      const exit = yield* Effect.exit(journal.create(order("b", { id: "id-a" })))
      assert(Exit.isFailure(exit))
      assert.include(String(exit.cause), "id-a")
      assert.isNull(yield* journal.findKey("orders", "b"))
    }))

  test("a history has all that its owner needs, and there is none of what does not exist", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* journal.write(
        fence,
        write({
          entries: [entry("c", { begun: 3 }), entry("a", { begun: 1 }), entry("b", { begun: 2, attempt: 2 })],
          undos: [undo("y", { position: 2 }), undo("z", { position: 1, state: "failed", failure: boom, redo: 3 })]
        })
      )
      yield* journal.send("id-a", signal("go"))
      assert.deepStrictEqual(yield* journal.history("id-a"), {
        execution: created("a", { owner: "me", epoch: 1, mail: 1 }),
        entries: [entry("a", { begun: 1 }), entry("b", { begun: 2, attempt: 2 }), entry("c", { begun: 3 })],
        undos: [undo("z", { position: 1, state: "failed", failure: boom, redo: 3 }), undo("y", { position: 2 })],
        messages: [message(1, signal("go"))],
        redos: new Map()
      })
      assert.isNull(yield* journal.history("id-b"))
      assert.deepStrictEqual(yield* journal.messages("id-b", 0), [])
      assert.deepStrictEqual(yield* journal.aside("id-b"), [])
    }))

  test("a list begins with the newest and is filtered by each of its members", ({ journal, time }) =>
    Effect.gen(function* () {
      for (const key of ["a", "b", "c", "d"]) {
        const fence = yield* owned(journal, key, {
          tags: key === "a" || key === "c" ? ["red", key] : [],
          version: key === "d" ? 2 : 1,
          flow: key === "b" ? "invoices" : "orders"
        })
        if (key === "c") yield* end(journal, fence, time.now())
        time.pass(10)
      }
      const list = (page: Omit<Page, "limit">) => Effect.map(journal.list({ ...page, limit: 10 }), idsOf)
      assert.deepStrictEqual(yield* list({}), ["id-d", "id-c", "id-b", "id-a"])
      assert.deepStrictEqual(yield* list({ flow: "orders" }), ["id-d", "id-c", "id-a"])
      assert.deepStrictEqual(yield* list({ version: 2 }), ["id-d"])
      assert.deepStrictEqual(yield* list({ key: "b" }), ["id-b"])
      assert.deepStrictEqual(yield* list({ flow: "orders", key: "b" }), [])
      assert.deepStrictEqual(yield* list({ flow: "orders", key: "a" }), ["id-a"])
      assert.deepStrictEqual(yield* list({ states: ["completed", "failed"] }), ["id-c"])
      assert.deepStrictEqual(yield* list({ states: [] }), [])
      assert.deepStrictEqual(yield* list({ tag: "red" }), ["id-c", "id-a"])
      assert.deepStrictEqual(yield* list({ tag: "red", states: ["running"] }), ["id-a"])
      assert.deepStrictEqual(yield* list({ tag: "green" }), [])
      assert.deepStrictEqual(yield* list({ startedFrom: begin + 10, startedBefore: begin + 30 }), ["id-c", "id-b"])
      assert.lengthOf(yield* journal.list({ limit: 3 }), 3)
    }))

  test("a list of several states, or of a flow, has the order of starts", ({ journal, time }) =>
    Effect.gen(function* () {
      const states = [
        "completed",
        "waiting",
        "halted",
        "failed",
        "running",
        "suspended",
        "undoing",
        "cancelled"
      ] as const
      for (const state of states) {
        const fence = yield* owned(journal, state)
        const endedAt = hasEnded(state) ? time.now() : null
        yield* journal.write(fence, write({ execution: { state, ...(endedAt === null ? {} : { endedAt }) } }))
        time.pass(1)
      }
      yield* create(journal, order("other", { flow: "other" }))
      const list = (page: Partial<Page>) => Effect.map(journal.list({ limit: 10, ...page }), idsOf)
      const ids = (...keys: ReadonlyArray<string>) => keys.map((key) => `id-${key}`)
      assert.deepStrictEqual(yield* list({ states, flow: "orders" }), ids(...states.toReversed()))
      assert.deepStrictEqual(yield* list({ flow: "orders" }), ids(...states.toReversed()))
      const some = ["failed", "running", "waiting", "halted", "failed"] as const
      assert.deepStrictEqual(yield* list({ states: some }), ids("other", "running", "failed", "halted", "waiting"))
      const before = { id: "id-running", startedAt: begin + 4 }
      assert.deepStrictEqual(yield* list({ states: some, limit: 2, before }), ids("failed", "halted"))
      assert.deepStrictEqual(yield* list({ states: ["queued"] }), [])
    }))

  test("pages walk all executions once, also those that started at the same time", ({ journal, time }) =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 23 }, (_, n) => `${n}`)
      for (const key of keys) {
        yield* journal.create(order(key, { tags: [Number(key) % 2 === 0 ? "even" : "odd"] }))
        if (Number(key) % 5 === 0) time.pass(1)
      }
      const all = idsOf(yield* journal.list({ limit: 100 }))
      assert.deepStrictEqual([...all].sort(), keys.map((key) => `id-${key}`).sort())
      for (const limit of [1, 4, 23, 50]) assert.deepStrictEqual(yield* walk(journal, {}, limit), all)
      const even = all.filter((id) => Number(id.slice(3)) % 2 === 0)
      assert.deepStrictEqual(yield* walk(journal, { tag: "even" }, 3), even)
    }))

  test("a list follows the tags of an execution", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a", { tags: ["one", "two"] })
      yield* journal.write(fence, write({ execution: { tags: ["two", "three"] } }))
      const list = (tag: string) => Effect.map(journal.list({ tag, limit: 10 }), idsOf)
      assert.deepStrictEqual(yield* list("one"), [])
      assert.deepStrictEqual(yield* list("two"), ["id-a"])
      assert.deepStrictEqual(yield* list("three"), ["id-a"])
      assert.deepStrictEqual((yield* journal.find("id-a"))?.tags, ["two", "three"])
    }))

  test("expired executions leave in small steps, with all their rows, and only those", ({
    journal,
    losesAnswers,
    time
  }) =>
    Effect.gen(function* () {
      for (const key of ["a", "b", "c", "d"]) {
        const fence = yield* owned(journal, key, { tags: ["red"] })
        const entries = [entry("s", { kind: "run", subject: "run/1" })]
        yield* journal.write(fence, write({ entries, undos: [undo("s")] }))
        yield* journal.send(`id-${key}`, signal("go"))
        if (key !== "d") yield* end(journal, fence, time.now())
        time.pass(hour)
      }
      const failed = yield* owned(journal, "f")
      yield* journal.write(failed, write({ execution: { state: "failed", owner: null, endedAt: begin } }))

      const expire = (limit: number) => journal.expire(["completed"], begin + 2 * hour, limit)
      const first = yield* expire(1)
      if (!losesAnswers) assert.strictEqual(first, 1)
      if (!losesAnswers) assert.isNotNull(yield* journal.find("id-b"))
      yield* expire(5)
      assert.strictEqual(yield* expire(5), 0)
      assert.deepStrictEqual([...idsOf(yield* journal.list({ limit: 10 }))].sort(), ["id-c", "id-d", "id-f"])
      assert.deepStrictEqual(idsOf(yield* journal.list({ tag: "red", limit: 10 })), ["id-d", "id-c"])
      assert.isNull(yield* journal.find("id-a"))
      assert.isNull(yield* journal.findKey("orders", "a"))
      assert.isNull(yield* journal.history("id-a"))
      assert.deepStrictEqual(yield* journal.messages("id-a", 0), [])
      assert.deepStrictEqual(yield* journal.send("id-a", signal("go")), { outcome: "absent", owner: null })
      assert.isNull(yield* journal.claimOne("me", "id-a"))
      assert.isNull(yield* journal.change("id-a", () => Effect.succeed(null)))
      const error = yield* Effect.flip(journal.write({ id: "id-a", epoch: 1 }, write()))
      assert.strictEqual(error._tag, "OwnershipLost")
      // Those that are there have all of theirs.
      assert.lengthOf((yield* historyOf(journal, "id-c")).entries, 1)
      assert.deepStrictEqual(yield* journal.awaiting("run/"), [{ execution: "id-d", path: "s", subject: "run/1" }])
    }))

  test("of an expired execution the key, the state and the end stay until they are forgotten", ({
    journal,
    losesAnswers,
    time
  }) =>
    Effect.gen(function* () {
      for (const key of ["a", "b"]) {
        yield* end(journal, yield* owned(journal, key), time.now())
        time.pass(hour)
      }
      yield* journal.expire(["completed"], begin + 2 * hour, 10)
      const expired = { ...created("a"), state: "completed", endedAt: begin } as const
      const { endedAt, flow, id, key, state, version } = expired
      assert.deepStrictEqual(yield* journal.create(order("a", { id: "new" })), {
        _tag: "Expired",
        expired: { id, flow, version, key, state, endedAt }
      })
      const forgotten = yield* journal.forget(begin + hour, 10)
      if (!losesAnswers) assert.strictEqual(forgotten, 1)
      assert.strictEqual((yield* journal.create(order("b")))._tag, "Expired")
      assert.strictEqual((yield* journal.create(order("a", { id: "new" })))._tag, "Created")
      assert.strictEqual(yield* journal.forget(begin + hour, 10), 0)
      assert.isNotNull(yield* journal.find("new"))
    }))
})
