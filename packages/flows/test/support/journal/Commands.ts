import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Change, Recorded } from "../../../src/internal/model/Execution.ts"
import {
  begin,
  create,
  entry,
  found,
  historyOf,
  hour,
  order,
  orders,
  owned,
  part,
  register,
  type TheJournal,
  write
} from "./Bench.ts"

const change = (more: Partial<Change>): Change => ({
  execution: {},
  aside: [],
  asideUndos: [],
  undos: [],
  taken: [],
  keepsOwner: true,
  ...more
})

const recorded = (id: string, command: string, more: Partial<Recorded> = {}): Recorded => ({
  id,
  command,
  by: null,
  outcome: null,
  ...more
})

const sent = (journal: TheJournal, id: string, command: "cancel" | "suspend", by: string | null = null) =>
  journal.change("id-a", ({ commands }) =>
    Effect.succeed(
      // A repeat, because its response was lost.
      commands.some((one) => one.id === id) ? null : change({ command, record: recorded(id, command, { by }) })
    )
  )

const outcomes = (journal: TheJournal) =>
  Effect.map(journal.commands("id-a"), (commands) => commands.map(({ id, outcome }) => [id, outcome]))

const beginning = (seen: number) => write({ entries: [entry("t", { begun: 3 })], begins: true, seen })

