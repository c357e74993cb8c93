import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { recorded } from "../../../src/internal/model/Commands.ts"
import {
  begin,
  boom,
  create,
  end,
  entry,
  idsOf,
  order,
  orders,
  owned,
  part,
  signal,
  succeeded,
  write
} from "./Bench.ts"

export const versions = part("versions", (test) => {
  test("executions that have not ended are counted by version and state, with their first start", ({ journal, time }) =>
    Effect.gen(function* () {
      yield* create(journal, order("a"))
      time.pass(1_000)
      yield* create(journal, order("b"))
      yield* create(journal, order("c", { version: 2, state: "queued" }))
      yield* create(journal, order("d", { flow: "invoices", state: "waiting" }))
      yield* end(journal, yield* owned(journal, "e"), begin)
      const halted = write({ execution: { state: "halted", owner: null, wakeAt: null } })
      yield* journal.write(yield* owned(journal, "f"), halted)
      const ofOrders = [
        { ...orders, state: "halted", count: 1, oldest: begin + 1_000 },
        { ...orders, state: "running", count: 2, oldest: begin },
        { ...orders, version: 2, state: "queued", count: 1, oldest: begin + 1_000 }
      ] as const
      assert.deepStrictEqual(yield* journal.unendedCounts("orders"), ofOrders)
      const ofInvoices = { flow: "invoices", version: 1, state: "waiting", count: 1, oldest: begin + 1_000 } as const
      assert.deepStrictEqual(yield* journal.unendedCounts(), [ofInvoices, ...ofOrders])
      assert.deepStrictEqual(yield* journal.unendedCounts("absent"), [])
    }))

  test("a process says of which versions it only continues what has begun", ({ journal }) =>
    Effect.gen(function* () {
      yield* journal.renew({ id: "me", host: "here", flows: [{ ...orders, drain: true }], leaseMillis: null })
      const [process] = yield* journal.processes
      assert.deepStrictEqual(process?.flows, [{ ...orders, drain: true }])
    }))

  test("of a version that it drains, a process claims what has begun, and children", ({ journal }) =>
    Effect.gen(function* () {
      const draining = [{ ...orders, drain: true }]
      yield* create(journal, order("new"))
      yield* create(journal, order("told", { messages: [signal("go")] }))
      assert.deepStrictEqual(yield* journal.claim("me", draining, begin, 10), [])
      assert.isNull(yield* journal.nextDue(draining))
      assert.strictEqual(yield* journal.nextDue([orders]), begin)

      yield* create(journal, order("child", { parent: "id-parent" }))
      const begun = yield* owned(journal, "begun")
      const released = { execution: { owner: null, wakeAt: begin }, entries: [entry("a")] }
      yield* journal.write(begun, write(released))
      const failed = yield* owned(journal, "failed")
      yield* journal.write(failed, write({ execution: { owner: null, wakeAt: begin, failure: boom } }))
      yield* create(journal, order("cancelled"))
      yield* journal.change("id-cancelled", () => Effect.succeed({ ...recorded, command: "cancel" }))
      const record = { entries: [succeeded("a", 1)], undos: [] }
      yield* create(journal, order("fork", { record }))
      assert.strictEqual(yield* journal.nextDue(draining), begin)
      const claimed = yield* journal.claim("me", [...draining, { flow: "invoices", version: 1 }], begin, 10)
      assert.deepStrictEqual(idsOf(claimed), ["id-begun", "id-cancelled", "id-child", "id-failed", "id-fork"])
      assert.deepStrictEqual(idsOf(yield* journal.claim("me", [orders], begin, 10)), ["id-new", "id-told"])
    }))
})
