import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Change, Entry, Write } from "../../../src/internal/model/Execution.ts"
import {
  begin,
  boom,
  create,
  created,
  end,
  entry,
  found,
  historyOf,
  idsOf,
  message,
  order,
  orders,
  owned,
  part,
  register,
  signal,
  succeeded,
  undo,
  write
} from "./Bench.ts"

const change = (more: Partial<Change> = {}): Change => ({
  execution: {},
  aside: [],
  asideUndos: [],
  undos: [],
  taken: [],
  ...more
})

export const writes = part("writes", (test) => {
  test("a write replaces the members that it names, and no others", ({ journal, time }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a", { wakeAt: null })
      time.pass(7)
      const replaced = {
        state: "undoing",
        result: { n: 1 },
        error: ["e"],
        failure: boom,
        input: "other",
        wakeAt: begin + 9,
        endedAt: begin + 8
      } as const
      yield* journal.write(fence, write({ execution: replaced }))
      const after = created("a", { owner: "me", epoch: 1, ...replaced, changedAt: begin + 7 })
      assert.deepStrictEqual(yield* journal.find("id-a"), after)
      time.pass(1)
      const emptied = { result: null, error: null, failure: null, wakeAt: null, endedAt: null } as const
      yield* journal.write(fence, write({ execution: emptied }))
      assert.deepStrictEqual(yield* journal.find("id-a"), { ...after, ...emptied, changedAt: begin + 8 })
      yield* journal.write(fence, write({ execution: { owner: "you", input: null } }))
      assert.deepInclude(yield* journal.find("id-a"), { owner: "you", input: null, state: "undoing", epoch: 1 })
    }))

  test("entries are inserted, or put in the place of those with the same path and attempt", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const whole = entry("a", {
        attempt: 2,
        redo: 1,
        name: "first",
        kind: "sleep",
        input: [1, { two: 2 }],
        state: "retrying",
        value: { last: "error" },
        failure: boom,
        begun: 4,
        ended: 5,
        startedAt: begin + 1,
        endedAt: begin + 2,
        due: begin + 3,
        subject: "run/1",
        host: null
      })
      yield* journal.write(fence, write({ entries: [entry("a"), whole, entry("b", { begun: 2 })] }))
      const entries = Effect.map(historyOf(journal, "id-a"), (history) => history.entries)
      assert.deepStrictEqual(yield* entries, [entry("a"), entry("b", { begun: 2 }), whole])
      const over = succeeded("b", 2, { host: null, subject: "run/2", input: null })
      yield* journal.write(fence, write({ entries: [over, entry("c", { begun: 9 })] }))
      assert.deepStrictEqual(yield* entries, [entry("a"), over, whole, entry("c", { begun: 9 })])
    }))

  test("of an entry that is twice in a write, the last one holds", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const twice = { entries: [entry("a"), succeeded("a", 1)], undos: [undo("u"), undo("u", { state: "done" })] }
      yield* journal.write(fence, write(twice))
      const history = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual(history.entries, [succeeded("a", 1)])
      assert.deepStrictEqual(history.undos, [undo("u", { state: "done" })])
    }))

  test("an entry that is written without details keeps them, also in its next attempt and when it is discarded", ({
    journal
  }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const entries = Effect.map(historyOf(journal, "id-a"), (history) => history.entries)
      yield* journal.write(fence, write({ entries: [entry("a", { details: { row: 1 } }), entry("b", { begun: 2 })] }))
      assert.deepStrictEqual(yield* entries, [entry("a", { details: { row: 1 } }), entry("b", { begun: 2 })])
      const second = entry("a", { attempt: 2, begun: 3, details: "row 2" })
      yield* journal.write(fence, write({ entries: [entry("a", { state: "retrying" }), second] }))
      const first = entry("a", { state: "retrying", details: { row: 1 } })
      assert.deepStrictEqual(yield* entries, [first, entry("b", { begun: 2 }), second])
      const aside = [1, 2].map((attempt) => ({ path: "a", attempt, redo: 0 }))
      yield* journal.change("id-a", () => Effect.succeed(change({ aside })))
      assert.deepStrictEqual(yield* journal.aside("id-a"), [first, second])
    }))

  test("the end of a step deletes the details of all its attempts, those of the same write too", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const detailsOf = Effect.map(historyOf(journal, "id-a"), ({ entries }) =>
        entries.map(({ attempt, details = null, path }) => [path, attempt, details])
      )
      const path = "a".repeat(3_000)
      const attempt = (attempt: number, details: Entry["details"] = `row ${attempt}`) =>
        entry(path, { attempt, begun: attempt, details })
      yield* journal.write(fence, write({ entries: [attempt(1), attempt(2), entry("b", { begun: 9, details: 1 })] }))
      assert.deepStrictEqual(yield* detailsOf, [
        [path, 1, "row 1"],
        [path, 2, "row 2"],
        ["b", 1, 1]
      ])
      yield* journal.write(fence, write({ entries: [attempt(2, "row 3"), attempt(3, null)] }))
      assert.deepStrictEqual(yield* detailsOf, [
        [path, 1, null],
        [path, 2, null],
        [path, 3, null],
        ["b", 1, 1]
      ])
    }))

  test("an owner that has lost its claim deletes no details", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const [first, second] = [1, 2].map((attempt) => entry("a", { attempt, begun: attempt, details: attempt }))
      assert(first !== undefined && second !== undefined)
      yield* journal.write(fence, write({ entries: [first, second] }))
      const late = { ...fence, epoch: fence.epoch - 1 }
      yield* Effect.flip(journal.write(late, write({ entries: [{ ...second, details: null }] })))
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).entries, [first, second])
    }))

  test("undos are put by their path", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* journal.write(fence, write({ undos: [undo("a"), undo("b", { position: 2 })] }))
      yield* journal.write(
        fence,
        write({ undos: [undo("a", { state: "failed", failure: boom, redo: 1, position: 5 })] })
      )
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).undos, [
        undo("b", { position: 2 }),
        undo("a", { state: "failed", failure: boom, redo: 1, position: 5 })
      ])
    }))

  test("messages that are taken are not read again", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      for (const name of ["x", "y", "z"]) yield* journal.send("id-a", signal(name))
      yield* journal.write(fence, write({ taken: [1, 3], seen: 3 }))
      assert.deepStrictEqual(yield* journal.messages("id-a", 0), [message(2, signal("y"))])
      const history = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual(history.messages, [message(2, signal("y"))])
      assert.strictEqual(history.execution.mail, 3)
    }))

  test("a write by an older claim changes nothing, whatever is in it", ({ journal }) =>
    Effect.gen(function* () {
      const old = yield* owned(journal, "a")
      yield* journal.write(old, write({ entries: [entry("s")], undos: [undo("s")] }))
      yield* journal.send("id-a", signal("go"))
      yield* journal.leave("me")
      const [claimed] = yield* journal.claim("you", [orders], begin, 1)
      assert.strictEqual(claimed?.epoch, 3)
      const before = yield* historyOf(journal, "id-a")
      const writes: ReadonlyArray<Partial<Write>> = [
        {},
        { execution: { state: "completed", tags: ["t"] } },
        { entries: [succeeded("s", 1), entry("new", { begun: 2 })] },
        { undos: [undo("s", { state: "done" }), undo("new")] },
        { taken: [1], seen: 1 },
        { execution: { input: 1, chapter: 1 }, seen: 1, newChapter: true },
        { execution: { owner: null }, entries: [succeeded("s", 1)], undos: [undo("new")], taken: [1] }
      ]
      for (const more of writes) {
        const error = yield* Effect.flip(journal.write(old, write(more)))
        assert.deepInclude(error, { _tag: "OwnershipLost", id: "id-a" })
      }
      // An epoch that is yet to come is no claim either, nor is one of what does not exist.
      for (const fence of [
        { id: "id-a", epoch: 4 },
        { id: "id-b", epoch: 0 }
      ]) {
        assert.strictEqual((yield* Effect.flip(journal.write(fence, write()))).id, fence.id)
      }
      assert.deepStrictEqual(yield* journal.history("id-a"), before)
      assert.deepStrictEqual(yield* journal.aside("id-a"), [])
      assert.deepStrictEqual(yield* journal.list({ tag: "t", limit: 1 }), [])
    }))

  test("a write that is repeated changes nothing more", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* journal.send("id-a", signal("go"))
      const one = write({
        execution: { state: "waiting", wakeAt: null, owner: null },
        entries: [succeeded("s", 1), entry("t", { begun: 3 })],
        undos: [undo("s")],
        taken: [1],
        seen: 1
      })
      yield* journal.write(fence, one)
      const once = yield* historyOf(journal, "id-a")
      yield* journal.write(fence, one)
      assert.deepStrictEqual(yield* journal.history("id-a"), once)
    }))

  test("a claim that is given up while a message was overlooked makes the execution due", ({ journal, time }) =>
    Effect.gen(function* () {
      const released = { state: "waiting", owner: null, wakeAt: null } as const
      const fence = yield* owned(journal, "a")
      yield* journal.send("id-a", signal("x"))
      yield* journal.send("id-a", signal("y"))
      time.pass(3)
      yield* journal.write(fence, write({ execution: released, seen: 1 }))
      assert.deepInclude(yield* found(journal, "id-a"), { owner: null, wakeAt: begin + 3, state: "waiting" })
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 1)
      assert(claimed !== undefined)
      yield* journal.write(claimed, write({ execution: released, seen: claimed.mail }))
      assert.deepInclude(yield* found(journal, "id-a"), { owner: null, wakeAt: null })
      assert.deepStrictEqual(yield* journal.claim("me", [orders], time.now(), 1), [])
      // What is over needs no owner.
      const last = yield* journal.claimOne("me", "id-a")
      assert(last !== null)
      yield* journal.write(last, write({ execution: { state: "failed", owner: null, wakeAt: null } }))
      assert.deepInclude(yield* found(journal, "id-a"), { state: "failed", wakeAt: null })
    }))

  test("an execution that would be halted while a message was overlooked is due instead", ({ journal, time }) =>
    Effect.gen(function* () {
      const halted = { state: "halted", owner: null, wakeAt: null } as const
      const fence = yield* owned(journal, "a")
      yield* journal.send("id-a", { ...signal("x"), kind: "cancel" })
      time.pass(3)
      yield* journal.write(fence, write({ execution: halted, seen: 0 }))
      assert.deepInclude(yield* found(journal, "id-a"), { owner: null, wakeAt: begin + 3, state: "waiting" })
      const [claimed] = yield* journal.claim("me", [orders], time.now(), 1)
      assert(claimed !== undefined)
      yield* journal.write(claimed, write({ execution: halted, seen: claimed.mail }))
      assert.deepInclude(yield* found(journal, "id-a"), { owner: null, wakeAt: null, state: "halted" })
    }))

  test("a new chapter deletes earlier entries, and keeps their number and the messages that were not seen", ({
    journal
  }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* journal.write(fence, write({ entries: [succeeded("a", 1), entry("b", { begun: 3 })], undos: [undo("a")] }))
      for (const name of ["x", "y"]) yield* journal.send("id-a", signal(name))
      const next = write({
        execution: { input: { chapter: 1 }, chapter: 1 },
        entries: [succeeded("b", 3)],
        undos: [undo("b")],
        seen: 1,
        newChapter: true
      })
      yield* journal.write(fence, next)
      const begun = yield* historyOf(journal, "id-a")
      assert.deepInclude(begun.execution, { chapter: 1, input: { chapter: 1 }, mail: 2 })
      assert.deepStrictEqual([begun.entries, begun.undos], [[], []])
      assert.deepStrictEqual(begun.messages, [message(2, signal("y"))])
      assert.deepStrictEqual(yield* journal.aside("id-a"), [])
      const [first] = yield* journal.chapters("id-a")
      assert.deepInclude(first, { chapter: 0, entries: 2, startedAt: begun.execution.startedAt })
      // The same paths are new in it; a repeated begin does not end it.
      yield* journal.write(fence, write({ entries: [entry("a", { begun: 5 })] }))
      yield* journal.write(fence, next)
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).entries, [entry("a", { begun: 5 })])
      yield* journal.write(fence, write({ execution: { chapter: 2 }, newChapter: true }))
      const [, second, ...more] = yield* journal.chapters("id-a")
      assert.deepInclude(second, { chapter: 1, entries: 1 })
      assert.strictEqual(second?.startedAt, first?.endedAt)
      assert.deepStrictEqual(more, [])
    }))

  test("a new chapter leaves nothing of thousands of entries, undos and messages, those of a retry included", ({
    journal
  }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const paths = Array.from({ length: 2_500 }, (_, n) => `step-${n}`)
      yield* journal.write(
        fence,
        write({ entries: paths.map((path, n) => succeeded(path, 2 * n + 1)), undos: paths.map((path) => undo(path)) })
      )
      for (const name of ["x", "y"]) yield* journal.send("id-a", signal(name))
      yield* journal.change("id-a", () =>
        Effect.succeed(change({ aside: [{ path: "step-0", attempt: 1, redo: 1 }], asideUndos: ["step-0"] }))
      )
      const claimed = yield* journal.claimOne("me", "id-a")
      assert(claimed !== null)
      yield* journal.write(claimed, write({ execution: { chapter: 1 }, seen: 1, newChapter: true }))
      const { entries, messages, redos, undos } = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual({ entries, undos, redos }, { entries: [], undos: [], redos: new Map() })
      assert.deepStrictEqual(messages, [message(2, signal("y"))])
      assert.deepStrictEqual(yield* journal.aside("id-a"), [])
      assert.deepStrictEqual(
        (yield* journal.chapters("id-a")).map(({ entries }) => entries),
        [2_500]
      )
    }))

  test("the last thousand chapters have a summary", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      for (let chapter = 1; chapter <= 1_003; chapter++) {
        yield* journal.write(fence, write({ execution: { chapter }, newChapter: true }))
      }
      const chapters = yield* journal.chapters("id-a")
      assert.deepStrictEqual([chapters.length, chapters[0]?.chapter, chapters.at(-1)?.chapter], [1_000, 3, 1_002])
    }))

  test("a change raises the epoch, takes the execution from its owner, and sees what it decides on", ({
    journal,
    time
  }) =>
    Effect.gen(function* () {
      yield* register(journal, "me")
      const fence = yield* owned(journal, "a")
      yield* journal.write(fence, write({ entries: [entry("s")] }))
      time.pass(4)
      const changed = yield* journal.change("id-a", (history) => {
        assert.deepStrictEqual(history.entries, [entry("s")])
        assert.strictEqual(history.execution.owner, "me")
        return Effect.succeed(
          change({
            execution: { state: "failed", failure: boom, error: "e", result: "r", endedAt: begin + 4, round: 1 }
          })
        )
      })
      assert.deepStrictEqual(
        changed,
        created("a", {
          state: "failed",
          failure: boom,
          error: "e",
          result: "r",
          round: 1,
          endedAt: begin + 4,
          changedAt: begin + 4,
          epoch: 2
        })
      )
      assert.deepStrictEqual(yield* journal.find("id-a"), changed)
      assert.strictEqual((yield* Effect.flip(journal.write(fence, write())))._tag, "OwnershipLost")
      const again = { state: "running", version: 2, wakeAt: begin + 4, endedAt: null } as const
      yield* journal.change("id-a", () => Effect.succeed(change({ execution: again })))
      assert.deepStrictEqual(idsOf(yield* journal.claim("you", [{ flow: "orders", version: 2 }], time.now(), 1)), [
        "id-a"
      ])
    }))

  test("entries that a change discards are gone, and get their redo unless they were interrupted", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const [first, second] = [entry("b", { state: "retrying", begun: 3, ended: 4 }), succeeded("b", 5, { attempt: 2 })]
      const cutOff = entry("d", { state: "interrupted", begun: 8, ended: 9 })
      yield* journal.write(
        fence,
        write({
          entries: [succeeded("a", 1), first, second, entry("c", { begun: 7 }), cutOff],
          undos: [undo("a"), undo("b")]
        })
      )
      yield* journal.send("id-a", signal("x"))
      yield* journal.send("id-a", signal("y"))
      const aside = [
        { path: "b", attempt: 2, redo: 1 },
        { path: "b", attempt: 1, redo: 1 },
        { path: "c", attempt: 1, redo: 0 },
        { path: "d", attempt: 1, redo: 0 },
        { path: "absent", attempt: 1, redo: 0 }
      ]
      const rest = { asideUndos: ["b"], undos: [undo("a", { state: "skipped" })], taken: [1] }
      yield* journal.change("id-a", () => Effect.succeed(change({ aside, ...rest })))
      const history = yield* historyOf(journal, "id-a")
      assert.deepStrictEqual(history.entries, [succeeded("a", 1)])
      assert.deepStrictEqual(history.undos, [undo("a", { state: "skipped" })])
      assert.deepStrictEqual(history.messages, [message(2, signal("y"))])
      assert.deepStrictEqual(
        history.redos,
        new Map([
          ["b", 1],
          ["c", 0]
        ])
      )
      assert.deepStrictEqual(yield* journal.aside("id-a"), [first, second, entry("c", { begun: 7 }), cutOff])
      // Another one with the same path is no repetition, and is discarded after those.
      const claimed = yield* journal.claimOne("me", "id-a")
      assert(claimed !== null)
      const redone = succeeded("b", 9, { attempt: 2, redo: 1 })
      yield* journal.write(claimed, write({ entries: [redone] }))
      yield* journal.change("id-a", () => Effect.succeed(change({ aside: [{ path: "b", attempt: 2, redo: 2 }] })))
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).redos.get("b"), 2)
      assert.deepStrictEqual(yield* journal.aside("id-a"), [first, second, entry("c", { begun: 7 }), cutOff, redone])
      // A new chapter has its own scopes.
      const last = yield* journal.claimOne("me", "id-a")
      assert(last !== null)
      yield* journal.write(last, write({ execution: { chapter: 1 }, newChapter: true }))
      assert.deepStrictEqual((yield* historyOf(journal, "id-a")).redos, new Map())
    }))

  test("a change that is refused, or is none, changes nothing", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const before = yield* historyOf(journal, "id-a")
      assert.strictEqual(yield* Effect.flip(journal.change("id-a", () => Effect.fail("no"))), "no")
      const died = yield* Effect.exit(journal.change("id-a", () => Effect.die("broken")))
      assert(Exit.isFailure(died))
      assert.deepStrictEqual(yield* journal.change("id-a", () => Effect.succeed(null)), before.execution)
      assert.isNull(yield* journal.change("id-b", () => Effect.succeed(change())))
      assert.deepStrictEqual(yield* journal.history("id-a"), before)
      yield* journal.write(fence, write())
    }))

  test("changes of one execution that come together follow each other", ({ journal, losesAnswers, open }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a"))
      const journals = [journal, yield* open, yield* open]
      yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) =>
          (journals[n % 3] ?? journal).change("id-a", ({ execution }) =>
            Effect.as(Effect.yieldNow, change({ execution: { round: execution.round + 1 } }))
          ),
        { concurrency: "unbounded" }
      )
      const { epoch, round } = yield* found(journal, "id-a")
      assert.strictEqual(epoch, round)
      // One whose response was lost is decided again after those of others.
      if (!losesAnswers) assert.strictEqual(round, 12)
    }))

  test("a change and the writes of the owner do not mix", ({ journal, open }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      const other = yield* open
      const writing = Effect.gen(function* () {
        for (let n = 1; ; n++) {
          yield* journal.write(fence, write({ entries: [entry(`s${n}`, { begun: n })] }))
          yield* Effect.yieldNow
        }
      })
      const counted = Effect.delay(
        other.change("id-a", ({ entries }) =>
          Effect.as(Effect.yieldNow, change({ execution: { round: entries.length, state: "halted" } }))
        ),
        "10 millis"
      )
      const [exit] = yield* Effect.all([Effect.exit(writing), counted], { concurrency: "unbounded" })
      assert(Exit.isFailure(exit))
      const { entries, execution } = yield* historyOf(journal, "id-a")
      assert.strictEqual(entries.length, execution.round)
    }))

  test("an execution that has ended can be changed to run again", ({ journal }) =>
    Effect.gen(function* () {
      yield* end(journal, yield* owned(journal, "a"), begin)
      const running = { state: "running", endedAt: null, wakeAt: begin, result: null } as const
      yield* journal.change("id-a", () => Effect.succeed(change({ execution: running })))
      const [claimed] = yield* journal.claim("you", [orders], begin, 1)
      assert.deepStrictEqual(claimed, created("a", { owner: "you", epoch: 3 }))
    }))
})
