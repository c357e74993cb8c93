/** States, feeds and requests of programs without Effect. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { approval, defineFlow, feed, FlowsClosed, type Flows, openFlows, request, state } from "../src/Promises.ts"

const balance = state("balance", Schema.Finite)
const lines = feed("lines", Schema.String)
const TooMuch = Schema.Struct({ most: Schema.Finite })
const add = request("add", { input: Schema.Finite, success: Schema.Finite, error: TooMuch })
const decision = approval("decision")

/** Adds what it is asked to, until it gets a 0. */
const account = defineFlow({
  name: "account",
  input: Schema.String,
  output: Schema.Boolean,
  key: (owner) => owner,
  signals: [add, decision],
  states: [balance, lines],
  run: async (ctx) => {
    for (let sum = 0; ;) {
      await ctx.set(balance, sum, { key: "EUR" })
      const asked = await ctx.request(add)
      if (asked.input === 0) break
      if (asked.input > 100) {
        await asked.refuse({ most: 100 })
        continue
      }
      sum += asked.input
      await ctx.append(lines, `added ${asked.input}`)
      await asked.answer(sum)
    }
    return (await ctx.signal(decision)).approved
  }
})

const opened = async (use: (flows: Flows) => Promise<void>) => {
  const flows = await openFlows({ memory: true, flows: [account] })
  try {
    await use(flows)
  } finally {
    await flows.close()
  }
}

/** What a call rejects with. */
const rejected = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => assert.fail("it resolved"),
    (error: unknown) => error
  )

describe("a body of promises", () => {
  it("sets states, appends to feeds, and answers requests", () =>
    opened(async (flows) => {
      await flows.submit(account, "ann")
      const handle = await flows.handle(account, "ann")
      const first = await handle.request(add, 2)
      expectTypeOf(first).toEqualTypeOf<number>()
      assert.strictEqual(first, 2)
      assert.strictEqual(await handle.request(add, 3, { id: "a" }), 5)
      assert.strictEqual(await handle.request(add, 3, { id: "a" }), 5)
      assert.deepStrictEqual(await rejected(handle.request(add, 101)), { most: 100 })
      assert.strictEqual(await handle.state(balance, { key: "EUR" }), 5)
      assert.isUndefined(await handle.state(balance))
      const [, second] = await handle.feed(lines)
      assert.strictEqual(second?.value, "added 3")
      assert.deepStrictEqual(await handle.feed(lines, { after: 0, limit: 1 }).then(([one]) => one?.value), "added 2")
    }))

  it("is followed until its end", () =>
    opened(async (flows) => {
      await flows.submit(account, "ann")
      const handle = await flows.handle(account, "ann")
      const following = (async () => {
        const got: Array<unknown> = []
        for await (const { value } of handle.watch()) got.push(value)
        return got
      })()
      for (const n of [1, 2]) await handle.request(add, n)
      await rejected(handle.request(add, 0, { within: "50 millis" }))
      const by = { by: "bob", comment: null }
      const counted = await handle.request(decision, { approved: true, ...by })
      assert.deepStrictEqual(counted, { counted: true, decision: { approved: true, ...by } })
      assert.isTrue(await handle.result())
      // The balance at each moment is there, or a later one.
      const got = await following
      assert.includeMembers(got, ["added 1", "added 2", 3])
    }))

  it("is followed no longer than the program has its flows open", async () => {
    const flows = await openFlows({ memory: true, flows: [account] })
    await flows.submit(account, "ann")
    const handle = await flows.handle(account, "ann")
    const following = async () => {
      for await (const _ of handle.watch());
    }
    const ended = rejected(following())
    await flows.close()
    assert.instanceOf(await ended, FlowsClosed)
  })
})
