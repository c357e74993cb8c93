import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { states } from "../../../src/internal/model/Execution.ts"
import { type Share, partitionCount, partitionOf } from "../../../src/internal/model/Partitions.ts"
import {
  begin,
  create,
  created,
  end,
  entry,
  found,
  hour,
  idsOf,
  order,
  orders,
  owned,
  part,
  register,
  signal,
  write
} from "./Bench.ts"

const lease = 15_000

export const ownership = part("ownership", (test) => {
  test("a claim returns what is due and free, those that are due longest first", ({ journal, time }) =>
    Effect.gen(function* () {
      const due = { d: begin - 3, a: begin - 2, b: begin - 2, c: begin, later: begin + 1 }
      for (const [key, wakeAt] of Object.entries(due)) yield* create(journal, order(key, { wakeAt }))
      yield* create(journal, order("never", { wakeAt: null }))
      yield* create(journal, order("other", { flow: "invoices" }))
      yield* create(journal, order("newer", { version: 2 }))
      yield* owned(journal, "owned", { owner: "you" })
      time.pass(60)
      const first = yield* journal.claim("me", [orders], begin, 3)
      assert.deepStrictEqual(idsOf(first), ["id-d", "id-a", "id-b"])
      const fields = { owner: "me", epoch: 1, changedAt: begin + 60 }
      assert.deepStrictEqual(first[0], created("d", { ...fields, wakeAt: begin - 3 }))
      assert.deepStrictEqual(yield* journal.find("id-d"), first[0])
      const second = yield* journal.claim("me", [{ flow: "invoices", version: 1 }, orders], begin, 10)
      assert.deepStrictEqual(idsOf(second), ["id-c", "id-other"])
      assert.deepStrictEqual(idsOf(yield* journal.claim("me", [orders], begin + 1, 10)), ["id-later"])
      assert.deepStrictEqual(yield* journal.claim("me", [orders], begin + hour, 10), [])
      assert.deepStrictEqual(yield* journal.claim("me", [], begin + hour, 10), [])
    }))

  test("only executions that are active are claimed", ({ journal }) =>
    Effect.gen(function* () {
      for (const state of states) yield* create(journal, order(state, { state }))
      assert.deepStrictEqual(idsOf(yield* journal.claim("me", [orders], begin, 20)), [
        "id-queued",
        "id-running",
        "id-undoing",
        "id-waiting"
      ])
    }))

  test("processes that claim at the same time get different executions, and together all", ({ journal, open }) =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 60 }, (_, n) => `${n}`)
      yield* Effect.forEach(keys, (key) => create(journal, order(key)), { discard: true, concurrency: 8 })
      const journals = [journal, yield* open, yield* open]
      const claims = yield* Effect.forEach(
        journals,
        Effect.fnUntraced(function* (mine, n) {
          const all: Array<string> = []
          for (let misses = 0; misses < 3;) {
            const claimed = yield* mine.claim(`process ${n}`, [orders], begin, 4)
            for (const { owner } of claimed) assert.strictEqual(owner, `process ${n}`)
            if (claimed.length === 0) misses++
            all.push(...idsOf(claimed))
          }
          return all
        }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(claims.flat().sort(), keys.map((key) => `id-${key}`).sort())
    }))

  test("a claim raises the epoch, and the claim before it can write nothing", ({ journal }) =>
    Effect.gen(function* () {
      const first = yield* owned(journal, "a")
      yield* journal.write(first, write({ execution: { owner: null, wakeAt: begin } }))
      const [second] = yield* journal.claim("you", [orders], begin, 1)
      assert.strictEqual(second?.epoch, 2)
      assert.strictEqual((yield* Effect.flip(journal.write(first, write())))._tag, "OwnershipLost")
      assert(second !== undefined)
      yield* journal.write(second, write({ entries: [entry("s")] }))
    }))

  test("one execution is claimed, due or not, unless a living process has it or it has ended", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* register(journal, "alive", lease)
      yield* register(journal, "dead", 10)
      const halted = { state: "halted", wakeAt: null } as const
      yield* create(journal, order("free", halted))
      for (const owner of ["alive", "dead", "unknown"]) yield* owned(journal, owner, { owner })
      yield* end(journal, yield* owned(journal, "ended"), begin)
      time.pass(10)
      const claim = (key: string) => journal.claimOne("me", `id-${key}`)
      assert.deepStrictEqual(
        yield* claim("free"),
        created("free", { ...halted, owner: "me", epoch: 1, changedAt: begin + 10 })
      )
      assert.isNull(yield* claim("alive"))
      assert.deepInclude(yield* claim("dead"), { owner: "me", epoch: 2 })
      assert.deepInclude(yield* claim("unknown"), { owner: "me", epoch: 2 })
      assert.isNull(yield* claim("ended"))
      assert.isNull(yield* claim("absent"))
      assert.deepInclude(yield* found(journal, "id-alive"), { owner: "alive", epoch: 1 })
    }))

  test("of processes that claim one execution at the same time, one gets it", ({ journal, open }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a"))
      const journals = [journal, yield* open, yield* open]
      const claims = yield* Effect.forEach(
        Array.from({ length: 9 }, (_, n) => n),
        Effect.fnUntraced(function* (n) {
          const mine = journals[n % 3] ?? journal
          yield* register(mine, `process ${n}`)
          return yield* mine.claimOne(`process ${n}`, "id-a")
        }),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        claims.filter((claimed) => claimed !== null),
        1
      )
    }))

  test("the next due is the first of those that are free", ({ journal }) =>
    Effect.gen(function* () {
      assert.isNull(yield* journal.nextDue([orders]))
      yield* create(journal, order("a", { wakeAt: begin + 9 }))
      yield* create(journal, order("b", { wakeAt: begin + 5 }))
      yield* create(journal, order("c", { wakeAt: null }))
      yield* create(journal, order("d", { wakeAt: begin + 1, flow: "invoices" }))
      yield* create(journal, order("e", { wakeAt: begin + 2, state: "suspended" }))
      yield* owned(journal, "f", { wakeAt: begin + 3 })
      assert.strictEqual(yield* journal.nextDue([orders]), begin + 5)
      assert.strictEqual(yield* journal.nextDue([orders, { flow: "invoices", version: 1 }]), begin + 1)
      assert.isNull(yield* journal.nextDue([{ flow: "orders", version: 2 }]))
      assert.isNull(yield* journal.nextDue([]))
      yield* journal.claimOne("me", "id-b")
      assert.strictEqual(yield* journal.nextDue([orders]), begin + 9)
    }))

  /** Of the partition of one execution alone. */
  const shareOf = (key: string, graceMillis = 100): Share => ({
    partitions: Array.from({ length: partitionCount }, (_, partition) =>
      partition === partitionOf(`id-${key}`) ? "1" : "0"
    ).join(""),
    graceMillis
  })

  test("a claim with a share returns what is due in its partitions, and what others have left for the grace", ({
    journal
  }) =>
    Effect.gen(function* () {
      for (const key of ["mine", "theirs"]) yield* create(journal, order(key, { wakeAt: begin }))
      const claim = (now: number) => Effect.map(journal.claim("me", [orders], now, 9, shareOf("mine")), idsOf)
      assert.deepStrictEqual(yield* claim(begin - 1), [])
      assert.deepStrictEqual(yield* claim(begin), ["id-mine"])
      assert.deepStrictEqual(yield* claim(begin + 99), [])
      assert.deepStrictEqual(yield* claim(begin + 100), ["id-theirs"])
    }))

  test("with a share the next due is that of its partitions, or the end of the grace of another", ({ journal }) =>
    Effect.gen(function* () {
      const nextDue = (key: string) => journal.nextDue([orders], shareOf(key))
      assert.isNull(yield* nextDue("a"))
      yield* create(journal, order("a", { wakeAt: begin + 200 }))
      assert.strictEqual(yield* nextDue("a"), begin + 200)
      assert.strictEqual(yield* nextDue("b"), begin + 300)
      yield* create(journal, order("b", { wakeAt: begin + 150 }))
      assert.strictEqual(yield* nextDue("a"), begin + 200)
      assert.strictEqual(yield* nextDue("b"), begin + 150)
      yield* create(journal, order("c", { wakeAt: begin + 50 }))
      assert.strictEqual(yield* nextDue("a"), begin + 150)
      assert.deepStrictEqual(yield* journal.nextDue([{ flow: "orders", version: 2 }], shareOf("a")), null)
    }))

  test("a process is registered, renewed with what it runs now, and gone when it leaves", ({ journal, time }) =>
    Effect.gen(function* () {
      const process = { id: "me", host: "a", flows: [orders] }
      assert.isTrue(yield* journal.renew({ ...process, leaseMillis: lease }))
      time.pass(lease - 1)
      const renewed = { ...process, host: "b", flows: [orders, { flow: "x", version: 2.5 }] }
      assert.isTrue(yield* journal.renew({ ...renewed, leaseMillis: lease }))
      const mine = { ...renewed, expiresAt: begin + 2 * lease - 1 }
      const local = { id: "local", host: "c", flows: [] }
      assert.isTrue(yield* journal.renew({ ...local, leaseMillis: null }))
      assert.deepStrictEqual(yield* journal.processes, [{ ...local, expiresAt: null }, mine])
      time.pass(lease - 1)
      assert.deepStrictEqual(yield* journal.processes, [{ ...local, expiresAt: null }, mine])
      yield* journal.leave("local")
      yield* journal.leave("local")
      assert.deepStrictEqual(yield* journal.processes, [mine])
      time.pass(1)
      assert.deepStrictEqual(yield* journal.processes, [])
    }))

  test("the claims of a process that leaves are released immediately", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* register(journal, "me", lease)
      const fence = yield* owned(journal, "a", { wakeAt: null })
      yield* owned(journal, "b", { owner: "you" })
      time.pass(5)
      yield* journal.leave("me")
      assert.deepInclude(yield* found(journal, "id-a"), { owner: null, epoch: 2, wakeAt: begin + 5 })
      assert.deepInclude(yield* found(journal, "id-b"), { owner: "you", epoch: 1 })
      assert.strictEqual((yield* Effect.flip(journal.write(fence, write())))._tag, "OwnershipLost")
      assert.isTrue(yield* register(journal, "me", lease))
    }))

  test("a reaped owner cannot write, learns that once, and starts again", ({ journal, losesAnswers, time }) =>
    Effect.gen(function* () {
      yield* register(journal, "me", lease)
      yield* register(journal, "you", 2 * lease)
      const fences = [yield* owned(journal, "a"), yield* owned(journal, "b", { wakeAt: begin + hour })]
      yield* owned(journal, "c", { owner: "you" })
      time.pass(lease - 1)
      assert.strictEqual(yield* journal.reap(), 0)
      time.pass(1)
      const reaped = yield* journal.reap()
      if (!losesAnswers) assert.strictEqual(reaped, 2)
      for (const fence of fences) {
        assert.deepInclude(yield* found(journal, fence.id), { owner: null, epoch: 2, wakeAt: begin + lease })
        assert.strictEqual((yield* Effect.flip(journal.write(fence, write())))._tag, "OwnershipLost")
      }
      assert.deepInclude(yield* found(journal, "id-c"), { owner: "you", epoch: 1 })
      assert.deepStrictEqual(idsOf(yield* journal.processes), ["you"])
      assert.strictEqual(yield* journal.reap(), 0)
      assert.isFalse(yield* register(journal, "me", 2 * lease))
      assert.isTrue(yield* register(journal, "me", 2 * lease))
      assert.deepStrictEqual(idsOf(yield* journal.processes), ["me", "you"])
    }))

  test("the claims of processes that are known to be gone are freed, though their leases are valid", ({
    journal,
    time
  }) =>
    Effect.gen(function* () {
      yield* register(journal, "gone", lease)
      yield* register(journal, "alive", lease)
      const fence = yield* owned(journal, "a", { owner: "gone" })
      yield* owned(journal, "b", { owner: "alive" })
      time.pass(5)
      yield* journal.reap(["gone", "unknown"])
      assert.deepInclude(yield* found(journal, "id-a"), { owner: null, epoch: 2, wakeAt: begin + 5 })
      assert.strictEqual((yield* Effect.flip(journal.write(fence, write())))._tag, "OwnershipLost")
      assert.deepInclude(yield* found(journal, "id-b"), { owner: "alive", epoch: 1 })
      assert.deepStrictEqual(idsOf(yield* journal.processes), ["alive"])
      // Were it alive after all, it would learn that its claims are lost.
      assert.isFalse(yield* register(journal, "gone", lease))
    }))

  test("a process is registered with its place, which each renewal sets", ({ journal }) =>
    Effect.gen(function* () {
      const place = { host: "a", boot: "b", namespace: "pid:[1]", pid: 4_194_304, startedAt: "1844674407370955161" }
      const process = { id: "me", host: "a", flows: [] }
      const registered = { ...process, expiresAt: begin + lease }
      yield* journal.renew({ ...process, leaseMillis: lease, place })
      assert.deepStrictEqual(yield* journal.processes, [{ ...registered, place }])
      yield* journal.renew({ ...process, leaseMillis: lease, place: { ...place, pid: 7 } })
      assert.deepStrictEqual(yield* journal.processes, [{ ...registered, place: { ...place, pid: 7 } }])
      yield* journal.renew({ ...process, leaseMillis: lease })
      assert.deepStrictEqual(yield* journal.processes, [registered])
    }))

  test("a lease that is renewed too late is lost, also when no process has noticed", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* register(journal, "me", lease)
      const fence = yield* owned(journal, "a")
      time.pass(lease)
      assert.isFalse(yield* register(journal, "me", 3 * lease))
      assert.deepInclude(yield* found(journal, "id-a"), { owner: null, epoch: 2, wakeAt: begin + lease })
      assert.strictEqual((yield* Effect.flip(journal.write(fence, write())))._tag, "OwnershipLost")
      assert.strictEqual(yield* journal.reap(), 0)
      assert.isTrue(yield* register(journal, "me", 3 * lease))
    }))

  test("what belongs to a process that is not registered is freed", ({ journal, losesAnswers, time }) =>
    Effect.gen(function* () {
      yield* register(journal, "local")
      yield* owned(journal, "a", { owner: "nobody" })
      yield* owned(journal, "b", { owner: "local" })
      time.pass(100 * hour)
      const reaped = yield* journal.reap()
      if (!losesAnswers) assert.strictEqual(reaped, 1)
      assert.isNull((yield* found(journal, "id-a")).owner)
      assert.strictEqual((yield* found(journal, "id-b")).owner, "local")
    }))

  test("those who await something outside are found by the begin of its name", ({ journal }) =>
    Effect.gen(function* () {
      const run = (path: string, subject: string) => entry(path, { kind: "run", subject })
      const fence = yield* owned(journal, "a")
      yield* journal.write(
        fence,
        write({ entries: [run("x", "run_1/a"), run("y", "run_1/b"), run("z", "runs1/a"), entry("none")] })
      )
      const other = yield* owned(journal, "b")
      yield* journal.write(other, write({ entries: [run("x", "run_1/a"), run("w", "run%1")] }))
      const [a, b] = [
        { execution: "id-a", path: "x", subject: "run_1/a" },
        { execution: "id-a", path: "y", subject: "run_1/b" }
      ]
      const c = { execution: "id-b", path: "x", subject: "run_1/a" }
      assert.deepStrictEqual(yield* journal.awaiting("run_1/"), [a, b, c])
      assert.deepStrictEqual(yield* journal.awaiting("run_1/a"), [a, c])
      assert.deepStrictEqual(yield* journal.awaiting("run%"), [{ execution: "id-b", path: "w", subject: "run%1" }])
      assert.lengthOf(yield* journal.awaiting(""), 5)
      assert.deepStrictEqual(yield* journal.awaiting("run_1/c"), [])
      assert.deepStrictEqual(yield* journal.awaitingAny(["run_1/b", "run_1/", "run%1"]), [
        b,
        { execution: "id-b", path: "w", subject: "run%1" }
      ])
      assert.deepStrictEqual(yield* journal.awaitingAny([]), [])
      // Ended entries, discarded ones and ended executions wait for nothing.
      yield* journal.write(fence, write({ entries: [{ ...run("x", "run_1/a"), state: "succeeded", ended: 9 }] }))
      assert.deepStrictEqual(yield* journal.awaiting("run_1/"), [b, c])
      yield* journal.change("id-a", () =>
        Effect.succeed({
          execution: { state: "halted" },
          aside: [{ path: "y", attempt: 1, redo: 0 }],
          asideUndos: [],
          undos: [],
          taken: []
        })
      )
      assert.deepStrictEqual(yield* journal.awaiting("run_1/"), [c])
      yield* end(journal, other, begin)
      assert.deepStrictEqual(idsOf(yield* journal.list({ states: ["completed"], limit: 5 })), ["id-b"])
      assert.deepStrictEqual(yield* journal.awaiting("run_1/"), [])
      assert.deepStrictEqual(yield* journal.awaitingAny(["run_1/a"]), [])
      assert.deepStrictEqual(yield* journal.unended(["id-a", "id-b", "id-absent"]), new Set(["id-a"]))
    }))

  test("a value is replaced only by who knows the one that is there", ({ journal, open }) =>
    Effect.gen(function* () {
      assert.isNull(yield* journal.read("tick"))
      assert.isFalse(yield* journal.swap("tick", 1, 2))
      assert.isTrue(yield* journal.swap("tick", null, { to: 1, by: ["a"] }))
      assert.isFalse(yield* journal.swap("tick", null, 2))
      assert.deepStrictEqual(yield* journal.read("tick"), { to: 1, by: ["a"] })
      assert.isFalse(yield* journal.swap("tick", { to: 1, by: ["b"] }, 3))
      assert.isTrue(yield* journal.swap("tick", { by: ["a"], to: 1 }, 3))
      assert.isTrue(yield* journal.swap("tick", 3, null))
      assert.isNull(yield* journal.read("tick"))
      assert.isTrue(yield* journal.swap("tick", null, 4))
      assert.isNull(yield* journal.read("other"))
      const journals = [journal, yield* open]
      const swaps = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, n) => n),
        (n) => (journals[n % 2] ?? journal).swap("tick", 4, { n }),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        swaps.filter((swapped) => swapped),
        1
      )
    }))

  test("a value that is null is none: it is deleted, once more than once, and only by who knows it", ({ journal }) =>
    Effect.gen(function* () {
      assert.isTrue(yield* journal.swap("a", null, 1))
      assert.isTrue(yield* journal.swap("b", null, 1))
      assert.isFalse(yield* journal.swap("a", null, null))
      assert.isFalse(yield* journal.swap("a", 2, null))
      assert.isTrue(yield* journal.swap("a", 1, null))
      assert.isTrue(yield* journal.swap("a", 1, null))
      assert.isFalse(yield* journal.swap("a", 1, 2))
      assert.deepStrictEqual(yield* journal.names(""), ["b"])
      assert.isTrue(yield* journal.swap("a", null, 3))
      assert.strictEqual(yield* journal.read("a"), 3)
    }))

  test("an execution that gets a message while it is claimed is woken, or its owner is notified", ({ journal, open }) =>
    Effect.gen(function* () {
      const other = yield* open
      yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => `${n}`),
        Effect.fnUntraced(function* (key) {
          yield* create(journal, order(key, { wakeAt: null }))
          const [sent, claimed] = yield* Effect.all(
            [other.send(`id-${key}`, signal("go")), journal.claimOne("me", `id-${key}`)],
            { concurrency: "unbounded" }
          )
          const seen = yield* journal.messages(`id-${key}`, claimed?.mail ?? 0)
          assert.isTrue(sent.owner === "me" || claimed?.mail === 1 || seen.length === 1)
        }),
        { concurrency: 4, discard: true }
      )
    }))
})
