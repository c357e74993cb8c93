/**
 * The control room for tests of programs without Effect: everything here is plain vitest.
 */
import { InvalidSignature, NotFound, receiveWebhook, reveal, verifyWebhook } from "@signalbox/api/promise"
import { ApplicationError, BusinessError, defineTask } from "@signalbox/worker/Promises"
import { assert, describe, expect, test as base } from "vitest"
import { fixture, makeRoom } from "../src/Vitest.ts"

const all = async <A>(items: AsyncIterable<A>): Promise<Array<A>> => {
  const collected: Array<A> = []
  for await (const item of items) collected.push(item)
  return collected
}

const price = defineTask({
  name: "price",
  async *run({ log, now, payload, secret }) {
    log("pricing", { payload })
    if (typeof payload !== "number") throw new BusinessError("NO_NUMBER", "the payload must be a number")
    if (now().getTime() < 3_600_000) throw new ApplicationError("CLOSED", "come back later")
    yield { price: payload * Number(await secret("shop", "factor")) }
  }
})

const slow = defineTask({
  name: "slow",
  async run({ sleep }) {
    await sleep("3 hours")
  }
})

const test = base.extend({ room: fixture({ tasks: [price, slow], seed: "shop" }) })

const prices = {
  name: "prices",
  steps: [{ name: "price", task: { name: "price" }, retry: { max_attempts: 2, delay_seconds: 7200 } }]
}

describe("the fixture for vitest", () => {
  test("has a client, tasks and time", async ({ room }) => {
    const { client } = room
    await client.secrets.put("shop", { items: { factor: "3" } })
    const process = await client.processes.put(prices)
    const run = await client.processRuns.start(process.id, { payloads: [14, "x"] })
    assert(run.started)
    await room.settle()
    expect((await client.processRuns.get(run.id)).state).toBe("in_progress")
    await room.advanceTo("1970-01-01T12:00:00Z")
    expect((await client.processRuns.get(run.id)).state).toBe("unresolved")
    const items = await all(client.workItems.stream({ processRun: run.id, state: "failed" }))
    expect(items.map(({ exception }) => exception)).toMatchObject([{ type: "business", code: "NO_NUMBER" }])
    const outputs = await all(client.outputs.stream(run.id))
    expect(outputs.map(({ payload }) => payload)).toEqual([{ price: 42 }])
  })

  test("lets time pass for who waits for it", async ({ room: { client, elapse, now } }) => {
    const process = await client.processes.put({ name: "slow", steps: [{ name: "slow", task: { name: "slow" } }] })
    const run = await client.processRuns.start(process.id)
    assert(run.started)
    const ended = await elapse(() => client.processRuns.awaitEnd(run.id))
    expect(ended.state).toBe("completed")
    expect(now().getTime()).toBeGreaterThanOrEqual(3 * 3_600_000)
    await expect(elapse(() => new Promise(() => {}), { limit: "1 minute" })).rejects.toThrow(/no end within 1m/)
  })

  const seen: Array<string> = []
  for (const time of ["first", "second"]) {
    test(`is another room with the same ids in the ${time} test`, async ({ room: { client } }) => {
      expect(await all(client.processes.stream())).toEqual([])
      seen.push((await client.processes.put(prices)).id)
      expect(new Set(seen).size).toBe(1)
    })
  }

  test("rejects with classes, and passes webhooks on to verify", async ({ room }) => {
    const { client } = room
    const missing = await client.processes.get("01900000-0000-7000-8000-000000000000").catch((error: unknown) => error)
    expect(missing).toBeInstanceOf(NotFound)
    const webhook = await client.webhooks.create({ endpoint: "https://example.com", events: ["process_run.completed"] })
    const process = await client.processes.put({ name: "slow", steps: [{ name: "slow", task: { name: "slow" } }] })
    await client.processRuns.start(process.id)
    await room.advance("4 hours")
    const [delivery] = await room.webhooks()
    assert(delivery !== undefined)
    // The time of the room is not that of the machine.
    const toleranceSeconds = Infinity
    const secret = reveal(webhook.secret)
    expect((await receiveWebhook({ ...delivery, secret, toleranceSeconds })).action).toBe("completed")
    const forged = verifyWebhook({ ...delivery, secret: "whsec_other", toleranceSeconds })
    await expect(forged).rejects.toBeInstanceOf(InvalidSignature)
  })

  test("uploads blobs, and aborts what a signal ends", async ({ room: { client } }) => {
    const id = await client.assets.put("greeting", new File(["hello"], "greeting.txt"))
    await client.assets.put("again", { name: "again.txt", blob: new Blob(["again"]) })
    const chunks = await all(client.assets.download(id))
    expect(Buffer.concat(chunks).toString()).toBe("hello")
    const over = new AbortController()
    over.abort(new Error("enough"))
    const aborted = client.withSignal(over.signal)
    await expect(aborted.processes.list()).rejects.toThrow("enough")
    await expect(all(aborted.processes.stream())).rejects.toThrow("enough")
  })
})

base("a room by hand lives on the time of the machine where it is told so", async () => {
  await using room = await makeRoom({ virtualTime: false })
  expect(Math.abs(room.now().getTime() - Date.now())).toBeLessThan(600_000)
  expect((await room.client.workspaces.get()).name).toBe("testing")
})