export const commands = part("commands", (test) => {
  test("a command is recorded with its message, round, time and who gave it", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* owned(journal, "a")
      time.pass(5)
      yield* sent(journal, "one", "cancel", "Ada \0")
      const one = {
        number: 1,
        id: "one",
        command: "cancel",
        by: "Ada \0",
        at: begin + 5,
        round: 0,
        seq: 1,
        outcome: null,
        endedAt: null
      }
      assert.deepStrictEqual(yield* journal.commands("id-a"), [one])
      const known = yield* journal.change("id-a", ({ commands }) => {
        assert.deepStrictEqual(commands, [one])
        return Effect.succeed(null)
      })
      assert.strictEqual(known?.mail, 1)
    }))

  test("a command that changes nothing is recorded, and neither wakes nor changes the execution", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a", { state: "waiting", wakeAt: begin + hour }))
      const before = yield* found(journal, "id-a")
      time.pass(5)
      const record = recorded("one", "resume", { outcome: "applied" })
      yield* journal.change("id-a", ({ commands }) => Effect.succeed(commands.length > 0 ? null : change({ record })))
      assert.deepStrictEqual(yield* found(journal, "id-a"), before)
      assert.deepStrictEqual(yield* outcomes(journal), [["one", "applied"]])
    }))

  test("a write by which steps begin is refused until the last command is read; signals are none", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* journal.send("id-a", { kind: "signal", name: "go", id: "", value: 1 })
      assert.isTrue(yield* journal.write(fence, write({ ...beginning(0), entries: [entry("s")] })))
      yield* sent(journal, "one", "suspend")
      assert.isFalse(yield* journal.write(fence, beginning(1)))
      assert.strictEqual((yield* historyOf(journal, "id-a")).entries.length, 1)
      // Others are not.
      assert.isTrue(yield* journal.write(fence, write({ seen: 1 })))
      assert.isTrue(yield* journal.write(fence, beginning(2)))
    }))

  test("a write by which steps begin is not refused when the command was withdrawn", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* sent(journal, "one", "suspend")
      yield* journal.change("id-a", () => Effect.succeed(change({ taken: [1] })))
      assert.isTrue(yield* journal.write(fence, beginning(0)))
    }))

  test("a write by which steps begin is one of a lost claim, rather than one that is refused", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* sent(journal, "one", "suspend")
      const error = yield* Effect.flip(journal.write({ ...fence, epoch: 9 }, beginning(0)))
      assert.strictEqual(error._tag, "OwnershipLost")
    }))

  test("an owner ends commands by their message; a suspend only when the execution is suspended", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* sent(journal, "one", "suspend")
      yield* sent(journal, "also one", "suspend")
      const suspended = { owner: null, state: "suspended", wakeAt: null } as const
      yield* journal.send("id-a", { kind: "signal", name: "go", id: "", value: 1 })
      // The signal was not read.
      yield* journal.write(fence, write({ execution: suspended, suspends: [1], seen: 1 }))
      assert.deepStrictEqual(yield* outcomes(journal), [
        ["one", null],
        ["also one", null]
      ])
      const next = yield* journal.claimOne("you", "id-a")
      assert.isNotNull(next)
      yield* journal.write(
        { id: "id-a", epoch: next?.epoch ?? 0 },
        write({ execution: suspended, suspends: [1], seen: 2 })
      )
      assert.deepStrictEqual(yield* outcomes(journal), [
        ["one", "applied"],
        ["also one", "applied"]
      ])
      yield* sent(journal, "two", "cancel")
      const third = yield* journal.claimOne("you", "id-a")
      const settled = [{ seq: 3, outcome: "too late" as const }]
      yield* journal.write({ id: "id-a", epoch: third?.epoch ?? 0 }, write({ taken: [3], settled, seen: 3 }))
      assert.deepStrictEqual((yield* outcomes(journal)).at(-1), ["two", "too late"])
    }))

  test("of many commands the last hundred stay, and all that are pending", ({ journal }) =>
    Effect.gen(function* () {
      yield* owned(journal, "a")
      yield* sent(journal, "pending", "suspend")
      for (let n = 0; n < 105; n++) {
        const record = recorded(`${n}`, "resume", { outcome: "applied" })
        yield* journal.change("id-a", ({ commands }) =>
          Effect.succeed(commands.at(-1)?.id === record.id ? null : change({ record }))
        )
      }
      const ids = (yield* journal.commands("id-a")).map(({ id }) => id)
      assert.strictEqual(ids.length, 101)
      assert.deepStrictEqual(ids.slice(0, 2), ["pending", "5"])
    }))

  test("a command is unsettled when its execution has ended, or began another round", ({ journal }) =>
    Effect.gen(function* () {
      const fence = yield* owned(journal, "a")
      yield* register(journal, "me")
      yield* sent(journal, "one", "cancel")
      assert.deepStrictEqual(yield* journal.unsettled, [])
      const execution = { state: "completed", owner: null, wakeAt: null, endedAt: begin } as const
      yield* journal.write(fence, write({ execution }))
      assert.deepStrictEqual(yield* journal.unsettled, ["id-a"])
      yield* journal.change("id-a", () => Effect.succeed(change({ settled: [{ number: 1, outcome: "too late" }] })))
      assert.deepStrictEqual(yield* journal.unsettled, [])
      assert.deepStrictEqual(yield* outcomes(journal), [["one", "too late"]])
    }))

  test("a command without a message is unsettled when its owner would understand it", ({ journal }) =>
    Effect.gen(function* () {
      yield* owned(journal, "a")
      yield* register(journal, "me")
      yield* journal.change("id-a", ({ commands, protocol }) => {
        assert.strictEqual(protocol, 1)
        return Effect.succeed(commands.length > 0 ? null : change({ record: recorded("one", "resume") }))
      })
      assert.deepStrictEqual(yield* journal.unsettled, [])
      yield* journal.renew({ id: "me", host: "here", flows: [orders], protocol: 2, leaseMillis: null })
      assert.deepStrictEqual(yield* journal.unsettled, ["id-a"])
      yield* journal.change("id-a", ({ protocol }) => {
        assert.strictEqual(protocol, 2)
        return Effect.succeed(null)
      })
    }))

  test("a process has the protocol that it registers; one of an earlier version registers none", ({ journal }) =>
    Effect.gen(function* () {
      yield* register(journal, "me")
      yield* journal.renew({ id: "you", host: "here", flows: [orders], protocol: 2, leaseMillis: null })
      const found = (yield* journal.processes).map(({ id, protocol }) => [id, protocol])
      assert.deepStrictEqual(found, [
        ["me", undefined],
        ["you", 2]
      ])
    }))
})
