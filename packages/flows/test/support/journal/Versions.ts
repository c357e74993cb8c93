import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { begin, create, end, order, orders, owned, part, write } from "./Bench.ts"

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
})
