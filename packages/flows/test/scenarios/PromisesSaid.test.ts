import { assert } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { once } from "node:events"
import { createServer } from "node:http"
import { connectFlows } from "../../src/PromiseClient.ts"
import { defineFlow, feed, type Flows, openFlows, request, state } from "../../src/Promises.ts"
import { promised, scenarios } from "../support/Scenarios.ts"

const balance = state("balance", Schema.Finite)
const lines = feed("lines", Schema.String)
const Refusal = Schema.Struct({ most: Schema.Finite })
const add = request("add", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Refusal,
  validate: (by) => (by < 0 ? "expected at least 0" : null)
})

/** Adds what it is asked to, until it is asked to add a 0. */
const account = defineFlow({
  name: "account",
  input: Schema.String,
  output: Schema.Finite,
  key: (owner) => owner,
  signals: [add],
  states: [balance, lines],
  run: async (ctx) => {
    for (let sum = 0; ;) {
      await ctx.set(balance, sum)
      const { answer, input, refuse } = await ctx.request(add)
      if (input > 100) await refuse({ most: 100 })
      else {
        sum += input
        await ctx.append(lines, `added ${input}`)
        await answer(sum)
      }
      if (input === 0) return sum
    }
  }
})
type Handle = Awaited<ReturnType<typeof handleOf>>
const handleOf = async (flows: Flows) => {
  await flows.submit(account, "ann")
  return flows.handle(account, "ann")
}
const rejected = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => assert.fail("it resolved"),
    (error: unknown) => error
  )
const accounts = (title: string, body: (handle: Handle, flows: Flows) => Promise<void>) =>
  promised(title, async (storage) => {
    const flows = await openFlows({ ...storage, flows: [account] })
    await body(await handleOf(flows), flows)
    await flows.close()
  })

scenarios("what flows of promises say, and answer", () => {
  accounts("temporal: update/basic, in promises", async ({ request }) => {
    assert.strictEqual(await request(add, 2), 2)
    assert.strictEqual(await request(add, 3), 5)
    assert.deepStrictEqual(await rejected(request(add, 101)), { most: 100 })
  })

  accounts("temporal: update/deduplication, in promises", async ({ request }) => {
    const both = [request(add, 2, { id: "a" }), request(add, 2, { id: "a" })]
    assert.deepStrictEqual(await Promise.all(both), [2, 2])
  })

  accounts("temporal: update/non_durable_reject, in promises", async ({ request }) => {
    assert.match(String(await rejected(request(add, -1))), /expected at least 0/)
  })

  accounts("temporal: query/successful_query, in promises", async ({ request, result, state }) => {
    await request(add, 4)
    await request(add, 0)
    await result()
    assert.strictEqual(await state(balance), 4)
  })

  accounts("dbos: concurrent-write-read, in promises", async ({ request, watch }) => {
    const read: Array<unknown> = []
    const reads = (async () => {
      for await (const { kind, value } of watch()) if (kind === "feed") read.push(value)
    })()
    for (const by of [1, 2, 0]) await request(add, by)
    await reads
    assert.deepStrictEqual(read, ["added 1", "added 2", "added 0"])
  })

  accounts("dbos: DBOSClient-enqueue-and-get-result, in promises", async (_, flows) => {
    const token = "a token of some length"
    const server = createServer(await flows.toNodeHandler({ token })).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" ? address?.port : undefined
    const client = connectFlows({ url: `http://127.0.0.1:${port}`, token })
    await client.submit(account, "bob")
    const { request } = await client.handle(account, "bob")
    for (const by of [5, 0]) await request(add, by)
    assert.strictEqual(await client.execute(account, "bob"), 5)
    server.close()
  })

  promised("dbos: test_delay, in promises", async (storage) => {
    const late = defineFlow({
      name: "late",
      input: Schema.Finite,
      output: Schema.Boolean,
      key: String,
      run: async (ctx, submitted) => (await ctx.now("begun")).getTime() >= submitted + 50
    })
    const flows = await openFlows({ ...storage, flows: [late] })
    assert.isTrue(await flows.execute(late, Date.now(), { after: 60 }))
    await flows.submit(late, 0, { after: "1 day" })
    const delayed = await flows.handle(late, "0")
    await delayed.reschedule({ after: 0 })
    assert.isTrue(await delayed.result())
    assert.notStrictEqual(await delayed.fork({ from: "begun", key: "fork" }), delayed.id)
    await flows.close()
  })

  promised("dbos: workflow-withWorkflowTimeout, in promises", async (storage) => {
    const long = defineFlow({
      name: "long",
      input: Schema.String,
      output: Schema.Boolean,
      key: (text) => text,
      run: async (ctx) => {
        await ctx.sleep("day", "1 day")
        return true
      }
    })
    const flows = await openFlows({ ...storage, flows: [long] })
    assert.include(await rejected(flows.execute(long, "x", { deadline: 30 })), { _tag: "DeadlineExceeded" })
    await flows.close()
  })
})
