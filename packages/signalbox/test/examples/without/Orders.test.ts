import { fixture } from "signalbox/vitest"
import { expect, test as base } from "vitest"
import { forget, priceOrders } from "./client.ts"
import { tasks } from "./tasks.ts"

const test = base.extend({ room: fixture({ tasks, seed: "orders" }) })

test("prices the orders of a file", async ({ room: { client, elapse } }) => {
  const file = new File(["lamp,2\nchair,1\n"], "orders.csv")
  const totals = await elapse(() =>
    priceOrders(client, file, new AbortController().signal)
  )
  expect(totals).toEqual([{ total: 60 }, { total: 80 }])
})

test("tries again when the price has come", async ({
  room: { advance, client, settle }
}) => {
  const process = await client.processes.put({
    name: "price",
    steps: [
      {
        name: "price",
        task: { name: "price" },
        retry: { max_attempts: 2, delay_seconds: 3600 }
      }
    ]
  })
  await client.assets.put("prices", new File(["{}"], "prices.json"))
  const run = await client.processRuns.start(process.id, {
    payloads: [{ article: "sofa", pieces: 1 }]
  })
  if (!run.started) throw new Error("not started")
  await settle()
  expect((await client.processRuns.get(run.id)).state).toBe("in_progress")
  expect(await forget(client, run.id)).toBe("it has not ended yet")
  await client.assets.put(
    "prices",
    new File(['{ "sofa": 900 }'], "prices.json")
  )
  await advance("1 hour")
  expect((await client.processRuns.get(run.id)).state).toBe("completed")
  expect(await forget(client, run.id)).toBe("deleted")
})
